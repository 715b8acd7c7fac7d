"""Hybrid clocks: readings that rise along a chain whatever the machine's own clock does (section F.1).

A reading is written `<ms>.<counter>.<replica>`: milliseconds since 1970 in 13 digits, a counter of at least
four, and the replica that took it. Readings compare by milliseconds and counter as numbers.
"""

import re
from dataclasses import dataclass, field
from typing import Final

MAX_COUNTER: Final = 999_999_999
MAX_MS: Final = 9_999_999_999_999
MAX_CLOCK_LEAD_MS: Final = 300_000
"""How far ahead of its own wall clock a replica lets another's reading be (section F.1)."""

# ECMAScript's `.` stops at all four of its line terminators.
_READING = re.compile(r"([0-9]{13})\.([0-9]{4,9})\.([^\n\r\u2028\u2029]+)")

_COUNTER_DIGITS: Final = 4

NOT_A_READING: Final = "not a clock reading: <13 digits>.<4 to 9 digits>.<replica>"


class ClockError(ValueError):
    """A text that is no reading, or a clock that has nowhere left to go."""


@dataclass(frozen=True, slots=True)
class Reading:
    """One reading of a hybrid clock.

    `digits` is how wide its counter is written: a signature covers the text of a reading, so a reading
    that came with more zeros than it needs must be written with them again.
    """

    ms: int
    counter: int
    replica: str
    digits: int = field(default=_COUNTER_DIGITS, compare=False, repr=False)

    @classmethod
    def parse(cls, text: str) -> "Reading":
        """Read `<ms>.<counter>.<replica>`. Raises ClockError for a text outside the grammar."""
        found = _READING.fullmatch(text)
        if found is None:
            raise ClockError(NOT_A_READING)
        ms, counter, replica = found.groups()
        return cls(int(ms), int(counter), replica, len(counter))

    @staticmethod
    def is_one(text: str) -> bool:
        """Return whether `parse` would read a text."""
        return _READING.fullmatch(text) is not None

    @staticmethod
    def ms_of(text: str) -> int:
        """Return the milliseconds of a text that was found to be a reading before."""
        return int(text[:13])

    @property
    def key(self) -> tuple[int, int]:
        """What readings are compared by: milliseconds, then counter."""
        return self.ms, self.counter

    def __str__(self) -> str:
        return f"{self.ms:013d}.{self.counter:0{self.digits}d}.{self.replica}"


def tick(last: Reading | None, wall_ms: int, replica: str) -> Reading:
    """Return the reading after `last` at a wall clock of `wall_ms` milliseconds.

    Raises ClockError past the last millisecond a reading can name.
    """
    if last is None or wall_ms > last.ms:
        ms, counter = wall_ms, 0
    elif last.counter < MAX_COUNTER:
        ms, counter = last.ms, last.counter + 1
    else:
        ms, counter = last.ms + 1, 0
    if not 0 <= ms <= MAX_MS:
        raise ClockError(f"{ms} milliseconds is no time a clock reading can name")
    return Reading(ms, counter, replica)


def adopt(last: Reading | None, seen: Reading, replica: str) -> Reading:
    """Return this replica's clock moved up to a reading it accepted from another.

    The caller has checked the lead of `seen` over its own wall clock (MAX_CLOCK_LEAD_MS).
    """
    if last is not None and last.key >= seen.key:
        return last
    return Reading(seen.ms, seen.counter, replica)
