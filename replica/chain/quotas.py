"""Quotas: how much of one publisher is applied in an hour; the rest waits (federation wire 9.8, 9.E4)."""

import sqlite3
from typing import Final

HOUR_MS: Final = 3_600_000

PER_HOUR: Final = {"mail": 600, "state": 600, "targets": 30_000}
"""What one publisher gets applied in one hour of UTC: ops of a type, and targets of its mail."""


def take_from_quota(db: sqlite3.Connection, publisher: str, kind: str, now_ms: int, amount: int = 1) -> bool:
    """Count what `publisher` asks for, inside an open transaction; False when its hour has no room for it."""
    hour = now_ms // HOUR_MS
    row = db.execute(
        "SELECT hour, used FROM quotas WHERE publisher = ? AND kind = ?", (publisher, kind)
    ).fetchone()
    used = row[1] if row is not None and row[0] == hour else 0
    if used + amount > PER_HOUR[kind]:
        return False
    db.execute(
        "INSERT INTO quotas (publisher, kind, hour, used) VALUES (?, ?, ?, ?) "
        "ON CONFLICT (publisher, kind) DO UPDATE SET hour = excluded.hour, used = excluded.used",
        (publisher, kind, hour, used + amount),
    )
    return True
