"""The gate types this core can check: who may raise each, what it offers and what its data holds.

A table of definitions (sections 5.3, 5.9, 11.6, C.3), and `check_gate`, which holds a gate that is being
sent against its own. Which of them a host implements is for it to say (`Host.gate_types`); one it implements
that is not listed here is raised by the system alone, and its data is not checked.
"""

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from core.address import Grammar, is_identifier, parse_address
from core.errors import DmpError, forbidden, invalid
from core.gate_data import data_type
from core.inputs import Sender, SendInput
from core.message import QUESTION_KINDS, Message
from core.text import is_blank, shown, utf8_len
from crypto.canonical import JsonValue, canonical_size

RaisedBy = Literal["system", "system-or-decider", "session"]

MAX_PREVIEW_BYTES: Final = 8 * 1024
"""The most a tool-approval gate shows of a call's input (section C.3)."""

_RAISERS: Final[Mapping[RaisedBy, str]] = {
    "system": "only the host itself raises this gate",
    "system-or-decider": "only the host itself and humans who may decide raise this gate",
    "session": "only a session raises this gate",
}
_MEMORY_ACTIONS: Final = ("add", "supersede", "retire")
_MEMORY_SCOPES: Final = ("project", "team")
_MEMORY_KINDS: Final = (
    "preference",
    "convention",
    "constraint",
    "hazard",
    "decision",
    "fact",
    "reference",
)
_MEMORY_PROPOSAL: Final = re.compile("mp-[0-7][0-9A-HJKMNP-TV-Z]{25}")

Check = Callable[[JsonValue, Grammar], str | None]
"""Says what is wrong with a member's value; None when nothing is."""


@dataclass(frozen=True, slots=True)
class Member:
    """A member of a gate's data besides `type`."""

    name: str
    check: Check
    optional: bool = False


@dataclass(frozen=True, slots=True)
class GateType:
    """One gate type (section 11.6).

    With `fixed`, its gates are blocking questions that offer exactly its choices; else they may also leave
    the choices out. With `closed`, its data has no members but those listed.
    """

    name: str
    raised_by: RaisedBy
    choices: tuple[str, ...]
    members: tuple[Member, ...]
    fixed: bool = False
    closed: bool = False


def check_gate(
    sender: Sender, given: SendInput | Message, known: Collection[str], grammar: Grammar, *, is_system: bool
) -> None:
    """Check the gate data of an input (section 5.3); `known` are the types the host implements.

    Raises DmpError: `invalid` on `data.type`, `forbidden` on `data`, `invalid` on `data` or on the member
    of it at fault.
    """
    name = data_type(given.data)
    assert name is not None
    if given.kind not in QUESTION_KINDS:
        raise invalid(
            "data.type", "only a question or a handoff is a gate; give other data a type that starts with x-"
        )
    if name not in known:
        raise invalid(
            "data.type",
            f"this host has no gates of the type {shown(name)}; private data has a type that starts with x-",
        )
    gate_type = GATE_TYPES.get(name, GateType(name, "system", (), ()))
    if not _may_raise(gate_type.raised_by, sender, is_system):
        raise forbidden("data", _RAISERS[gate_type.raised_by])
    _check_shape(gate_type, given)
    assert isinstance(given.data, dict)
    _check_members(gate_type, given.data, grammar)


def _may_raise(raised_by: RaisedBy, sender: Sender, is_system: bool) -> bool:
    match raised_by:
        case "session":
            return sender.address.startswith("run:")
        case "system-or-decider":
            return is_system or (sender.can_decide and sender.address.startswith("human:"))
        case "system":
            return is_system


def _check_shape(gate_type: GateType, given: SendInput | Message) -> None:
    if not gate_type.choices:
        return
    offers = given.choices == gate_type.choices
    if gate_type.fixed and not (given.kind == "question" and given.blocking and offers):
        raise invalid(
            "data",
            f"a gate of type {gate_type.name} is a blocking question that offers {' then '.join(gate_type.choices)}",
        )
    if given.choices is not None and not offers:
        raise invalid(
            "data", f"a gate of type {gate_type.name} offers {', '.join(gate_type.choices)}, in this order"
        )


def _check_members(gate_type: GateType, data: Mapping[str, JsonValue], grammar: Grammar) -> None:
    for member in gate_type.members:
        field = f"data.{member.name}"
        if member.name not in data:
            if member.optional:
                continue
            needed = [each.name for each in gate_type.members if not each.optional]
            raise invalid(field, f"the data of a gate of type {gate_type.name} must have {', '.join(needed)}")
        wrong = member.check(data[member.name], grammar)
        if wrong is not None:
            raise invalid(field, f"{field} {wrong}")
    if gate_type.closed:
        listed = {"type", *(member.name for member in gate_type.members)}
        if data.keys() - listed:
            raise invalid(
                "data", f"the data of a gate of type {gate_type.name} has only {', '.join(sorted(listed))}"
            )
    if gate_type.name == "tool-approval":
        _check_call(data)


