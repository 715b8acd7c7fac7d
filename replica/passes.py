"""Passes over every transport: one with the directory's lock, until nothing is left, or pass after pass without end."""

import time
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from random import Random
from typing import Final

from core.errors import Code, DmpError
from replica.node import DirectoryNode, Node
from replica.records import ops
from replica.records.link import Link, remembered
from replica.sync import Report, SyncPass
from replica.ways import Ways
from transports.base import Transport, TransportError
from transports.fault_spec import FaultSpec

Showing = Callable[[str], AbstractContextManager[Callable[[str], None]]]
"""Shows what is being done, for as long as a block runs; its value changes the text."""

Outcome = Report | TransportError | DmpError
"""What became of a pass."""

LOCK_SECONDS: Final = 60.0
"""How long a command waits for another one that syncs the same directory, in seconds."""

FIRST_BACKOFF: Final = 1.0
LONGEST_BACKOFF: Final = 60.0
"""Seconds between two tries while the remote does not answer: twice as long each time, with jitter."""

LOOK_SECONDS: Final = 0.05
"""How often a waiting process looks whether mail was sent from here meanwhile."""


def show_nothing(_text: str) -> AbstractContextManager[Callable[[str], None]]:
    """Show nothing (Showing)."""
    return nullcontext(lambda _step: None)


@contextmanager
def sync_pass(
    node: DirectoryNode, transport: Transport, ways: Ways | None = None, show: Showing = show_nothing
) -> Iterator[SyncPass]:
    """A pass, with the directory's sync lock held; with `ways` one over every transport there is.

    Raises DmpError `unavailable` when the lock stays taken.
    """
    with (
        show("waiting for another dmp that works in this directory") as step,
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
    node: DirectoryNode,
    link: Link,
    interval: float,
    *,
    first: Callable[[SyncPass], Report] = SyncPass.run,
    faults: FaultSpec | None = None,
    show: Showing = show_nothing,
    rest: Callable[[float], None] = time.sleep,
) -> Generator[Outcome, None, None]:
    """Sync again and again: when the remote has news, when mail was sent here, and every `interval` seconds.

    A remote that does not answer, and a directory another command keeps busy, are reported and tried again
    later. `rest` waits, in seconds; what it raises ends the passes. Raises DmpError for what waiting does not mend.
    """
    attend = _Attention(node, rest)
    backoff = _Backoff(rest)
    beginning = True
    with Ways(node, attend.sleep, faults) as ways:
        while True:
            attend.begin()
            try:
                node.take_up()
                transport = ways.open(remembered(node.store.db) or link)
                with sync_pass(node, transport, ways, show) as sync:
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
            backoff = _Backoff(rest)
            with suppress(_LocalChange):
                sync.transport.watch(interval)


class _LocalChange(Exception):  # noqa: N818 - no error: a reason to stop waiting
    """Another process changed the store."""


@dataclass(slots=True)
class _Attention:
    """Sleeps, but only until another process changes the store: mail that was just sent goes out at once."""

    node: Node
    rest: Callable[[float], None]
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
            self.rest(min(left, LOOK_SECONDS))

    def _version(self) -> int:
        (version,) = self.node.store.db.execute("PRAGMA data_version").fetchone()
        return int(version)


@dataclass(slots=True)
class _Backoff:
    rest: Callable[[float], None]
    seconds: float = FIRST_BACKOFF
    jitter: Random = field(default_factory=Random)

    def wait(self) -> None:
        """Wait, longer each time, half as long to one and a half times as long so that teammates spread out."""
        self.rest(self.seconds * (0.5 + self.jitter.random()))
        self.seconds = min(LONGEST_BACKOFF, self.seconds * 2)
