"""Connections to a relay over WebSockets.

Nothing that arrives is kept but the answer somebody waits for, so a relay can fill no memory. A connection that is
half open, whose other side is gone without a word, is found out by the pings that go unanswered.
"""

import asyncio
import os
import random
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

import aiohttp
from tenacity import AsyncRetrying, retry_if_exception

from transports.base import Unreachable
from transports.relay.address import RelayAddress
from transports.relay.client import failures
from transports.relay.client.conversation import (
    Answer,
    Answered,
    Conversation,
    Event,
    Hinted,
    Login,
    Opened,
    Request,
    Send,
    TurnedAway,
)
from transports.relay.client.link import Mark
from transports.relay.client.loop import LoopThread
from transports.relay.client.pacing import Pacing
from transports.relay.client.tls import trusted
from transports.relay.frames import FRAME_CHARACTERS, FrameError, RequestId, Why, why

REQUEST_SECONDS: Final = 15.0
"""How long a relay may take to answer, and to let a replica in (federation wire 7.4)."""

HEARTBEAT_SECONDS: Final = 20.0
"""How long a connection may be silent until it is pinged; without an answer it is gone half as long afterwards."""

_FRAME_BYTES: Final = 3 * FRAME_CHARACTERS
_CLOSE_SECONDS: Final = 1.0


@dataclass(slots=True, eq=False)
class _Connection:
    """One connection. `error` says why it is over, None while it is not."""

    ws: aiohttp.ClientWebSocketResponse
    conversation: Conversation
    id: str = field(default_factory=lambda: os.urandom(8).hex())
    answers: dict[RequestId, asyncio.Future[Answer]] = field(default_factory=dict)
    error: Unreachable | None = None
    reader: asyncio.Task[None] | None = None

    @property
    def url(self) -> str:
        return self.conversation.login.url


