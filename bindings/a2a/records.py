"""What the store holds of clients' tasks. Functions that write assume an open transaction."""

from collections.abc import Mapping
from dataclasses import dataclass
from sqlite3 import Connection
from typing import Final, Literal

from core.errors import damaged
from core.text import shown
from crypto.canonical import JsonError, JsonValue, canonical, parse

How = Literal["canceled", "declined"]

# Whatever a client sent has an idempotency key, and is found by the index of those.
_OWN: Final = "SELECT id, idempotency_key FROM messages WHERE sender = ? AND idempotency_key IS NOT NULL"
_KEY: Final = "SELECT idempotency_key FROM messages WHERE id = ? AND sender = ?"
_TASKS: Final = f"{_OWN} AND kind IN ('question', 'handoff') ORDER BY position"
_HANDOFFS: Final = """
SELECT messages.id FROM a2a_handoffs CROSS JOIN messages
ON messages.sender = a2a_handoffs.client AND messages.idempotency_key = a2a_handoffs.key
WHERE a2a_handoffs.client = ? ORDER BY messages.position
"""
_OPEN_ASKS: Final = f"""
{_OWN} AND kind = 'question'
  AND NOT EXISTS (SELECT 1 FROM messages AS answer WHERE answer.reply_to = messages.id AND answer.kind = 'answer')
ORDER BY position
"""
_SENT_TO: Final = f"{_OWN} AND instr(' ' || recipients || ' ', ' ' || ? || ' ') > 0 ORDER BY position"
# What is searched is the client's own, by its indexes, and never the thread, whose length is for no other to find out.
_SEEN_IN: Final = """
SELECT id FROM messages WHERE sender = ? AND idempotency_key IS NOT NULL AND +thread = ?
UNION
SELECT messages.id FROM deliveries CROSS JOIN messages ON messages.id = deliveries.message
WHERE deliveries.recipient = ? AND +messages.thread = ?
ORDER BY id
"""
_DELIVERED: Final = """
SELECT messages.id FROM deliveries JOIN messages ON messages.id = deliveries.message
WHERE deliveries.recipient = ? AND messages.thread = ?
"""
_FROM: Final = """
SELECT messages.id FROM deliveries JOIN messages ON messages.id = deliveries.message
WHERE deliveries.recipient = ? AND messages.sender = ? ORDER BY deliveries.position
"""


@dataclass(frozen=True, slots=True)
class Handoff:
    """A handoff's draft, by its address, and the work/v1 request that asked for it."""

    work_item: str
    request: Mapping[str, JsonValue]
    at: str


@dataclass(frozen=True, slots=True)
class Ended:
    """How a task ended without an answer, when, and what was said of it."""

    how: How
    note: str
    at: str


def key_of(db: Connection, client: str, message: str) -> str | None:
    """The id that a client gave a message of its own; None for any other message."""
    row = db.execute(_KEY, (message, client)).fetchone()
    return None if row is None else row[0]


def tasks_of(db: Connection, client: str) -> list[str]:
    """The ids of the messages that opened a client's tasks, the oldest first."""
    return [row[0] for row in db.execute(_TASKS, (client,))]


def open_asks(db: Connection, client: str) -> list[str]:
    """The ids of a client's questions that have no answer yet, the oldest first."""
    return [row[0] for row in db.execute(_OPEN_ASKS, (client,))]


def sent_to(db: Connection, client: str, recipient: str) -> list[str]:
    """The ids of what a client sent to an address itself, the oldest first."""
    return [row[0] for row in db.execute(_SENT_TO, (client, recipient))]


def seen_in(db: Connection, client: str, thread: str) -> list[str]:
    """The ids of the messages of a thread that a client sent or was delivered, the oldest first.

    It looks at what is the client's alone, so that others' threads cost what absent ones do.
    """
    return [row[0] for row in db.execute(_SEEN_IN, (client, thread, client, thread))]


def is_delivered(db: Connection, client: str, message: str) -> bool:
    """Whether a message was delivered to a client."""
    found = db.execute("SELECT 1 FROM deliveries WHERE message = ? AND recipient = ?", (message, client))
    return found.fetchone() is not None


