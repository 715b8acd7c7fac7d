"""The clock of a vector's world, which stands still until a step moves it."""

from dataclasses import dataclass
from typing import Final

from core.timestamp import milliseconds
from vectors.adapter.members import Unsupported

_FIRST: Final = milliseconds("1970-01-01T00:00:00.000Z")
_LAST: Final = milliseconds("9999-12-31T23:00:00.000Z")


@dataclass(slots=True)
class Clock:
    """Milliseconds since 1970. Raises Unsupported for a time that an hour before or after has no timestamp."""

    ms: int

    def __post_init__(self) -> None:
        self.advance(0)

    def __call__(self) -> int:
        return self.ms

    def advance(self, ms: int) -> None:
        """Move forward, or back."""
        if not _FIRST <= self.ms + ms <= _LAST:
            raise Unsupported("this host's clock goes from 1970 to the last hour of 9999")
        self.ms += ms
