"""This replica's hybrid clock, kept in its store (section F.1).

It is ticked inside the transaction whose message or op carries the reading, and adopts teammates' readings
as their ops are applied. A wall clock that leaps far ahead of everything ever signed or received here would
make the chain mute until time caught up, so the leap is refused until its owner says the time is right.
"""

import sqlite3
from datetime import UTC, datetime
from typing import Final

from core.errors import Code, DmpError
from crypto.clock import Reading, adopt, tick
from replica.records.meta import Meta, get, put

MAX_LEAP_MS: Final = 30 * 24 * 3_600_000
"""How far past the last known reading the wall clock may be and still be believed: 30 days of silence."""


def last_reading(db: sqlite3.Connection) -> Reading | None:
    """The clock's last reading, or None before the first."""
    text = get(db, Meta.CLOCK)
    return None if text is None else Reading.parse(text)


def take_reading(db: sqlite3.Connection, replica: str, wall_ms: int) -> Reading:
    """Tick the clock, inside an open transaction.

    Raises DmpError `unavailable` when the wall clock is more than MAX_LEAP_MS ahead of all that was signed
    or received here.
    """
    last = last_reading(db)
    accepted = int(get(db, Meta.CLOCK_ACCEPTED) or 0)
    if last is not None and wall_ms > max(last.ms, accepted) + MAX_LEAP_MS:
        raise DmpError(
            Code.UNAVAILABLE,
            f"this machine's clock says {_text(wall_ms)}, but nothing signed or received here is later than "
            f"{_text(max(last.ms, accepted))}. Signing with a clock that is wrong would silence this replica "
            "until that time comes. Set the clock; or, if it is right, run `dmp resume --clock`; a replica "
            "that has already signed far in the future starts over: `dmp init` in a new directory",
        )
    reading = tick(last, wall_ms, replica)
    put(db, Meta.CLOCK, str(reading))
    return reading


def adopt_reading(db: sqlite3.Connection, replica: str, seen: Reading) -> None:
    """Move the clock up to a reading that was accepted, inside an open transaction."""
    last = last_reading(db)
    moved = adopt(last, seen, replica)
    if moved is not last:
        put(db, Meta.CLOCK, str(moved))


def accept_wall_clock(db: sqlite3.Connection, wall_ms: int) -> None:
    """Believe the wall clock as it is now, on its owner's word."""
    put(db, Meta.CLOCK_ACCEPTED, str(wall_ms))


def _text(ms: int) -> str:
    return datetime.fromtimestamp(ms / 1000, UTC).strftime("%Y-%m-%d %H:%M UTC")
