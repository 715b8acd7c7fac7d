"""What clients sent to instances. Functions that write assume an open transaction."""

from dataclasses import dataclass
from sqlite3 import Connection
from typing import Final, Literal

Wake = Literal["none", "due", "asked", "woken", "denied", "failed"]
"""What became of a wake: it was not asked for, is still to be looked at, or what this host made of it."""

_COLUMNS: Final = "client, key, digest, id, instance, subject, wake"
_OF_MESSAGE: Final = f"""
SELECT {_COLUMNS} FROM instance_requests WHERE (client, key) =
    (SELECT sender, idempotency_key FROM messages WHERE messages.id = ? AND sender = ?)
"""
_SENT: Final = """
SELECT messages.id FROM instance_requests
JOIN messages ON sender = client AND idempotency_key = key
WHERE client = ? ORDER BY position
"""
_DUE: Final = f"""
SELECT messages.id, {", ".join(f"instance_requests.{each}" for each in _COLUMNS.split(", "))}
FROM instance_requests JOIN messages ON sender = client AND idempotency_key = key
WHERE instance_requests.wake = 'due' ORDER BY position LIMIT 1
"""


@dataclass(frozen=True, slots=True)
class Sent:
    """What a client sent: `id` as it named it, `key` its message's idempotency key, `digest` its contents."""

    client: str
    key: str
    digest: str
    id: str
    instance: str
    subject: str
    wake: Wake


def claim(db: Connection, sent: Sent) -> Sent:
    """Let an id of a client's stand for these contents, unless it stands for some already; return which."""
    db.execute(
        f"INSERT INTO instance_requests ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
        (sent.client, sent.key, sent.digest, sent.id, sent.instance, sent.subject, sent.wake),
    )
    found = claimed(db, sent.client, sent.key)
    assert found is not None
    return found


def claimed(db: Connection, client: str, key: str) -> Sent | None:
    """What a client's id stands for."""
    row = db.execute(
        f"SELECT {_COLUMNS} FROM instance_requests WHERE client = ? AND key = ?", (client, key)
    ).fetchone()
    return None if row is None else Sent(*row)


def of_message(db: Connection, client: str, message: str) -> Sent | None:
    """What a client asked for with a message of its own; None for any other message."""
    row = db.execute(_OF_MESSAGE, (message, client)).fetchone()
    return None if row is None else Sent(*row)


def sent_by(db: Connection, client: str) -> list[str]:
    """The ids of the messages that a client sent to instances, the oldest first."""
    return [row[0] for row in db.execute(_SENT, (client,))]


def due(db: Connection) -> tuple[str, Sent] | None:
    """The oldest wake that is still to be looked at, with the id of its message."""
    row = db.execute(_DUE).fetchone()
    return None if row is None else (row[0], Sent(*row[1:]))


def woken(db: Connection, sent: Sent, became: Wake) -> None:
    """Keep what became of a wake."""
    db.execute(
        "UPDATE instance_requests SET wake = ? WHERE client = ? AND key = ?", (became, sent.client, sent.key)
    )
