"""Counting what a walk accepts, without keeping it."""

from array import array
from bisect import bisect_left
from collections import Counter

from crypto.clock import Reading
from crypto.key_claims import CLAIM_OPS
from crypto.op import MAX_SEQ, Op, Unverified
from crypto.roster.ops import RosterOp
from crypto.walk import REPEATED_KEYS, STUB
from replica.audit.marks import MAX_TYPES, OTHER_TYPES, Marks


class Tally:
    """What one walk accepted of a chain. It is the walk's sink (`crypto.walk.Sink`).

    Ops past the seq `cut` are counted apart, as `past_cut`, and are part of no other count. `fingerprint` is
    that of the key the chain is read under. Roster ops are kept where `keep_roster` says so, and with `keep_marks`
    every op as it is drawn. `opening` is the hash of the chain's first roster op, if it is among the first few ops:
    only there a founding counts (federation wire 2.4).
    """

    def __init__(
        self, fingerprint: str, cut: int | None, *, keep_roster: bool, keep_marks: bool = False
    ) -> None:
        self.ops = 0
        self.past_cut = 0
        self.stubs = 0
        self.types: Counter[str] = Counter()
        self.first: Reading | None = None
        self.last: Reading | None = None
        self.opening: str | None = None
        self.roster: list[RosterOp] = []
        self.flagged = array("q")
        """The seqs of ops whose line repeats a key, in their order."""
        self.marks = Marks(cut) if keep_marks else None
        self._fingerprint = fingerprint
        self._cut = MAX_SEQ if cut is None else cut
        self._keep_roster = keep_roster
        self._has_roster_op = False

    def accept(self, read: Unverified, grade: int) -> None:
        if read.type == "roster":
            self._roster_op(read)
        if self.marks is not None:
            self.marks.accept(read, grade)
        if read.seq > self._cut:
            self.past_cut += 1
            return
        self.ops += 1
        self.stubs += bool(grade & STUB)
        if grade & REPEATED_KEYS:
            self.flagged.append(read.seq)
        known = read.type in self.types or len(self.types) < MAX_TYPES
        self.types[read.type if known else OTHER_TYPES] += 1
        self.first = self.first or read.hlc
        self.last = read.hlc

    def improve(self, read: Unverified, was: int, grade: int) -> None:
        if self.marks is not None:
            self.marks.improve(read.seq, grade)
        if read.seq > self._cut:
            return
        self.stubs += bool(grade & STUB) - bool(was & STUB)
        place = bisect_left(self.flagged, read.seq)
        if was & REPEATED_KEYS and not grade & REPEATED_KEYS:
            del self.flagged[place]
        elif grade & REPEATED_KEYS and not was & REPEATED_KEYS:
            self.flagged.insert(place, read.seq)

    def restore(self, read: Unverified) -> None:
        """No stub was accepted before an audit began."""

    def _roster_op(self, read: Unverified) -> None:
        if not self._has_roster_op and self.ops + self.past_cut < CLAIM_OPS:
            self.opening = read.hash
        self._has_roster_op = True
        if self._keep_roster:
            op = read.entry()
            assert isinstance(op, Op)  # a stub of a roster op is never accepted
            self.roster.append(RosterOp.of(op, self._fingerprint))