class SocketLink:
    """Connections to one relay, one at a time (link.Link). The connection lives in a thread of its own."""

    def __init__(
        self,
        *,
        request_seconds: float = REQUEST_SECONDS,
        heartbeat_seconds: float = HEARTBEAT_SECONDS,
        clock: Callable[[], float] = time.monotonic,
        random: Callable[[], float] = random.random,
    ) -> None:
        self._request_seconds = request_seconds
        self._heartbeat_seconds = heartbeat_seconds
        self._pacing = Pacing(clock, random)
        self._changed = threading.Condition()  # guards what both threads use, down to the blank line
        self._wanted: Login | None = None
        self._live: _Connection | None = None
        self._news = 0
        self._is_sought = False
        self._is_left_to_another = False

        self._thread: LoopThread | None = None
        self._http: aiohttp.ClientSession | None = None
        self._connecting = asyncio.Lock()
        self._seeking: asyncio.Task[None] | None = None

    # In the caller's thread

    def connect(self, login: Login) -> None:
        with self._changed:
            self._wanted = login
            live, held = self._live, self._pacing.held
            if live is not None and live.error is None and live.conversation.login == login:
                return
        if held > 0:
            raise failures.held(login.url)
        if self._thread is None:
            self._thread = LoopThread()
        self._thread.run(self._connect(login))

    def ask(self, request: Request) -> Answer:
        return self._started().run(self._ask(request))

    def tell(self, request: Request) -> None:
        self._started().run(self._tell(request))

    def mark(self) -> Mark:
        with self._changed:
            return self._mark()

    def wait(self, mark: Mark, seconds: float) -> None:
        with self._changed:
            self._see_to_it()
            if self._mark() == mark:
                self._changed.wait(seconds)

    def close(self) -> None:
        if self._thread is not None:
            self._thread.run(self._end())
            self._thread.close()
            self._thread = None

    def _started(self) -> LoopThread:
        if self._thread is None:
            raise ValueError("nothing can be asked before `connect`")
        return self._thread

    def _mark(self) -> Mark:
        return Mark("" if self._live is None else self._live.id, self._news)

    def _see_to_it(self) -> None:
        """Where the connection is gone, seek another one; or tell when there was enough time for somebody else's."""
        is_open = self._live is not None and self._live.error is None
        if is_open or self._wanted is None or self._thread is None:
            return
        if self._is_left_to_another:
            if not self._pacing.held:
                self._is_left_to_another = False
                self._news += 1
        elif not self._is_sought:
            self._is_sought = True
            self._thread.loop.call_soon_threadsafe(self._seek, self._wanted)

    # In the thread of the loop

    async def _connect(self, login: Login) -> None:
        async with self._connecting:
            live = self._live
            if live is not None:
                if live.error is None and live.conversation.login == login:
                    return
                await self._drop(live)  # also one that is lost may still be closing
            made = await self._open(login)
            with self._changed:
                self._live, self._is_left_to_another = made, False
                self._pacing.opened()
                self._changed.notify_all()
            made.reader = asyncio.create_task(self._read(made))

    async def _open(self, login: Login) -> _Connection:
        """Make a connection on which the relay is ready. Raises Unreachable."""
        if self._http is None:
            self._http = aiohttp.ClientSession(
                cookie_jar=aiohttp.DummyCookieJar(), trace_configs=[_no_redirects()]
            )
        ws = None
        try:
            async with asyncio.timeout(self._request_seconds):
                ws = await self._http.ws_connect(
                    RelayAddress.parse(login.url).team(login.team),
                    ssl=trusted(login.url),
                    heartbeat=self._heartbeat_seconds,
                    max_msg_size=_FRAME_BYTES,
                    timeout=aiohttp.ClientWSTimeout(ws_close=_CLOSE_SECONDS),
                )
                return await self._greeted(_Connection(ws, Conversation(login)))
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            await _close(ws)
            raise failures.not_made(login.url, error) from None
        except BaseException:
            await _close(ws)
            raise

    async def _greeted(self, made: _Connection) -> _Connection:
        while True:
            match await self._receive(made):
                case Opened():
                    return made
                case TurnedAway(reason):
                    raise failures.refused(reason)
                case _:
                    continue

    async def _receive(self, live: _Connection) -> Event | None:
        """Take in one frame, and answer it where that is due. Raises Unreachable when the connection is over."""
        message = await live.ws.receive()
        if message.type is aiohttp.WSMsgType.BINARY:
            raise failures.given_up(live.url, "it sent what no relay sends (bytes)")
        if message.type is not aiohttp.WSMsgType.TEXT:
            raise failures.lost(live.url, _ending(message, live.ws))
        try:
            event = live.conversation.receive(message.data)
        except FrameError as error:
            raise failures.given_up(live.url, f"it sent what no relay sends ({error})") from None
        if isinstance(event, Send):
            await live.ws.send_str(event.text)
        return event

    async def _read(self, live: _Connection) -> None:
        """Take in frames until the connection is over."""
        error: Unreachable = failures.lost(live.url, "it was closed")
        try:
            while True:
                match await self._receive(live):
                    case Answered(id_, answer):
                        waiting = live.answers.get(id_)
                        if waiting is not None and not waiting.done():
                            waiting.set_result(answer)
                    case Hinted():
                        self._tell_news()
                    case TurnedAway(reason):
                        replaced = why(reason) is Why.REPLACED
                        error = failures.replaced(reason) if replaced else failures.refused(reason)
                        self._lost(live, error, replaced=replaced)
                        if not replaced:
                            self._tell_news()
                        return
                    case _:
                        continue
        except Unreachable as ended:
            error = ended
        except (aiohttp.ClientError, OSError) as broken:
            error = failures.lost(live.url, str(broken))
        finally:
            self._lost(live, error)
            await _close(live.ws)

    def _tell_news(self) -> None:
        with self._changed:
            self._news += 1
            self._changed.notify_all()

    def _lost(self, live: _Connection, error: Unreachable, *, replaced: bool = False) -> None:
        with self._changed:
            if live.error is not None:
                return
            live.error = error
            if live is self._live:
                self._pacing.lost(replaced=replaced)
                self._is_left_to_another = replaced
            self._changed.notify_all()
        for waiting in live.answers.values():
            if not waiting.done():
                waiting.set_exception(error)

    async def _drop(self, live: _Connection, error: Unreachable | None = None) -> None:
        """End a connection from this side."""
        self._lost(live, error or failures.lost(live.url, "it was closed"))
        if live.reader is not None:
            live.reader.cancel()
            await asyncio.wait([live.reader])

    async def _ask(self, request: Request) -> Answer:
        live = self._live
        if live is None:
            raise ValueError("nothing can be asked before `connect`")
        if live.error is not None:
            raise live.error
        waiting: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        live.answers[request.id] = waiting
        try:
            async with asyncio.timeout(self._request_seconds):
                await live.ws.send_str(live.conversation.ask(request))
                return await waiting
        except TimeoutError:
            late = failures.given_up(live.url, f"there was no answer within {self._request_seconds:.0f} s")
            await self._drop(live, late)
            raise late from None
        except (aiohttp.ClientError, OSError) as broken:
            gone = failures.lost(live.url, str(broken))
            await self._drop(live, gone)
            raise gone from None
        finally:
            del live.answers[request.id]
            if waiting.done() and not waiting.cancelled():
                waiting.exception()  # it was raised otherwise, or nobody needs it

    async def _tell(self, request: Request) -> None:
        live = self._live
        if live is not None and live.error is None:
            try:
                async with asyncio.timeout(self._request_seconds):
                    await live.ws.send_str(live.conversation.ask(request))
            except (aiohttp.ClientError, TimeoutError, OSError) as broken:
                await self._drop(live, failures.lost(live.url, str(broken)))

    def _seek(self, login: Login) -> None:
        self._seeking = asyncio.create_task(self._seek_until_found(login))

    async def _seek_until_found(self, login: Login) -> None:
        """Try to connect, ever more seldom, until the relay lets this replica in or will not have it."""
        tries = AsyncRetrying(
            wait=self._pacing.next_pause, retry=retry_if_exception(_may_change), reraise=True
        )
        try:
            await asyncio.sleep(self._pacing.first_pause())
            await tries(self._connect, login)
        except Unreachable:
            self._tell_news()
        finally:
            with self._changed:
                self._is_sought = False

    async def _end(self) -> None:
        if self._seeking is not None:
            self._seeking.cancel()
            await asyncio.wait([self._seeking])
        if self._live is not None:
            await self._drop(self._live)
        if self._http is not None:
            await self._http.close()