def delivered_in(db: Connection, client: str, thread: str) -> set[str]:
    """The ids of the messages of a thread that were delivered to a client."""
    return {row[0] for row in db.execute(_DELIVERED, (client, thread))}


def delivered_from(db: Connection, client: str, sender: str) -> list[str]:
    """The ids of what was delivered to a client from an address, in the order of its mailbox."""
    return [row[0] for row in db.execute(_FROM, (client, sender))]


# Handoffs


def handoff(db: Connection, client: str, key: str) -> Handoff | None:
    """A client's handoff by the id that the client gave it."""
    row = db.execute(
        "SELECT work_item, request, at FROM a2a_handoffs WHERE client = ? AND key = ?", (client, key)
    ).fetchone()
    if row is None:
        return None
    request = _value(row[1], row[0])
    return Handoff(row[0], request if isinstance(request, dict) else {}, row[2])


def add_handoff(
    db: Connection, client: str, key: str, work_item: str, request: Mapping[str, JsonValue], at: str
) -> None:
    """Keep what a client handed off."""
    db.execute(
        "INSERT INTO a2a_handoffs (client, key, work_item, request, at) VALUES (?, ?, ?, ?, ?)",
        (client, key, work_item, canonical(dict(request)).decode(), at),
    )


def forget_handoff(db: Connection, client: str, key: str) -> None:
    """Keep no more what a client handed off by a message that was not sent."""
    db.execute("DELETE FROM a2a_handoffs WHERE client = ? AND key = ?", (client, key))


def drafts_of(db: Connection, client: str) -> list[str]:
    """The addresses of the work items that a client handed off, whatever became of them."""
    return [row[0] for row in db.execute("SELECT work_item FROM a2a_handoffs WHERE client = ?", (client,))]


def sent_handoffs(db: Connection, client: str) -> list[str]:
    """The ids of a client's messages that handed off work, the oldest first."""
    return [row[0] for row in db.execute(_HANDOFFS, (client,))]


def is_handed_off(db: Connection, work_item: str) -> bool:
    """Whether a work item is one that a client handed off."""
    row = db.execute("SELECT 1 FROM a2a_handoffs WHERE work_item = ?", (work_item,)).fetchone()
    return row is not None


@dataclass(frozen=True, slots=True)
class Observed:
    """How a handoff stood when its client last looked, and since when."""

    how: str
    at: str


def observed(db: Connection, task: str) -> Observed | None:
    """How a handoff was observed last; None for one whose client has not looked."""
    row = db.execute("SELECT how, at FROM a2a_observed WHERE task = ?", (task,)).fetchone()
    return None if row is None else Observed(*row)


def observe(db: Connection, task: str, how: str, at: str) -> None:
    """Keep how a handoff stands."""
    db.execute("INSERT OR REPLACE INTO a2a_observed (task, how, at) VALUES (?, ?, ?)", (task, how, at))


# Ends


def ended(db: Connection, task: str) -> Ended | None:
    """How a task ended without an answer; None for one that did not."""
    row = db.execute("SELECT how, note, at FROM a2a_ended WHERE task = ?", (task,)).fetchone()
    return None if row is None else Ended(*row)


def end(db: Connection, task: str, how: How, at: str, note: str = "") -> None:
    """Keep that a task ended; one that did already stays as it was."""
    db.execute(
        "INSERT INTO a2a_ended (task, how, note, at) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
        (task, how, note, at),
    )


# Results


def results(db: Connection, work_item: str) -> list[tuple[str, JsonValue, str]]:
    """What work on a work item came to: kind, value and time, in the order of their kinds."""
    rows = db.execute(
        "SELECT kind, value, at FROM a2a_results WHERE work_item = ? ORDER BY kind", (work_item,)
    )
    return [(kind, _value(value, work_item), at) for kind, value, at in rows]


def put_result(db: Connection, work_item: str, kind: str, value: JsonValue, at: str) -> None:
    """Keep a result, in the place of an earlier one of its kind."""
    db.execute(
        "INSERT OR REPLACE INTO a2a_results (work_item, kind, value, at) VALUES (?, ?, ?, ?)",
        (work_item, kind, canonical(value).decode(), at),
    )


def _value(text: str, work_item: str) -> JsonValue:
    try:
        return parse(text).value
    except JsonError:
        raise damaged(f"what is kept of {shown(work_item)}") from None
