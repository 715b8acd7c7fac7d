"""Being a live session: holding its lock, taking its mail as it comes, and leaving nothing half done at the end.

Whoever sends leaves mail for a session of another process `sending`; this process sees the store change, takes
it up and gives it on. A process that is killed lets go of the lock with everything else, so its session is dead
at once, and recovery returns what it had not given on.
"""

import os
import select
import signal
import sqlite3
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum, auto
from types import FrameType
from typing import Final

from core.message import Message
from core.presentation import digest_text, push_text
from replica.host.sessions import Session
from replica.node import Node
from replica.records.commits import CommitPoint

_LOOK_MS: Final = 40
"""How often it looks whether the store has changed, in milliseconds: SQLite tells nobody by itself."""

_TAKE_UP_SECONDS: Final = 30.0
"""How often it takes up what others left undone, and what is due."""

_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Ending(Enum):
    """Why a session ended."""

    INTERRUPTED = auto()  # Ctrl-C
    STOPPED = auto()  # told to by a signal
    ENDED = auto()  # by `dmp session end`
    LEFT = auto()  # nobody reads what it gives, or whoever started it is gone


@dataclass(frozen=True, slots=True)
class Given:
    """What a session is given: a message pushed into its context, or a digest of one."""

    message: Message
    pushed: bool
    remote: str | None = None
    """The handle of the replica the message came from, None for this one."""

    @property
    def text(self) -> str:
        """What a model reads, by section C.6; a digest is one line."""
        render = push_text if self.pushed else digest_text
        return render(self.message, remote=self.remote)


@dataclass(frozen=True, slots=True)
class Attached:
    """The attachment of this process (replica.host.person.Attachment); `give` raises where that fails."""

    session: str
    give: Callable[[Given], None]
    remote: Callable[[Message], str | None] = lambda message: message.origin

    def push(self, message: Message) -> None:
        self.give(Given(message, True, self.remote(message)))

    def notify(self, message: Message) -> None:
        self.give(Given(message, False, self.remote(message)))


@dataclass(slots=True)
class Signals:
    """The signals that end a session, kept until somebody looks, so that none falls into the middle of a push."""

    caught: signal.Signals | None = None

    @contextmanager
    def watched(self) -> Iterator["Signals"]:
        """Keep signals for the length of a block."""
        before = {each: signal.signal(each, self._keep) for each in _SIGNALS}
        try:
            yield self
        finally:
            for each, handler in before.items():
                signal.signal(each, handler)

    def _keep(self, number: int, _: FrameType | None) -> None:
        self.caught = self.caught or signal.Signals(number)

    def seen(self) -> bool:
        """Whether one came."""
        return self.caught is not None


def attend(node: Node, session: Session, give: Callable[[Given], None], signals: Signals) -> Ending:
    """Be a session until it ends, and say why it did.

    `begin` was called for it. Mail it could not be given waits for the next session of its work item.
    """
    db, host = node.store.db, node.host
    host.attached = Attached(session.address, give, host.remote_handle)
    # An auxiliary session is given what was held for itself alone.
    node.engine.session_started(session.address, session.task or session.address)
    streams = _Streams()
    due = 0.0
    while True:
        seen = _version(db)
        node.engine.dispatch_waiting()
        if not host.sessions_here.need(session.address).marked_live:
            return Ending.ENDED
        if time.monotonic() > due:
            node.take_up()
            due = time.monotonic() + _TAKE_UP_SECONDS
        while True:  # once at least, however busy the store is
            changed = _version(db) != seen or time.monotonic() > due
            if signals.caught is not None:
                return Ending.INTERRUPTED if signals.caught is signal.SIGINT else Ending.STOPPED
            if streams.left(0 if changed else _LOOK_MS):
                return Ending.LEFT
            if changed:
                break


@contextmanager
def living(node: Node, find: Callable[[], Session]) -> Iterator[Session]:
    """Be a session for the length of a block: nobody else is, and its work item has no other.

    `find` gives it, or makes it, inside a transaction. Raises DmpError as it does, and as `Sessions.hold` and
    `Sessions.begin`.
    """
    here = node.host.sessions_here
    with node.store.transaction(CommitPoint.SESSION):
        session = find()
    lock = here.hold(session.address)
    try:
        with node.store.transaction(CommitPoint.SESSION):
            here.begin(session)
        try:
            yield session
        finally:
            with node.store.transaction(CommitPoint.SESSION):
                here.end(here.need(session.address), now=node.now())
    finally:
        node.host.attached = None
        lock.release()
        node.take_up()


class _Streams:
    """The standard streams by which a session is left: whoever reads its output, or holds its input, is gone."""

    def __init__(self) -> None:
        self._poll = select.poll()
        for stream, events in ((0, getattr(select, "POLLRDHUP", 0)), (1, 0)):  # a hang-up is always told
            if _is_held(stream):
                self._poll.register(stream, events)

    def left(self, milliseconds: int) -> bool:
        """Wait, and say whether one of them was closed at its far end."""
        return bool(self._poll.poll(milliseconds))


def _is_held(stream: int) -> bool:
    """Whether somebody is at the other end of a stream: it is a pipe, a socket or a terminal."""
    try:
        mode = os.fstat(stream).st_mode
    except OSError:
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or os.isatty(stream)


def _version(db: sqlite3.Connection) -> int:
    (version,) = db.execute("PRAGMA data_version").fetchone()
    return int(version)
