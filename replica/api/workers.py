"""Threads that work on the store, each with the replica opened for itself: the event loop never waits for a disk."""

import queue
import sqlite3
import threading
from asyncio import wrap_future
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import AbstractContextManager, ExitStack, suppress
from typing import Any, Final, TypeAlias, TypeVar

from core.errors import Code, DmpError
from replica.api.errors import Refusal
from replica.node import DirectoryNode

MAX_WAITING: Final = 1_000
"""Requests that wait for one pool's threads before more are refused."""

T = TypeVar("T")

_Job: TypeAlias = "tuple[Callable[[DirectoryNode], Any], Future[Any]]"


class Workers:
    """A few threads for one kind of work. `open_` opens the replica; it is called in each thread, when first used."""

    def __init__(
        self, open_: Callable[[], AbstractContextManager[DirectoryNode]], threads: int, name: str
    ) -> None:
        self._open = open_
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._threads = [
            threading.Thread(target=self._work, name=f"api-{name}-{index}", daemon=True)
            for index in range(threads)
        ]
        for thread in self._threads:
            thread.start()

    async def run(self, work: Callable[[DirectoryNode], T]) -> T:
        """Do something with the replica, and return what it returns. Raises what it raises, and Refusal when busy."""
        if self._jobs.qsize() >= MAX_WAITING:
            raise Refusal(
                503,
                str(Code.UNAVAILABLE),
                "this host is busy; try again in a moment",
                headers={"Retry-After": "1"},
            )
        done: Future[T] = Future()
        self._jobs.put((work, done))
        return await wrap_future(done)

    def close(self) -> None:
        """Finish what was begun, refuse nothing that waits, and let go of the store."""
        for _ in self._threads:
            self._jobs.put(None)
        for thread in self._threads:
            thread.join()

    def _work(self) -> None:
        with ExitStack() as stack:
            node: DirectoryNode | None = None
            while (job := self._jobs.get()) is not None:
                work, done = job
                if not done.set_running_or_notify_cancel():  # whoever asked is gone
                    continue
                try:
                    if node is None:
                        node = self._opened(stack)
                    found = work(node)
                except sqlite3.DatabaseError as error:  # what was opened may be good for nothing now
                    node = None
                    with suppress(sqlite3.Error):
                        stack.close()
                    done.set_exception(error)
                except BaseException as error:  # noqa: BLE001 - it is whoever asked who is told
                    done.set_exception(error)
                else:
                    done.set_result(found)
                del work, done

    def _opened(self, stack: ExitStack) -> DirectoryNode:
        """The replica; what keeps it from being opened is nothing that whoever asks has done."""
        try:
            return stack.enter_context(self._open())
        except DmpError as error:
            raise DmpError(Code.UNAVAILABLE, error.message) from error
