"""Segments: the files of a lane, lines of JSON that are only ever added to (federation wire 6.5, 6.6).

Reading: a `Scanner` finds in a segment the lines from a seq on, and remembers of it what spares the next
pass the work: its highest seq, the lines that have it, and what in it is no line. A segment that has grown
is read from where it had ended. Writing: `append` continues the newest segment or starts new ones.
"""

import hashlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from crypto.canonical import JsonError, JsonValue, canonical, decode, parse
from crypto.encoding import sha256_hex
from transports.git.limits import SEGMENT_BYTES, SEGMENT_OPS
from transports.lines import JunkError, complete_lines, is_blank, seq_of

_NO_SEQ: Final = -1
_KEPT_BYTES: Final = 64 * 1024
_MAX_NUMBER: Final = 10**12 - 1
_SIGNED: Final = ("v", "replica", "seq", "prev", "hlc", "type", "to", "bodyHash", "sig")


@dataclass(frozen=True, slots=True)
class Note:
    """Lines that are none, for one reason: how many, and the number of the first (from 1; 0 for the file)."""

    line: int
    count: int
    reason: str


@dataclass(frozen=True, slots=True)
class Scan:
    """What one segment was found to hold.

    `heads` are the lines with the highest seq, or None where they are too long to keep. `size` is the length
    in bytes up to which the segment was read, and `lines` the number of lines there; a longer segment that
    begins with the same bytes continues from there.
    """

    oid: str
    size: int
    lines: int
    top: int
    heads: tuple[bytes, ...] | None
    notes: tuple[Note, ...]

    def is_below(self, since: int) -> bool:
        """Whether no line of the segment is asked for."""
        return self.top < since

    def answer(self, since: int) -> tuple[bytes, ...] | None:
        """Return the lines from a seq on where they are known without reading the segment."""
        if self.is_below(since):
            return ()
        return self.heads if self.top == since else None


def unread(oid: str, reason: str) -> Scan:
    """Return what is remembered of a segment that is not read at all."""
    return Scan(oid, 0, 0, _NO_SEQ, (), (Note(0, 1, reason),))


class Scanner:
    """One reading of one segment. `result` is complete once `lines` has ended."""

    def __init__(self, replica: str, oid: str, data: bytes, known: Scan | None) -> None:
        """`known` is what an earlier version of this segment was found to hold."""
        self._replica = replica
        self._oid = oid
        self._data = data
        self._known = known if known is not None and begins_with(data, known.oid, known.size) else None
        self._top = _NO_SEQ
        self._heads: list[bytes] | None = []
        self._notes: dict[str, Note] = {}
        self._number = 0

    def lines(self, since: int) -> Iterator[bytes]:
        """Yield the lines whose seq is at least `since`."""
        start = 0
        if self._known is not None and (answer := self._known.answer(since)) is not None:
            self._continue(self._known)
            start = self._known.size
            yield from answer
        for raw in complete_lines(self._data, start):
            self._number += 1
            seq = self._read(raw)
            if seq is not None and seq >= since:
                yield raw

    def result(self) -> Scan:
        end = self._data.rfind(b"\n") + 1
        notes = list(self._notes.values())
        if end < len(self._data):
            notes.append(Note(self._number + 1, 1, "has no line feed at its end"))
        heads = self._heads
        kept = heads is not None and sum(map(len, heads)) <= _KEPT_BYTES
        return Scan(
            self._oid, end, self._number, self._top, tuple(heads or ()) if kept else None, tuple(notes)
        )

    def _continue(self, known: Scan) -> None:
        self._number = known.lines
        self._top = known.top
        self._heads = None if known.heads is None else list(known.heads)
        self._notes = {note.reason: note for note in known.notes}

    def _read(self, raw: bytes) -> int | None:
        if is_blank(raw):
            return None
        try:
            seq = seq_of(self._replica, raw)
        except JunkError as error:
            reason = str(error)
            earlier = self._notes.get(reason, Note(self._number, 0, reason))
            self._notes[reason] = Note(earlier.line, earlier.count + 1, reason)
            return None
        if seq > self._top:
            self._top, self._heads = seq, []
        if seq == self._top and self._heads is not None:
            self._heads.append(raw)
        return seq


def begins_with(data: bytes, oid: str, size: int) -> bool:
    """Whether bytes begin with those of the blob `oid`, the first `size` of them or all, which must be some."""
    if not 0 < size <= len(data):
        return False
    blob = hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False)
    blob.update(memoryview(data)[:size])
    return blob.hexdigest() == oid


@dataclass(frozen=True, slots=True)
class Written:
    """A segment to write: its name and all its bytes."""

    name: str
    data: bytes


def newest(names: Collection[str], first_seq: int) -> str | None:
    """Return the segment that ops from `first_seq` on may continue: the highest not numbered above it."""
    return max((name for name in names if _number(name) <= first_seq), default=None)


def append(
    lines: Sequence[bytes], names: Collection[str], current: tuple[str, bytes] | None
) -> Sequence[Written]:
    """Say which segments to write so that the lane also holds `lines`, ops in the order of their seqs.

    `names` are all names of segments that are taken; `current` is the newest segment with its bytes, or None
    where it is not to be continued. Its bytes stay as they are.

    Raises ValueError for a line that is no op.
    """
    ops = [_members(raw) for raw in lines]
    taken = set(names)
    name, data, count = "", b"", SEGMENT_OPS
    if current is not None and _last_hash(current[1]) == ops[0].get("prev"):
        name, data = current
        count = data.count(b"\n")
    written: dict[str, list[bytes]] = {}
    size = len(data)
    for raw, op in zip(lines, ops, strict=True):
        if count >= SEGMENT_OPS or size >= SEGMENT_BYTES:
            name, data, count, size = _free_name(op, taken), b"", 0, 0
            taken.add(name)
        written.setdefault(name, [data]).append(raw + b"\n")
        count += 1
        size += len(raw) + 1
    return [Written(name, b"".join(parts)) for name, parts in written.items()]


def first_seq(lines: Sequence[bytes]) -> int:
    """Return the seq of the first op to publish. Raises ValueError for a line that is no op."""
    return _seq(_members(lines[0]))


def _free_name(op: Mapping[str, JsonValue], taken: set[str]) -> str:
    number = _seq(op)
    while number <= _MAX_NUMBER and _name(number) in taken:
        number += 1
    if number > _MAX_NUMBER:
        raise ValueError("no segment can be named for so high a seq")
    return _name(number)


def _name(number: int) -> str:
    return f"{number:012d}.jsonl"


def _number(name: str) -> int:
    return int(name.removesuffix(".jsonl"))


def _members(raw: bytes) -> Mapping[str, JsonValue]:
    value = parse(decode(raw)).value
    if not isinstance(value, dict) or b"\n" in raw:
        raise ValueError("not an op")
    return value


def _seq(op: Mapping[str, JsonValue]) -> int:
    seq = op.get("seq")
    if type(seq) is not int:
        raise ValueError("an op without a seq")
    return seq


def _last_hash(data: bytes) -> str | None:
    """Return the opHash of the last line, or None where that is torn or no op."""
    if not data.endswith(b"\n"):
        return None
    try:
        op = _members(data[data.rfind(b"\n", 0, -1) + 1 : -1])
        return sha256_hex(canonical({name: op[name] for name in _SIGNED if name in op}))
    except (JsonError, ValueError):
        return None
