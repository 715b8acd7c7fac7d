"""Sending what waits for one client.

Nearly always the client reads as fast as it is told, and what is told one client is told several. So a text is
made a WebSocket frame once, and written to the socket at once where nothing waits there. Otherwise a task sends
it through aiohttp, at the client's pace and not for longer than it may take.
"""

import asyncio
from typing import Final

from aiohttp import WSCloseCode, web

from transports.relay.frames import Why
from transports.relay.server.session import Session, State
from transports.relay.server.shell.held import Held

UNREAD_BYTES: Final = 64 * 1024
"""What may wait in the socket's own buffer before the task takes over."""

_TEXT: Final = 0x81
"""The first byte of an unfragmented text frame."""


class Speaker:
    """Sends for one connection: `say` at once, and what waits when `woken` is called."""

    def __init__(
        self, ws: web.WebSocketResponse, transport: asyncio.Transport, unread_seconds: float, texts: Held
    ) -> None:
        self._ws = ws
        self._transport = transport
        self._unread_seconds = unread_seconds
        self._texts = texts
        self._wake = asyncio.Event()
        self._sending = False
        self.session: Session | None = None
        self.room = asyncio.Event()
        """Set when more requests may be read."""

    @property
    def held(self) -> int:
        """The bytes that wait to be read by the client, about."""
        waiting = 0 if self.session is None else self.session.outbox.size
        return waiting + self._transport.get_write_buffer_size()

    def cut(self) -> None:
        """Give up on a client that does not read."""
        self._transport.abort()

    def weigh(self) -> None:
        """Count what waits for the client."""
        self._texts.set(self, self.held)

    def say(self, text: str) -> bool:
        """Send a text at once, before which nothing waits to be sent; False where it has to wait itself."""
        self.room.set()
        transport = self._transport
        if (
            self._sending
            or self.session is None
            or self._ws.closed
            or transport.is_closing()
            or transport.get_write_buffer_size() > UNREAD_BYTES
        ):
            return False
        transport.write(_frames(text))
        return True

    def woken(self) -> None:
        """Send what can be sent without waiting, and leave the rest to the task."""
        self.room.set()
        session = self.session
        if session is None or self._sending or session.state is State.ENDED or self._ws.closed:
            self._wake.set()
            return
        while not self._transport.is_closing() and self._transport.get_write_buffer_size() <= UNREAD_BYTES:
            text = session.outbox.take()
            if text is None:
                return
            self._transport.write(_frames(text))
        self._wake.set()

    async def run(self, session: Session) -> None:
        """Send for as long as the connection lasts. Raises TimeoutError where the client does not read."""
        self.session = session
        while True:
            self._sending = True
            text = session.outbox.take()
            if text is not None:
                async with asyncio.timeout(self._unread_seconds):
                    await self._ws.send_str(text)
                self.weigh()
                self.room.set()
                continue
            self._sending = False
            if session.state is State.ENDED:
                break
            self._wake.clear()
            await self._wake.wait()
        if session.why is not None:
            code = WSCloseCode.GOING_AWAY if session.why is Why.CLOSING else WSCloseCode.POLICY_VIOLATION
            await self._ws.close(code=code, message=session.why.value.encode())


class _Frames:
    """Makes frames of texts, and remembers the last: one text is told to several clients in a row."""

    def __init__(self) -> None:
        self._text = ""
        self._frame = b""

    def __call__(self, text: str) -> bytes:
        if text is not self._text:
            self._text, self._frame = text, frame_of(text)
        return self._frame


_frames = _Frames()


def frame_of(text: str) -> bytes:
    """Write a text as one WebSocket frame of a server (RFC 6455 section 5.2)."""
    payload = text.encode("utf-8", "replace")
    size = len(payload)
    if size < 126:
        return bytes((_TEXT, size)) + payload
    if size < 65536:
        return bytes((_TEXT, 126)) + size.to_bytes(2) + payload
    return bytes((_TEXT, 127)) + size.to_bytes(8) + payload
