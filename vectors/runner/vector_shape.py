"""The shape of one vector: its members, its world, its steps and its expectations (sections 12.4.1-12.4.5)."""

from typing import Final

from crypto.canonical import JsonValue
from vectors.runner import federation_shape, symbols
from vectors.runner.document import (
    CAPABILITIES,
    CREATING,
    FEDERATED_FIELDS,
    FEDERATION,
    HOOKS,
    LEVELS,
    MESSAGE_FIELDS,
    PREFIXES,
    PROFILES,
    SECTIONS,
)
from vectors.runner.shape import (
    Shape,
    ShapeError,
    anything,
    boolean,
    count,
    each,
    listed,
    mapped,
    matching,
    nullable,
    number,
    one_of,
    record,
    sentence,
    text,
)

TIMESTAMP: Final = matching(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z", "a timestamp"
)

_FIELDS: Final = (*MESSAGE_FIELDS, *FEDERATED_FIELDS)
_STATUS: Final = one_of("pending", "approved", "revoked")
_RULING: Final = one_of("allow", "ask", "deny")
_SENDER: Final = record({"address": text, "canDecide": boolean})
_ORIGIN: Final = one_of("local", "received")


def _wake_result(value: JsonValue, place: str) -> None:
    worked = isinstance(value, dict) and value.get("ok") is True
    record({"ok": boolean, ("session" if worked else "reason"): text})(value, place)


def _section(value: JsonValue, place: str) -> None:
    if not isinstance(value, str) or value not in SECTIONS:
        raise ShapeError(place, "is not a numbered section of the document")


_STORE: Final = record(
    {},
    {
        "messages": listed(record({"id": text}, each(_FIELDS, anything))),
        "deliveries": listed(
            record(
                {"id": text, "message": text, "recipient": text, "state": text},
                {"session": nullable(text), "via": text},
            )
        ),
        "appliedGates": listed(text),
    },
)

_GIVEN: Final[dict[str, Shape]] = {
    "clock": TIMESTAMP,
    "seed": number,
    "workItems": listed(record({"id": text}, {"liveSession": nullable(text), "sessions": listed(text)})),
    "auxSessions": listed(text),
    "agents": listed(record({"address": text, "status": _STATUS}, {"muted": boolean})),
    "channels": listed(record({"name": text, "members": listed(text)})),
    "implicit": mapped(listed(text)),
    "owner": text,
    "rulings": mapped(_RULING),
    "wakeResults": mapped(_wake_result),
    "failPush": listed(text),
    "failOnAnswered": boolean,
    "limits": record({}, {"urgentPerHour": count, "agentTurnsPerThreadPerHour": count}),
    "external": mapped(one_of("client", "peer")),
    "store": _STORE,
}
"""The world at the start (section 12.4.2)."""

_CHANGES: Final[dict[str, Shape]] = {
    "startSession": record({"workItem": text, "session": text}),
    "endSession": record({"workItem": text}),
    "ruling": record({"target": text, "ruling": _RULING}),
    "wakeResult": record({"target": text, "result": _wake_result}),
    "failPush": listed(text),
    "failOnAnswered": boolean,
    "advanceMs": number,  # a clock may step back
    "agentStatus": record({"address": text, "status": _STATUS}),
}


def _change(value: JsonValue, place: str) -> None:
    record({}, _CHANGES)(value, place)
    if not isinstance(value, dict) or len(value) != 1:
        raise ShapeError(place, "is not exactly one change")


_STEPS: Final[dict[str, tuple[dict[str, Shape], dict[str, Shape]]]] = {
    "send": ({"as": _SENDER, "input": anything}, {"origin": _ORIGIN}),
    "reply": ({"as": _SENDER, "message": text, "input": anything}, {}),
    "close": ({"question": text, "reason": text}, {}),
    "markRead": ({"message": text, "recipient": text}, {}),
    "inbox": ({"recipient": text}, {"states": listed(text)}),
    "thread": ({"thread": text}, {}),
    "canRead": ({"message": text, "as": _SENDER}, {}),
    "openBlocking": ({}, {}),
    "join": ({"channel": text, "member": anything}, {}),
    "leave": ({"channel": text, "member": anything}, {}),
    "deliverHeld": ({"session": text, "workItem": text}, {}),
    "recover": ({}, {}),
    "parseAddress": ({"input": anything}, {}),
    "validate": ({"as": _SENDER, "input": anything}, {"replyTarget": text, "origin": _ORIGIN}),
    "render": ({"message": text}, {"form": one_of("push", "digest"), "external": boolean}),
    "a2a.validate": ({"extension": one_of("envelope", "work"), "raw": anything}, {}),
    "a2a.project": ({"facts": mapped(anything)}, {}),
    "a2a.inbound": (
        {"as": text, "envelope": anything, "body": anything},
        {"parts": listed(anything), "answers": text},
    ),
    "world": ({"change": _change}, {}),
}
"""The members of each step, required and optional (section 12.4.3)."""


def _step_of(steps: dict[str, tuple[dict[str, Shape], dict[str, Shape]]]) -> Shape:
    def check(value: JsonValue, place: str) -> None:
        record({"op": one_of(*steps)}, open_ended=True)(value, place)
        assert isinstance(value, dict)
        required, optional = steps[str(value["op"])]
        record({"op": text, **required}, optional)(value, place)

    return check