def _check_call(data: Mapping[str, JsonValue]) -> None:
    """Check what a parked call's members say together: where it is parked, and how much of it they show."""
    if "runId" not in data and "conversation" not in data:
        raise invalid(
            "data", "a tool-approval gate names the runId or the conversation its call is parked in"
        )
    shows = data["input"]
    if data.get("truncated") is True:
        size = utf8_len(shows) if isinstance(shows, str) else None
    else:
        size = canonical_size(shows)
    if size is None:
        raise invalid("data.input", "an input that is truncated is the beginning of its JSON, as a string")
    if size > MAX_PREVIEW_BYTES:
        raise invalid(
            "data.input", f"a preview of an input may take {MAX_PREVIEW_BYTES} bytes; it takes {size}"
        )


# What members hold


def _text(value: JsonValue, _: Grammar) -> str | None:
    return None if isinstance(value, str) else "must be a string"


def _said(value: JsonValue, _: Grammar) -> str | None:
    return None if isinstance(value, str) and not is_blank(value) else "must be text that is not blank"


def _anything(_value: JsonValue, _: Grammar) -> str | None:
    return None


def _flag(value: JsonValue, _: Grammar) -> str | None:
    return None if isinstance(value, bool) else "must be true or false"


def _set_flag(value: JsonValue, _: Grammar) -> str | None:
    return None if value is True else "must be true, or be left out"


def _paths(value: JsonValue, _: Grammar) -> str | None:
    if isinstance(value, list) and value and all(isinstance(path, str) and path for path in value):
        return None
    return "must list at least one path, none of them empty"


def _message_id(value: JsonValue, _: Grammar) -> str | None:
    return None if isinstance(value, str) and is_identifier(value) else "must be a message's id"


def _address(*schemes: str) -> Check:
    def check(value: JsonValue, grammar: Grammar) -> str | None:
        try:
            kind = parse_address(value, None, grammar).kind if isinstance(value, str) else None
        except DmpError:
            kind = None
        return None if kind in schemes else f"must be an address of {' or '.join(schemes)}"

    return check


def _work_item(value: JsonValue, grammar: Grammar) -> str | None:
    return _bare_id(value, grammar.task, "a work item's id")


def _session(value: JsonValue, grammar: Grammar) -> str | None:
    return _bare_id(value, grammar.run, "a session's id")


def _bare_id(value: JsonValue, form: re.Pattern[str], name: str) -> str | None:
    fits = isinstance(value, str) and is_identifier(value) and form.fullmatch(value) is not None
    return None if fits else f"must be {name}, without its scheme"


def _one_of(*values: str) -> Check:
    return lambda value, _: None if value in values else f"must be one of {', '.join(values)}"


def _proposal(value: JsonValue, _: Grammar) -> str | None:
    fits = isinstance(value, str) and _MEMORY_PROPOSAL.fullmatch(value) is not None
    return None if fits else "must be mp- and an uppercase ULID"


def _prefixed(prefix: str) -> Check:
    def check(value: JsonValue, _: Grammar) -> str | None:
        # Replicas write such an id with capital letters (section F.7).
        fits = (
            isinstance(value, str)
            and value.startswith(prefix)
            and is_identifier(value.lower())
            and value != prefix
        )
        return None if fits else f"must be an id that starts with {prefix}"

    return check


_LISTED: Final = (
    GateType(
        "wake",
        "system",
        ("approve", "deny"),
        (Member("target", _address("task", "run")), Member("message", _message_id)),
    ),
    GateType(
        "tool-approval",
        "system",
        ("approve", "approve-session", "deny"),
        (
            Member("requestId", _text),
            Member("runId", _session, optional=True),
            Member("conversation", _text, optional=True),
            Member("tool", _text),
            Member("input", _anything),
            Member("truncated", _set_flag, optional=True),
            Member("floor", _flag),
        ),
    ),
    GateType(
        "scope",
        "session",
        ("grant", "deny"),
        (Member("paths", _paths), Member("reason", _said)),
        fixed=True,
        closed=True,
    ),
    GateType(
        "agent-registration",
        "system",
        ("approve", "deny"),
        (
            Member("agent", _address("agent")),
            Member("client", _text),
            Member("requestedBy", _address("human"), optional=True),
        ),
    ),
    GateType(
        "overseer-action",
        "system",
        ("confirm", "cancel"),
        (Member("conversation", _text), Member("actionId", _text), Member("summary", _text)),
    ),
    GateType(
        "memory",
        "system-or-decider",
        ("approve", "reject"),
        (
            Member("proposalId", _proposal),
            Member("action", _one_of(*_MEMORY_ACTIONS)),
            Member("scope", _one_of(*_MEMORY_SCOPES)),
            Member("kind", _one_of(*_MEMORY_KINDS)),
        ),
        fixed=True,
    ),
    GateType(
        "task-proposal",
        "system",
        ("approve", "decline"),
        (
            Member("task", _work_item),
            Member("proposedBy", _address("human", "agent", "run")),
            Member("message", _message_id),
        ),
    ),
    GateType(
        "doc",
        "system",
        ("approve", "reject"),
        (Member("doc", _prefixed("doc-")), Member("proposal", _prefixed("rev-"))),
        fixed=True,
    ),
)

GATE_TYPES: Final[Mapping[str, GateType]] = {each.name: each for each in _LISTED}
"""Every listed gate type by its name, in the order of section 11.6."""
