"""Which vectors of the host core and of its A2A binding go into which file."""

from pathlib import Path
from typing import Final

from vectors.authoring.a2a_binding import arrivals, envelopes, leaving, requests, states
from vectors.authoring.envelope import (
    addresses,
    gate_answers,
    gate_data,
    inputs,
    limits,
    lines,
    profile_gates,
    provisional_gates,
    references,
)
from vectors.authoring.host_core import (
    authority,
    breaking,
    claiming,
    effects,
    examples,
    faults,
    first_states,
    identifiers,
    mailboxes,
    membership,
    modes,
    muting,
    order,
    profile_renderings,
    questions,
    reading,
    recovering,
    renderings,
    reopening,
    resolution,
    retries,
    stored,
    system_words,
    threads,
    transitions,
    unknown_gates,
    urgency,
    voiding,
    wake_gates,
    wake_outcomes,
    waking,
)
from vectors.authoring.host_steps import file_of
from vectors.authoring.kit import Json
from vectors.authoring.layout import write_json

FOLDER: Final = Path(__file__).parent.parent / "kit"

AREAS: Final[dict[tuple[str, str], list[Json]]] = {
    ("a2a-binding", "aliases"): leaving.ALIASES,
    ("a2a-binding", "content"): arrivals.CONTENT,
    ("a2a-binding", "continuing"): arrivals.CONTINUING,
    ("a2a-binding", "envelopes"): envelopes.VECTORS,
    ("a2a-binding", "leaving"): leaving.VECTORS,
    ("a2a-binding", "opening"): arrivals.OPENING,
    ("a2a-binding", "states"): states.VECTORS,
    ("a2a-binding", "work"): requests.VECTORS,
    ("envelope", "addresses"): addresses.VECTORS,
    ("envelope", "examples"): examples.ENVELOPE,
    ("envelope", "gate-answers"): gate_answers.VECTORS,
    ("envelope", "gate-data"): gate_data.VECTORS,
    ("envelope", "inputs"): inputs.VECTORS,
    ("envelope", "limits"): limits.VECTORS,
    ("envelope", "lines"): lines.VECTORS,
    ("envelope", "profile-gates"): profile_gates.VECTORS,
    ("envelope", "provisional-gates"): provisional_gates.VECTORS,
    ("envelope", "references"): references.VECTORS,
    ("host-core", "authority"): authority.VECTORS,
    ("host-core", "breaker"): breaking.VECTORS,
    ("host-core", "claiming"): claiming.VECTORS,
    ("host-core", "closing"): questions.CLOSING,
    ("host-core", "effects"): effects.VECTORS,
    ("host-core", "examples"): examples.HOST_CORE,
    ("host-core", "faults"): faults.VECTORS,
    ("host-core", "first-states"): first_states.VECTORS,
    ("host-core", "identifiers"): identifiers.VECTORS,
    ("host-core", "mailboxes"): mailboxes.VECTORS,
    ("host-core", "membership"): membership.VECTORS,
    ("host-core", "modes"): modes.VECTORS,
    ("host-core", "muting"): muting.VECTORS,
    ("host-core", "order"): order.VECTORS,
    ("host-core", "profile-renderings"): profile_renderings.VECTORS,
    ("host-core", "questions"): questions.QUESTIONS,
    ("host-core", "reading"): reading.VECTORS,
    ("host-core", "recovering"): recovering.VECTORS,
    ("host-core", "renderings"): renderings.VECTORS,
    ("host-core", "resolution"): resolution.VECTORS,
    ("host-core", "retries"): retries.VECTORS,
    ("host-core", "rewriting"): threads.REWRITING,
    ("host-core", "stored"): stored.VECTORS,
    ("host-core", "system-words"): system_words.VECTORS,
    ("host-core", "threads"): threads.VECTORS,
    ("host-core", "transitions"): transitions.VECTORS,
    ("host-core", "unknown-gates"): unknown_gates.VECTORS,
    ("host-core", "urgent-quota"): urgency.VECTORS,
    ("host-core", "voiding"): [*voiding.VECTORS, *reopening.VECTORS],
    ("host-core", "wake-gates"): wake_gates.VECTORS,
    ("host-core", "waking"): [*waking.VECTORS, *wake_outcomes.VECTORS],
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
