"""Reaching the team: which remote, the transport to it, and passes over it one at a time or without end."""

import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from random import Random
from typing import Final

import click

from core.errors import Code, DmpError
from replica.cli.screen import Screen
from replica.node import DirectoryNode, Node
from replica.records import ops
from replica.records.link import Link, remembered
from replica.sync import Report, SyncPass
from transports.base import TransportError
from transports.git import GitTransport
from transports.remotes import DEFAULT_BRANCH, RemoteError, Source, check_branch, parse_remote

LOCK_SECONDS: Final = 60.0
"""How long a command waits for another one that syncs the same directory, in seconds."""

FIRST_BACKOFF: Final = 1.0
LONGEST_BACKOFF: Final = 60.0
"""Seconds between two tries while the remote does not answer: twice as long each time, with jitter."""

_LOOK_SECONDS: Final = 0.2
"""How often a waiting command looks whether mail was sent from here meanwhile."""


def typed_link(node: Node, remote: str | None, branch: str | None) -> Link:
    """The link a person named, or the one that is remembered.

    Raises click.UsageError when there is neither, and for what is no address or no branch.
    """
    known = remembered(node.store.db)
    if remote is None:
        if known is None:
            raise click.UsageError("say where the team meets: --git REMOTE")
        return known if branch is None else Link(known.remote, _branch(branch))
    try:
        url = parse_remote(remote, Source.TYPED).url
    except RemoteError as error:
        raise click.BadParameter(str(error), param_hint="--git") from None
    return Link(url, _branch(branch or DEFAULT_BRANCH))


def remembered_link(node: Node) -> Link:
    """The link this replica founded or joined its team over. Raises DmpError `not-found` before that."""
    link = remembered(node.store.db)
    if link is None:
        raise DmpError(
            Code.NOT_FOUND,
            "this replica is in no team yet; found one with `dmp team found NAME --git REMOTE`, or join one "
            "with `dmp join [CODE] --git REMOTE`",
        )
    return link


def _branch(name: str) -> str:
    try:
        return check_branch(name)
    except RemoteError as error:
        raise click.BadParameter(str(error), param_hint="--branch") from None


@contextmanager
def transport_to(
    node: DirectoryNode, link: Link, sleep: Callable[[float], None] = time.sleep
) -> Iterator[GitTransport]:
    """The transport over a link, with a clone in the replica's directory. Raises TransportError."""
    remote = parse_remote(link.remote, Source.TYPED)
    transport = GitTransport(
        remote, node.directory.clone_of(link.remote, link.branch), link.branch, sleep=sleep
    )
    try:
        yield transport
    finally:
        transport.close()


@contextmanager
def sync_pass(screen: Screen, node: DirectoryNode, transport: GitTransport) -> Iterator[SyncPass]:
    """A pass, with the directory's sync lock held. Raises DmpError `unavailable` when it stays taken."""
    with (
        screen.working("waiting for another dmp that works in this directory") as step,
        node.directory.sync_lock(LOCK_SECONDS),
    ):
        yield SyncPass(node, transport, step)


def catch_up(sync: SyncPass, first: Callable[[SyncPass], Report] = SyncPass.run) -> Report:
    """Run passes until one leaves nothing behind that another would take in or publish."""
    report = first(sync)
    while report.more and report.paused is None:
        heads = ops.positions(sync.node.store.db)
        last = sync.run()
        report.published += last.published
        report.applied += last.applied
        report.refused += last.refused
        report.waiting, report.paused = last.waiting, last.paused
        moved = last.applied or last.published or heads != ops.positions(sync.node.store.db)
        report.more = last.more and bool(moved)
    return report


def passes(
    screen: Screen,
    node: DirectoryNode,
    link: Link,
    interval: float,
    first: Callable[[SyncPass], Report] = SyncPass.run,
) -> Generator[Report | TransportError | DmpError, None, None]:
    """Sync again and again: when the remote has news, when mail was sent here, and every `interval` seconds.

    A remote that does not answer, and a directory another command keeps busy, are reported and tried again
    later. Raises DmpError for what waiting does not mend.
    """
    attend = _Attention(node)
    backoff = _Backoff()
    beginning = True
    with transport_to(node, link, attend.sleep) as transport:
        while True:
            attend.begin()
            try:
                node.take_up()
                with sync_pass(screen, node, transport) as sync:
                    sync.running = beginning
                    report = catch_up(sync, first)
                beginning = False
            except TransportError as error:
                yield error
                backoff.wait()
                continue
            except DmpError as error:
                if error.code is not Code.UNAVAILABLE:
                    raise
                yield error
                backoff.wait()
                continue
            yield report
            first = SyncPass.run
            backoff = _Backoff()
            with suppress(_LocalChange):
                transport.watch(interval)


class _LocalChange(Exception):  # noqa: N818 - no error: a reason to stop waiting
    """Another process changed the store."""


@dataclass(slots=True)
class _Attention:
    """Sleeps, but only until another process changes the store: mail that was just sent goes out at once."""

    node: Node
    _seen: int = 0

    def begin(self) -> None:
        """Start a pass: what changes from here on may be missed by it."""
        self._seen = self._version()

    def sleep(self, seconds: float) -> None:
        """Sleep. Raises _LocalChange."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            if self._version() != self._seen:
                raise _LocalChange
            time.sleep(min(left, _LOOK_SECONDS))

    def _version(self) -> int:
        (version,) = self.node.store.db.execute("PRAGMA data_version").fetchone()
        return int(version)


@dataclass(slots=True)
class _Backoff:
    seconds: float = FIRST_BACKOFF
    jitter: Random = field(default_factory=Random)

    def wait(self) -> None:
        """Wait, longer each time, half as long to one and a half times as long so that teammates spread out."""
        time.sleep(self.seconds * (0.5 + self.jitter.random()))
        self.seconds = min(LONGEST_BACKOFF, self.seconds * 2)
