"""Ops and stubs: what one replica says, in the form everyone reads, hashes and signs (section F.1).

An op is a header that its publisher signs and content that the header commits to by hash. Once a transport
has pruned the content, the header and its signature stay as a stub, which has the same hash. An **entry** is
either.

An entry from outside is first `Unverified` (`read_line`): it has the shape of an op and fits the size limit
(checks 1 to 9 of federation wire 2.1), its hashes are computed, and nothing more is known of it. The module
`chain` verifies it; only then is it an `Op` or a `Stub`. What does not get that far is `Unreadable`.
"""

import re
from dataclasses import dataclass, field
from enum import Enum
from typing import Final, Literal, NamedTuple, TypeAlias

from crypto.canonical import JsonError, JsonValue, Parsed, canonical, decode, parse
from crypto.clock import ClockError, Reading
from crypto.ed25519 import SigningKey
from crypto.encoding import b64u, sha256_hex
from crypto.header import Header
from crypto.keys import REPLICA_ID
from crypto.sealing import MAX_RECIPIENTS

ZERO_HASH: Final = "0" * 64
"""The `prev` of a key op, which follows nothing."""

MAX_OP_BYTES: Final = 1_048_576
"""Bytes of an op in canonical form. A line longer than that is not even parsed."""

MAX_SEQ: Final = 2**53 - 1
"""The largest integer that every reader of JSON keeps exactly."""

KNOWN_TYPES: Final = frozenset(
    ("key", "roster", "task", "presence", "agent", "channel", "mail", "state", "memory", "doc")
)
SEALED_TYPES: Final = frozenset(("mail", "state"))
STUB_TYPES: Final = frozenset(("mail", "state", "presence"))

_HASH = re.compile(r"[0-9a-f]{64}")
_TYPE = re.compile(r"[a-z][a-z0-9-]{0,31}")

_MEMBERS: Final = frozenset(
    ("v", "replica", "seq", "prev", "hlc", "type", "to", "bodyHash", "sig", "body", "sealed")
)
_CONTENT: Final = frozenset(("body", "sealed"))


class _Absent(Enum):
    ABSENT = "absent"


Absent: TypeAlias = Literal[_Absent.ABSENT]
ABSENT: Final = _Absent.ABSENT
"""A member that is not there, which is not the same as one that is `null`."""


class OpError(ValueError):
    """An op that no reader would take; the message is the reason it would give."""


@dataclass(frozen=True, slots=True)
class Stub:
    """The signed header of an op. `to` is None unless the op is sealed."""

    replica: str
    seq: int
    prev: str
    hlc: Reading
    type: str
    to: tuple[str, ...] | None
    body_hash: str
    sig: str
    hash: str


@dataclass(frozen=True, slots=True)
class Op:
    """An op with its content: a clear `body`, a `sealed` payload, or both for a forward.

    `line` is the line it was read from, where that is its canonical form and need not be written again.
    """

    replica: str
    seq: int
    prev: str
    hlc: Reading
    type: str
    to: tuple[str, ...] | None
    body_hash: str
    sig: str
    hash: str
    body: JsonValue | Absent
    sealed: dict[str, JsonValue] | None
    line: bytes | None = field(default=None, compare=False, repr=False)

    def stub(self) -> Stub:
        """Return what is left of this op once its content is pruned."""
        return Stub(
            self.replica,
            self.seq,
            self.prev,
            self.hlc,
            self.type,
            self.to,
            self.body_hash,
            self.sig,
            self.hash,
        )


Entry: TypeAlias = Op | Stub


class Unverified(NamedTuple):
    """An entry as it was read: its header and content, which nobody has vouched for.

    `signed` is what its signature should cover; `content_hash` is the hash of the content that came with it,
    which `body_hash` should equal. `pruned` tells a stub. `duplicates` tells that some object in the line
    repeated a key. `line` is the line where that is known to be the canonical form, else None.
    """

    replica: str
    seq: int
    prev: str
    hlc: Reading
    type: str
    to: tuple[str, ...] | None
    body_hash: str
    sig: str
    hash: str
    body: JsonValue | Absent
    sealed: JsonValue | Absent
    pruned: bool
    signed: bytes
    content_hash: str
    duplicates: bool
    line: bytes | None

    def stub(self) -> Stub:
        """Return the stub of the entry this is, for a caller that has verified it."""
        return Stub(*self[:9])

    def entry(self) -> Entry:
        """Return the entry this is, for a caller that has verified it."""
        if self.pruned:
            return self.stub()
        return Op(*self[:10], self.sealed if isinstance(self.sealed, dict) else None, self.line)


@dataclass(frozen=True, slots=True)
class Unreadable:
    """What is no entry, the reason, and what can be read of its header all the same.

    `hash` is the opHash of the header members there are, None when they have no canonical form.
    """

    reason: str
    replica: str | None = None
    seq: int | None = None
    prev: str | None = None
    type: str | None = None
    hash: str | None = None


# Reading


