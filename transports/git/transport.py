"""A branch of a git repository as a transport (federation wire 6).

Each replica has a folder `fed/<replica>/` on an ordinary branch and only ever writes there. The branch is read
and extended in a bare clone with git's plumbing, objects in and objects out: no working tree, no index, no
checkout, so nothing that is on the branch can run or touch a file. It is extended by fast-forward pushes alone:
the remote takes a commit only on top of the one it was built on, which is the compare-and-swap of `publish`.
"""

import random
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from crypto.keys import REPLICA_ID
from transports.base import ACKS_BYTES, PASS_BYTES, Behind, Line, Pull, PullReport, Unreachable
from transports.git import answers
from transports.git.branch import Snapshot
from transports.git.clone import Clone, tip_ref
from transports.git.commit import Draft
from transports.git.far import DamagedError, FarSide
from transports.git.index import SegmentIndex
from transports.git.limits import Limits
from transports.git.objects import Objects, UnreadableError, UnusableError
from transports.git.overtaken import MustReadError, Overtaken
from transports.git.pace import FAR_SECONDS, NEAR_SECONDS, Pace
from transports.git.pull import Reading
from transports.git.run import GitError
from transports.git.turns import Turns
from transports.pruning import Pruned
from transports.remotes import DEFAULT_BRANCH, Remote, check_branch

RACE_PUSHES: Final = 8
"""How often one publish pushes while others are faster."""

RACE_SECONDS: Final = 30.0
"""How long one publish goes on after others were faster."""


