"""Verified ops, each as its canonical line, and the cursors past them."""

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from crypto.chain import Cursor, Halt, Head
from crypto.clock import Reading
from crypto.op import Entry, read_entry, to_line

TABLES: Final = ("cursors", "ops", "parked", "missing", "beyond_cut", "forks", "rivals")
"""What is kept of a chain."""


@dataclass(frozen=True, slots=True)
class Position:
    """Where a replica's chain stands here, and under which key it was read."""

    fingerprint: str
    cursor: Cursor


def position(db: sqlite3.Connection, replica: str) -> Position | None:
    """The position of `replica`'s chain; None when nothing of it was accepted."""
    row = db.execute(
        "SELECT fingerprint, seq, hash, hlc, halted_seq, halted_reason, halted_text FROM cursors WHERE replica = ?",
        (replica,),
    ).fetchone()
    return None if row is None else _position(row)


def positions(db: sqlite3.Connection) -> dict[str, Position]:
    """The position of every chain."""
    rows = db.execute(
        "SELECT fingerprint, seq, hash, hlc, halted_seq, halted_reason, halted_text, replica FROM cursors"
    )
    return {row[7]: _position(row[:7]) for row in rows}


def _position(row: tuple[str, int, str, str, int | None, str | None, str | None]) -> Position:
    fingerprint, seq, hash_, hlc, halted_seq, reason, text = row
    head = Head(seq, hash_, Reading.parse(hlc)) if seq else None
    halted = None if halted_seq is None else Halt(halted_seq, reason or "", text or "")
    return Position(fingerprint, Cursor(head, halted))


def set_position(db: sqlite3.Connection, replica: str, to: Position) -> None:
    """Move a chain's cursor, in the transaction of everything it moves past."""
    head, halted = to.cursor.head, to.cursor.halted
    db.execute(
        "INSERT OR REPLACE INTO cursors (replica, fingerprint, seq, hash, hlc, halted_seq, halted_reason, "
        "halted_text) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (
            replica,
            to.fingerprint,
            0 if head is None else head.seq,
            "" if head is None else head.hash,
            "" if head is None else str(head.hlc),
            None if halted is None else halted.seq,
            None if halted is None else halted.reason,
            None if halted is None else halted.text,
        ),
    )


def forget_chain(db: sqlite3.Connection, replica: str) -> None:
    """Forget a chain's cursor and ops, to read it again from its start under another decided key (2.4)."""
    for table in TABLES:
        db.execute(f"DELETE FROM {table} WHERE replica = ?", (replica,))


def insert(db: sqlite3.Connection, entry: Entry, *, settled: bool = True) -> None:
    """Keep a verified op; a roster op may be here already, ahead of its cursor."""
    db.execute(
        "INSERT OR IGNORE INTO ops (replica, seq, hash, prev, type, line, settled) VALUES (?, ?, ?, ?, ?, ?, ?)",
        (entry.replica, entry.seq, entry.hash, entry.prev, entry.type, to_line(entry), int(settled)),
    )


def replace(db: sqlite3.Connection, entry: Entry) -> None:
    """Put an op's stub in its place, or the op in its stub's."""
    db.execute(
        "UPDATE ops SET line = ? WHERE replica = ? AND seq = ?", (to_line(entry), entry.replica, entry.seq)
    )


def settle(db: sqlite3.Connection, replica: str, seq: int, *, settled: bool = True) -> None:
    """Note that an op needs no more work, or that it still does."""
    db.execute("UPDATE ops SET settled = ? WHERE replica = ? AND seq = ?", (int(settled), replica, seq))


def last_of(db: sqlite3.Connection, replica: str, below: int | None = None) -> tuple[int, str] | None:
    """The seq and hash of the last op of a chain that was verified here, ahead of its cursor or not; or None.

    With `below`, of those with a lower seq.
    """
    row = db.execute(
        "SELECT seq, hash FROM (SELECT seq, hash FROM ops WHERE replica = :replica UNION ALL "
        "SELECT seq, hash FROM cursors WHERE replica = :replica AND seq > 0) "
        "WHERE :below IS NULL OR seq < :below ORDER BY seq DESC LIMIT 1",
        {"replica": replica, "below": below},
    ).fetchone()
    return None if row is None else (int(row[0]), str(row[1]))


def hash_at(db: sqlite3.Connection, replica: str, seq: int) -> str | None:
    """The opHash accepted at (replica, seq), or None."""
    row = db.execute("SELECT hash FROM ops WHERE replica = ? AND seq = ?", (replica, seq)).fetchone()
    return None if row is None else str(row[0])


@dataclass(frozen=True, slots=True)
class Accepted:
    """The ops of one chain that were accepted before, for the walk that goes on from them."""

    db: sqlite3.Connection
    replica: str

    def hash_at(self, seq: int) -> str | None:
        """The opHash accepted at a seq."""
        return hash_at(self.db, self.replica, seq)

    def hash_after(self, prev: str) -> str | None:
        """The opHash of the op accepted after the one of this hash."""
        # The plus keeps SQLite from putting the value in the place of `prev` everywhere, and so from using the index.
        row = self.db.execute(
            "SELECT hash FROM ops WHERE replica = ? AND substr(prev, 1, 16) = ? AND +prev = ?",
            (self.replica, prev[:16], prev),
        ).fetchone()
        return None if row is None else str(row[0])


def line_at(db: sqlite3.Connection, replica: str, seq: int) -> bytes | None:
    """The line of the op at (replica, seq), or None."""
    row = db.execute("SELECT line FROM ops WHERE replica = ? AND seq = ?", (replica, seq)).fetchone()
    return None if row is None else bytes(row[0])


def entry_at(db: sqlite3.Connection, replica: str, seq: int) -> Entry | None:
    """The verified op at (replica, seq), or None."""
    line = line_at(db, replica, seq)
    return None if line is None else read_entry(line)


def lines_of(db: sqlite3.Connection, replica: str, since: int = 0) -> Iterator[tuple[int, bytes]]:
    """The (seq, line) pairs of a chain from `since` on, in order."""
    yield from db.execute(
        "SELECT seq, line FROM ops WHERE replica = ? AND seq >= ? ORDER BY seq", (replica, since)
    )
