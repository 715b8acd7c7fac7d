"""One pull: which lanes are read, in which order, and when it is enough (federation wire 6.13, 6.14).

Lanes the caller names come first: they are its teammates'. Strangers' come after, short ones before long
ones. Among equals the one that has waited longest is read first, and a lane whose reader made no progress
goes on behind what it was given last time. So whatever a hostile lane holds, every other has its turn, and
within a lane junk in front of an op delays it and no more. A segment whose ops are all below what is asked
for, or at it, is answered from the index.
"""

from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from transports.base import Line, PullReport, Skipped
from transports.git.branch import Snapshot
from transports.git.index import SegmentIndex, Turn
from transports.git.objects import UnusableError
from transports.git.segments import Scan, Scanner, unread
from transports.git.tree import Lane

_ENTRY_BYTES: Final = 60
"""About what one segment takes in the tree object of its lane; listing counts as reading."""

_SMALL_FOLDER_BYTES: Final = 4096


@dataclass(slots=True)
class Reading:
    """One pull in progress. `left` is how many bytes may still be read, None without a bound."""

    snapshot: Snapshot
    index: SegmentIndex
    report: PullReport
    left: int | None
    _before: dict[str, Turn] = field(default_factory=dict)

    def all_lanes(self, since: Mapping[str, int]) -> Iterator[Line]:
        """Yield the lines of every lane. Raises UnreadableError."""
        bounded = self.left is not None
        self._before = before = self.index.turns() if bounded else {}
        turns = dict(before)
        now = 1 + max((earlier.turn for earlier in before.values()), default=0)
        folders = self._folders(since)
        for replica in self._in_turn(folders, since) if bounded else sorted(folders):
            if self._is_spent():
                self.report.more = True
                break
            wanted = since.get(replica, 0)
            earlier = before.get(replica)
            resume = earlier.resume if earlier is not None and earlier.since == wanted else ""
            resume = yield from self.lane(replica, folders[replica], wanted, resume)
            turns[replica] = Turn(now, wanted, resume)
        after = turns if self.report.more else {}
        if bounded and after != before:
            self.index.set_turns(after)

    def lane(self, replica: str, folder: str, since: int, resume: str = "") -> Generator[Line, None, str]:
        """Yield the lines of one lane, beginning with the segment `resume`; return where to go on, or ''.

        Raises UnreadableError.
        """
        segments = self._listing(replica, folder).segments
        known = self.index.scans(replica)
        fresh: dict[str, Scan] = {}
        floor = None if self.left is None else max(0, self.left - self.snapshot.limits.replica_bytes)
        try:
            for name, oid in sorted(segments, key=lambda segment: (segment[0] < resume, segment[0])):
                scan = known.get(name)
                if scan is not None and scan.oid == oid and (answer := scan.answer(since)) is not None:
                    for raw in answer:
                        yield Line(replica, raw)
                elif self._is_spent(floor):
                    self.report.more = True
                    return name
                else:
                    scan = fresh[name] = yield from self._segment(replica, oid, since, scan)
                self._report(replica, f"fed/{replica}/{name}", scan)
        finally:
            if fresh:
                self.index.remember(replica, fresh)
        return ""

    def _segment(self, replica: str, oid: str, since: int, known: Scan | None) -> Generator[Line, None, Scan]:
        limit = self.snapshot.limits.segment_bytes
        try:
            data = self.snapshot.objects.read(oid, "blob", limit)
        except UnusableError as error:
            self._spend(self.snapshot.limits.opening_bytes)
            return unread(oid, str(error))
        self._spend(len(data) + self.snapshot.limits.opening_bytes)
        scanner = Scanner(replica, oid, data, known)
        for raw in scanner.lines(since):
            yield Line(replica, raw)
        return scanner.result()

    def _folders(self, since: Mapping[str, int]) -> dict[str, str]:
        try:
            return self.snapshot.folders()
        except UnusableError as error:
            self.report.skipped.append(Skipped("", "fed", 0, 1, str(error)))
        found = {replica: self.snapshot.folder(replica) for replica in since}
        return {replica: folder for replica, folder in found.items() if folder is not None}

    def _in_turn(self, folders: Mapping[str, str], since: Mapping[str, int]) -> Iterator[str]:
        """Yield lanes in the order they are read in; what may be left when the budget is spent comes last."""
        waiting = sorted(folders, key=lambda replica: (self._last_turn(replica), replica))
        yield from [replica for replica in waiting if replica in since]
        strangers = [replica for replica in waiting if replica not in since]
        near = strangers[: self.snapshot.limits.strangers]
        yield from sorted(
            near, key=lambda replica: (self._last_turn(replica), self._length(folders[replica]))
        )
        if len(near) < len(strangers):
            self.report.more = True

    def _last_turn(self, replica: str) -> int:
        earlier = self._before.get(replica)
        return 0 if earlier is None else earlier.turn

    def _length(self, folder: str) -> tuple[int, int]:
        """Tell lanes apart by their length: the bytes of the folder, and of the first segment in a small one."""
        found = self.snapshot.objects.find(folder)
        if found is None or found.size > _SMALL_FOLDER_BYTES:
            return (_SMALL_FOLDER_BYTES if found is None else found.size, 0)
        try:
            segments = self.snapshot.lane(folder).segments
        except UnusableError:
            return (0, 0)
        first = self.snapshot.objects.find(segments[0][1]) if segments else None
        return (found.size, 0 if first is None else first.size)

    def _listing(self, replica: str, folder: str) -> Lane:
        try:
            lane = self.snapshot.lane(folder)
        except UnusableError as error:
            self.report.skipped.append(Skipped(replica, f"fed/{replica}", 0, 1, str(error)))
            return Lane((), None)
        self._spend(_ENTRY_BYTES * len(lane.segments))
        return lane

    def _report(self, replica: str, place: str, scan: Scan) -> None:
        self.report.skipped += [
            Skipped(replica, place, note.line, note.count, note.reason) for note in scan.notes
        ]

    def _spend(self, size: int) -> None:
        if self.left is not None:
            self.left -= size

    def _is_spent(self, floor: int | None = 0) -> bool:
        return self.left is not None and floor is not None and self.left <= floor
