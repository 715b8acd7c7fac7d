"""What an adapter says happened, read into one value or refused (section 12.4.7)."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from crypto.canonical import JsonValue
from vectors.runner.document import CREATING
from vectors.runner.federation_shape import MADE, REMOTE_ROW
from vectors.runner.shape import (
    ShapeError,
    anything,
    boolean,
    count,
    listed,
    nullable,
    one_of,
    record,
    text,
)
from vectors.runner.symbols import Symbol
from vectors.runner.vector import JsonObject
from vectors.runner.vector_shape import TIMESTAMP, call


def _outcome(value: JsonValue, place: str) -> None:
    if isinstance(value, dict) and value.get("ok") is False:
        record({"error": record({"code": text}, {"field": text}, open_ended=True)}, open_ended=True)(
            value, place
        )
    else:
        record({"ok": boolean}, open_ended=True)(value, place)


_REF: Final = record({"type": text, "id": text}, {"at": text}, open_ended=True)

_MESSAGE: Final = record(
    {
        "id": text,
        "thread": text,
        "replyTo": nullable(text),
        "from": text,
        "to": listed(text),
        "kind": text,
        "body": text,
        "refs": listed(_REF),
        "urgent": boolean,
        "blocking": boolean,
        "wake": text,
        "createdAt": TIMESTAMP,
    },
    {"session": text, "data": anything, "choices": listed(text), "choice": text},
    open_ended=True,
)

_DELIVERY: Final = record(
    {
        "id": text,
        "message": text,
        "recipient": text,
        "session": nullable(text),
        "via": one_of("direct", "channel"),
        "state": text,
    },
    open_ended=True,
)

_OBSERVATION: Final = record(
    {
        "steps": listed(_outcome),
        "messages": listed(_MESSAGE),
        "deliveries": listed(_DELIVERY),
        "calls": listed(call),
        "gateEffects": listed(text),
        "voided": listed(text),
        "channels": listed(record({"name": text, "members": listed(text)}, open_ended=True)),
        "render": listed(record({"step": count, "text": text}, open_ended=True)),
    },
    {"remote": listed(REMOTE_ROW)},
    open_ended=True,
)


@dataclass(frozen=True, slots=True)
class Observation:
    """One vector as the implementation ran it.

    `created` maps the number of each step that created a message to its id; `rendered` maps the number of
    each render step that worked to its text; `remote` are the rows of recipients homed elsewhere (section F.4), of a
    replica; `made` has the ids of what its steps made besides messages.
    """

    steps: Sequence[JsonObject]
    messages: Sequence[JsonObject]
    deliveries: Sequence[JsonObject]
    calls: Sequence[JsonObject]
    gate_effects: Sequence[str]
    voided: Sequence[str]
    channels: Sequence[JsonObject]
    remote: Sequence[JsonObject]
    created: Mapping[int, str]
    rendered: Mapping[int, str]
    made: Mapping[Symbol, str]


def read_observation(value: Any, steps: Sequence[JsonObject]) -> Observation:
    """Read the observation of a vector with these steps. Raises ShapeError for a malformed one."""
    _OBSERVATION(value, "")
    outcomes = value["steps"]
    if len(outcomes) != len(steps):
        raise ShapeError("steps", f"has {len(outcomes)} outcomes, and the vector has {len(steps)} steps")
    return Observation(
        steps=outcomes,
        messages=value["messages"],
        deliveries=value["deliveries"],
        calls=value["calls"],
        gate_effects=value["gateEffects"],
        voided=value["voided"],
        channels=value["channels"],
        remote=value.get("remote", ()),
        created=_created(steps, outcomes, {message["id"] for message in value["messages"]}),
        rendered=_rendered(steps, outcomes, value["render"]),
        made=_made(steps, outcomes),
    )


def _created(steps: Sequence[JsonObject], outcomes: list[JsonObject], stored: set[str]) -> dict[int, str]:
    created = {}
    for number, (step, outcome) in enumerate(zip(steps, outcomes, strict=True), 1):
        if not outcome["ok"] or step["op"] not in CREATING:
            continue
        result = outcome.get("result")
        message = result.get("message") if isinstance(result, dict) else None
        if not isinstance(message, str):
            raise ShapeError(f"steps[{number - 1}].result", f"names no message, and {step['op']} created one")
        if message not in stored:
            raise ShapeError("messages", f"lacks {message}, which step {number} created")
        created[number] = message
    return created


def _made(steps: Sequence[JsonObject], outcomes: list[JsonObject]) -> dict[Symbol, str]:
    made = {}
    for number, (step, outcome) in enumerate(zip(steps, outcomes, strict=True), 1):
        for role, (form, ops) in MADE.items():
            if not outcome["ok"] or step["op"] not in ops:
                continue
            result = outcome.get("result")
            id_ = result.get(role) if isinstance(result, dict) else None
            if not isinstance(id_, str) or re.fullmatch(form, id_) is None:
                raise ShapeError(f"steps[{number - 1}].result.{role}", f"is no id of the form {form}")
            made[Symbol(role, number)] = id_
    return made


def _rendered(
    steps: Sequence[JsonObject], outcomes: list[JsonObject], rows: list[JsonObject]
) -> dict[int, str]:
    wanted = [
        number
        for number, (step, outcome) in enumerate(zip(steps, outcomes, strict=True), 1)
        if step["op"] == "render" and outcome["ok"]
    ]
    if sorted(row["step"] for row in rows) != wanted:
        raise ShapeError("render", "does not hold the text of each render step that worked, once each")
    return {row["step"]: row["text"] for row in rows}
