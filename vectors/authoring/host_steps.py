"""Short ways to state vectors of the classes `envelope`, `host-core` and `a2a-binding` (sections 12.4.1 to 12.4.5)."""

from collections.abc import Sequence
from typing import Any, Final

from vectors.authoring.kit import KIT, Expected, Json

SYSTEM: Final = "$system"

_CLASSES: Final = {"env": "envelope", "core": "host-core", "a2a": "a2a-binding"}


def vector(
    id: str,
    title: str,
    *steps: Expected,
    sections: Sequence[str],
    given: Json | None = None,
    level: str = "MUST",
    profile: str = "core",
    capability: str | None = None,
    structural: bool = False,
    **then: Any,
) -> Json:
    """One vector; `then` has its expectations besides those of the steps."""
    found: Json = {
        "id": id,
        "title": title,
        "class": _CLASSES[id.partition(".")[0]],
        "level": level,
        "profile": profile,
        "sections": list(sections),
    }
    if capability is not None:
        found["capability"] = capability
    if structural:
        found["tags"] = ["structural"]
    outcomes = [outcome for _, outcome in steps]
    checked: Json = {"steps": outcomes} if any(outcome is not None for outcome in outcomes) else {}
    return {
        **found,
        "given": given or {},
        "when": [step for step, _ in steps],
        "then": {**checked, **then},
    }


def file_of(class_: str, area: str, vectors: Sequence[Json]) -> Json:
    """A vector file."""
    return {"kit": KIT, "class": class_, "area": area, "vectors": list(vectors)}


def ok(step: Json, **result: Any) -> Expected:
    """A step that succeeds, with at least these members in its result."""
    return step, {"ok": True, "result": result} if result else {"ok": True}


def refused(step: Json, code: str, field: str | None = None) -> Expected:
    """A step that fails with a code, on a field where one is given."""
    return step, {"ok": False, "error": {"code": code} if field is None else {"code": code, "field": field}}


def unchecked(step: Json) -> Expected:
    """A step whose outcome is not looked at."""
    return step, None


def who(address: str, decides: bool = False) -> Json:
    """A principal; the system address always decides."""
    return {"address": address, "canDecide": decides or address == SYSTEM}


def parse(text: str) -> Json:
    return {"op": "parseAddress", "input": text}


def validate(sender: Json, given: Json, *, target: str | None = None, received: bool = False) -> Json:
    """Run step 4 of a send alone; `target` is the message an answer replies to."""
    step: Json = {"op": "validate", "as": sender}
    if target is not None:
        step["replyTarget"] = target
    if received:
        step["origin"] = "received"
    return {**step, "input": given}


def send(sender: Json, given: Json, *, received: bool = False) -> Json:
    step: Json = {"op": "send", "as": sender}
    return {**step, "origin": "received", "input": given} if received else {**step, "input": given}


def reply(sender: Json, message: str, body: str, **given: Any) -> Json:
    return {"op": "reply", "as": sender, "message": message, "input": {"body": body, **given}}


def close(question: str, reason: str) -> Json:
    return {"op": "close", "question": question, "reason": reason}


def world(**change: Any) -> Expected:
    """A change of the world, which has no outcome to check."""
    return unchecked({"op": "world", "change": change})


def message(to: str | Sequence[str], body: str, kind: str = "message", **given: Any) -> Json:
    """A send input; a name alone stands for a list of one."""
    return {"to": [to] if isinstance(to, str) else list(to), "kind": kind, "body": body, **given}


def delivery(message_id: str, recipient: str, state: str, **more: Any) -> Json:
    """An expected delivery; `via` and `session` are compared where given."""
    return {"message": message_id, "recipient": recipient, "state": state, **more}
