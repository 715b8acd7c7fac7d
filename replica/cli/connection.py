"""Reaching the team: which transports, how they are opened, and passes over them one at a time or without end."""

import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from random import Random
from typing import Final

import click

from core.errors import Code, DmpError
from replica.cli.screen import Screen
from replica.cli.ways import Ways
from replica.node import DirectoryNode, Node
from replica.records import ops
from replica.records.link import Link, remembered
from replica.sync import Report, SyncPass
from transports.base import Transport, TransportError
from transports.fault_spec import FaultSpec
from transports.opening import kind_of, read_address, scheme_of, typed_address
from transports.remotes import RemoteError, Source, check_branch

MEETING: Final = "Where the team meets: a path, an ssh or https address, or dir:PATH."
"""What is said of the option that names the main transport."""

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
        return known if branch is None else Link(known.remote, _branch(branch), known.source)
    return new_link(remote, branch, "--git")


def new_link(address: str, branch: str | None, given: str) -> Link:
    """The link to a transport whose address a person typed to meet a team there, as `given`.

    Raises click.UsageError for what is no address, no branch or no place to meet, TransportError where nothing can
    open it.
    """
    link = _link(typed_address, address, branch, given)
    if not kind_of(scheme_of(link.remote), link.remote).lasts:
        raise click.BadParameter(
            f"nobody can meet at {link.shown}: what is left there ends with the process that left it",
            param_hint=given,
        )
    return link


def used_link(address: str, branch: str | None, given: str) -> Link:
    """The link to a transport that may be in use, whatever a new one would be told. Raises as `new_link`."""
    return _link(lambda text: read_address(text, Source.TYPED), address, branch, given)


def _link(read: Callable[[str], str], address: str, branch: str | None, given: str) -> Link:
    try:
        url = read(address)
    except RemoteError as error:
        raise click.BadParameter(str(error), param_hint=given) from None
    return Link(url) if branch is None else Link(url, _branch(branch))


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
def transport_to(node: DirectoryNode, link: Link) -> Iterator[Transport]:
    """The transport over a link, for what concerns no other one. Raises TransportError."""
    with Ways(node) as ways:
        yield ways.open(link)


@contextmanager
def sync_pass(
    screen: Screen, node: DirectoryNode, transport: Transport, ways: Ways | None = None
) -> Iterator[SyncPass]:
    """A pass, with the directory's sync lock held; with `ways` one over every transport there is.

    Raises DmpError `unavailable` when the lock stays taken.
    """
    with (
        screen.working("waiting for another dmp that works in this directory") as step,
        node.directory.sync_lock(LOCK_SECONDS),
    ):
        made = SyncPass(node, transport, step)
        if ways is not None:
            made.open_, made.asking = ways.open, ways.asking
        yield made


def catch_up(sync: SyncPass, first: Callable[[SyncPass], Report] = SyncPass.run) -> Report:
    """Run passes until one leaves nothing behind that another would take in or publish.

    Where the main transport fails and the team is elsewhere, they go on there.
    """
    try:
        report = first(sync)
    except TransportError:
        if not sync.moved:
            raise
        report = sync.run()
    while report.more and report.paused is None:
        heads = ops.positions(sync.node.store.db)
        last = sync.run()
        report.published += last.published
        report.applied += last.applied
        report.refused += last.refused
        report.waiting, report.paused, report.faults = last.waiting, last.paused, last.faults
        moved = last.applied or last.published or heads != ops.positions(sync.node.store.db)
        report.more = last.more and bool(moved)
    return report


def passes(
    screen: Screen,
    node: DirectoryNode,
    link: Link,
    interval: float,
    first: Callable[[SyncPass], Report] = SyncPass.run,
    faults: FaultSpec | None = None,
) -> Generator[Report | TransportError | DmpError, None, None]:
    """Sync again and again: when the remote has news, when mail was sent here, and every `interval` seconds.

    A remote that does not answer, and a directory another command keeps busy, are reported and tried again
    later. Raises DmpError for what waiting does not mend.
    """
    attend = _Attention(node)
    backoff = _Backoff()
    beginning = True
    with Ways(node, attend.sleep, faults) as ways:
        while True:
            attend.begin()
            try:
                node.take_up()
                transport = ways.open(remembered(node.store.db) or link)
                with sync_pass(screen, node, transport, ways) as sync:
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
                sync.transport.watch(interval)


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
