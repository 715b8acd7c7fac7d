"""What a replica and a relay say to each other: one JSON object to a WebSocket text message (federation wire 7.2).

`parse` reads a frame, `write` writes one. `t` names its kind; members that a kind does not have are passed
over, and so is a frame of a kind that is not known here (`Unknown`). Anything else that is no frame is a
FrameError, and whoever received it closes the connection.

A request carries an `id`, and its answer the same as `re`. An `ops` frame without `re` is a hint that its ops
were stored, so that the receiver asks for what it lacks.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, TypeAlias

from crypto.canonical import JsonError, JsonValue, Parsed, decode, parse_at
from crypto.keys import REPLICA_ID
from crypto.op import MAX_SEQ

FRAME_BYTES: Final = 8 * 1024 * 1024
"""The longest frame that a relay takes, in bytes: a longer one closes the connection."""

FRAME_CHARACTERS: Final = 16 * 1024 * 1024
"""The longest frame that a replica takes, in characters: a longer one closes the connection."""

PUBLISH_BYTES: Final = 4 * 1024 * 1024
"""What the ops of one frame come to at most, in bytes."""

FRAME_OPS: Final = 1_000
"""Ops in one frame at most."""

MAX_LANES: Final = 10_000
"""Replicas that one frame names at most."""

MAX_TEXT: Final = 8_192
"""Characters in a reason, a nonce, a signature or the id of a request at most."""

RequestId: TypeAlias = int | str
"""What a request is known by: chosen by the client, an integer or a text."""


class Why(StrEnum):
    """What a reason begins with, before a colon; the rest is for people."""

    BEHIND = "behind"
    """The first new op does not follow the stored head: somebody published with this key meanwhile."""
    LIMITED = "limited"
    """Too much at once, or in too short a time. Later it may be taken."""
    INVALID = "invalid"
    """It breaks a rule of the wire or of the chain; it will never be taken."""
    REVOKED = "revoked"
    """The team has revoked this replica."""
    UNKNOWN = "unknown"
    """The relay has no key op of this replica, and none came with `auth`."""
    PENDING = "pending"
    """Only members may do that; this machine waits to be admitted."""
    UNINVITED = "uninvited"
    """The machine is not admitted, and its key op proves no open invite."""
    UNPROVEN = "unproven"
    """The signature in `auth` does not verify: another key, another relay URL, or another nonce."""
    REPLACED = "replaced"
    """A later connection of the same replica took the place of this one."""
    SLOW = "slow"
    """The client did not read what was sent to it, or did not speak in time."""
    CLOSING = "closing"
    """The relay shuts down. Connect again later."""
    FAILED = "failed"
    """The relay could not do it: its disk, say. Nothing was stored; try again later."""

    def reason(self, text: str) -> str:
        """Write a reason of this kind."""
        return f"{self.value}: {text}"


_WHY: Final = {each.value: each for each in Why}


def why(reason: str) -> Why | None:
    """Return the kind of a reason, None for one that this version does not know."""
    word, colon, _ = reason.partition(":")
    return _WHY.get(word) if colon else None


class FrameError(ValueError):
    """A text that is no frame; the message says what is wrong with it."""


@dataclass(frozen=True, slots=True)
class Carried:
    """An op or a stub in a frame: its JSON text and, where it was read from a frame, what that says."""

    text: str
    parsed: Parsed | None = field(default=None, compare=False, repr=False)

    @classmethod
    def line(cls, raw: bytes) -> "Carried":
        """Carry a line, which is JSON in UTF-8 without a line feed."""
        return cls(decode(raw))

    @property
    def raw(self) -> bytes:
        """The text as bytes."""
        return self.text.encode("utf-8", "replace")


def carried(lines: Iterable[bytes]) -> tuple[Carried, ...]:
    """Carry lines in a frame."""
    return tuple(map(Carried.line, lines))


# From a relay


@dataclass(frozen=True, slots=True)
class Challenge:
    """The first frame of a connection: a nonce for the client to sign, which serves this connection alone."""

    nonce: str


@dataclass(frozen=True, slots=True)
class Ready:
    """The client is who it says."""


@dataclass(frozen=True, slots=True)
class Refused:
    """The relay wants no more of this connection, and closes it. `reason` begins with a `Why`."""

    reason: str


@dataclass(frozen=True, slots=True)
class Stored:
    """The answer to `publish`: everything up to seq `through` of the own lane is on the relay's disk."""

    re: RequestId
    through: int