def read_line(raw: bytes) -> Unverified | Unreadable:
    """Read one line, without its line feed."""
    if len(raw) > MAX_OP_BYTES:
        return Unreadable("over MAX_OP_BYTES")
    try:
        parsed = parse(decode(raw))
    except JsonError:
        return Unreadable("malformed op")
    return _read(parsed, raw)


def read_parsed(parsed: Parsed, raw: bytes | None = None) -> Unverified | Unreadable:
    """Read an entry from what the text of one says, which `raw` may give; the caller has bounded that text."""
    return _read(parsed, raw)


def read_value(value: JsonValue) -> Unverified | Unreadable:
    """Read an entry from its JSON value, such as the op inside a forward."""
    return _read(Parsed(value, plain=False, duplicates=False))


def read_entry(line: bytes) -> Entry:
    """Read back an entry that was verified before it was written. Raises OpError for anything else."""
    read = read_line(line)
    if isinstance(read, Unreadable):
        raise OpError(read.reason)
    return read.entry()


def _read(parsed: Parsed, raw: bytes | None = None) -> Unverified | Unreadable:
    if not isinstance(parsed.value, dict):
        return Unreadable("malformed op")
    try:
        return _checked(parsed.value, parsed, raw)
    except OpError as error:
        return _unreadable(parsed.value, str(error))


def _checked(value: dict[str, JsonValue], parsed: Parsed, raw: bytes | None) -> Unverified:
    """Check an entry on its own, in the order of federation wire 2.1. Raises OpError with the reason."""
    get = value.get
    sig, prev, body_hash = get("sig"), get("prev"), get("bodyHash")
    if not (isinstance(sig, str) and isinstance(prev, str) and isinstance(body_hash, str)):
        raise OpError("malformed op")
    if not (_HASH.fullmatch(prev) and _HASH.fullmatch(body_hash)):
        raise OpError("malformed op")
    version = get("v")
    if type(version) is not int or version != 2:
        raise OpError("not a v2 op")
    replica, type_, seq, hlc = get("replica"), get("type"), get("seq"), get("hlc")
    if not isinstance(replica, str) or not REPLICA_ID.fullmatch(replica):
        raise OpError("replica id outside the grammar")
    if not isinstance(type_, str) or not (type_ in KNOWN_TYPES or _TYPE.fullmatch(type_)):
        raise OpError("not a v2 op")
    # A bool is an int to Python.
    if type(seq) is not int or not 1 <= seq <= MAX_SEQ:
        raise OpError("seq must rise")
    if not isinstance(hlc, str):
        raise OpError("hlc outside the grammar")
    try:
        reading = Reading.parse(hlc)
    except ClockError:
        raise OpError("hlc outside the grammar") from None
    if reading.replica != replica:
        raise OpError("hlc must name its own replica")
    to = _recipients(value["to"]) if "to" in value else None
    header = Header.write(replica, seq, prev, hlc, type_, to, body_hash)
    body, sealed = get("body", ABSENT), get("sealed", ABSENT)
    try:
        content = _content(body, sealed, plain=parsed.plain)
        signed_header = header.with_sig(sig)
        size = len(signed_header) + _added(content) + _extra_size(value)
    except JsonError:
        raise OpError("malformed op") from None
    if size > MAX_OP_BYTES:
        raise OpError("over MAX_OP_BYTES")
    return Unverified(
        replica,
        seq,
        prev,
        reading,
        type_,
        to,
        body_hash,
        sig,
        sha256_hex(signed_header),
        body,
        sealed,
        get("pruned") is True,
        header.to_sign(),
        sha256_hex(content),
        parsed.duplicates,
        raw if raw == _line_of(header, signed_header, body, sealed, content) else None,
    )


def _line_of(
    header: Header, signed_header: bytes, body: JsonValue | Absent, sealed: JsonValue | Absent, content: bytes
) -> bytes | None:
    """Put the canonical form of an op together from its parts; None for one that is not simply put together."""
    members = content[1:-1]
    if sealed is ABSENT:
        return b"{%b,%b" % (members, signed_header[1:])
    if body is ABSENT:
        at = 1 + len(header.start)
        return b"%b%b,%b" % (signed_header[:at], members, signed_header[at:])
    return None


def _recipients(to: JsonValue) -> tuple[str, ...]:
    if not isinstance(to, list) or not 1 <= len(to) <= MAX_RECIPIENTS:
        raise OpError("bad recipient list")
    names: list[str] = []
    for name in to:
        if not isinstance(name, str) or not REPLICA_ID.fullmatch(name) or (names and names[-1] >= name):
            raise OpError("bad recipient list")
        names.append(name)
    return tuple(names)


def _added(members: bytes) -> int:
    """Return how many bytes an object grows by when the members of another are added to it."""
    return len(members) - 1 if members != b"{}" else 0


def _extra_size(value: dict[str, JsonValue]) -> int:
    """Return the canonical bytes of the members that nothing commits to, `pruned` among them."""
    if _MEMBERS.issuperset(value):
        return 0
    return _added(canonical({name: item for name, item in value.items() if name not in _MEMBERS}))


