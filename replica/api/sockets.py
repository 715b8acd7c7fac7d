"""Events: what is new goes to each socket that may read it, and to requests that wait for an answer (section A.3).

The store is read once for all of them. A socket has a queue of its own; one whose reader is slow is closed, and never
keeps the others waiting.
"""

import asyncio
import json
import logging
import time
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from enum import IntEnum
from functools import partial
from typing import Final

from aiohttp import WSCloseCode, web

from core.errors import Code
from replica.api.credentials import Caller
from replica.api.errors import Refusal
from replica.api.news import Batch, News
from replica.api.workers import Workers
from replica.service.changes import Changes

MAX_SOCKETS: Final = 1_000
MAX_WAITS: Final = 2_000
"""Requests that wait for an answer at once."""

MAX_QUEUED: Final = 1_000
"""Events that a socket's reader may be behind."""

MAX_RECEIVED_BYTES: Final = 4_096
HEARTBEAT_SECONDS: Final = 30.0
CLOSE_SECONDS: Final = 2.0
"""How long a reader has to take the end of its connection."""

SETTLE_SECONDS: Final = 0.5
"""How far apart events are that say no more than that something changed."""

CHECK_SECONDS: Final = 10.0
"""How often it is checked, when something is new, whether the tokens of all sockets are still good. That of one to be
given something always is."""

_RETRY_SECONDS: Final = 1.0
_CHANGED: Final = json.dumps({"type": "node.changed"})

_log = logging.getLogger(__name__)


class End(IntEnum):
    """Why a socket is closed (RFC 6455, section 7.4.2)."""

    UNAUTHENTICATED = 4401
    """The token is good no more."""
    SLOW = 4408
    """The reader was too far behind: connect again, and read what there is."""
    MISSED = 4409
    """More happened than is kept: connect again, and read what there is."""


class Socket:
    """One connection: who reads it, and what waits to be sent."""

    def __init__(self, caller: Caller) -> None:
        self.caller = caller
        self._queue: deque[str] = deque()
        self._stirred = asyncio.Event()
        self._over = asyncio.Event()
        self._end: int | None = None

    def give(self, text: str) -> None:
        """Send an event, when its reader takes it."""
        if self._end is not None:
            return
        if len(self._queue) >= MAX_QUEUED:
            self.end(End.SLOW)
            return
        self._queue.append(text)
        self._stirred.set()

    def end(self, code: int) -> None:
        """Close it; what waits to be sent is not sent any more."""
        if self._end is None:
            self._end = code
            self._queue.clear()
            self._stirred.set()
            self._over.set()

    async def serve(self, request: web.Request, ws: web.WebSocketResponse) -> None:
        """Send what is given until either side ends it."""
        listening = asyncio.ensure_future(_listen(ws))
        sending = asyncio.ensure_future(self._send(ws))
        ended = asyncio.ensure_future(self._over.wait())
        try:
            await asyncio.wait({listening, sending, ended}, return_when=asyncio.FIRST_COMPLETED)
            if self._end is not None and not listening.done():
                with suppress(TimeoutError):
                    await asyncio.wait_for(asyncio.shield(sending), CLOSE_SECONDS)
                listening.cancel()  # one coroutine reads at a time, and the closing one wants to
                with suppress(asyncio.CancelledError):
                    await listening
                with suppress(TimeoutError):
                    await asyncio.wait_for(ws.close(code=self._end), CLOSE_SECONDS)
        finally:
            tasks = (listening, sending, ended)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            if not ws.closed and request.transport is not None:
                request.transport.abort()

    async def _send(self, ws: web.WebSocketResponse) -> None:
        while self._end is None:
            while self._queue:
                await ws.send_str(self._queue.popleft())
            await self._stirred.wait()
            self._stirred.clear()


async def _listen(ws: web.WebSocketResponse) -> None:
    """Read until the far side ends it. What it says is nothing to us."""
    async for _ in ws:
        pass


