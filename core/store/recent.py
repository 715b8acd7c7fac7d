"""Messages of the past hour, for the guardrails (section 6.6).

A message counts from when it came to be here: its `createdAt`, and its arrival where another replica created it,
so that nobody escapes by backdating. The indexes hold what is asked for here and nothing else, so that a count
reads its window alone.
"""

import sqlite3
from dataclasses import dataclass
from typing import Final

from core.message import Data
from crypto.canonical import parse

_WITHIN: Final = "coalesce(received_at, created_at) BETWEEN ? AND ?"
_URGENT: Final = (
    f"SELECT count(*) FROM messages WHERE urgent = 1 AND sender = ? AND origin IS ? AND {_WITHIN}"
)
_BY_AGENTS: Final = f"thread = ? AND sender NOT BETWEEN 'human:' AND 'human;' AND {_WITHIN}"
# The system of this host takes no turns; another host's is an agent.
_TURNS: Final = f"SELECT count(*) FROM messages WHERE {_BY_AGENTS} AND (sender <> ? OR origin IS NOT NULL)"
_NOTICES: Final = (
    f"SELECT data FROM messages WHERE {_BY_AGENTS}"
    " AND sender = ? AND origin IS NULL AND kind = 'notice' AND data IS NOT NULL"
)


@dataclass(frozen=True, slots=True)
class Window:
    """The timestamps of the messages that count, the first and the last one included."""

    first: str
    last: str


def urgent_within(db: sqlite3.Connection, sender: str, origin: str | None, window: Window) -> int:
    """Count the urgent messages of a sender on one replica, None for this one."""
    (count,) = db.execute(_URGENT, (sender, origin, window.first, window.last)).fetchone()
    return int(count)


def turns_within(db: sqlite3.Connection, thread: str, system_address: str, window: Window) -> int:
    """Count a thread's messages from agents and sessions; this host's system is neither."""
    (count,) = db.execute(_TURNS, (thread, window.first, window.last, system_address)).fetchone()
    return int(count)


def system_notices_within(
    db: sqlite3.Connection, thread: str, system_address: str, window: Window
) -> list[Data]:
    """Return the data of the notices that this host's system sent into a thread."""
    rows = db.execute(_NOTICES, (thread, window.first, window.last, system_address))
    return [parse(data).value for (data,) in rows]
