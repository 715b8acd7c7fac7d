"""One vector of the class `federation`: on a replica where it gives one, else on no host at all."""

from typing import Final

from crypto.canonical import JsonValue
from vectors.adapter.federation.given_lines import Json
from vectors.adapter.federation.pure import PURE, outcome
from vectors.adapter.members import Members, Unsupported

_NOTHING: Final[tuple[str, ...]] = (
    *("messages", "deliveries", "calls", "gateEffects", "voided", "channels", "render"),
    "remote",
)
"""What is observed of no host."""


def observation(vector: Members) -> dict[str, JsonValue]:
    """Run a vector and return what was observed. Raises MalformedError and Unsupported."""
    if "replica" in vector.object("given"):
        from vectors.adapter.federation.replica import observation  # most vectors have none, and start sooner

        return observation(vector)
    return {"steps": [_outcome(step) for step in vector.objects("when")], **{name: [] for name in _NOTHING}}


def _outcome(step: Members) -> Json:
    op = step.text("op")
    if op not in PURE:
        raise Unsupported(f"{step.place} is {op}, which needs a replica")
    return outcome(dict(step.as_mapping()))
