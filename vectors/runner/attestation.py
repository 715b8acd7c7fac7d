"""What the implementer declares: an attested run of the A2A TCK, and deviations (sections 8.10, 12.5, 12.6)."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from vectors.runner.document import UNTESTED
from vectors.runner.files import BadFile, read_json
from vectors.runner.shape import Shape, ShapeError, listed, one_of, record, sentence

TCK_COMMIT: Final = "263b9cfaf16a554bdfb166a7ba5b67716e946349"
TCK_TRANSPORT: Final = "HTTP+JSON"
TCK_LEVEL: Final = "MUST"
TCK_DEVIATIONS: Final = ("bounded-blocking-wait", "application-json")

_ATTESTATION: Final = record(
    {
        "commit": sentence,
        "transport": sentence,
        "level": sentence,
        "result": sentence,
        "deviations": listed(one_of(*TCK_DEVIATIONS)),
    }
)
_DEVIATIONS: Final = listed(record({"section": one_of(*UNTESTED), "summary": sentence}))


@dataclass(frozen=True, slots=True)
class Attestation:
    """A run of the A2A TCK as the implementer attests it; the runner never runs it itself."""

    commit: str
    transport: str
    level: str
    result: str
    deviations: tuple[str, ...]

    def faults(self) -> Iterator[str]:
        """Yield why the run does not do for an A2A binding claim (section 8.10)."""
        for name, actual, wanted in (
            ("commit", self.commit, TCK_COMMIT),
            ("transport", self.transport, TCK_TRANSPORT),
            ("level", self.level, TCK_LEVEL),
            ("result", self.result, "pass"),
        ):
            if actual != wanted:
                yield f"the attested TCK run has the {name} {actual}, and not {wanted}"


@dataclass(frozen=True, slots=True)
class Deviation:
    """A requirement that the implementation does not meet, of those no vector tests."""

    section: str
    summary: str


def read_attestation(path: Path) -> Attestation:
    """Read the file of an attested run. Raises BadFile, also for a deviation that section 8.10 has not."""
    raw = _read(path, _ATTESTATION)
    return Attestation(raw["commit"], raw["transport"], raw["level"], raw["result"], tuple(raw["deviations"]))


def read_deviations(path: Path) -> list[Deviation]:
    """Read the file of declared deviations. Raises BadFile, also for a section that vectors test."""
    return [Deviation(raw["section"], raw["summary"]) for raw in _read(path, _DEVIATIONS)]


def _read(path: Path, shape: Shape) -> Any:
    raw = read_json(path)
    try:
        shape(raw, "")
    except ShapeError as error:
        raise BadFile(path, str(error)) from None
    return raw
