"""The threads of the service: each does one thing for as long as the service runs, and fails alone."""

import logging
import sqlite3
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Final

from core.errors import DmpError
from replica.service.changes import Changes
from transports.base import TransportError

FIRST_PAUSE: Final = 1.0
LONGEST_PAUSE: Final = 60.0
"""Seconds before a thread that failed begins again: twice as long each time, with jitter."""

SOUND_SECONDS: Final = 120.0
"""How long a thread must have run for its next failure to count as a first one."""

LOOK_SECONDS: Final = 0.05
"""How often a thread that waits for something looks whether it is so."""

_log = logging.getLogger(__name__)


class Stopped(Exception):  # noqa: N818 - no error: the service ends
    """The service ends, and with it whatever a thread was waiting for."""


class Stop:
    """Says that the service ends, to threads that wait and to those that are about to do something."""

    def __init__(self) -> None:
        self._event = threading.Event()

    def set(self) -> None:
        """End the service."""
        self._event.set()

    def is_set(self) -> bool:
        """Whether the service ends."""
        return self._event.is_set()

    def rest(self, seconds: float) -> None:
        """Wait. Raises Stopped as soon as the service ends."""
        if self._event.wait(seconds):
            raise Stopped

    def rest_until_change(self, changes: Changes, since: int, seconds: float) -> None:
        """Wait for a change after the count `since`, but no longer. Raises Stopped as soon as the service ends."""
        until = time.monotonic() + seconds
        while changes.count == since and (left := until - time.monotonic()) > 0:
            self.rest(min(left, LOOK_SECONDS))


@dataclass(slots=True)
class Worker:
    """A thread that runs `work` until it raises Stopped, and anew after a while when it raises anything else.

    `failed` is told each time. Its thread ends with the process, whatever it does.
    """

    name: str
    work: Callable[[], None]
    stop: Stop
    failed: Callable[[str], None]
    jitter: Random = field(default_factory=Random)
    _thread: threading.Thread | None = None
    _told: tuple[type[Exception], str] | None = None

    def start(self) -> None:
        """Begin."""
        self._thread = threading.Thread(target=self._run, name=self.name, daemon=True)
        self._thread.start()

    def join(self, seconds: float) -> bool:
        """Wait until it has ended, where it began; False where that takes longer."""
        if self._thread is None:
            return True
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def _run(self) -> None:
        pause = FIRST_PAUSE
        while not self.stop.is_set():
            begun = time.monotonic()
            try:
                self.work()
            except Stopped:
                return
            except Exception as error:  # noqa: BLE001 - whatever it is, the others go on, and this one begins again
                self._tell(error)
            if time.monotonic() - begun >= SOUND_SECONDS:
                pause, self._told = FIRST_PAUSE, None
            try:
                self.stop.rest(pause * (0.5 + self.jitter.random()))
            except Stopped:
                return
            pause = min(LONGEST_PAUSE, pause * 2)

    def _tell(self, error: Exception) -> None:
        """Log why it failed; the same again only for who wants to know everything."""
        self.failed(self.name)
        if isinstance(error, DmpError | TransportError):  # it says what helps, and quotes nobody's mail
            why = f": {error.message}"
        elif isinstance(error, sqlite3.OperationalError | OSError):
            why = f": {type(error).__name__}: {error}"
        else:  # what it says may be of anybody's mail
            why = ""
        same, self._told = (type(error), why) == self._told, (type(error), why)
        _log.log(
            logging.DEBUG if same else logging.ERROR,
            "%s failed, and is tried again%s",
            self.name,
            why,
            exc_info=None if why else error,
        )
