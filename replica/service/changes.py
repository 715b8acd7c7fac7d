"""Noticing that a store changed, by whatever process: one thread looks, and wakes everybody who waits.

SQLite tells nobody of a commit, but counts them where every connection can look (`PRAGMA data_version`), which costs
microseconds. So one connection is asked again and again, however many wait. Whoever committed in this process may
`poke` to be noticed at once.

To miss nothing, remember `count` before reading the store, and wait for what comes after it:

    seen = changes.count
    look_at(store)
    changes.wait(seen, 30.0)  # or, in a coroutine, `await changes.after(seen, 30.0)`
"""

import asyncio
import logging
import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import closing, suppress
from pathlib import Path
from types import TracebackType
from typing import Final

LOOK_SECONDS: Final = 0.05
"""How often it looks; a commit is noticed a little later than that at most."""

_RETRY_SECONDS: Final = 1.0
"""How long it waits before it opens a store anew that could not be read."""

_log = logging.getLogger(__name__)


class Changes:
    """The commits in one store, as they are noticed. Use it as a context; any thread and any event loop may wait."""

    def __init__(self, database: Path) -> None:
        """Watch the SQLite file at `database`, which is there."""
        self._database = database
        self._changed = threading.Condition()
        self._count = 0
        self._waiting: set[Future[None]] = set()
        self._look = threading.Event()
        self._closed = False
        self._thread = threading.Thread(target=self._watch, name="changes", daemon=True)

    @property
    def count(self) -> int:
        """How often a change was noticed."""
        return self._count

    @property
    def closed(self) -> bool:
        """Whether nothing is noticed any more."""
        return self._closed

    def poke(self) -> None:
        """Look now: something was committed in this process."""
        self._look.set()

    def wait(self, since: int, seconds: float) -> int:
        """Wait until a change after the count `since` was noticed, `seconds` long at most; return the count then.

        Returns at once when this was closed.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._count != since or self._closed, seconds)
            return self._count

    async def after(self, since: int, seconds: float | None = None) -> int:
        """As `wait`, in a coroutine; without `seconds` as long as it takes."""
        done: Future[None] = Future()
        with self._changed:
            if self._count != since or self._closed:
                return self._count
            self._waiting.add(done)
        try:
            with suppress(TimeoutError):
                await asyncio.wait_for(asyncio.wrap_future(done), seconds)
        finally:
            with self._changed:
                self._waiting.discard(done)
        return self._count

    def __enter__(self) -> "Changes":
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closed = True
        self._look.set()
        self._thread.join()
        self._wake()

    def _wake(self, noticed: int = 0) -> None:
        with self._changed:
            self._count += noticed
            self._changed.notify_all()
            waiting, self._waiting = self._waiting, set()
        for each in waiting:
            if each.set_running_or_notify_cancel():  # False for one that waits no more
                each.set_result(None)

    def _watch(self) -> None:
        while not self._closed:
            try:
                with closing(_reader(self._database)) as db:
                    self._watch_with(lambda: _version(db))
            except sqlite3.Error as error:  # the disk is full or gone; whoever waits finds out by itself
                _log.warning("the store cannot be watched, and is tried again: %s", type(error).__name__)
                self._pause(_RETRY_SECONDS)
                self._wake(1)

    def _watch_with(self, version: Callable[[], int]) -> None:
        seen = version()
        self._wake(1)  # what came before this connection is not known
        while not self._closed:
            self._pause(LOOK_SECONDS)
            if (now := version()) != seen:
                seen = now
                self._wake(1)

    def _pause(self, seconds: float) -> None:
        self._look.wait(seconds)
        if not self._closed:
            self._look.clear()


def _reader(database: Path) -> sqlite3.Connection:
    return sqlite3.connect(
        f"{database.absolute().as_uri()}?mode=ro", uri=True, isolation_level=None, check_same_thread=False
    )


def _version(db: sqlite3.Connection) -> int:
    (version,) = db.execute("PRAGMA data_version").fetchone()
    return int(version)
