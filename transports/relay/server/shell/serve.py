"""One relay as a process: its directory, its sockets, its log, and its end."""

import asyncio
import errno
import fcntl
import gc
import os
import secrets
import signal
import socket
import ssl
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import structlog
from aiohttp import web

from transports.relay.server.registration import Registrar
from transports.relay.server.relay import Relay
from transports.relay.server.settings import Settings
from transports.relay.server.shell.app import Shell
from transports.relay.server.shell.doors import Sockets
from transports.relay.server.shell.metrics import Metrics
from transports.relay.server.sqlite import SqliteStore

DATABASE: Final = "relay.db"
SWITCH_SECONDS: Final = 0.001
"""How long one thread goes on while another waits: the one that writes waits anew after each statement."""

GARBAGE: Final = (10_000, 10, 10)
"""How many objects there are more, and so on, before Python looks for cycles (`gc.set_threshold`).

With a thousand connections a whole look takes a tenth of a second, in which nothing else happens; and an op leaves no
cycle behind. So it looks a tenth as often as it would by itself.
"""

TICK_SECONDS: Final = 0.5
EXPIRE_SECONDS: Final = 3600.0
LINGER_SECONDS: Final = 1.0
"""How long the rest of a request is read that was answered before it had arrived."""

TLS_SECONDS: Final = 10.0
BACKLOG: Final = 1024

_log = structlog.get_logger()


class ServeError(Exception):
    """The relay cannot start; the message says why and what helps."""


@dataclass(frozen=True, slots=True)
class Address:
    """Where to listen: a host name or address, and a port, 0 for any that is free."""

    host: str
    port: int

    @classmethod
    def parse(cls, text: str) -> "Address":
        """Read `host:port`; brackets around an IPv6 address. Raises ValueError."""
        host, colon, port = text.rpartition(":")
        if not colon or not port.isascii() or not port.isdigit() or int(port) > 65535:
            raise ValueError(f"an address to listen on is HOST:PORT, not {text!r}")
        return cls(host.removeprefix("[").removesuffix("]"), int(port))

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


@dataclass(frozen=True, slots=True)
class Place:
    """How a relay is reached and where it keeps its state."""

    directory: Path
    listen: Address
    metrics: Address | None = None
    """Where metrics are, None for beside everything else."""
    certificate: Path | None = None
    key: Path | None = None
    trust_proxy: bool = False
    max_connections: int = 5_000


def configure_log(*, as_json: bool) -> None:
    """Write what happens to standard error, a line each."""
    renderer: structlog.typing.Processor = (
        structlog.processors.JSONRenderer() if as_json else structlog.dev.ConsoleRenderer(colors=False)
    )
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            renderer,
        ],
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=False,
    )


@contextmanager
def locked(directory: Path) -> Iterator[None]:
    """Be the one relay of a directory. Raises ServeError where another is."""
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    file = os.open(directory / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise ServeError(
                f"another relay runs in {directory}; stop it, or take another directory"
            ) from None
        yield
    finally:
        os.close(file)


def serve(settings: Settings, place: Place, ready: Callable[[str, str], None]) -> None:
    """Run a relay until SIGTERM or SIGINT. Where the settings have no URL, it is that of the socket, on this machine.

    `ready` is told where it listens and what clients dial. Raises ServeError, OSError.
    """
    sys.setswitchinterval(SWITCH_SECONDS)
    gc.set_threshold(*GARBAGE)
    with locked(place.directory):
        store = SqliteStore(place.directory / DATABASE)
        try:
            asyncio.run(_serve(settings, place, store, ready))
        finally:
            store.close()


async def _serve(
    settings: Settings, place: Place, store: SqliteStore, ready: Callable[[str, str], None]
) -> None:
    try:
        socket_ = socket.create_server(
            (place.listen.host, place.listen.port),
            family=socket.AF_INET6 if ":" in place.listen.host else socket.AF_INET,
            backlog=BACKLOG,
        )
    except OSError as error:
        if error.errno != errno.EADDRINUSE:
            raise
        raise ServeError(f"{place.listen} is in use; give another address with --listen") from None
    listening = str(Address(place.listen.host, socket_.getsockname()[1]))
    if not settings.url:
        settings = replace(settings, url=f"ws://{listening}")
    metrics = Metrics()

    def now() -> int:
        return time.time_ns() // 1_000_000

    relay = Relay(settings, store, now=now, random=secrets.token_bytes, tally=metrics.tally)
    shell = Shell(
        relay,
        Registrar(settings, store, now),
        metrics,
        trust_proxy=place.trust_proxy,
        max_connections=place.max_connections,
    )
    runner = web.AppRunner(
        shell.app(metrics=place.metrics is None),
        access_log=None,
        keepalive_timeout=15,
        lingering_time=LINGER_SECONDS,
        auto_decompress=False,  # a small body may unpack to one that fills the memory
        handle_signals=False,
    )
    await runner.setup()
    assert runner.server is not None
    sockets = Sockets(runner.server, settings.request_ms / 1000)
    shell.spoke = lambda request: sockets.spoke(request.protocol)
    tls = _tls(place)
    loop = asyncio.get_running_loop()
    stop = asyncio.Event()
    for each in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(each, stop.set)
    server = await loop.create_server(
        sockets,
        sock=socket_,
        ssl=tls,
        backlog=BACKLOG,
        ssl_handshake_timeout=TLS_SECONDS if tls else None,
    )
    watching = None if place.metrics is None else await _watch(shell, place.metrics)
    _log.info("started", listen=listening, url=settings.url, teams=store.teams())
    ready(listening, settings.url)
    tasks = [asyncio.create_task(each) for each in (shell.pipeline.run(), _tick(relay), _expire(relay))]
    stopped = asyncio.create_task(stop.wait())
    try:
        await asyncio.wait([*tasks, stopped], return_when=asyncio.FIRST_COMPLETED)
        _log.info("closing")
        server.close()
        await shell.close()
    finally:
        for task in (*tasks, stopped):
            task.cancel()
        await runner.cleanup()
        if watching is not None:
            await watching.cleanup()
        shell.pipeline.close()
    for task in tasks:
        with suppress(asyncio.CancelledError):
            await task  # one that failed is why the relay ends
    _log.info("stopped")


async def _watch(shell: Shell, address: Address) -> web.AppRunner:
    runner = web.AppRunner(shell.watching(), access_log=None)
    await runner.setup()
    await web.TCPSite(runner, address.host, address.port).start()
    return runner


def _tls(place: Place) -> ssl.SSLContext | None:
    if place.certificate is None:
        return None
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    try:
        context.load_cert_chain(place.certificate, place.key)
    except OSError as error:  # an SSLError is one
        raise ServeError(f"the certificate or its key cannot be used: {error}") from None
    return context


async def _tick(relay: Relay) -> None:
    while True:
        await asyncio.sleep(TICK_SECONDS)
        relay.tick()


async def _expire(relay: Relay) -> None:
    while True:
        while await asyncio.to_thread(relay.expire):
            await asyncio.sleep(0.1)
        await asyncio.sleep(EXPIRE_SECONDS)
