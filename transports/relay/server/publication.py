"""What a replica publishes, verified before it is stored: the chain rules, and what a relay adds (wire 7.5).

Pure and without shared state. A relay takes a publication whole or not at all. Most of the work is in what can be
told of an op by itself, its signature above all: `sound` does that ahead, in any process.
"""

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, NamedTuple

from crypto.canonical import JsonError, JsonValue, parse
from crypto.chain import BAD_SIGNATURE, Head, announced_key, is_signed, link_flaw
from crypto.clock import Reading
from crypto.keys import KeyBody
from crypto.op import (
    STUB_TYPES,
    Absent,
    Op,
    OpError,
    Unreadable,
    Unverified,
    breach,
    read_parsed,
    tampering,
    to_line,
)
from crypto.roster.ops import RosterOp
from transports.relay.frames import Carried, Why
from transports.relay.server.store import FIRST_TOO, Row, row_size


class PublicationError(Exception):
    """A publication that is not taken; `why` and the message make the reason that is given."""

    def __init__(self, why: Why, message: str) -> None:
        super().__init__(message)
        self.why = why

    @property
    def reason(self) -> str:
        return self.why.reason(str(self))


class Sound(NamedTuple):
    """An op of which nothing is wrong by itself, its signature included: what to store of it, and what it follows."""

    row: Row
    prev: str

    @property
    def seq(self) -> int:
        return self.row.seq

    @property
    def hash(self) -> str:
        return self.row.hash

    @property
    def type(self) -> str:
        return self.row.type

    @property
    def hlc(self) -> Reading:
        return Reading.parse(self.row.hlc)

    @property
    def pruned(self) -> bool:
        return self.row.line is None


NOT_AHEAD: Final = frozenset(("key", "roster"))
"""Types of ops that are read anew wherever they are examined, for what they say of the team."""

_NONE_AHEAD: Final[Mapping[int, Sound]] = MappingProxyType({})


def sound(replica: str, sign_key: bytes, text: str) -> Sound | None:
    """Look at the text of an op by itself, which should be of this replica and signed with its key.

    None where something is wrong with it, or it is one of NOT_AHEAD: `examining` says what.
    """
    try:
        read = _read(replica, Carried(text, parse(text)))
    except (JsonError, PublicationError):
        return None
    if read.type in NOT_AHEAD or _flaw(read, sign_key):
        return None
    return Sound(_row(read), read.prev)


@dataclass(frozen=True, slots=True)
class Examined:
    """What a publication adds to its lane: rows to store, the head past them, and the roster ops among them.

    `repeated` counts ops that were stored before. `key_op` is the lane's first op where it is among them.
    """

    rows: Sequence[Row]
    head: Head | None
    roster: Sequence[RosterOp]
    repeated: int
    key_op: Op | None


def examine(
    replica: str, head: Head | None, key: KeyBody, ops: Sequence[Carried], known: Mapping[int, str]
) -> Examined:
    """Verify a publication for the lane of a replica whose key this is.

    `known` has the hashes of the stored ops whose seqs it repeats. Raises PublicationError.
    """
    steps = examining(replica, head, key, ops, known)
    while True:
        try:
            next(steps)
        except StopIteration as done:
            found: Examined = done.value
            return found


