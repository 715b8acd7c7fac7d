"""Remote rows: recipients whose home is another replica, and what their homes reported (F.4).

A row's state is the highest its homes report; `refused` holds only while every home refused.
"""

import json
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from replica.records.names import read, written

FORWARDED: Final = "forwarded"
REFUSED: Final = "refused"

RANK: Final = {"refused": -1, "forwarded": 0, "held": 1, "pushed": 2, "notified": 2, "read": 3, "answered": 4}
"""The order in which a state may rise (federation wire 9.E5)."""


@dataclass(frozen=True, slots=True)
class RemoteRow:
    """One recipient of one message, homed elsewhere. `refused` maps a home that refused to its reason."""

    message: str
    recipient: str
    via: str
    homes: tuple[str, ...]
    state: str
    refused: dict[str, str]
    changed_at: str
    wake_at: str | None = None
    """The replica that may wake the recipient for the message, where one was named."""


_COLUMNS: Final = "message, recipient, via, homes_json, state, refused_json, changed_at, wake_at"


def insert(db: sqlite3.Connection, row: RemoteRow) -> None:
    """Add a row."""
    db.execute(
        f"INSERT INTO remote_rows ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (
            row.message,
            row.recipient,
            row.via,
            written(row.homes),
            row.state,
            json.dumps(row.refused),
            row.changed_at,
            row.wake_at,
        ),
    )


def forwarded(
    message: str, recipient: str, via: str, homes: Iterable[str], at: str, wake_at: str | None = None
) -> RemoteRow:
    """A row as it starts: handed to the transport, no report yet."""
    return RemoteRow(message, recipient, via, tuple(sorted(homes)), FORWARDED, {}, at, wake_at)


def remove(db: sqlite3.Connection, row: RemoteRow) -> None:
    """Take a row out: this replica delivers to its recipient now."""
    db.execute("DELETE FROM remote_rows WHERE message = ? AND recipient = ?", (row.message, row.recipient))


def rows_of(db: sqlite3.Connection, message: str) -> list[RemoteRow]:
    """The remote rows of a message, by recipient."""
    rows = db.execute(f"SELECT {_COLUMNS} FROM remote_rows WHERE message = ? ORDER BY recipient", (message,))
    return [_row(row) for row in rows]


def update(db: sqlite3.Connection, row: RemoteRow) -> None:
    """Write back a row's homes, state, refusals and time."""
    db.execute(
        "UPDATE remote_rows SET homes_json = ?, state = ?, refused_json = ?, changed_at = ? "
        "WHERE message = ? AND recipient = ?",
        (
            written(row.homes),
            row.state,
            json.dumps(row.refused),
            row.changed_at,
            row.message,
            row.recipient,
        ),
    )


def set_brought(db: sqlite3.Connection, message: str, readers: Iterable[str], carrier: str, seq: int) -> None:
    """Remember which replicas a new message went to, and the op that brought it here, to hand it on."""
    db.execute(
        "INSERT INTO readers (message, replicas_json, carrier, carrier_seq) VALUES (?, ?, ?, ?)",
        (message, written(tuple(sorted(readers))), carrier, seq),
    )


def set_readers(db: sqlite3.Connection, message: str, replicas: Iterable[str]) -> None:
    """Remember which replicas a message went to; more may be added by a second op that carries it."""
    names = set(replicas)
    first = "INSERT OR IGNORE INTO readers (message, replicas_json) VALUES (?, ?)"
    if not db.execute(first, (message, written(tuple(sorted(names))))).rowcount:
        both = written(tuple(sorted(names.union(readers_of(db, message)))))
        db.execute("UPDATE readers SET replicas_json = ? WHERE message = ?", (both, message))


def readers_of(db: sqlite3.Connection, message: str) -> tuple[str, ...]:
    """The replicas a message went to; empty for one that never left."""
    row = db.execute("SELECT replicas_json FROM readers WHERE message = ?", (message,)).fetchone()
    return () if row is None else read(row[0])


def row_of(db: sqlite3.Connection, message: str, recipient: str) -> RemoteRow | None:
    """The remote row of one recipient of a message."""
    row = db.execute(
        f"SELECT {_COLUMNS} FROM remote_rows WHERE message = ? AND recipient = ?", (message, recipient)
    ).fetchone()
    return None if row is None else _row(row)


def waiting_for(db: sqlite3.Connection, recipient: str) -> list[RemoteRow]:
    """The remote rows of a recipient that its homes have given to nobody yet, in the order of the messages."""
    rows = db.execute(
        f"SELECT {_COLUMNS} FROM remote_rows WHERE recipient = ? AND state IN ('forwarded', 'held') "
        "ORDER BY message",
        (recipient,),
    )
    return [_row(row) for row in rows]


def observed(db: sqlite3.Connection, limit: int) -> tuple[list[str], int]:
    """What other replicas sent that is nobody's mail here: the ids of the newest, the newest last, and how many."""
    nobodys = "origin IS NOT NULL AND NOT EXISTS (SELECT 1 FROM deliveries WHERE message = messages.id)"
    rows = db.execute(f"SELECT id FROM messages WHERE {nobodys} ORDER BY position DESC LIMIT ?", (limit,))
    found = [str(id_) for (id_,) in rows][::-1]
    (count,) = db.execute(f"SELECT count(*) FROM messages WHERE {nobodys}").fetchone()
    return found, int(count)


def sent_before(db: sqlite3.Connection, row: RemoteRow) -> str | None:
    """The message that was sent here to the recipient of a row before that row's message; None for the first."""
    found = db.execute(
        "SELECT max(message) FROM remote_rows JOIN messages ON id = message "
        "WHERE recipient = ? AND message < ? AND origin IS NULL",
        (row.recipient, row.message),
    ).fetchone()
    return None if found[0] is None else str(found[0])


def carrier_of(db: sqlite3.Connection, message: str) -> tuple[str, int] | None:
    """The (replica, seq) of the op that brought a message here, which may be a forward's."""
    found = "SELECT carrier, carrier_seq FROM readers WHERE message = ? AND carrier IS NOT NULL"
    row = db.execute(found, (message,)).fetchone()
    return None if row is None else (str(row[0]), int(row[1]))


def _row(row: tuple[str, str, str, str, str, str, str, str | None]) -> RemoteRow:
    message, recipient, via, homes, state, refused, changed_at, wake_at = row
    return RemoteRow(message, recipient, via, read(homes), state, json.loads(refused), changed_at, wake_at)
