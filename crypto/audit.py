"""What a whole lane amounts to, read in flat memory: the numbers of an audit.

A lane is walked as `walk` says, from its key op on, and every entry is counted and let go. What has to be kept
beside the walk goes into the side store that the caller brings, which may be a file.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from functools import partial

from crypto.clock import Reading
from crypto.keys import KeyBody
from crypto.lane import History
from crypto.op import Entry, Unverified
from crypto.side import SideStore
from crypto.walk import REPEATED_KEYS, STUB, Lane, Outcome, Rules, walk


@dataclass(slots=True)
class Tally:
    """What the accepted entries of a chain add up to.

    `first` and `last` are the clocks of the first and the last. `skips` counts the places where seq jumps,
    `stubs` the entries without their content, `flagged` those whose line repeats a key. `kept` are the entries
    of the types in `keep`.
    """

    keep: Collection[str] = ()
    entries: int = 0
    types: Counter[str] = field(default_factory=Counter)
    first: Reading | None = None
    last: Reading | None = None
    last_seq: int = 0
    skips: int = 0
    stubs: int = 0
    flagged: int = 0
    kept: list[Entry] = field(default_factory=list)

    def accept(self, read: Unverified, grade: int) -> None:
        """Count the next entry."""
        if self.first is None:
            self.first = read.hlc
        elif read.seq != self.last_seq + 1:
            self.skips += 1
        self.last, self.last_seq = read.hlc, read.seq
        self.entries += 1
        self.types[read.type] += 1
        self._count_grade(grade, 1)
        if read.type in self.keep:
            self.kept.append(read.entry())

    def improve(self, read: Unverified, was: int, grade: int) -> None:
        """Count a better line of an entry that was counted before."""
        self._count_grade(was, -1)
        self._count_grade(grade, 1)
        if read.type in self.keep:
            self.kept = [read.entry() if each.seq == read.seq else each for each in self.kept]

    def restore(self, read: Unverified) -> None:
        """An audit wants no content in particular."""

    def _count_grade(self, grade: int, by: int) -> None:
        self.stubs += by * bool(grade & STUB)
        self.flagged += by * bool(grade & REPEATED_KEYS)


@dataclass(frozen=True, slots=True)
class LaneAudit:
    """What was accepted of one lane, and how its walk ended."""

    replica: str
    tally: Tally
    outcome: Outcome


def audit_lane(
    replica: str,
    lines: Callable[[], Iterable[bytes]],
    key: KeyBody,
    side: SideStore,
    *,
    horizon_ms: int | None = None,
    cut: tuple[int, str] | None = None,
    keep: Collection[str] = (),
) -> LaneAudit:
    """Audit a lane under the key decided for its replica.

    `lines` gives the lines, in any order, each time it is called: once, and where the chain forks twice more.
    `horizon_ms` and `cut` are as `lane.read_lane` has them. Entries of the types in `keep` stay in memory.
    """
    lane = Lane(replica, lines, None, Rules(key, horizon_ms, cut), History())
    tally, outcome = walk(lane, side, partial(Tally, keep))
    return LaneAudit(replica, tally, outcome)