@dataclass(frozen=True, slots=True)
class Ops:
    """The answer to `pull`, or without `re` a hint. `more` says that another pull would find more."""

    ops: tuple[Carried, ...]
    re: RequestId | None = None
    more: bool = False


@dataclass(frozen=True, slots=True)
class Acknowledged:
    """The answer to `ack`."""

    re: RequestId


@dataclass(frozen=True, slots=True)
class Online:
    """A replica that is connected, and since when, in ISO 8601."""

    replica: str
    since: str


@dataclass(frozen=True, slots=True)
class Presence:
    """Every replica of the team that is connected now."""

    online: tuple[Online, ...]


@dataclass(frozen=True, slots=True)
class Error:
    """A request was not done. `reason` begins with a `Why`."""

    re: RequestId
    reason: str


# To a relay


@dataclass(frozen=True, slots=True)
class Auth:
    """The answer to `challenge`. `key_op` is the own key op, for a relay that may not have it."""

    replica: str
    sig: str
    key_op: Carried | None = None


@dataclass(frozen=True, slots=True)
class Publish:
    """Add these entries, in the order of their seqs, to the own lane."""

    id: RequestId
    ops: tuple[Carried, ...]


@dataclass(frozen=True, slots=True)
class Pull:
    """Ask for each lane what is above `since`, or all of a lane that is not named; `replicas` limits the lanes."""

    id: RequestId
    since: Mapping[str, int]
    replicas: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Ack:
    """Say that the client holds each publisher's lane through this seq."""

    id: RequestId
    through: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Unknown:
    """A frame of a kind that is not known here, to be passed over."""

    t: str


Frame: TypeAlias = (
    Challenge
    | Ready
    | Refused
    | Stored
    | Ops
    | Acknowledged
    | Presence
    | Error
    | Auth
    | Publish
    | Pull
    | Ack
    | Unknown
)

Members: TypeAlias = dict[str, JsonValue]


# Reading


def parse(text: str) -> Frame:
    """Read one frame. The caller has bounded its length. Raises FrameError."""
    members, carried_ops = _members(text)
    kind = members.get("t")
    if not isinstance(kind, str):
        raise FrameError("a frame has a `t`, which is a string")
    read = _READERS.get(kind)
    return Unknown(kind) if read is None else read(members, carried_ops)


_CARRYING: Final = ("ops", "keyOp")
"""Members whose text is kept, since it is an op's."""

_SPACE: Final = " \t\n\r"

# What nearly every member looks like, read sooner than by the general reader and to the same end.
_NAME: Final = re.compile(r'"([A-Za-z]+)"[ \t\n\r]*:[ \t\n\r]*')
_SHORT: Final = re.compile(r'"([A-Za-z0-9 _.:-]{0,200})"|(0|[1-9][0-9]{0,14})(?=[ \t\n\r,}])')


@dataclass(slots=True)
class _CarriedOps:
    """The ops of a frame: the items of `ops` where that is a list, and `keyOp`."""

    ops: tuple[Carried, ...] | None = None
    key_op: Carried | None = None


