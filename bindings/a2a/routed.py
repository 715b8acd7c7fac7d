"""What a client asked an instance: it has a card, and ids of tasks and contexts, of its own (`instance_routing`)."""

from sqlite3 import Connection
from typing import Final

_ROUTED: Final = """
SELECT 1 FROM messages JOIN instance_requests ON client = sender AND key = idempotency_key
WHERE messages.id = ? AND sender = ?
"""


def is_routed(db: Connection, client: str, message: str) -> bool:
    """Whether a message is one that a client sent to an instance, by the listener for those.

    Such a message begins each thread with an instance, so that a thread's id tells whether it is one, too.
    """
    return db.execute(_ROUTED, (message, client)).fetchone() is not None
