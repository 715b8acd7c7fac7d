"""The ops of a chain as it is drawn: where each stands, of which type it is, and what it refers to.

Kept only where somebody asks for them, in columns of a few bytes an op, so that a chain of 100,000 ops takes some ten
megabytes and not hundreds. What an op says is not kept, but for the places in other chains that it names.
"""

from array import array
from bisect import bisect_left
from dataclasses import dataclass
from typing import Final

from crypto.canonical import JsonValue
from crypto.op import ABSENT, Unreadable, Unverified, read_value
from crypto.roster.bodies import Admit, Dismiss, Revoke, SetHosts, SetRole, read_body
from crypto.walk import REPEATED_KEYS, STUB

PAST_CUT: Final = 4
"""A mark's grade is that of its line (`crypto.walk`), and this where it stands past its replica's cut."""

MAX_TYPES: Final = 64
"""Types that have a name of their own; a publisher may make up as many as it likes."""

OTHER_TYPES: Final = "(other)"

MAX_RECIPIENT_LISTS: Final = 10_000
"""Different lists of recipients that are kept of one chain."""

_HASH_BYTES: Final = 32


@dataclass(frozen=True, slots=True)
class Link:
    """What the op at `seq` refers to in another chain, or in its own: an op there, or all of it where `to_seq` is None.

    `kind` is `admit`, `revoke`, `role`, `hosts` or `dismiss`, for a roster op, and `forward` for mail that is
    handed on.
    """

    kind: str
    seq: int
    replica: str
    to_seq: int | None


@dataclass(frozen=True, slots=True)
class Mark:
    """One op of a chain: its seq, clock, type, grade, opHash, and the replicas it is sealed to."""

    seq: int
    ms: int
    type: str
    grade: int
    hash: str
    to: tuple[str, ...]


class Marks:
    """The marks of one walk along a chain, in its order."""

    def __init__(self, cut: int | None = None) -> None:
        self._cut = cut
        self._seqs = array("q")
        self._times = array("q")
        self._types = array("B")
        self._grades = array("B")
        self._hashes = bytearray()
        self._recipients = array("H")
        self._type_names: dict[str, int] = {}
        self._lists: dict[tuple[str, ...], int] = {(): 0}
        self.links: list[Link] = []

    def __len__(self) -> int:
        return len(self._seqs)

    def __getitem__(self, index: int) -> Mark:
        start = index % len(self._seqs) * _HASH_BYTES
        return Mark(
            self._seqs[index],
            self._times[index],
            self.types[self._types[index]],
            self._grades[index],
            self._hashes[start : start + _HASH_BYTES].hex(),
            self.recipient_lists[self._recipients[index]],
        )

    @property
    def types(self) -> tuple[str, ...]:
        """The names of types, in the order in which they were met."""
        return tuple(self._type_names)

    @property
    def recipient_lists(self) -> tuple[tuple[str, ...], ...]:
        """The different lists of recipients; the first is that of ops that are sealed to nobody."""
        return tuple(self._lists)

    @property
    def seqs(self) -> "array[int]":
        return self._seqs

    @property
    def times(self) -> "array[int]":
        """Milliseconds since 1970, by the clock of each op."""
        return self._times

    @property
    def type_column(self) -> "array[int]":
        """Of each op the index of its type in `types`."""
        return self._types

    @property
    def grades(self) -> "array[int]":
        return self._grades

    @property
    def recipients(self) -> "array[int]":
        """Of each op the index of its recipients in `recipient_lists`."""
        return self._recipients

    def hash_at(self, index: int) -> str:
        """The opHash of one op."""
        return self._hashes[index * _HASH_BYTES : (index + 1) * _HASH_BYTES].hex()

    def find(self, seq: int) -> int | None:
        """The index of the op with this seq, None where there is none."""
        index = bisect_left(self._seqs, seq)
        return index if index < len(self._seqs) and self._seqs[index] == seq else None

    def accept(self, read: Unverified, grade: int) -> None:
        """Add the next op of the chain."""
        self._seqs.append(read.seq)
        self._times.append(read.hlc.ms)
        self._types.append(self._type_index(read.type))
        past = self._cut is not None and read.seq > self._cut
        self._grades.append(grade + (PAST_CUT if past else 0))
        self._hashes += bytes.fromhex(read.hash)
        to = read.to or ()
        if to not in self._lists and len(self._lists) >= MAX_RECIPIENT_LISTS:
            to = ()
        self._recipients.append(self._lists.setdefault(to, len(self._lists)))
        link = link_of(read.seq, read.type, None if read.body is ABSENT else read.body)
        if link is not None:
            self.links.append(link)

    def improve(self, seq: int, grade: int) -> None:
        """Take the grade of a better line of an op."""
        index = self.find(seq)
        if index is not None:
            self._grades[index] = self._grades[index] & PAST_CUT | grade & (STUB | REPEATED_KEYS)

    def _type_index(self, type_: str) -> int:
        if type_ not in self._type_names and len(self._type_names) >= MAX_TYPES:
            type_ = OTHER_TYPES
        return self._type_names.setdefault(type_, len(self._type_names))


def link_of(seq: int, type_: str, body: JsonValue) -> Link | None:
    """What an op refers to in a chain, as far as anybody can read it; `body` is what it has in the clear."""
    if type_ == "roster":
        match read_body(body):
            case Admit(replica=replica):
                return Link("admit", seq, replica, None)
            case Revoke(replica=replica, cut=cut):
                return Link("revoke", seq, replica, cut.after_seq or None)
            case SetRole(replica=replica):
                return Link("role", seq, replica, None)
            case SetHosts(replica=replica):
                return Link("hosts", seq, replica, None)
            case Dismiss(replica=replica, seq=to_seq):
                return Link("dismiss", seq, replica, to_seq)
            case _:
                return None
    if type_ == "mail" and isinstance(body, dict):
        inner = read_value(body.get("forward"))
        if not isinstance(inner, Unreadable):
            return Link("forward", seq, inner.replica, inner.seq)
    return None
