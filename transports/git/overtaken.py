"""What may be published on top of what others published meanwhile, without reading it first.

A push that lost its race can go on top of the winner's commit in the same moment, or after everything that is new
was read, applied and taken into account. The first is so much cheaper that many machines on one branch depend on it.
It is right only where reading would have changed nothing about what is published:

- The own lane is as it was. What is new there was published with the same key: by a twin, which must be noticed
  before anything else is said (R4), or by a push whose answer was lost.
- Nobody came, left or was removed meanwhile: no line that is new is of type `key` or `roster`. Otherwise mail could
  go out to a reader whose removal it has overtaken (T5).
- Every other lane only goes on from where it ended. A line in the middle of a chain may be the one that the roster
  ops after it were waiting for; one that is gone, or has a rival, is somebody's to notice.
- The branch goes on from where it was: it was not set back, deleted or replaced.

What cannot be told within bounds is read first, like what must be.
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from transports.base import PullReport
from transports.git.branch import Snapshot
from transports.git.index import SegmentIndex
from transports.git.objects import UnreadableError, UnusableError
from transports.git.pull import Reading
from transports.git.segments import begins_with
from transports.lines import MAX_SEQ, JunkError, claims, complete_lines, is_blank

TEAM_TYPES: Final = frozenset(("key", "roster"))
"""The ops that say who is in the team, and with which keys."""

COMMITS: Final = 500
"""How many commits are looked at on the way back to the one that is known."""

SEGMENTS: Final = 500
"""How many segments may be new or longer (federation wire 6.14)."""

_COMMIT_BYTES: Final = 64 * 1024


class MustReadError(Exception):
    """What others published has to be read before anything is published; the text says why."""


@dataclass(slots=True)
class Overtaken:
    """What was published between two commits of the branch. `before` is the one that was read."""

    before: Snapshot
    after: Snapshot
    index: SegmentIndex
    _bytes_left: int = field(init=False)
    _segments_left: int = SEGMENTS

    def __post_init__(self) -> None:
        self._bytes_left = self.after.limits.overtaken_bytes

    def check(self, replica: str) -> None:
        """Return if what `replica` made for the earlier commit may go on top of the later one.

        Raises MustReadError, UnreadableError.
        """
        if self.before.tip == self.after.tip:
            return
        try:
            self._check(replica)
        except UnusableError as error:
            raise MustReadError(f"something on the branch {error}") from None

    def _check(self, replica: str) -> None:
        if not self._goes_on():
            raise MustReadError("the branch does not go on from where it was")
        earlier, later = self.before.folders(), self.after.folders()
        if earlier.get(replica) != later.get(replica):
            raise MustReadError("the own lane is not what it was")
        if earlier.keys() - later.keys():
            raise MustReadError("a lane is gone")
        for other, folder in later.items():
            if folder != earlier.get(other):
                self._check_lane(other, earlier.get(other), folder)

    def _goes_on(self) -> bool:
        """Whether the earlier commit is among those before the later one, as far as they are looked at."""
        if not self.before.tip or not self.after.tip:
            return not self.before.tip
        waiting, met = deque([self.after.tip]), set[str]()
        while waiting and len(met) < COMMITS:
            oid = waiting.popleft()
            if oid == self.before.tip:
                return True
            if oid not in met:
                met.add(oid)
                waiting += self._parents(oid)
        return False

    def _parents(self, oid: str) -> list[str]:
        objects = self.after.objects
        if objects.find(oid) is None:  # a shallow repository has not all of them
            return []
        head = objects.read(oid, "commit", _COMMIT_BYTES).split(b"\n\n", 1)[0]
        words = [line.split(b" ") for line in head.split(b"\n")]
        return [parts[1].decode("ascii", "replace") for parts in words if parts[0] == b"parent" and parts[1:]]

    def _check_lane(self, replica: str, earlier: str | None, later: str) -> None:
        had = {} if earlier is None else dict(self.before.lane(earlier).segments)
        has = dict(self.after.lane(later).segments)
        if had.keys() - has.keys():
            raise MustReadError("a segment is gone")
        grown = sorted(name for name, oid in has.items() if had.get(name) != oid)
        self._segments_left -= len(grown)
        if self._segments_left < 0:
            raise MustReadError("too much is new")
        top = self._top(replica, earlier) if grown and earlier is not None else -1
        for name in grown:
            for raw in self._new_lines(had.get(name), has[name]):
                top = _check_line(replica, raw, top)

    def _new_lines(self, had: str | None, has: str) -> Iterator[bytes]:
        data = self.after.objects.read(has, "blob", min(self._bytes_left, self.after.limits.segment_bytes))
        self._bytes_left -= len(data)
        if had is None:
            return complete_lines(data)
        header = self.after.objects.find(had)
        if header is None:
            raise UnreadableError(f"blob {had} is missing")
        if not begins_with(data, had, header.size):
            raise MustReadError("a segment was rewritten")
        return complete_lines(data, data.rfind(b"\n", 0, header.size) + 1)  # a torn line may have been mended

    def _top(self, replica: str, folder: str) -> int:
        """Return the highest seq that a lane had, which a pull has usually found out before."""
        segments = self.before.lane(folder).segments
        if (top := self._known_top(replica, segments)) is not None:
            return top
        reading = Reading(self.before, self.index, PullReport(), self._bytes_left)
        for _ in reading.lane(replica, folder, MAX_SEQ + 1):
            pass  # only what the index remembers of it is wanted
        self._bytes_left = reading.left or 0
        if (top := self._known_top(replica, segments)) is None:
            raise MustReadError("too much is unread")
        return top

    def _known_top(self, replica: str, segments: tuple[tuple[str, str], ...]) -> int | None:
        known = self.index.scans(replica)
        scans = [known.get(name) for name, _ in segments]
        tops = [
            scan.top
            for scan, (_, oid) in zip(scans, segments, strict=True)
            if scan is not None and scan.oid == oid
        ]
        return max(tops, default=-1) if len(tops) == len(segments) else None


def _check_line(replica: str, raw: bytes, top: int) -> int:
    """Return the highest seq of a lane with this line after it. Raises MustReadError."""
    if is_blank(raw):
        return top
    try:
        seq, members = claims(replica, raw)
    except JunkError:
        return top  # nobody reads it
    if members.get("type") in TEAM_TYPES:
        raise MustReadError("the team has changed")
    if seq <= top:
        raise MustReadError("a lane does not only go on from where it ended")
    return seq
