"""The bodies of task, presence, agent and channel ops, parsed once into typed values (federation wire 8.A-8.C).

They come from teammates, who may be hostile: what does not parse is refused with the member at fault. Members
nobody knows are passed over, since a later version may add some.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from core.address import DISPATCH, parse_address
from core.errors import DmpError, invalid
from core.host import AgentStatus
from core.text import utf8_len
from crypto.canonical import JsonValue, canonical
from crypto.keys import REPLICA_ID
from crypto.op import Absent
from replica.addresses import never_federates

MAX_FIELD_BYTES: Final = 896 * 1024
"""Canonical bytes of one field of a work item (8.12)."""

MAX_FIELDS: Final = 1_000
MAX_ACTIVITY: Final = 1_000
MAX_NAME: Final = 4_096
MAX_TEXT: Final = 128
MAX_LABEL: Final = 256
MAX_RUN_KIND: Final = 32
MAX_CAPS: Final = 16
MAX_CAP: Final = 32

ACTIVITY: Final = "\N{SECTION SIGN}activity"
"""What the names of the registers that hold lines of activity start with, so no field may."""

_TEXTS: Final = frozenset(("title", "status", "kind"))
_TEXTS_OR_NULL: Final = frozenset(("parent", "assignee", "priority"))
STATUSES: Final[Mapping[JsonValue, AgentStatus]] = {
    "pending": "pending",
    "approved": "approved",
    "revoked": "revoked",
}
_RUN: Final = re.compile("r-[0-9a-f]{6,12}")


@dataclass(frozen=True, slots=True)
class TaskPut:
    """Fields of a work item written, and lines added to its activity. `origin` is when it was made, on a first op."""

    task: str
    origin: str | None
    fields: Mapping[str, JsonValue]
    activity: tuple[JsonValue, ...]


@dataclass(frozen=True, slots=True)
class TaskRemove:
    """A work item taken away."""

    task: str


@dataclass(frozen=True, slots=True)
class DevicePresence:
    """A replica that is there: the build it runs, its device, its wall clock in milliseconds."""

    build: str
    device: str
    wall: float
    caps: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RunPresence:
    """The state of a session: its work item's address, None for an auxiliary one, and whom it waits for."""

    run: str
    task: str | None
    run_kind: str
    live: bool
    waiting_on: str | None


@dataclass(frozen=True, slots=True)
class RunResolve:
    """An admin's word on which replica a contested session belongs to."""

    run: str
    replica: str


@dataclass(frozen=True, slots=True)
class AgentRow:
    """An agent's registration."""

    address: str
    operator: str
    display_name: str
    client: str
    status: AgentStatus


@dataclass(frozen=True, slots=True)
class Membership:
    """Whether an address is a member of a channel, by its bare name."""

    channel: str
    member: str
    joined: bool


def parse_task(body: JsonValue | Absent) -> TaskPut | TaskRemove:
    """Read a task op's body. Raises DmpError `invalid` naming the member at fault."""
    content = _object(body, "body")
    task = f"task:{_text(content, 'task')}"
    _check(_is_kind(task, "task"), "task", "must be the id of a work item: t- or e-, and hexadecimal digits")
    match content.get("kind"):
        case "remove":
            return TaskRemove(task)
        case "put":
            return TaskPut(
                task,
                _origin(content["origin"]) if "origin" in content else None,
                _fields(_object(content.get("fields", {}), "fields")),
                _activity(content.get("activity", [])),
            )
    raise invalid("kind", "must be put or remove")


def parse_presence(body: JsonValue | Absent) -> DevicePresence | RunPresence | RunResolve:
    """Read a presence op's body. Raises DmpError `invalid` naming the member at fault."""
    content = _object(body, "body")
    match content.get("kind"):
        case "replica":
            wall = content.get("wall")
            _check(isinstance(wall, int | float) and not isinstance(wall, bool), "wall", "must be a number")
            assert isinstance(wall, int | float)
            return DevicePresence(
                _text(content, "build", MAX_LABEL), _text(content, "device", MAX_LABEL), wall, _caps(content)
            )
        case "run":
            task, live = content.get("task"), content.get("live")
            address = None if task is None else f"task:{_text(content, 'task')}"
            if address is not None:
                _check(_is_kind(address, "task"), "task", "must be the id of a work item, or null")
            if not isinstance(live, bool):
                raise invalid("live", "must be true or false")
            waiting = _text(content, "waitingOn") if "waitingOn" in content else None
            return RunPresence(_run(content), address, _text(content, "runKind", MAX_RUN_KIND), live, waiting)
        case "resolve":
            replica = _text(content, "replica")
            _check(REPLICA_ID.fullmatch(replica), "replica", "must be the id of a replica")
            return RunResolve(_run(content), replica)
    raise invalid("kind", "must be replica, run or resolve")


