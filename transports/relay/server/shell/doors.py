"""Who may hold a connection open before saying who they are: bounded in number and in time.

A socket that sends no request, and one that sends it slowly, is closed after a while; so is the oldest of too
many. A WebSocket waits for its turn to prove itself, so that neither one source nor all together hold more
than so many at once, and says little until then; how long a turn takes is for the relay to say.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from ipaddress import IPv6Address, ip_address
from typing import Final

from aiohttp import web
from aiohttp.web_protocol import RequestHandler

SILENT_SOCKETS: Final = 1_000
"""Sockets that have sent no request yet, at once."""

PROVING: Final = 48
PROVING_PER_SOURCE: Final = 16
"""WebSockets that have not proved who they are, at once: in all, and of one source."""

WAITING_PER_SOURCE: Final = 1_000
WAIT_SECONDS: Final = 10.0
"""WebSockets of one source that wait for their turn to prove themselves, and how long they do."""

UNPROVEN_BYTES: Final = 64 * 1024
"""What a WebSocket may send before it has proved who it is."""

_NETWORK_BITS: Final = 64


class TurnedAwayError(Exception):
    """There is no room for this connection now; `status` says so in HTTP."""

    def __init__(self, status: int) -> None:
        super().__init__(f"no room ({status})")
        self.status = status


def source_of(request: web.Request, *, trust_proxy: bool) -> str:
    """Where a request comes from: an IPv4 address, or the network of an IPv6 address.

    Behind a proxy it is what the proxy put last into X-Forwarded-For.
    """
    text = request.remote or ""
    if trust_proxy:
        text = request.headers.get("X-Forwarded-For", text).rpartition(",")[2].strip()
    try:
        address = ip_address(text)
    except ValueError:
        return "unknown"
    if isinstance(address, IPv6Address) and address.ipv4_mapped is None:
        return str(IPv6Address(int(address) >> _NETWORK_BITS << _NETWORK_BITS))
    return str(getattr(address, "ipv4_mapped", None) or address)


class Sockets:
    """Makes the protocol of each new socket, and closes those that send no request."""

    def __init__(self, server: Callable[[], RequestHandler], seconds: float) -> None:
        self._server = server
        self._seconds = seconds
        self._silent: dict[RequestHandler, None] = {}

    def __call__(self) -> RequestHandler:
        if len(self._silent) >= SILENT_SOCKETS:
            self._close(next(iter(self._silent)))
        handler = self._server()
        self._silent[handler] = None
        asyncio.get_running_loop().call_later(self._seconds, self._close, handler)
        return handler

    def spoke(self, handler: RequestHandler) -> None:
        """A request came."""
        self._silent.pop(handler, None)

    def _close(self, handler: RequestHandler) -> None:
        if handler in self._silent:
            del self._silent[handler]
            handler.force_close()


class Doors:
    """Turns for WebSockets to prove who they are."""

    def __init__(self) -> None:
        self._all = asyncio.Semaphore(PROVING)
        self._of: dict[str, tuple[asyncio.Semaphore, list[int]]] = {}

    @asynccontextmanager
    async def turn(self, source: str) -> AsyncIterator[Callable[[], None]]:
        """Wait for a turn, which ends when what is given is called, or with the context. Raises TurnedAwayError."""
        of_source, count = self._of.setdefault(source, (asyncio.Semaphore(PROVING_PER_SOURCE), [0]))
        if count[0] >= WAITING_PER_SOURCE:
            raise TurnedAwayError(429)
        count[0] += 1
        held: list[asyncio.Semaphore] = []
        over = False

        def give_back() -> None:
            nonlocal over
            if not over:
                over = True
                for semaphore in held:
                    semaphore.release()
                self._left(source, count)

        try:
            async with asyncio.timeout(WAIT_SECONDS):
                for semaphore in (of_source, self._all):
                    await semaphore.acquire()
                    held.append(semaphore)
        except TimeoutError:
            give_back()
            raise TurnedAwayError(503) from None
        except BaseException:
            give_back()
            raise
        try:
            yield give_back
        finally:
            give_back()

    def _left(self, source: str, count: list[int]) -> None:
        count[0] -= 1
        if count[0] == 0:
            del self._of[source]
