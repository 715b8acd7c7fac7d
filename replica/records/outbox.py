"""The outbox: what is to be said, committed with the change it tells of, and not signed yet.

A send costs no cryptography and works offline because it only adds a row here. The publish pass takes the
rows in order, seals and signs them.
"""

import json
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from replica.records import names


class Kind(StrEnum):
    """What a row becomes."""

    MAIL = "mail"
    STATE = "state"
    FORWARD = "forward"


@dataclass(frozen=True, slots=True)
class Row:
    """One row: `content` is `{message, targets}` for mail, `{message, target}` for a forward; else a state entry."""

    id: int
    kind: Kind
    content: dict[str, Any]
    readers: tuple[str, ...]


def add(db: sqlite3.Connection, kind: Kind, content: dict[str, Any], readers: Iterable[str]) -> None:
    """Queue `content` for `readers` (replica ids), in the transaction of the change it tells of."""
    db.execute(
        "INSERT INTO outbox (kind, content_json, readers_json) VALUES (?, ?, ?)",
        (str(kind), json.dumps(content), names.written(tuple(sorted(set(readers))))),
    )


def first(db: sqlite3.Connection, limit: int) -> Sequence[Row]:
    """The oldest rows, at most `limit` of them."""
    rows = db.execute("SELECT id, kind, content_json, readers_json FROM outbox ORDER BY id LIMIT ?", (limit,))
    return [Row(row[0], Kind(row[1]), json.loads(row[2]), names.read(row[3])) for row in rows]


def remove(db: sqlite3.Connection, ids: Iterable[int]) -> None:
    """Take rows out, in the transaction that signed them."""
    db.executemany("DELETE FROM outbox WHERE id = ?", ((identifier,) for identifier in ids))


def waiting(db: sqlite3.Connection) -> int:
    """How many rows wait."""
    (count,) = db.execute("SELECT count(*) FROM outbox").fetchone()
    return int(count)


def waiting_messages(db: sqlite3.Connection) -> set[str]:
    """The ids of the messages whose mail no transport is known to have: not signed yet, or not published."""
    found = {
        str(json.loads(content)["message"])
        for (content,) in db.execute("SELECT content_json FROM outbox WHERE kind = ?", (Kind.MAIL,))
    }
    for (rows,) in db.execute("SELECT rows_json FROM unpublished WHERE rows_json IS NOT NULL"):
        found |= {str(content["message"]) for kind, content in json.loads(rows) if kind == Kind.MAIL}
    return found
