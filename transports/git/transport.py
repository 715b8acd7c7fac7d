"""A branch of a git repository as a transport (federation wire 6).

Each replica has a folder `fed/<replica>/` on an ordinary branch and only ever writes there. The branch is
read and extended in a bare clone with git's plumbing, objects in and objects out: no working tree, no
index, no checkout, so nothing that is on the branch can run or touch a file. It is extended by fast-forward
pushes alone: the remote takes a commit only on top of the one it was built on, which is the
compare-and-swap of `publish`.
"""

import random
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from crypto.keys import REPLICA_ID
from transports.base import ACKS_BYTES, PASS_BYTES, Line, Pull, PullReport, Unreachable
from transports.git import answers
from transports.git.branch import Snapshot
from transports.git.clone import Clone, tip_ref
from transports.git.commit import Draft
from transports.git.index import SegmentIndex
from transports.git.limits import Limits
from transports.git.objects import Objects, UnreadableError, UnusableError
from transports.git.pace import FAR_SECONDS, NEAR_SECONDS, Pace
from transports.git.pull import Reading
from transports.git.run import BoundsError, Done, GitError
from transports.remotes import DEFAULT_BRANCH, Remote, check_branch


class GitTransport:
    """The branch `branch` of `remote`, with a clone in `directory` that may be shared by processes.

    Everything in the directory can be fetched again. Raises RemoteError for a name that is no branch's.
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
        random: Callable[[], float] = random.random,
    ) -> None:
        """`clock` (seconds) and `sleep` serve `watch` alone."""
        self.url = remote.shown
        self._remote = remote
        self._branch = check_branch(branch)
        self._limits = limits or Limits()
        self._clock = clock
        self._sleep = sleep
        self._pace = Pace(NEAR_SECONDS if remote.local else FAR_SECONDS, random)
        self._ref = tip_ref(remote.url, branch)
        self._tip: str | None = None
        self._is_damaged = False
        with self._local_errors():
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._clone = Clone(directory, self._limits)
            self._runner = self._clone.runner
            self._index = SegmentIndex(directory / "index.sqlite")
            self._objects = Objects(self._runner, self._limits.local_seconds)

    def refresh(self) -> str:
        """Fetch the branch, and return its commit; empty while nobody has published."""
        with self._local_errors(), self._clone.locked():
            tip = self._fetch_readable()
            if tip != self._tip:
                self._pace.restart()
                self._clone.tidy()
            self._tip = tip
            return tip

    def pull(self, since: Mapping[str, int], *, budget: int | None = PASS_BYTES) -> Pull:
        report = PullReport()
        return Pull(self._pull(since, budget, report), report)

    def lane(self, replica: str, since: int = 0) -> Iterator[Line]:
        with self._local_errors():
            reading = Reading(self._snapshot(), self._index, PullReport(), None)
            folder = reading.snapshot.lane_of(replica)
            if folder is not None:
                yield from reading.lane(replica, folder, since)

    def acks(self, replicas: Collection[str] | None = None) -> Iterator[Line]:
        with self._local_errors():
            snapshot = self._snapshot()
            for replica in self._lanes(snapshot) if replicas is None else replicas:
                raw = self._acks(snapshot, replica)
                if raw is not None:
                    yield Line(replica, raw)

    def publish(self, replica: str, lines: Sequence[bytes], *, acks: bytes | None = None) -> None:
        """Push one commit on top of the fetched one.

        Raises ValueError for lines that are no ops, or an id that is no replica's, besides what it must.
        """
        if not REPLICA_ID.fullmatch(replica):
            raise ValueError(f"not a replica id: {replica!r}")
        if not lines and acks is None:
            return
        with self._local_errors(), self._clone.locked():
            commit = Draft(self._snapshot(), self._runner).commit(replica, lines, acks)
            if commit is None:
                return
            try:
                done = self._network(
                    *("push", "--porcelain", "--no-verify", "--", self._remote.url),
                    f"{commit}:refs/heads/{self._branch}",
                )
            except BoundsError as error:
                raise answers.unreachable(f"publishing to {self.url}", f"git {error}") from None
            self._is_damaged = done.code != 0 and answers.speaks_of_damage(done.said)
            answers.check_push(done, self.url)
            self._runner.local("update-ref", self._ref, commit)
            self._tip = commit
            self._pace.restart()
            self._clone.tidy()

    def watch(self, timeout: float) -> bool:
        """Ask for the branch's commit now and then. A remote that does not answer has nothing new."""
        deadline = self._clock() + timeout
        while (left := deadline - self._clock()) > 0:
            self._sleep(min(left, self._pace.wait()))
            try:
                if self._remote_tip() != self._known_tip():
                    return True
            except Unreachable:
                continue
        return False

    def close(self) -> None:
        self._objects.close()
        self._index.close()

    def _pull(self, since: Mapping[str, int], budget: int | None, report: PullReport) -> Iterator[Line]:
        with self._local_errors():
            yield from Reading(self._snapshot(), self._index, report, budget).all_lanes(since)

    def _lanes(self, snapshot: Snapshot) -> Sequence[str]:
        try:
            return sorted(snapshot.lanes())
        except UnusableError:
            return ()

    def _acks(self, snapshot: Snapshot, replica: str) -> bytes | None:
        try:
            folder = snapshot.lane_of(replica)
            blob = None if folder is None else snapshot.lane(folder).acks
            return None if blob is None else snapshot.objects.read(blob, "blob", ACKS_BYTES)
        except UnusableError:
            return None

    def _snapshot(self) -> Snapshot:
        return Snapshot(self._known_tip(), self._objects, self._limits)

    def _known_tip(self) -> str:
        """The commit of the last refresh or publish, of an earlier process where there was none here."""
        if self._tip is None:
            self._tip = self._fetched_tip()
        return self._tip

    def _fetched_tip(self) -> str:
        if not self._clone.path.is_dir():
            return ""
        header = self._objects.find(self._ref)
        return header.oid if header is not None and header.kind == "commit" else ""

    def _fetch_readable(self) -> str:
        """Fetch into a clone that can be read afterwards, a new one if need be. Raises Unreachable."""
        if not self._is_damaged:
            try:
                return self._fetch()
            except (_DamagedError, UnreadableError):
                pass
        self._objects.close()
        self._clone.rebuild()
        self._is_damaged = False
        try:
            return self._fetch()
        except _DamagedError as error:  # then it is the remote that is damaged
            raise answers.unreachable(f"fetching from {self.url}", str(error)) from None

    def _fetch(self) -> str:
        """Bring the branch up to date and return its commit.

        Raises Unreachable, and _DamagedError or UnreadableError where the clone may be at fault.
        """
        options = ("--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance", "--refmap=")
        refspec = f"+refs/heads/{self._branch}:{self._ref}"
        try:
            done = self._network("fetch", *options, "--", self._remote.url, refspec)
        except BoundsError as error:
            raise answers.unreachable(f"fetching from {self.url}", f"git {error}") from None
        if answers.branch_is_missing(done.said):
            self._runner.local("update-ref", "-d", self._ref)
            return ""
        if done.code and (answers.speaks_of_damage(done.said) or self._clone.is_broken()):
            raise _DamagedError(done.said)
        if done.code:
            raise answers.unreachable(f"fetching from {self.url}", done.said)
        tip = self._fetched_tip()
        with suppress(UnusableError):  # whatever it is, it can be read
            Snapshot(tip, self._objects, self._limits).fed()
        return tip

    def _remote_tip(self) -> str:
        """Ask the remote for the branch's commit, and fetch nothing. Raises Unreachable."""
        doing = f"asking {self.url}"
        try:
            done = self._runner.network(
                self._remote.protocols,
                *("ls-remote", "--quiet", "--", self._remote.url, f"refs/heads/{self._branch}"),
                seconds=self._limits.question_seconds,
            )
        except BoundsError as error:
            raise answers.unreachable(doing, f"git {error}") from None
        if done.code:
            raise answers.unreachable(doing, done.said)
        return done.out.split(b"\t", 1)[0].decode("ascii", "replace")

    def _network(self, *arguments: str) -> Done:
        seconds = self._limits.network_seconds
        protocols = self._remote.protocols
        return self._runner.network(protocols, *arguments, seconds=seconds, grown=self._clone.incoming)

    @contextmanager
    def _local_errors(self) -> Iterator[None]:
        """Turn what can go wrong on this machine into an error of the transport's."""
        try:
            yield
        except (UnreadableError, _DamagedError) as error:
            self._is_damaged = True
            raise Unreachable(
                f"the local copy of {self.url} is damaged: {error}", "the next sync fetches it again"
            ) from None
        except (GitError, OSError) as error:
            raise Unreachable(
                f"git does not work on this machine: {error}",
                "look at the disk and at the git that is installed",
            ) from None


class _DamagedError(Exception):
    """A fetch failed in a way that the clone may be the cause of."""
