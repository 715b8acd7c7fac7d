"""One replica as a process: its threads, its sockets, and its end.

The loop serves HTTP; a thread syncs, another keeps the host's time, a third notices commits. They meet in the store
alone, as processes do. A thread that fails begins again by itself, and whatever dies in the middle of something left
it as any command that is killed would: the store holds what was committed, and the rest is taken up.
"""

import asyncio
import contextlib
import logging
import os
import signal
import sys
import threading
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from aiohttp import web

from replica.api.announce import announce
from replica.api.app import application
from replica.home.directory import Directory
from replica.host.binding import bindings
from replica.host.config import Config
from replica.node import opened
from replica.service.changes import Changes
from replica.service.listening import bound, reached_at
from replica.service.lock import serving
from replica.service.metering import add_metrics, metering
from replica.service.metrics import Metrics
from replica.service.sockets import answering
from replica.service.syncing import sync
from replica.service.timers import keep_time
from replica.service.workers import Stop, Worker

REQUEST_SECONDS: Final = 2.0
"""How long requests that are being answered may take when the service ends."""

WORKER_SECONDS: Final = 4.0
"""How long threads may take to end: one that asks a far side waits for no more than that."""

SWITCH_SECONDS: Final = 0.001
"""How long a thread that computes keeps the others waiting: requests are answered while it syncs."""

LAST_SECONDS: Final = 10.0
"""After which the process ends, whatever still runs in it: nothing that was committed depends on its end."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Started:
    """What a service that has started tells: whose it is, and where it is reached, also by what bindings run."""

    replica: str
    handle: str
    url: str
    metrics: str
    mcp: str | None
    bindings: Mapping[str, str]


def serve(root: Path, config: Config, ready: Callable[[Started], None]) -> None:
    """Serve the replica at `root` until SIGTERM or SIGINT. `ready` is told once it can be reached.

    Raises DmpError: `conflict` where another process does, `unavailable` where an address is taken or the store cannot
    be used, and as `replica.node.opened`.
    """
    with opened(root) as node:
        replica, handle, now = node.me, node.handle, node.now()
    sys.setswitchinterval(SWITCH_SECONDS)
    directory = Directory(root)
    with serving(directory.service_lock, now) as listening, Changes(directory.database) as changes:
        metrics, stop = Metrics(), Stop()
        workers = [
            Worker(
                "sync",
                lambda: sync(root, changes, stop, config.serve.interval, metrics.passed),
                stop,
                metrics.failed,
            ),
            Worker("timers", lambda: keep_time(root, changes, stop), stop, metrics.failed),
        ]

        def begin(url: str, measured: str, tools: str | None, others: Mapping[str, str]) -> None:
            listening(url)
            announce(root, url)
            for worker in workers:
                worker.start()
            ready(Started(replica, handle, url, measured, tools, others))

        try:
            asyncio.run(_serve(root, config, changes, metrics, begin, stop))
        finally:
            stop.set()
            late = [worker.name for worker in workers if not worker.join(WORKER_SECONDS)]
            if late:
                _log.warning("ended while a far side was asked, by: %s", ", ".join(late))


async def _serve(
    root: Path,
    settings: Config,
    changes: Changes,
    metrics: Metrics,
    begin: Callable[[str, str, str | None, Mapping[str, str]], None],
    stop: Stop,
) -> None:
    config = settings.serve
    loop, ended = asyncio.get_running_loop(), asyncio.Event()

    def end() -> None:
        stop.set()
        _end_late()
        ended.set()

    for each in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(each, end)
    app = application(root, changes, names=config.names)
    if config.metrics is None:
        add_metrics(app, root, metrics)
    async with contextlib.AsyncExitStack() as stack:
        listen = await stack.enter_async_context(running(app, config.listen, "--listen"))
        measured = listen
        if config.metrics is not None:
            measured = await stack.enter_async_context(
                running(metering(root, metrics), config.metrics, "--metrics")
            )
        tools = None
        if config.mcp is not None:
            # Late: the SDK takes a second of the processor's time, and not everybody wants it.
            from replica.mcp import http

            tools = await stack.enter_async_context(
                http.running(root, changes, config.mcp, "--mcp", names=config.names)
            )
        others: dict[str, str] = {}
        for binding in bindings().values():
            others |= await stack.enter_async_context(binding.running(root, changes, settings))
        _log.info("started, at %s", listen)
        begin(f"http://{listen}", f"http://{measured}/metrics", tools, others)
        await ended.wait()
        _log.info("ending")


@asynccontextmanager
async def running(app: web.Application, address: str, option: str) -> AsyncIterator[str]:
    """Serve an application; its value is the address, with the port that was taken where 0 was asked for."""
    listening = bound(address, option)
    try:
        async with answering(app, listening, seconds=REQUEST_SECONDS):
            yield reached_at(address, listening)
    finally:
        listening.close()


def _end_late() -> None:
    """See to it that the process ends in time."""
    timer = threading.Timer(LAST_SECONDS, os._exit, (0,))
    timer.daemon = True
    timer.start()