class Hub:
    """Reads what is new, and passes it on. `run` does so until the service ends."""

    def __init__(self, changes: Changes, workers: Workers) -> None:
        self._changes = changes
        self._workers = workers
        self._news = News()
        self._reading = asyncio.Lock()
        self._current = False
        self._checked = time.monotonic()
        self._sockets: set[Socket] = set()
        self._waits: dict[str, set[asyncio.Event]] = {}
        self._told: asyncio.TimerHandle | None = None
        self._closing = False

    @property
    def sockets(self) -> int:
        """How many sockets there are."""
        return len(self._sockets)

    async def run(self) -> None:
        """Pass on what is new, as it comes."""
        seen = self._changes.count
        while not self._changes.closed:
            seen = await self._changes.after(seen)
            try:
                await self._pass_on()
            except Exception as error:  # noqa: BLE001 - whatever it is, there is no other way to hear of what is new
                _log.warning("what is new cannot be read, and is tried again: %s", type(error).__name__)
                await asyncio.sleep(_RETRY_SECONDS)
                seen = -1

    def close(self) -> None:
        """End every socket and every wait."""
        self._closing = True
        for socket in self._sockets:
            socket.end(WSCloseCode.GOING_AWAY)
        for waits in self._waits.values():
            for wait in waits:
                wait.set()
        if self._told is not None:
            self._told.cancel()

    @property
    def closing(self) -> bool:
        """Whether nobody waits any more."""
        return self._closing

    @asynccontextmanager
    async def attached(self, socket: Socket) -> AsyncIterator[None]:
        """Pass on to a socket, for the length of a block, what is stored from now on."""
        if len(self._sockets) >= MAX_SOCKETS or self._closing:
            raise _busy()
        self._sockets.add(socket)
        try:
            await self._catch_up()
            yield
        finally:
            self._sockets.discard(socket)

    @asynccontextmanager
    async def waiting(self, question: str) -> AsyncIterator[asyncio.Event]:
        """Tell, for the length of a block, of answers to a question that are stored from now on."""
        if sum(map(len, self._waits.values())) >= MAX_WAITS or self._closing:
            raise _busy()
        told = asyncio.Event()
        self._waits.setdefault(question, set()).add(told)
        try:
            await self._catch_up()
            yield told
        finally:
            left = self._waits[question]
            left.discard(told)
            if not left:
                del self._waits[question]

    async def _catch_up(self) -> None:
        """Begin anew where nobody waited for a while, and nothing was read."""
        async with self._reading:
            if not self._current:
                await self._workers.run(self._news.begin)
                self._current = True

    async def _pass_on(self) -> None:
        more = True
        while more:
            async with self._reading:
                if not self._sockets and not self._waits:
                    self._current = False
                    return
                if not self._current:
                    return  # whoever came just now begins with what comes next
                callers = {each.caller.token.id: each.caller for each in self._sockets}
                check_all = self._checked + CHECK_SECONDS < time.monotonic()
                if check_all:
                    self._checked = time.monotonic()
                read = partial(self._news.read, callers=callers, check_all=check_all)
                batch = await self._workers.run(read)
            self._give(batch)
            more = batch.more

    def _give(self, batch: Batch) -> None:
        people = False
        for socket in self._sockets:
            token = socket.caller.token.id
            if token in batch.over:
                socket.end(End.UNAUTHENTICATED)
            elif batch.missed:
                socket.end(End.MISSED)
            for at in batch.given.get(token, ()):
                socket.give(batch.events[at].text)
            people = people or socket.caller.operates
        for question in self._waits if batch.missed else batch.answered & self._waits.keys():
            for wait in self._waits[question]:
                wait.set()
        if people and self._told is None:
            self._told = asyncio.get_running_loop().call_later(SETTLE_SECONDS, self._tell)

    def _tell(self) -> None:
        """Tell those who run this machine that something of it changed; which they may look at."""
        self._told = None
        for socket in self._sockets:
            if socket.caller.operates:
                socket.give(_CHANGED)


def _busy() -> Refusal:
    said = "this host has as many connections as it takes; try again later"
    return Refusal(503, str(Code.UNAVAILABLE), said, headers={"Retry-After": "5"})
