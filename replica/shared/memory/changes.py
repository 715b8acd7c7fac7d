"""What was written to memory here: of the team until it is published, of this person and project for good.

A change counts here at once. Of an entry that was changed several times since the last pass, each field is published
once, as its last author left it: one op for each author, the latest author's last (federation wire 8.15). Functions
that write assume an open transaction.
"""

import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from crypto.canonical import JsonValue, canonical
from replica.shared.memory.bodies import CONTENT, Trust
from replica.shared.memory.entries import Speaks, entry_of
from replica.shared.memory.proposals import Changes, Scope, decisions
from replica.shared.memory.writes import Write, read_fields, writes_of

_EACH_AUTHORS_OWN: Final = ("author", "decidedBy", "decidedByPolicy")
"""Fields that say whose word the others are: each author's op has its own."""


@dataclass(frozen=True, slots=True)
class Change:
    """Fields of an entry written here; `by` is a human of this host, or an agent or a session of theirs."""

    position: int
    memory: str
    scope: Scope
    by: str
    at: str
    fields: Mapping[str, JsonValue]

    def as_write(self, me: str) -> Write:
        """The write it is until it is published, and after."""
        return _write(self.memory, me, self.by, self.fields)


@dataclass(frozen=True, slots=True)
class Publication:
    """The op of one author's changes of an entry."""

    memory: str
    by: str
    fields: Mapping[str, JsonValue]
    trust: Trust

    @property
    def body(self) -> dict[str, JsonValue]:
        """The body of the op."""
        return {
            "memory": self.memory,
            "kind": "put",
            "fields": dict(self.fields),
            "trust": self.trust,
            "by": self.by,
        }


_COLUMNS: Final = "position, memory, scope, author, at, fields_json"


def record(db: sqlite3.Connection, scope: Scope, changes: Changes, *, by: str, now: str) -> None:
    """Write fields of entries here; an entry that is there already stays whose it is, whatever was meant."""
    for memory, fields in changes.items():
        db.execute(
            "INSERT INTO memory_changes (memory, scope, author, at, fields_json) VALUES (?, ?, ?, ?, ?)",
            (memory, scope_of(db, memory) or scope, by, now, canonical(dict(fields)).decode()),
        )


def scope_of(db: sqlite3.Connection, memory: str) -> Scope | None:
    """Whose an entry is; None where there is none."""
    changes = changes_of(db, memory)
    return scope_among(changes) if changes or writes_of(db, memory) else None


def scope_among(changes: Iterable[Change]) -> Scope:
    """Whose an entry is, by what was written to it here and is not published.

    One that was made here and not shared is none of the team's, even if a teammate who learned its id writes to that.
    """
    scopes = {change.scope for change in changes}
    return "team" if "team" in scopes else next(iter(scopes), "team")


def forget(db: sqlite3.Connection, memory: str) -> None:
    """Take back what was written to an entry here."""
    db.execute("DELETE FROM memory_changes WHERE memory = ?", (memory,))


def changes_of(db: sqlite3.Connection, memory: str) -> list[Change]:
    """What was written to an entry here, the earliest first."""
    return _found(db, "WHERE memory = ? ORDER BY position", memory)


def all_changes(db: sqlite3.Connection) -> dict[str, list[Change]]:
    """What was written here, by entry."""
    found = _found(db, "ORDER BY memory, position")
    return {memory: list(each) for memory, each in groupby(found, lambda change: change.memory)}


def waiting(db: sqlite3.Connection) -> list[str]:
    """The entries of the team that were changed here, and are not published as they are now."""
    rows = db.execute("SELECT DISTINCT memory FROM memory_changes WHERE scope = 'team' ORDER BY memory")
    return [memory for (memory,) in rows]


def next_publication(db: sqlite3.Connection, memory: str, me: str, speaks: Speaks) -> Publication | None:
    """The next op of an entry of the team that was changed here; None when all of it is published."""
    changes = changes_of(db, memory)
    if not changes:
        return None
    by, fields = next((by, fields) for by in _authors(changes) if (fields := _fields_of(changes, by)))
    written = [*writes_of(db, memory), _write(memory, me, by, fields)]
    trust = entry_of(memory, written, me, speaks, decisions(db, memory)).trust
    return Publication(memory, by, fields, trust)


def drop_published(db: sqlite3.Connection, published: Publication) -> None:
    """Take away what an op says now, and what it replaced."""
    for change in changes_of(db, published.memory):
        left = {
            name: value
            for name, value in change.fields.items()
            if name in _EACH_AUTHORS_OWN or name not in published.fields
        }
        replaced = len(left) < len(change.fields)
        if change.by == published.by or (replaced and left.keys() <= set(_EACH_AUTHORS_OWN)):
            db.execute("DELETE FROM memory_changes WHERE position = ?", (change.position,))
        elif replaced:
            text = canonical(left).decode()
            db.execute(
                "UPDATE memory_changes SET fields_json = ? WHERE position = ?", (text, change.position)
            )


def _write(memory: str, me: str, by: str, fields: Mapping[str, JsonValue]) -> Write:
    claim = Trust.AGENT  # whoever pins an entry stands behind nothing that it says
    if fields.get("decidedBy") is not None:
        claim = Trust.CONFIRMED
    if by.startswith("human:") and not CONTENT.isdisjoint(fields):
        claim = Trust.HUMAN
    return Write(memory, me, None, None, claim, by, fields)


def _authors(changes: Iterable[Change]) -> list[str]:
    """Who wrote, the latest last."""
    latest = {change.by: change.position for change in changes}
    return sorted(latest, key=latest.__getitem__)


def _fields_of(changes: Iterable[Change], by: str) -> dict[str, JsonValue]:
    """The fields whose last author is `by`, and what it says of whose word they are.

    None where others wrote all that it did: they say it.
    """
    last: dict[str, tuple[str, JsonValue]] = {}
    own: dict[str, JsonValue] = {}
    for change in changes:
        for name, value in change.fields.items():
            if name not in _EACH_AUTHORS_OWN:
                last[name] = change.by, value
            elif change.by == by:
                own[name] = value
    found = {name: value for name, (author, value) in last.items() if author == by}
    return found | own if found else {}


def _found(db: sqlite3.Connection, where: str, *given: str) -> list[Change]:
    rows = db.execute(f"SELECT {_COLUMNS} FROM memory_changes {where}", given)
    return [
        Change(position, memory, scope, by, at, read_fields(fields, f"the memory {memory}"))
        for position, memory, scope, by, at, fields in rows
    ]
