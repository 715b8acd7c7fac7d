"""What is remembered of each transport: what was seen there, what of this replica's own it has, and how it fared."""

import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from replica.records.link import Link, Role
from transports.remotes import Source

MAX_ERROR: Final = 500
"""Characters of an error that are kept."""


@dataclass(frozen=True, slots=True)
class Record:
    """One transport.

    `tip` and `acks` are those of the last visit that left nothing waiting, for transports besides the main one.
    `read_back` is the own op up to which all were read back there. `failed_at` and `error` tell of the last visit,
    where that failed; `seen_at` is when one last did not.
    """

    link: Link
    role: Role
    tip: str | None
    acks: str | None
    read_all_at: int
    read_back: int
    seen_at: str | None
    failed_at: str | None
    error: str | None


_COLUMNS: Final = (
    "address, branch, source, role, tip, acks, coalesce(read_all_at, 0), read_back, seen_at, failed_at, error"
)
_HERE: Final = "WHERE address = ? AND branch = ?"


def records(db: sqlite3.Connection) -> list[Record]:
    """Every transport: the main one, then the others, in the order they came."""
    rows = db.execute(f"SELECT {_COLUMNS} FROM transports ORDER BY role <> 'main', role <> 'other', rowid")
    return [
        Record(Link(address, branch, Source(source)), Role(role), *rest)
        for address, branch, source, role, *rest in rows
    ]


def record(db: sqlite3.Connection, link: Link) -> Record | None:
    """What is remembered of one transport; None where it is not known."""
    return next((each for each in records(db) if each.link == link), None)


def add(db: sqlite3.Connection, link: Link, role: Role = Role.OTHER) -> None:
    """Add a transport, or give one that is there another role, with nothing remembered of it."""
    remove(db, link)
    db.execute(
        "INSERT INTO transports (address, branch, source, role) VALUES (?, ?, ?, ?)",
        (link.remote, link.branch, link.source.value, role),
    )


def remove(db: sqlite3.Connection, link: Link) -> None:
    """Forget a transport, and what was seen there."""
    db.execute(f"DELETE FROM transports {_HERE}", (link.remote, link.branch))


def note_visit(db: sqlite3.Connection, link: Link, *, at: str, read_back: int) -> None:
    """Note that a transport did its part, and up to which own op it has all."""
    db.execute(
        f"UPDATE transports SET seen_at = ?, read_back = ?, failed_at = NULL, error = NULL {_HERE}",
        (at, read_back, link.remote, link.branch),
    )


def note_failure(db: sqlite3.Connection, link: Link, *, at: str, error: str) -> None:
    """Note why a transport did not do its part."""
    db.execute(
        f"UPDATE transports SET failed_at = ?, error = ? {_HERE}",
        (at, error[:MAX_ERROR], link.remote, link.branch),
    )


def note_read(db: sqlite3.Connection, link: Link, *, tip: str | None, read_all_at: int) -> None:
    """Note what of a transport was dealt with: its tip, None where something was left, and when all was read."""
    db.execute(
        f"UPDATE transports SET tip = ?, read_all_at = ? {_HERE}",
        (tip, read_all_at, link.remote, link.branch),
    )


def note_acks(db: sqlite3.Connection, link: Link, acks: str) -> None:
    """Note which acknowledgements were published on a transport."""
    db.execute(f"UPDATE transports SET acks = ? {_HERE}", (acks, link.remote, link.branch))


def seen_lanes(db: sqlite3.Connection, link: Link) -> dict[str, int]:
    """By replica, the last op of its lane that was seen on a transport."""
    return dict(db.execute(f"SELECT replica, seq FROM seen_lanes {_HERE}", (link.remote, link.branch)))


def note_lanes(db: sqlite3.Connection, link: Link, lanes: Mapping[str, int], gone: Iterable[str]) -> None:
    """Note the last op of lanes that was seen on a transport, and forget it of those where it is not any more."""
    place = link.remote, link.branch
    db.executemany(f"DELETE FROM seen_lanes {_HERE} AND replica = ?", [(*place, replica) for replica in gone])
    db.executemany(
        "INSERT INTO seen_lanes (address, branch, replica, seq) VALUES (?, ?, ?, ?) "
        "ON CONFLICT DO UPDATE SET seq = max(seq, excluded.seq)",
        [(*place, replica, seq) for replica, seq in lanes.items()],
    )