def _may_change(error: BaseException) -> bool:
    """Whether a connection that was not made may be made later."""
    if isinstance(error, failures.TurnedAwayError):
        return error.later
    return isinstance(error, Unreachable)


def _ending(message: aiohttp.WSMessage, ws: aiohttp.ClientWebSocketResponse) -> str:
    if message.type is aiohttp.WSMsgType.ERROR:
        return f"{ws.exception() or 'an error'}"
    return "the relay closed it" if ws.close_code is not None else "it was closed"


def _no_redirects() -> aiohttp.TraceConfig:
    """Be led nowhere: the address was allowed for what it is, and the proof of who connects names it."""

    async def refuse(_session: object, _context: object, params: aiohttp.TraceRequestRedirectParams) -> None:
        params.response.close()
        raise aiohttp.TooManyRedirects(params.response.request_info, (params.response,))

    config = aiohttp.TraceConfig()
    config.on_request_redirect.append(refuse)
    return config


async def _close(ws: aiohttp.ClientWebSocketResponse | None) -> None:
    """Close a connection, and cut it: what the other side leaves unread would keep its socket open for ever."""
    if ws is None:
        return
    sock = ws.get_extra_info("socket")
    try:
        await ws.close()
    finally:
        if sock is not None:
            with suppress(OSError):  # it is closed by now
                sock.shutdown(socket.SHUT_RDWR)
