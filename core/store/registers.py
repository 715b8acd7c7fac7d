"""The clocked registers: shared state, one value for each (kind, subject, field).

A register holds the value written at the latest reading of the clock. What is written here has no reading
until it is published: such an edit lies over the register, and is what this host reads.
Functions that write assume an open transaction.
"""

import sqlite3
from collections.abc import Iterable, Mapping
from typing import Final

from core.errors import damaged
from core.text import shown
from crypto.canonical import JsonError, JsonValue, canonical, parse
from crypto.clock import Reading

# An edit comes before the register it lies over; the caller keeps the first of each field.
_OF_SUBJECT: Final = """
SELECT field, value FROM register_edits WHERE kind = ?1 AND subject = ?2
UNION ALL SELECT field, value FROM registers WHERE kind = ?1 AND subject = ?2
"""
_OF_KIND: Final = """
SELECT 0, subject, field, value FROM register_edits WHERE kind = ?1
UNION ALL SELECT 1, subject, field, value FROM registers WHERE kind = ?1
ORDER BY 2, 3, 1
"""

# Without being told to use the index, SQLite walks all of a kind; without the plus, it would put the value in the
# place of the column everywhere, and walk all of a field.
_WITH: Final = """
SELECT subject FROM register_edits INDEXED BY register_edits_by_value
    WHERE kind = ?1 AND field = ?2 AND substr(value, 1, 64) = substr(?3, 1, 64) AND +value = ?3
UNION SELECT subject FROM registers AS under INDEXED BY registers_by_value
    WHERE kind = ?1 AND field = ?2 AND substr(value, 1, 64) = substr(?3, 1, 64) AND +value = ?3
    AND NOT EXISTS (SELECT 1 FROM register_edits WHERE kind = ?1 AND subject = under.subject AND field = ?2)
ORDER BY 1
"""


def edit(db: sqlite3.Connection, kind: str, subject: str, fields: Mapping[str, JsonValue]) -> None:
    """Write fields of a subject here, without a reading yet."""
    for name, value in fields.items():
        db.execute(
            "INSERT OR REPLACE INTO register_edits (kind, subject, field, value) VALUES (?, ?, ?, ?)",
            (kind, subject, name, canonical(value).decode()),
        )


def merge(
    db: sqlite3.Connection, kind: str, subject: str, field: str, value: JsonValue, reading: Reading
) -> bool:
    """Write a field at a reading; return whether it was the latest: by its numbers, then by its replica."""
    known = reading_of(db, kind, subject, field)
    if known is not None and _order(known) >= _order(reading):
        return False
    db.execute(
        "INSERT OR REPLACE INTO registers (kind, subject, field, value, hlc) VALUES (?, ?, ?, ?, ?)",
        (kind, subject, field, canonical(value).decode(), str(reading)),
    )
    return True


def fields_of(db: sqlite3.Connection, kind: str, subject: str) -> dict[str, JsonValue]:
    """Return a subject's fields as this host has them; none for a subject nobody wrote."""
    found: dict[str, JsonValue] = {}
    try:
        rows = db.execute(_OF_SUBJECT, (kind, subject))
    except UnicodeEncodeError:  # a text that is no Unicode names nothing
        return found
    for name, value in rows:
        if name not in found:
            found[name] = _value(value, kind, subject)
    return dict(sorted(found.items()))


def published_fields(db: sqlite3.Connection, kind: str, subject: str) -> dict[str, JsonValue]:
    """Return a subject's fields without the edits that lie over them, as every replica has them."""
    rows = db.execute(
        "SELECT field, value FROM registers WHERE kind = ? AND subject = ? ORDER BY field", (kind, subject)
    )
    return {name: _value(value, kind, subject) for name, value in rows}


def reading_of(db: sqlite3.Connection, kind: str, subject: str, field: str) -> Reading | None:
    """Return when a field was last written, by what was published; None where it never was."""
    row = db.execute(
        "SELECT hlc FROM registers WHERE kind = ? AND subject = ? AND field = ?", (kind, subject, field)
    ).fetchone()
    return None if row is None else Reading.parse(row[0])


def is_edited(db: sqlite3.Connection, kind: str, subject: str) -> bool:
    """Return whether anything written to a subject here has no reading yet."""
    found = db.execute("SELECT 1 FROM register_edits WHERE kind = ? AND subject = ? LIMIT 1", (kind, subject))
    return found.fetchone() is not None


def edits(db: sqlite3.Connection, kind: str) -> dict[str, dict[str, JsonValue]]:
    """Return what was written here and has no reading yet, by subject."""
    found: dict[str, dict[str, JsonValue]] = {}
    rows = db.execute(
        "SELECT subject, field, value FROM register_edits WHERE kind = ? ORDER BY subject, field", (kind,)
    )
    for subject, name, value in rows:
        found.setdefault(subject, {})[name] = _value(value, kind, subject)
    return found


def drop_edits(db: sqlite3.Connection, kind: str, subject: str, fields: Iterable[str]) -> None:
    """Take edits back: they were published, or are not to be."""
    db.executemany(
        "DELETE FROM register_edits WHERE kind = ? AND subject = ? AND field = ?",
        [(kind, subject, name) for name in fields],
    )


def subjects(db: sqlite3.Connection, kind: str) -> dict[str, dict[str, JsonValue]]:
    """Return every subject of a kind with its fields, in the subjects' order."""
    found: dict[str, dict[str, JsonValue]] = {}
    for _, subject, name, value in db.execute(_OF_KIND, (kind,)):
        fields = found.setdefault(subject, {})
        if name not in fields:
            fields[name] = _value(value, kind, subject)
    return found


def subjects_with(
    db: sqlite3.Connection, kind: str, field: str, value: JsonValue
) -> dict[str, dict[str, JsonValue]]:
    """Return the subjects of a kind one of whose fields has a value, with all their fields, in their order."""
    text = canonical(value).decode()
    rows = db.execute(_WITH, (kind, field, text)).fetchall()
    return {subject: fields_of(db, kind, subject) for (subject,) in rows}


def _value(text: str, kind: str, subject: str) -> JsonValue:
    try:
        return parse(text).value
    except JsonError:
        raise damaged(f"the {kind} {shown(subject)}") from None


def _order(reading: Reading) -> tuple[int, int, str]:
    return (*reading.key, reading.replica)
