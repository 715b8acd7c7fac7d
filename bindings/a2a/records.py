"""What the store holds of clients' exchanges. Functions that write assume an open transaction."""

from sqlite3 import Connection
from typing import Final

# Whatever a client sent has an idempotency key, and is found by the index of those.
_OPEN_ASKS: Final = """
SELECT id FROM messages AS asked
WHERE sender = ? AND idempotency_key IS NOT NULL AND kind = 'question'
  AND NOT EXISTS (SELECT 1 FROM messages WHERE reply_to = asked.id AND kind = 'answer')
ORDER BY position
"""


def open_asks(db: Connection, client: str) -> list[str]:
    """The ids of a client's questions that have no answer yet, the oldest first."""
    return [row[0] for row in db.execute(_OPEN_ASKS, (client,))]