def _members(text: str) -> tuple[Members, _CarriedOps]:
    """Read the outermost object member by member, and the items of `ops` one by one."""
    members: Members = {}
    found = _CarriedOps()
    at = _expect(text, _past_space(text, 0), "{")
    if not text.startswith("}", at := _past_space(text, at)):
        while True:
            name, at = _name(text, at)
            if name in members:
                raise FrameError("a frame repeats a member")
            start = at
            if name == "ops" and text.startswith("[", at):
                found.ops, at = _items(text, at + 1)
                members[name] = None
            elif short := _SHORT.match(text, at):
                members[name] = int(short[2]) if short[1] is None else short[1]
                at = short.end()
            else:
                value, at = _value(text, at)
                members[name] = value.value
                if name == "keyOp":
                    found.key_op = Carried(text[start:at], value)
            at = _past_space(text, at)
            if not text.startswith(",", at):
                break
            at = _past_space(text, at + 1)
    at = _past_space(text, _expect(text, at, "}"))
    if at != len(text):
        raise FrameError("not JSON")
    return members, found


def _name(text: str, at: int) -> tuple[str, int]:
    """Read the name of a member and the colon after it; return where its value begins."""
    plain = _NAME.match(text, at)
    if plain is not None:
        return plain[1], plain.end()
    name, at = _value(text, at)
    if not isinstance(name.value, str):
        raise FrameError("not JSON")
    return name.value, _past_space(text, _expect(text, _past_space(text, at), ":"))


def _items(text: str, at: int) -> tuple[tuple[Carried, ...], int]:
    items: list[Carried] = []
    if text.startswith("]", at := _past_space(text, at)):
        return (), at + 1
    while True:
        start = at
        value, at = _value(text, at)
        items.append(Carried(text[start:at], value))
        at = _past_space(text, at)
        if not text.startswith(",", at):
            return tuple(items), _expect(text, at, "]")
        at = _past_space(text, at + 1)


def _value(text: str, at: int) -> tuple[Parsed, int]:
    try:
        return parse_at(text, at)
    except JsonError as error:
        raise FrameError(str(error)) from None


def _expect(text: str, at: int, character: str) -> int:
    if not text.startswith(character, at):
        raise FrameError("not JSON")
    return at + 1


def _past_space(text: str, at: int) -> int:
    while at < len(text) and text[at] in _SPACE:
        at += 1
    return at


def _text(members: Members, name: str) -> str:
    value = members.get(name)
    if not isinstance(value, str) or len(value) > MAX_TEXT:
        raise FrameError(f"{name} is not a string of at most {MAX_TEXT} characters")
    return value


def _request(members: Members, name: str) -> RequestId:
    value = members.get(name)
    if isinstance(value, str) and len(value) <= MAX_TEXT:
        return value
    if type(value) is int and abs(value) <= MAX_SEQ:
        return value
    raise FrameError(f"{name} is neither an integer nor a string of at most {MAX_TEXT} characters")


def _replica(value: JsonValue) -> str:
    if not isinstance(value, str) or not REPLICA_ID.fullmatch(value):
        raise FrameError("a replica id is outside the grammar")
    return value


def _seq(value: JsonValue) -> int:
    if type(value) is not int or not 0 <= value <= MAX_SEQ:
        raise FrameError("a seq is not an integer of 0 or more")
    return value


def _seqs(members: Members, name: str) -> dict[str, int]:
    value = members.get(name)
    if not isinstance(value, dict) or len(value) > MAX_LANES:
        raise FrameError(f"{name} is not an object of at most {MAX_LANES} members")
    return {_replica(replica): _seq(seq) for replica, seq in value.items()}


def _list(members: Members, name: str) -> list[JsonValue]:
    value = members.get(name)
    if not isinstance(value, list) or len(value) > MAX_LANES:
        raise FrameError(f"{name} is not a list of at most {MAX_LANES}")
    return value


def _ops(carried_ops: _CarriedOps) -> tuple[Carried, ...]:
    if carried_ops.ops is None:
        raise FrameError("ops is not a list")
    return carried_ops.ops


def _read_ops(members: Members, carried_ops: _CarriedOps) -> Ops:
    re = _request(members, "re") if "re" in members else None
    return Ops(_ops(carried_ops), re, more=members.get("more") is True)


