"""Messages of the past hour, for the guardrails (section 6.6).

A message counts from when it came to be here: its `createdAt`, and its arrival where another replica created it,
so that nobody escapes by backdating. The indexes hold what is asked for here and nothing else, so that a count
reads its window alone.
"""

import sqlite3
from typing import Final

from core.message import Data
from crypto.canonical import parse

_SINCE: Final = "coalesce(received_at, created_at) >= ?"
_URGENT: Final = f"SELECT count(*) FROM messages WHERE urgent = 1 AND sender = ? AND origin IS ? AND {_SINCE}"
_BY_AGENTS: Final = f"thread = ? AND sender NOT BETWEEN 'human:' AND 'human;' AND {_SINCE}"
# The system of this host takes no turns; another host's is an agent.
_TURNS: Final = f"SELECT count(*) FROM messages WHERE {_BY_AGENTS} AND (sender <> ? OR origin IS NOT NULL)"
_NOTICES: Final = (
    f"SELECT data FROM messages WHERE {_BY_AGENTS}"
    " AND sender = ? AND origin IS NULL AND kind = 'notice' AND data IS NOT NULL"
)


def urgent_since(db: sqlite3.Connection, sender: str, origin: str | None, start: str) -> int:
    """Count the urgent messages of a sender on one replica, None for this one, from a timestamp on."""
    (count,) = db.execute(_URGENT, (sender, origin, start)).fetchone()
    return int(count)


def turns_since(db: sqlite3.Connection, thread: str, system_address: str, start: str) -> int:
    """Count a thread's messages from agents and sessions from a timestamp on; this host's system is neither."""
    (count,) = db.execute(_TURNS, (thread, start, system_address)).fetchone()
    return int(count)


def system_notices_since(db: sqlite3.Connection, thread: str, system_address: str, start: str) -> list[Data]:
    """Return the data of the notices that this host's system sent into a thread from a timestamp on."""
    return [parse(data).value for (data,) in db.execute(_NOTICES, (thread, start, system_address))]