class GitTransport:
    """The branch `branch` of `remote`, with a clone in `directory` that processes may share.

    Everything in the directory can be fetched again.
    """

    def __init__(
        self,
        remote: Remote,
        directory: Path,
        branch: str = DEFAULT_BRANCH,
        *,
        limits: Limits | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
        rest: Callable[[float], None] = time.sleep,
        random: Callable[[], float] = random.random,
    ) -> None:
        """`clock` tells seconds; `sleep` serves `watch`, `rest` what waits for its turn among others who publish.

        Raises RemoteError for a name that is no branch's, Unreachable where the directory cannot be made.
        """
        self.url = remote.shown
        self._limits = limits or Limits()
        self._clock = clock
        self._sleep = sleep
        self._rest = rest
        self._turns = Turns(clock, random)
        self._pace = Pace(NEAR_SECONDS if remote.local else FAR_SECONDS, random)
        self._ref = tip_ref(remote.url, check_branch(branch))
        self._seen: Snapshot | None = None
        self._is_damaged = False
        self._is_news = False  # what was published went on top of what nobody has read yet
        directory = directory.absolute()  # git runs in a directory of its own
        with self._local_errors():
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._clone = Clone(directory, self._limits)
            self._far = FarSide(remote, branch, self._clone, self._limits)
            self._index = SegmentIndex(directory / "index.sqlite")
            self._objects = Objects(self._clone.runner, self._limits.local_seconds)

    def refresh(self) -> str:
        """Fetch the branch, and return its commit; empty while nobody has published.

        Waits before that where others publish so often that somebody was faster the last time.
        """
        if (seconds := self._turns.wait()) > 0:
            self._rest(seconds)
        self._turns.begin()
        with self._local_errors(), self._clone.locked():
            seen = self._fetch_readable()
            self._is_news = False
            if self._seen is None or self._seen.tip != seen.tip:
                if self._seen is not None:
                    self._turns.saw(seen.changed_since(self._seen))
                self._seen = seen
                self._pace.restart()
                self._clone.tidy()
            return seen.tip

    def pull(self, since: Mapping[str, int], *, budget: int | None = PASS_BYTES) -> Pull:
        report = PullReport()
        return Pull(self._pull(since, budget, report), report)

    def lane(self, replica: str, since: int = 0) -> Iterator[Line]:
        with self._local_errors():
            reading = Reading(self._snapshot(), self._index, PullReport(), None)
            folder = reading.snapshot.folder(replica)
            if folder is not None:
                yield from reading.lane(replica, folder, since)

    def acks(self, replicas: Collection[str] | None = None) -> Iterator[Line]:
        with self._local_errors():
            snapshot = self._snapshot()
            for replica in _all(snapshot) if replicas is None else replicas:
                raw = _acks(snapshot, replica)
                if raw is not None:
                    yield Line(replica, raw)

    def publish(self, replica: str, lines: Sequence[bytes], *, acks: bytes | None = None) -> None:
        """Push one commit on top of the fetched one, or of what others have pushed since where that may be.

        Acknowledgements by themselves are not worth a race. Besides what it must, raises ValueError for lines
        that are no ops and an id that is no replica's.
        """
        if not REPLICA_ID.fullmatch(replica):
            raise ValueError(f"not a replica id: {replica!r}")
        if not lines and acks is None:
            return
        deadline = self._clock() + RACE_SECONDS
        with self._local_errors():
            read = top = self._snapshot()
            for pushes in range(1, RACE_PUSHES + 1):
                with self._clone.locked():
                    if pushes > 1 or (lines and self._turns.is_crowded):  # then it has hardly stood still
                        top = self._fetch_above(read, top, replica)
                    commit = Draft(top, self._clone.loose).commit(replica, lines, acks)
                    if commit is None:
                        return
                    try:
                        self._push(commit)
                        break
                    except Behind:
                        wait = self._turns.wait()
                        if not lines or pushes == RACE_PUSHES or self._clock() + wait >= deadline:
                            raise
                self._rest(wait)
            self._is_news = self._is_news or top.tip != read.tip

    def prune(self, replica: str, shorter: Mapping[bytes, bytes]) -> Pruned:
        """Push one commit with the shorter lines; the branch's history keeps the longer ones."""
        with self._local_errors(), self._clone.locked():
            commit, pruned = Draft(self._snapshot(), self._clone.loose).pruned(replica, shorter)
            if commit is not None:
                self._push(commit)
            return pruned

    def stored_bytes(self) -> int:
        """What the clone takes, which has all of the branch and its history."""
        with self._local_errors():
            return self._clone.size()

    def _fetch_above(self, read: Snapshot, last: Snapshot, replica: str) -> Snapshot:
        """Fetch what won the race, if `replica` may publish on top of it. `last` is what was fetched last.

        Raises Behind where it must be read first, and as refresh does.
        """
        self._turns.begin()
        top = self._fetch()
        self._turns.saw(top.changed_since(last))
        try:
            Overtaken(read, top, self._index).check(replica)
        except MustReadError as error:
            raise Behind(f"somebody else published to {self.url} first: {error}") from None
        return top

    def _push(self, commit: str) -> None:
        try:
            self._far.push(commit)
        except Behind:
            self._turns.lost()
            raise
        self._turns.won()
        self._clone.loose.point(self._ref, commit)
        self._seen = self._at(commit)
        self._pace.restart()
        self._clone.tidy()

    def watch(self, timeout: float) -> bool:
        """Ask for the branch's commit now and then. A remote that does not answer has nothing new."""
        if self._is_news:
            return True
        deadline = self._clock() + timeout
        with self._local_errors():
            tip = self._snapshot().tip
            while (left := deadline - self._clock()) > 0:
                self._sleep(min(left, self._pace.wait()))
                with suppress(Unreachable):
                    if self._far.tip() != tip:
                        return True
        return False

    def close(self) -> None:
        self._objects.close()
        self._index.close()

    def _pull(self, since: Mapping[str, int], budget: int | None, report: PullReport) -> Iterator[Line]:
        with self._local_errors():
            yield from Reading(self._snapshot(), self._index, report, budget).all_lanes(since)

    def _snapshot(self) -> Snapshot:
        """What refresh or publish saw last, in an earlier process where there was none here."""
        if self._seen is None:
            self._seen = self._at(self._fetched_tip())
        return self._seen

    def _at(self, tip: str) -> Snapshot:
        return Snapshot(tip, self._objects, self._limits)

    def _fetched_tip(self) -> str:
        if not self._clone.path.is_dir():
            return ""
        header = self._objects.find(self._ref)
        return header.oid if header is not None and header.kind == "commit" else ""

    def _fetch_readable(self) -> Snapshot:
        """Fetch into a clone that can be read afterwards, a new one if need be. Raises Unreachable."""
        if not self._is_damaged:
            try:
                return self._fetch()
            except (DamagedError, UnreadableError):
                pass
        self._objects.close()
        self._clone.rebuild()
        self._is_damaged = False
        try:
            return self._fetch()
        except DamagedError as error:  # then it is the remote that is damaged
            raise answers.unreachable(f"fetching from {self.url}", str(error)) from None

    def _fetch(self) -> Snapshot:
        if not self._far.fetch(self._ref):
            self._clone.runner.local("update-ref", "-d", self._ref)
            return self._at("")
        tip = self._fetched_tip()
        if self._seen is not None and self._seen.tip == tip:
            return self._seen
        seen = self._at(tip)
        with suppress(UnusableError):  # then it is there, whatever it is
            seen.folders()
        return seen

    @contextmanager
    def _local_errors(self) -> Iterator[None]:
        """Turn what can go wrong on this machine into an error of the transport's."""
        try:
            yield
        except (UnreadableError, DamagedError) as error:
            self._is_damaged = True
            raise Unreachable(
                f"the local copy of {self.url} is damaged: {error}", "the next sync fetches it again"
            ) from None
        except (GitError, OSError) as error:
            raise Unreachable(
                f"git does not work on this machine: {error}", "look at the disk, and at git itself"
            ) from None


def _all(snapshot: Snapshot) -> Sequence[str]:
    try:
        return sorted(snapshot.folders())
    except UnusableError:
        return ()


def _acks(snapshot: Snapshot, replica: str) -> bytes | None:
    try:
        folder = snapshot.folder(replica)
        blob = None if folder is None else snapshot.lane(folder).acks
        return None if blob is None else snapshot.objects.read(blob, "blob", ACKS_BYTES)
    except UnusableError:
        return None
