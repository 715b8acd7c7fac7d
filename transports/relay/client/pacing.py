"""How soon a replica connects again, so that a relay that comes back is not run down (federation wire 7.4)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from tenacity import RetryCallState

FIRST_PAUSE: Final = 1.0
LONGEST_PAUSE: Final = 60.0
"""Seconds between two tries: twice as long each time, and half as long to one and a half times as long."""

STEADY_SECONDS: Final = 60.0
"""A connection that was there for so long counts as a good one: what happens after it is no repetition."""


@dataclass(slots=True)
class Pacing:
    """The pauses between connections of one replica. `clock` is in seconds, `random` is below 1.

    Two that connect as the same replica replace each other. One that is replaced comes back at once, since the
    other may have been a command that is done by now; where that repeats itself, it holds back longer each time.
    """

    clock: Callable[[], float]
    random: Callable[[], float]
    _opened_at: float = 0.0
    _early: int = 0
    _replaced: int = 0
    _held_until: float = 0.0

    def opened(self) -> None:
        """A connection was made."""
        self._opened_at = self.clock()

    def lost(self, *, replaced: bool) -> None:
        """The connection is gone."""
        steady = self.clock() - self._opened_at >= STEADY_SECONDS
        self._early = 0 if steady else self._early + 1
        self._replaced = 0 if steady or not replaced else self._replaced + 1
        if self._replaced > 1:
            self._held_until = self.clock() + self._pause(self._replaced - 1)

    @property
    def held(self) -> float:
        """How long this replica leaves the relay to whoever replaced it, in seconds."""
        return max(0.0, self._held_until - self.clock())

    def first_pause(self) -> float:
        """Seconds to wait before a lost connection is sought."""
        return self._pause(max(1, self._early))

    def next_pause(self, state: RetryCallState) -> float:
        """Seconds to wait before it is tried again."""
        return self._pause(state.attempt_number + max(1, self._early))

    def _pause(self, number: int) -> float:
        return float(min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** min(number - 1, 10)) * (0.5 + self.random()))