def parse_agent(body: JsonValue | Absent) -> AgentRow:
    """Read an agent op's body. Raises DmpError `invalid` naming the member at fault."""
    content = _object(body, "body")
    address = _text(content, "address", MAX_LABEL)
    parsed = parse_address(address, "address", DISPATCH)
    if parsed.kind != "agent" or parsed.operator is None or never_federates(address):
        raise invalid("address", "must be agent:<operator>/<name>, and none of the reserved names")
    status = STATUSES.get(_text(content, "status"))
    if status is None:
        raise invalid("status", "must be pending, approved or revoked")
    return AgentRow(
        address,
        parsed.operator,
        _text(content, "displayName", MAX_LABEL),
        _text(content, "client"),
        status,
    )


def parse_channel(body: JsonValue | Absent) -> Membership:
    """Read a channel op's body. Raises DmpError `invalid` naming the member at fault."""
    content = _object(body, "body")
    channel = parse_address(f"channel:{_text(content, 'channel', MAX_LABEL)}", "channel", DISPATCH)
    member = _text(content, "member", MAX_LABEL)
    if not is_member(member):
        raise invalid("member", "must be a human, an agent or a work item that federates")
    joined = content.get("joined")
    if not isinstance(joined, bool):
        raise invalid("joined", "must be true or false")
    return Membership(channel.name or "", member, joined)


def is_member(address: str) -> bool:
    """Whether an address may be a member of a channel of the team (8.7)."""
    return any(_is_kind(address, kind) for kind in ("human", "agent", "task")) and not never_federates(
        address
    )


def _fields(content: Mapping[str, JsonValue]) -> Mapping[str, JsonValue]:
    _check(len(content) <= MAX_FIELDS, "fields", f"are at most {MAX_FIELDS}")
    for name, value in content.items():
        _check(0 < _units(name) <= MAX_NAME, "fields", f"have names of 1 to {MAX_NAME} characters")
        _check(not name.startswith(ACTIVITY), "fields", "may not be named as activity is")
        where = f"fields.{name[:MAX_TEXT]}"
        _check(len(canonical(value)) <= MAX_FIELD_BYTES, where, f"takes at most {MAX_FIELD_BYTES} bytes")
        if name in _TEXTS or (name in _TEXTS_OR_NULL and value is not None):
            _check(isinstance(value, str), where, "must be a text")
        if name == "labels":
            _check(
                isinstance(value, list) and all(isinstance(each, str) for each in value),
                where,
                "must be a list of texts",
            )
    return content


def _activity(value: JsonValue) -> tuple[JsonValue, ...]:
    if not isinstance(value, list) or len(value) > MAX_ACTIVITY:
        raise invalid("activity", f"must be a list of at most {MAX_ACTIVITY}")
    return tuple(value)


def _origin(value: JsonValue) -> str:
    text = canonical(value).decode() if isinstance(value, str | int | float) else ""
    _check(1 <= len(text) <= MAX_TEXT and not isinstance(value, bool), "origin", "must be a time")
    return text


def _caps(content: Mapping[str, JsonValue]) -> tuple[str, ...]:
    caps = content.get("caps", [])
    if not isinstance(caps, list) or len(caps) > MAX_CAPS:
        raise invalid("caps", f"must be a list of at most {MAX_CAPS}")
    found = [cap for cap in caps if isinstance(cap, str) and 1 <= _units(cap) <= MAX_CAP]
    _check(len(found) == len(caps), "caps", f"must be texts of 1 to {MAX_CAP} characters")
    return tuple(found)


def _run(content: Mapping[str, JsonValue]) -> str:
    run = _text(content, "run")
    _check(_RUN.fullmatch(run), "run", "must be the id of a session: r-, and hexadecimal digits")
    return f"run:{run}"


def _is_kind(address: str, kind: Literal["human", "agent", "task"]) -> bool:
    try:
        return parse_address(address, None, DISPATCH).kind == kind
    except DmpError:
        return False


def _text(content: Mapping[str, JsonValue], name: str, limit: int = MAX_TEXT) -> str:
    value = content.get(name)
    if not isinstance(value, str) or not 1 <= _units(value) <= limit:
        raise invalid(name, f"must be a text of 1 to {limit} characters")
    try:
        utf8_len(value)
    except UnicodeEncodeError:
        raise invalid(name, "must be whole characters") from None
    return value


def _units(text: str) -> int:
    """Count UTF-16 code units, which is what every implementation has to count alike (1.5, 4.1)."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def _object(value: object, field: str) -> Mapping[str, JsonValue]:
    if not isinstance(value, dict):
        raise invalid(field, "must be an object")
    return value


def _check(holds: object, field: str, rule: str) -> None:
    if not holds:
        raise invalid(field, rule)