def _read_presence(members: Members, _: _CarriedOps) -> Presence:
    online: list[Online] = []
    for each in _list(members, "online"):
        if not isinstance(each, dict):
            raise FrameError("online has an entry that is no object")
        since = each.get("since")
        online.append(Online(_replica(each.get("replica")), since if isinstance(since, str) else ""))
    return Presence(tuple(online))


def _read_pull(members: Members, _: _CarriedOps) -> Pull:
    replicas = None
    if "replicas" in members:
        replicas = tuple(map(_replica, _list(members, "replicas")))
    return Pull(_request(members, "id"), _seqs(members, "since"), replicas)


_READERS: Final[Mapping[str, Callable[[Members, _CarriedOps], Frame]]] = {
    "challenge": lambda members, _: Challenge(_text(members, "nonce")),
    "ready": lambda *_: Ready(),
    "refused": lambda members, _: Refused(_text(members, "reason")),
    "stored": lambda members, _: Stored(_request(members, "re"), _seq(members.get("through"))),
    "ops": _read_ops,
    "acknowledged": lambda members, _: Acknowledged(_request(members, "re")),
    "presence": _read_presence,
    "error": lambda members, _: Error(_request(members, "re"), _text(members, "reason")),
    "auth": lambda members, ops: Auth(_replica(members.get("replica")), _text(members, "sig"), ops.key_op),
    "publish": lambda members, ops: Publish(_request(members, "id"), _ops(ops)),
    "pull": _read_pull,
    "ack": lambda members, _: Ack(_request(members, "id"), _seqs(members, "through")),
}


# Writing


_json: Final[Callable[[Members], str]] = json.JSONEncoder(separators=(",", ":")).encode
_quoted: Final[Callable[[str], str]] = json.encoder.encode_basestring_ascii


def write(frame: Frame) -> str:
    """Write one frame."""
    match frame:
        case Challenge(nonce):
            return _json({"t": "challenge", "nonce": nonce})
        case Ready():
            return _json({"t": "ready"})
        case Refused(reason):
            return _json({"t": "refused", "reason": reason})
        case Stored(re, through):  # one for each publication
            return f'{{"t":"stored","re":{re if type(re) is int else _quoted(str(re))},"through":{through}}}'
        case Ops(ops, re, more):
            rest: Members = {"t": "ops"}
            if re is not None:
                rest["re"] = re
            if more:
                rest["more"] = True
            return _with_ops(rest, ops)
        case Acknowledged(re):
            return _json({"t": "acknowledged", "re": re})
        case Presence(online):
            return _json(
                {
                    "t": "presence",
                    "online": [{"replica": each.replica, "since": each.since} for each in online],
                }
            )
        case Error(re, reason):
            return _json({"t": "error", "re": re, "reason": reason})
        case Auth(replica, sig, key_op):
            key = "" if key_op is None else f',"keyOp":{key_op.text}'
            return f"{_json({'t': 'auth', 'replica': replica, 'sig': sig})[:-1]}{key}}}"
        case Publish(id_, ops):
            return _with_ops({"t": "publish", "id": id_}, ops)
        case Pull(id_, since, replicas):
            pull: Members = {"t": "pull", "id": id_, "since": dict(since)}
            if replicas is not None:
                pull["replicas"] = list(replicas)
            return _json(pull)
        case Ack(id_, through):
            return _json({"t": "ack", "id": id_, "through": dict(through)})
        case Unknown(t):
            return _json({"t": t})


def hint(ops: Iterable[str]) -> str:
    """Write the frame that hints at ops, which are JSON already."""
    return f'{{"t":"ops","ops":[{",".join(ops)}]}}'


def _with_ops(members: Members, ops: Iterable[Carried]) -> str:
    return f'{_json(members)[:-1]},"ops":[{",".join(each.text for each in ops)}]}}'
