"""How often a remote is asked whether it has anything new: often at first, then less and less."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

FIRST_SECONDS: Final = 0.3
GROWTH: Final = 1.5

NEAR_SECONDS: Final = 1.0
"""The longest wait between two questions to a repository on this machine."""

FAR_SECONDS: Final = 15.0
"""The longest wait between two questions to any other: some 240 an hour from an idle replica."""


@dataclass(slots=True)
class Pace:
    """Waits that grow by half each time, up to `ceiling` seconds; chance takes up to a quarter off each."""

    ceiling: float
    random: Callable[[], float]
    _next: float = field(default=FIRST_SECONDS)

    def wait(self) -> float:
        """Return how many seconds to wait before the next question."""
        now = self._next
        self._next = min(self.ceiling, now * GROWTH)
        return now * (1 - self.random() / 4)

    def restart(self) -> None:
        """Ask often again: something has happened."""
        self._next = FIRST_SECONDS
