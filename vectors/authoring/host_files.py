"""Which vectors of the host core go into which file."""

from pathlib import Path
from typing import Final

from vectors.authoring.envelope import addresses, inputs, limits, lines, references
from vectors.authoring.host_core import examples, order, questions, resolution, retries, stored, threads
from vectors.authoring.host_steps import file_of
from vectors.authoring.kit import Json
from vectors.authoring.layout import write_json

FOLDER: Final = Path(__file__).parent.parent / "kit"

AREAS: Final[dict[tuple[str, str], list[Json]]] = {
    ("envelope", "addresses"): addresses.VECTORS,
    ("envelope", "examples"): examples.ENVELOPE,
    ("envelope", "inputs"): inputs.VECTORS,
    ("envelope", "limits"): limits.VECTORS,
    ("envelope", "lines"): lines.VECTORS,
    ("envelope", "references"): references.VECTORS,
    ("host-core", "closing"): questions.CLOSING,
    ("host-core", "examples"): examples.HOST_CORE,
    ("host-core", "order"): order.VECTORS,
    ("host-core", "questions"): questions.QUESTIONS,
    ("host-core", "resolution"): resolution.VECTORS,
    ("host-core", "retries"): retries.VECTORS,
    ("host-core", "rewriting"): threads.REWRITING,
    ("host-core", "stored"): stored.VECTORS,
    ("host-core", "threads"): threads.VECTORS,
}


def contents() -> dict[str, str]:
    """The path below the kit's folder, and the text, of every file."""
    return {
        f"{class_}/{area}.json": write_json(file_of(class_, area, vectors))
        for (class_, area), vectors in AREAS.items()
    }


def write() -> None:
    """Write every file."""
    for name, text in contents().items():
        path = FOLDER / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