def _outcome_with(*about: str) -> Shape:
    """An outcome whose error may have these members besides its code."""
    error = record({"code": text}, each(about, text))

    def check(value: JsonValue, place: str) -> None:
        if isinstance(value, dict) and value.get("ok") is False:
            record({"ok": boolean, "error": error})(value, place)
        else:
            record({"ok": boolean}, {"result": mapped(anything)})(value, place)

    return check


def call(value: JsonValue, place: str) -> None:
    """A hook call."""
    record({"hook": one_of(*HOOKS)}, open_ended=True)(value, place)
    assert isinstance(value, dict)
    record({"hook": text, **each(HOOKS[str(value["hook"])], text)})(value, place)


_THEN: Final[dict[str, Shape]] = {
    "messages": listed(record({"id": text}, each(_FIELDS, anything))),
    "noOtherMessages": boolean,
    "deliveries": listed(
        record({"message": text, "recipient": text}, {"via": text, "state": text, "session": nullable(text)})
    ),
    "noDeliveries": listed(text),
    "calls": listed(call),
    "callsInclude": listed(call),
    "gateEffects": listed(text),
    "voided": listed(text),
    "channels": listed(record({"name": text, "members": listed(text)})),
    "render": listed(record({"step": count, "text": text})),
}
"""What the runner expects, besides the outcomes of steps (section 12.4.5)."""


def _vector_with(given: Shape, step: Shape, then: Shape) -> Shape:
    return record(
        {
            "id": matching(r"[a-z0-9]+(\.[a-z0-9-]+){2}", "a vector id"),
            "title": sentence,
            "class": one_of(*PREFIXES),
            "level": one_of(*LEVELS),
            "profile": one_of(*PROFILES),
            "sections": listed(_section, least=1),
            "given": given,
            "when": listed(step, least=1),
            "then": then,
        },
        {"capability": one_of(*CAPABILITIES), "tags": listed(sentence)},
    )


_VECTOR: Final = _vector_with(
    record({}, _GIVEN),
    _step_of(_STEPS),
    record({}, {"steps": listed(nullable(_outcome_with("field"))), **_THEN}),
)

_FEDERATION: Final = _vector_with(
    record({}, {**_GIVEN, **federation_shape.GIVEN}),
    _step_of({**_STEPS, **federation_shape.STEPS}),
    record(
        {},
        {"steps": listed(nullable(_outcome_with("field", "reason"))), **_THEN, **federation_shape.THEN},
    ),
)
"""A vector of the class `federation`, which has more of each."""


def vector(value: JsonValue, place: str) -> None:
    """One vector, with what its members say of each other."""
    is_federation = isinstance(value, dict) and value.get("class") == FEDERATION
    (_FEDERATION if is_federation else _VECTOR)(value, place)
    assert isinstance(value, dict)
    prefix = PREFIXES[str(value["class"])]
    if not str(value["id"]).startswith(f"{prefix}."):
        raise ShapeError(f"{place}.id", f"does not start with {prefix}., as the class {value['class']} wants")
    if (value["level"] == "MAY") != ("capability" in value):
        raise ShapeError(place, "has a capability without the level MAY, or the level MAY without one")
    steps, then = value["when"], value["then"]
    assert isinstance(steps, list)
    assert isinstance(then, dict)
    ops = [str(step["op"]) for step in steps if isinstance(step, dict)]
    _check_expected_steps(ops, then, place)
    _check_symbols(value, ops, place)


def _check_expected_steps(ops: list[str], then: dict[str, JsonValue], place: str) -> None:
    expected, rendered = then.get("steps", []), then.get("render", [])
    assert isinstance(expected, list)
    assert isinstance(rendered, list)
    if len(expected) > len(ops):
        raise ShapeError(f"{place}.then.steps", "lists more outcomes than there are steps")
    for index, row in enumerate(rendered):
        assert isinstance(row, dict)
        step = row["step"]
        assert isinstance(step, int)
        if not 1 <= step <= len(ops) or ops[step - 1] != "render":
            raise ShapeError(f"{place}.then.render[{index}].step", "names no render step")


def _check_symbols(vector: dict[str, JsonValue], ops: list[str], place: str) -> None:
    """Refuse a symbol such as `$sN` that does not name an earlier step which makes that (section 12.4.4)."""
    steps = vector["when"]
    assert isinstance(steps, list)
    for where, value, before in (
        (f"{place}.given", vector["given"], 0),
        *((f"{place}.when[{index}]", step, index) for index, step in enumerate(steps)),
        (f"{place}.then", vector["then"], len(ops)),
    ):
        for symbol in symbols.found(value):
            makes, what = _makers(symbol.role)
            if makes and not (1 <= symbol.number <= before and ops[symbol.number - 1] in makes):
                raise ShapeError(where, f"has {symbol}, which names no earlier step that {what}")


def _makers(role: str) -> tuple[tuple[str, ...], str]:
    """The steps that a symbol of a role may name, and what they do; none for one that no step makes."""
    if role == "s":
        return CREATING, "creates a message"
    if role in federation_shape.MADE:
        return federation_shape.MADE[role][1], f"makes a {role}"
    return (), ""
