"""How long whoever comes may hold a socket of a listener open without asking anything, and how many may at once.

A socket that sends no request, one that sends it slowly, and one that is kept for a next request which does not come
are closed after a while; so are the oldest of too many. A socket whose request is being answered is none of them,
however long that takes: how many of those there are is for the application to say.
"""

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Final

from aiohttp import web
from aiohttp.web_protocol import RequestHandler

MOST_IDLE: Final = 256
"""Sockets of one listener on which nothing is being answered, for longer than a moment."""

MOMENT_SECONDS: Final = 0.5
"""How long more of them may be there: many that come at once are accepted before the first of them is read."""

MOST_COMING: Final = 4 * MOST_IDLE
"""Those of them at once, a moment or not."""

REQUEST_SECONDS: Final = 30.0
"""How long the first head of a socket may take to arrive, and the body of each request."""

KEPT_SECONDS: Final = 75.0
"""How long a socket is kept for a next request."""

_BACKLOG: Final = 1024

_Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@asynccontextmanager
async def answering(
    app: web.Application, listening: socket.socket, *, seconds: float, cancels: bool = False
) -> AsyncIterator[None]:
    """Serve an application on a socket that listens, for the length of a block.

    Requests that are being answered at the end may take `seconds` more; `cancels` whether one is given up when whoever
    asked is gone.
    """
    sockets = _Sockets()
    app.middlewares.insert(0, sockets.heard)
    runner = web.AppRunner(
        app,
        access_log=None,
        auto_decompress=False,  # a small body may unpack to one that fills the memory
        handle_signals=False,
        handler_cancellation=cancels,
        keepalive_timeout=KEPT_SECONDS,
        shutdown_timeout=seconds,
    )
    server: asyncio.Server | None = None
    try:
        await runner.setup()
        assert runner.server is not None
        made = runner.server
        server = await asyncio.get_running_loop().create_server(
            lambda: sockets.made(made), sock=listening, backlog=_BACKLOG
        )
        yield
    finally:
        if server is not None:
            server.close()
        sockets.close()
        await runner.cleanup()


class _Sockets:
    """Makes the protocol of each new socket, and closes those that ask nothing."""

    def __init__(self) -> None:
        self._silent: dict[RequestHandler, asyncio.TimerHandle] = {}
        self._asked: dict[RequestHandler, web.Request] = {}
        self._room: asyncio.TimerHandle | None = None

    def made(self, server: web.Server) -> RequestHandler:
        """The protocol of a socket that was just accepted; room for it is made in a moment, or first where it must."""
        loop = asyncio.get_running_loop()
        there = len(server.connections)
        if there >= MOST_COMING:
            self._close_oldest(server, MOST_COMING - 1)
        if there >= MOST_IDLE and self._room is None:
            self._room = loop.call_later(MOMENT_SECONDS, self._make_room, server)
        handler = server()
        self._silent[handler] = loop.call_later(REQUEST_SECONDS, self._close_silent, handler)
        return handler

    @web.middleware
    async def heard(self, request: web.Request, handler: _Handler) -> web.StreamResponse:
        """Through which every request comes, once its head is there."""
        protocol = request.protocol
        silent = self._silent.pop(protocol, None)
        if silent is not None:
            silent.cancel()
        self._asked[protocol] = request
        late = asyncio.get_running_loop().call_later(REQUEST_SECONDS, self._close_late, request)
        try:
            return await handler(request)
        finally:
            late.cancel()
            self._asked.pop(protocol, None)

    def close(self) -> None:
        """Look after no socket any more."""
        for each in self._silent.values():
            each.cancel()
        self._silent.clear()
        if self._room is not None:
            self._room.cancel()

    def _make_room(self, server: web.Server) -> None:
        self._room = None
        self._close_oldest(server, MOST_IDLE)

    def _close_oldest(self, server: web.Server, most: int) -> None:
        idle = [each for each in server.connections if self._is_idle(each)]
        for each in idle[: max(0, len(idle) - most)]:
            each.force_close()

    def _is_idle(self, handler: RequestHandler) -> bool:
        request = self._asked.get(handler)
        return request is None or not request.content.is_eof()

    def _close_silent(self, handler: RequestHandler) -> None:
        del self._silent[handler]
        handler.force_close()

    def _close_late(self, request: web.Request) -> None:
        if not request.content.is_eof():
            request.protocol.force_close()