def examining(
    replica: str,
    head: Head | None,
    key: KeyBody,
    ops: Sequence[Carried],
    known: Mapping[int, str],
    ahead: Mapping[int, Sound] = _NONE_AHEAD,
) -> Generator[None, None, Examined]:
    """Do what `examine` does, and pause before each op: many take a tenth of a second.

    `ahead` has what `sound` said of the first op as 0, of the second as 1 and so on, as far as it was asked.
    """
    rows: list[Row] = []
    roster: list[RosterOp] = []
    key_op: Op | None = None
    repeated = last = 0
    start = 0 if head is None else head.seq
    for number, each in enumerate(ops):
        yield
        done = ahead.get(number)
        read = done or _read(replica, each)
        seq = read.seq
        if seq <= last:
            raise PublicationError(Why.INVALID, f"op {seq} comes after op {last}: seqs must rise in a frame")
        last = seq
        if seq <= start:
            _check_repeated(seq, read.hash, known)
            repeated += 1
            continue
        if not rows:
            _check_follows(read, head)
        flaw = link_flaw(read, head)
        if isinstance(read, Sound):
            row = read.row
        else:
            flaw = flaw or _flaw(read, key.sign_key) or (_key_flaw(read, key) if head is None else None)
        if flaw is not None:
            raise PublicationError(Why.INVALID, f"op {seq}: {flaw}")
        if not isinstance(read, Sound):
            row = _row(read)
            if head is None or read.type == "roster":
                entry = read.entry()
                assert isinstance(entry, Op)  # neither is ever a stub
                if head is None:
                    key_op = entry
                else:
                    roster.append(RosterOp.of(entry, key.fingerprint))
        head = Head(seq, read.hash, read.hlc)
        rows.append(row)
    return Examined(rows, head, roster, repeated, key_op)


def _flaw(read: Unverified, sign_key: bytes) -> str | None:
    """What is wrong with an op by itself, None where nothing is."""
    flaw = None if is_signed(read, sign_key) else BAD_SIGNATURE
    return flaw or tampering(read) or breach(read)


def _read(replica: str, op: Carried) -> Unverified:
    assert op.parsed is not None
    read = read_parsed(op.parsed, op.raw)
    if isinstance(read, Unreadable):
        raise PublicationError(Why.INVALID, f"op {read.seq or '?'}: {read.reason}")
    if read.replica != replica:
        raise PublicationError(
            Why.INVALID, f"op {read.seq} is of another replica; only own ops are published"
        )
    if read.duplicates:
        raise PublicationError(
            Why.INVALID, f"op {read.seq} repeats a member, which readers could take two ways"
        )
    return read


def _check_repeated(seq: int, hash_: str, known: Mapping[int, str]) -> None:
    stored = known.get(seq)
    if stored is None:
        raise PublicationError(
            Why.BEHIND,
            f"the stored lane went past seq {seq} without it: this key published another history",
        )
    if stored != hash_:
        raise PublicationError(
            Why.BEHIND, f"another op with seq {seq} is stored, a fork: this key published two histories"
        )


def _check_follows(read: Unverified | Sound, head: Head | None) -> None:
    """Tell a replica whose view of its own lane is not the stored one from one that breaks a rule."""
    if head is None and read.type != "key":
        raise PublicationError(Why.BEHIND, "nothing of this lane is stored; publish it from its key op on")
    if head is not None and read.prev != head.hash:
        raise PublicationError(
            Why.BEHIND, f"op {read.seq} does not follow the stored head, whose seq is {head.seq}"
        )


def _key_flaw(read: Unverified, key: KeyBody) -> str | None:
    try:
        announced_key(read, key)
    except OpError as error:
        return str(error)
    return None


def _row(read: Unverified) -> Row:
    line = None if read.pruned else (read.line or to_line(read.entry())).decode()
    stub = to_line(read.stub()).decode() if read.type in STUB_TYPES else None
    presence = _presence(read.body) if line is not None and read.type == "presence" else None
    size = row_size(line, stub)
    return Row(read.seq, read.hash, str(read.hlc), read.type, read.to, line, stub, size, presence)


def _presence(said: JsonValue | Absent) -> str | None:
    """Return what a presence op is news of, None for one that is news of nothing known here and is kept."""
    body = said if isinstance(said, dict) else {}
    run = body.get("run")
    if body.get("kind") == "replica":
        return "replica"
    return (
        f"{FIRST_TOO}{run}" if body.get("kind") == "run" and isinstance(run, str) and len(run) <= 64 else None
    )
