"""Quotas: how much of one publisher is applied in an hour; the rest waits (federation wire 9.8, 9.E4)."""

import sqlite3
from dataclasses import dataclass
from typing import Final

HOUR_MS: Final = 3_600_000


@dataclass(frozen=True, slots=True)
class Quotas:
    """How much of one publisher is applied in one hour of UTC by this machine's clock; None for any amount.

    `mail` and `state` count ops sealed to this replica, `recipients` those that its mail names, and `shared` the ops
    of shared state, which are in the clear: work items, agents, channels, presence and what else all replicas fold.
    `memories` and `documents` count new ones, of the team's memory and of its documents.
    """

    mail: int | None = 600
    state: int | None = 600
    recipients: int | None = 30_000
    shared: int | None = 10_000
    memories: int | None = 500
    documents: int | None = 500


def take_from_quota(
    db: sqlite3.Connection, publisher: str, kind: str, limit: int | None, now_ms: int, amount: int = 1
) -> bool:
    """Count what `publisher` asks for, inside an open transaction; False when its hour has no room for it.

    Whatever comes first in an hour has room, so that nothing waits for ever.
    """
    if limit is None:
        return True
    hour = now_ms // HOUR_MS
    row = db.execute(
        "SELECT hour, used FROM quotas WHERE publisher = ? AND kind = ?", (publisher, kind)
    ).fetchone()
    used = row[1] if row is not None and row[0] == hour else 0
    if used and used + amount > limit:
        return False
    db.execute(
        "INSERT INTO quotas (publisher, kind, hour, used) VALUES (?, ?, ?, ?) "
        "ON CONFLICT (publisher, kind) DO UPDATE SET hour = excluded.hour, used = excluded.used",
        (publisher, kind, hour, used + amount),
    )
    return True
