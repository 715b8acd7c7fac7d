"""Running the gateway for the length of a block: its socket, its threads, and the worker that looks at wakes."""

import asyncio
import logging
import sqlite3
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Final

from bindings.a2a.server.rates import Rates
from bindings.instance_routing import waking
from bindings.instance_routing.gateway import application
from core.errors import DmpError
from replica.api.errors import Refusal
from replica.api.workers import Workers
from replica.host.settings import A2A_REQUESTS_PER_MINUTE
from replica.node import DirectoryNode, opened
from replica.service.changes import Changes
from replica.service.listening import bound, reached_at
from replica.service.sockets import answering

OPTION: Final = "--instance-routing-listen"

END_SECONDS: Final = 2.0
"""How long requests that are being answered may take at the end."""

RETRY_SECONDS: Final = 5.0
"""How long it waits before it looks again at wakes after that failed."""

_THREADS: Final = 2

_log = logging.getLogger(__name__)


@asynccontextmanager
async def running(
    root: Path, changes: Changes, address: str, url: str, per_minute: int = A2A_REQUESTS_PER_MINUTE
) -> AsyncIterator[str]:
    """Serve the instances of the replica at `root`; the value is the URL that the card names.

    That is `url`, or the address itself where it is empty. A client makes `per_minute` requests in a minute. Raises
    DmpError `unavailable` where the address cannot be used.
    """
    listening = bound(address, OPTION)
    reached = url.rstrip("/") or f"http://{reached_at(address, listening)}"
    workers = Workers(lambda: _recovered(root), _THREADS, "instances")
    ended = threading.Event()
    # Apart from the others: a wake command may take a minute.
    wakes = Workers(lambda: _waking(root, ended.is_set), 1, "instance-wakes")
    app = application(workers, changes, lambda: reached, Rates(per_minute))
    looking = asyncio.create_task(_look_at_wakes(wakes, changes))
    try:
        async with answering(app, listening, seconds=END_SECONDS):
            yield reached
    finally:
        ended.set()
        looking.cancel()
        with suppress(asyncio.CancelledError):
            await looking
        listening.close()
        for pool in (workers, wakes):
            await asyncio.to_thread(pool.close)


async def _look_at_wakes(workers: Workers, changes: Changes) -> None:
    """Look at every wake that is asked for, from before this began too."""
    seen = -1
    while not changes.closed:
        seen = await changes.after(seen)
        try:
            while await workers.run(waking.look):
                pass
        except (DmpError, Refusal, sqlite3.Error, OSError) as error:
            _log.warning("wakes cannot be looked at, and are tried again: %s", type(error).__name__)
            await asyncio.sleep(RETRY_SECONDS)
            seen = -1


@contextmanager
def _recovered(root: Path) -> Iterator[DirectoryNode]:
    """The replica, with what a process that is gone left undone taken up before anything is sent (section 6.3)."""
    with opened(root) as node:
        node.take_up()
        yield node


@contextmanager
def _waking(root: Path, ended: Callable[[], bool]) -> Iterator[DirectoryNode]:
    """The replica, which waits for no wake command any more once this process is to end."""
    with opened(root) as node:
        node.host.ended = ended
        yield node
