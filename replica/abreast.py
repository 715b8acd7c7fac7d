"""Asking several transports at once, so that a slow one costs only its own delay.

A call to one runs in a thread of its own and is waited for as long as it may take. What takes longer goes on by itself
and counts as a transport that did not answer; until it has ended, that transport is not asked anything else.
"""

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as LateError
from typing import Final, Protocol, TypeVar

from transports.base import Transport, Unreachable

T = TypeVar("T")

ANSWER_SECONDS: Final = 30.0
"""How long one transport besides the main one may take for what a pass asks of it at a time, in seconds."""


class Asking(Protocol):
    """How the transports besides the main one are asked."""

    def begin(self, transport: Transport, call: Callable[[], T], /) -> Callable[[], T]:
        """Begin a call that uses `transport` and nothing that belongs to this thread.

        What is returned waits for its result, and raises what it raises, or Unreachable when it takes too long.
        """


class InTurn:
    """One after the other, each when its result is asked for (Asking)."""

    def begin(self, transport: Transport, call: Callable[[], T]) -> Callable[[], T]:  # noqa: ARG002
        return call


class Abreast:
    """Side by side, each at most `seconds` long (Asking)."""

    def __init__(self, seconds: float = ANSWER_SECONDS) -> None:
        self._seconds = seconds
        self._busy: dict[int, Future[object]] = {}

    def begin(self, transport: Transport, call: Callable[[], T]) -> Callable[[], T]:
        if self.is_busy(transport):
            return lambda: _late(transport, "is still busy with what it was asked before")
        answer: Future[T] = Future()

        def answered() -> None:
            try:
                answer.set_result(call())
            except BaseException as error:  # noqa: BLE001 - whoever waits for the result raises it
                answer.set_exception(error)

        self._busy[id(transport)] = answer  # type: ignore[assignment]
        begun = time.monotonic()
        threading.Thread(target=answered, name=f"asking {transport.url}", daemon=True).start()

        def wait() -> T:
            try:
                return answer.result(max(0.0, begun + self._seconds - time.monotonic()))
            except LateError:
                if answer.done():
                    raise
                return _late(transport, f"did not answer within {self._seconds:.0f} seconds")

        return wait

    def is_busy(self, transport: Transport) -> bool:
        """Whether a call that uses the transport has not ended, so that it must not be closed."""
        asked = self._busy.get(id(transport))
        return asked is not None and not asked.done()


def _late(transport: Transport, what: str) -> T:  # type: ignore[type-var]
    raise Unreachable(f"{transport.url} {what}", "it gets what waits for it with a later sync")
