"""What a relay holds for clients that are slow, bounded for all of them together: the one slow for longest goes first.

A member may send half of a long frame and then nothing, or ask for much and read none of it. Each costs megabytes,
and a hostile team has as many members as it likes.
"""

import asyncio
from collections.abc import Callable
from typing import Final, Protocol

LARGE_BYTES: Final = 64 * 1024
"""What is held for one client without being counted."""

HELD_BYTES: Final = 64 * 1024 * 1024
"""What is held for all clients together of one kind, frames that are not whole yet or texts that are not read yet."""


class Holding(Protocol):
    """A connection, on whose account `held` bytes are held; `cut` ends it."""

    @property
    def held(self) -> int: ...

    def cut(self) -> None: ...


class Held:
    """Bytes that are held, by who is to blame; `cut` of whoever holds some for longest is called for too many."""

    def __init__(self, most: int = HELD_BYTES) -> None:
        self._most = most
        self._of: dict[Holding, int] = {}
        self._total = 0

    def set(self, who: Holding, size: int) -> None:
        """Note how much is held on account of somebody now."""
        if size <= LARGE_BYTES:
            self._total -= self._of.pop(who, 0)
            return
        self._total += size - self._of.get(who, 0)
        self._of[who] = size
        while self._total > self._most:
            oldest = next(iter(self._of))
            self._total -= self._of.pop(oldest)
            if oldest.held > LARGE_BYTES:  # and not given back meanwhile
                oldest.cut()


class Gate(asyncio.Protocol):
    """Stands before a socket's protocol, and counts what came since the last frame that was read.

    Until its client has proved who it is, it lets `narrow` bytes through and calls `over` when more come.
    """

    def __init__(
        self, transport: asyncio.Transport, frames: Held, *, narrow: int, over: Callable[[], None]
    ) -> None:
        inner = transport.get_protocol()
        assert isinstance(inner, asyncio.Protocol)
        self._inner = inner
        self._frames = frames
        self._narrow: int | None = narrow
        self._over = over
        self.held = 0
        """Bytes that came since a frame was read."""
        transport.set_protocol(self)

    def cut(self) -> None:
        self._over()

    def widen(self) -> None:
        """Let frames of any length through."""
        self._narrow = None

    def read(self) -> None:
        """A frame was read."""
        if self.held > LARGE_BYTES:
            self._frames.set(self, 0)
        if self._narrow is None:
            self.held = 0

    def data_received(self, data: bytes) -> None:
        self.held += len(data)
        if self.held > LARGE_BYTES:
            if self._narrow is not None and self.held > self._narrow:
                self._over()
                return
            self._frames.set(self, self.held)
        self._inner.data_received(data)

    def eof_received(self) -> bool | None:
        return self._inner.eof_received()

    def connection_lost(self, exc: Exception | None) -> None:
        self._frames.set(self, 0)
        self._inner.connection_lost(exc)

    def pause_writing(self) -> None:
        self._inner.pause_writing()

    def resume_writing(self) -> None:
        self._inner.resume_writing()