def _unreadable(value: dict[str, JsonValue], reason: str) -> Unreadable:
    replica, seq, prev, type_ = (value.get(name) for name in ("replica", "seq", "prev", "type"))
    return Unreadable(
        reason,
        replica if isinstance(replica, str) else None,
        seq if type(seq) is int and 1 <= seq <= MAX_SEQ else None,
        prev if isinstance(prev, str) and _HASH.fullmatch(prev) else None,
        type_ if isinstance(type_, str) else None,
        _hash_of_any(value),
    )


def _hash_of_any(value: dict[str, JsonValue]) -> str | None:
    header = {name: item for name, item in value.items() if name in _MEMBERS - _CONTENT}
    try:
        return sha256_hex(canonical(header | {"v": 2}))
    except JsonError:
        return None


# What the content may be


def tampering(read: Unverified) -> str | None:
    """Return how an entry's content differs from what its header was signed for, or None.

    Whoever can write to a transport can do that to any op, so it says nothing of the publisher. These are
    checks 16s, 17s and 16f of federation wire 2.1.
    """
    if not read.pruned:
        return None if read.content_hash == read.body_hash else "bodyHash mismatch"
    if read.type not in STUB_TYPES:
        return f"a {read.type} op cannot be a stub"
    if read.body is not ABSENT or read.sealed is not ABSENT:
        return "a stub carries no content"
    return None


def breach(read: Unverified) -> str | None:
    """Return the rule that an entry's own, signed content breaks, or None: checks 17f to 20f of wire 2.1."""
    if read.pruned:
        return None
    if read.type not in SEALED_TYPES:
        if read.sealed is not ABSENT or read.to is not None:
            return "only mail and state are sealed"
        return None
    if read.sealed is ABSENT:
        return "sealed types carry sealed content"
    if read.type == "state" and read.body is not ABSENT:
        return "state ops carry only sealed content"
    keys = read.sealed.get("keys") if isinstance(read.sealed, dict) else None
    if read.to is None or not isinstance(keys, dict) or list(read.to) != sorted(keys):
        return "keys must equal to"
    return None


# Writing


def make_op(
    *,
    replica: str,
    seq: int,
    prev: str,
    hlc: Reading,
    type: str,
    signer: SigningKey,
    body: JsonValue | Absent = ABSENT,
    sealed: dict[str, JsonValue] | None = None,
) -> Op:
    """Sign an op that follows the op whose hash is `prev`; a key op follows ZERO_HASH.

    Its recipients are those `sealed` has keys for. Whether it fits its chain (a `seq` and an `hlc` that rise)
    is for the caller, who knows the chain.

    Raises OpError for what a reader would refuse, and JsonError for content without a canonical form.
    """
    value: dict[str, JsonValue] = {
        "v": 2,
        "replica": replica,
        "seq": seq,
        "prev": prev,
        "hlc": str(hlc),
        "type": type,
    }
    to = None
    if sealed is not None:
        keys = sealed.get("keys")
        to = tuple(sorted(keys)) if isinstance(keys, dict) else ()
        value |= {"to": list(to), "sealed": sealed}
    if body is not ABSENT:
        value["body"] = body
    body_hash = sha256_hex(_content(body, ABSENT if sealed is None else sealed, plain=False))
    header = Header.write(replica, seq, prev, str(hlc), type, to, body_hash)
    value |= {"bodyHash": body_hash, "sig": b64u(signer.sign(header.to_sign()))}
    read = read_value(value)
    if isinstance(read, Unreadable):
        raise OpError(read.reason)
    flaw = breach(read)
    if flaw is not None:
        raise OpError(flaw)
    op = read.entry()
    assert isinstance(op, Op)
    return op


def to_line(entry: Entry) -> bytes:
    """Write an entry in canonical form, without a line feed."""
    body = sealed = pruned = ""
    if isinstance(entry, Op) and entry.line is not None:
        return entry.line
    if isinstance(entry, Stub):
        pruned = '"pruned":true,'
    else:
        body = _member("body", entry.body)
        sealed = _member("sealed", ABSENT if entry.sealed is None else entry.sealed)
    header = Header.write(
        entry.replica,
        entry.seq,
        entry.prev,
        str(entry.hlc),
        entry.type,
        entry.to,
        entry.body_hash,
        pruned=pruned,
    )
    return f'{{{body}{header.start}{sealed}{header.seq}"sig":"{entry.sig}",{header.end}'.encode()


def _member(name: str, value: JsonValue | Absent) -> str:
    return "" if value is ABSENT else canonical({name: value})[1:-1].decode() + ","


def _content(body: JsonValue | Absent, sealed: JsonValue | Absent, *, plain: bool) -> bytes:
    """Return the canonical form of an entry's content, which bodyHash is the hash of. Raises JsonError."""
    content: dict[str, JsonValue] = {}
    if body is not ABSENT:
        content["body"] = body
    if sealed is not ABSENT:
        content["sealed"] = sealed
    return canonical(content, plain=plain)
