"""What a walk along a lane keeps beside it: the lines still waiting for their place, and the ops consumed.

An audit of a long lane puts a temporary file behind `SideStore`, so that its memory stays flat whatever the
order of the lines; `MemorySide` is for what is in memory anyway.
"""

from collections.abc import Iterable
from typing import NamedTuple, Protocol


class Waiting(NamedTuple):
    """A line that does not follow yet: what it claims, and its bytes.

    `hash` is its opHash, or empty for a line that is no entry and only claims a place.
    """

    seq: int
    hash: str
    prev: str
    raw: bytes


class Consumed(NamedTuple):
    """An op the walk has taken, and the grade of the line it was taken from."""

    seq: int
    hash: str
    grade: int


class SideStore(Protocol):
    """Keeps what one walk sees. Nothing in it outlives `clear`."""

    def consume(self, seq: int, prev: str, hash_: str, grade: int) -> None:
        """Keep an op of the chain, in place of what was kept for its seq."""

    def at(self, seq: int) -> Consumed | None:
        """Return the consumed op with this seq."""

    def after(self, prev: str) -> Consumed | None:
        """Return the consumed op that follows the op with this hash."""

    def put(self, line: Waiting) -> None:
        """Keep a line."""

    def following(self, prev: str) -> Iterable[Waiting]:
        """Return the lines that claim to follow the op with this hash, by seq and hash."""

    def waiting(self) -> Iterable[Waiting]:
        """Return every line kept, by seq and hash."""

    def clear(self) -> None:
        """Forget everything."""


class MemorySide:
    """A side store of plain dictionaries."""

    def __init__(self) -> None:
        # Strings and integers by themselves: the garbage collector need not look at a long chain's.
        self._hashes: dict[int, str] = {}
        self._grades: dict[int, int] = {}
        self._seq_after: dict[str, int] = {}
        self._lines: dict[str, list[Waiting]] = {}

    def consume(self, seq: int, prev: str, hash_: str, grade: int) -> None:
        self._hashes[seq] = hash_
        self._seq_after[prev] = seq
        if grade or seq in self._grades:
            self._grades[seq] = grade

    def at(self, seq: int) -> Consumed | None:
        hash_ = self._hashes.get(seq)
        return None if hash_ is None else Consumed(seq, hash_, self._grades.get(seq, 0))

    def after(self, prev: str) -> Consumed | None:
        seq = self._seq_after.get(prev)
        return None if seq is None else self.at(seq)

    def put(self, line: Waiting) -> None:
        self._lines.setdefault(line.prev, []).append(line)

    def following(self, prev: str) -> Iterable[Waiting]:
        return sorted(self._lines.get(prev, ()))

    def waiting(self) -> Iterable[Waiting]:
        return sorted(line for lines in self._lines.values() for line in lines)

    def clear(self) -> None:
        for kept in (self._hashes, self._grades, self._seq_after, self._lines):
            kept.clear()
