"""What earlier pulls found in the segments, so that they need not be read again.

A cache and nothing else: every row says which blob it is about, and a file that is missing or damaged is
made anew. Two processes may use it at once.
"""

import json
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeVar

from transports.git.segments import Note, Scan

_VERSION: Final = 1
"""Counts the ways a line is read: another way makes every row worthless."""

_SCHEMA: Final = f"""
    CREATE TABLE segments (
        lane TEXT NOT NULL, name TEXT NOT NULL, oid TEXT NOT NULL, size INTEGER NOT NULL,
        lines INTEGER NOT NULL, top INTEGER NOT NULL, heads BLOB, notes TEXT,
        PRIMARY KEY (lane, name)
    ) WITHOUT ROWID;
    CREATE TABLE turns (
        lane TEXT PRIMARY KEY, turn INTEGER NOT NULL, since INTEGER NOT NULL, resume TEXT NOT NULL
    ) WITHOUT ROWID;
    PRAGMA user_version = {_VERSION};
"""

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Turn:
    """When a lane was last read, counted in pulls that left something out, and where to go on.

    `resume` names the first segment that pull did not come to, or is empty; it holds while the lane is still
    asked for from the seq `since`.
    """

    turn: int
    since: int
    resume: str


class SegmentIndex:
    """Scans by lane and segment name, and the turns of lanes, in one SQLite file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._db = self._open()

    def scans(self, replica: str) -> dict[str, Scan]:
        """Return what is known of a lane's segments, by name."""
        return self._tried(lambda: self._scans(replica), {})

    def remember(self, replica: str, scans: Mapping[str, Scan]) -> None:
        self._tried(lambda: self._remember(replica, scans), None)

    def turns(self) -> dict[str, Turn]:
        """Return the turns of the lanes whose pulls left something out; of none when all was read."""
        return self._tried(self._turns, {})

    def set_turns(self, turns: Mapping[str, Turn]) -> None:
        self._tried(lambda: self._set_turns(turns), None)

    def close(self) -> None:
        self._db.close()

    def _open(self) -> sqlite3.Connection:
        try:
            return self._connect(self._path)
        except sqlite3.DatabaseError as error:
            return self._connect(":memory:") if _is_busy(error) else self._afresh()

    @staticmethod
    def _connect(path: Path | str) -> sqlite3.Connection:
        db = sqlite3.connect(path, timeout=10, isolation_level=None, check_same_thread=False)
        try:
            db.execute("PRAGMA journal_mode = WAL")
            db.execute("PRAGMA synchronous = NORMAL")
            db.execute("BEGIN IMMEDIATE")
            if db.execute("PRAGMA user_version").fetchone() != (_VERSION,):
                for (table,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
                    db.execute(f'DROP TABLE "{table}"')
                for statement in _SCHEMA.split(";"):
                    db.execute(statement)
            db.execute("COMMIT")
        except sqlite3.DatabaseError:
            db.close()
            raise
        return db

    def _afresh(self) -> sqlite3.Connection:
        """Start over; where even that fails, forget everything when this process ends."""
        with suppress(OSError):
            for suffix in ("", "-wal", "-shm"):
                self._path.with_name(self._path.name + suffix).unlink(missing_ok=True)
        try:
            return self._connect(self._path)
        except sqlite3.DatabaseError:
            return self._connect(":memory:")

    def _tried(self, action: Callable[[], _T], otherwise: _T) -> _T:
        try:
            return action()
        except (sqlite3.DatabaseError, ValueError, TypeError) as error:
            with suppress(sqlite3.DatabaseError):
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
            if not _is_busy(error):
                self._db.close()
                self._db = self._afresh()
            return otherwise

    def _scans(self, replica: str) -> dict[str, Scan]:
        rows = self._db.execute(
            "SELECT name, oid, size, lines, top, heads, notes FROM segments WHERE lane = ?", (replica,)
        )
        return {
            name: Scan(oid, size, lines, top, _unpack(heads), _unpack_notes(notes))
            for name, oid, size, lines, top, heads, notes in rows
        }

    def _remember(self, replica: str, scans: Mapping[str, Scan]) -> None:
        self._db.execute("BEGIN IMMEDIATE")
        self._db.executemany(
            "INSERT OR REPLACE INTO segments VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            [
                (
                    *(replica, name, scan.oid, scan.size, scan.lines, scan.top, _pack(scan.heads)),
                    _pack_notes(scan.notes),
                )
                for name, scan in scans.items()
            ],
        )
        self._db.execute("COMMIT")

    def _turns(self) -> dict[str, Turn]:
        rows = self._db.execute("SELECT lane, turn, since, resume FROM turns")
        return {lane: Turn(turn, since, resume) for lane, turn, since, resume in rows}

    def _set_turns(self, turns: Mapping[str, Turn]) -> None:
        self._db.execute("BEGIN IMMEDIATE")
        self._db.execute("DELETE FROM turns")
        self._db.executemany(
            "INSERT INTO turns VALUES (?, ?, ?, ?)",
            [(lane, turn.turn, turn.since, turn.resume) for lane, turn in turns.items()],
        )
        self._db.execute("COMMIT")


def _pack_notes(notes: tuple[Note, ...]) -> str | None:
    return json.dumps([(note.line, note.count, note.reason) for note in notes]) if notes else None


def _unpack_notes(notes: str | None) -> tuple[Note, ...]:
    return () if notes is None else tuple(Note(*note) for note in json.loads(notes))


def _is_busy(error: Exception) -> bool:
    """Whether another process was at the file for too long, which says nothing about the file."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def _pack(heads: tuple[bytes, ...] | None) -> bytes | None:
    return None if heads is None else b"".join(raw + b"\n" for raw in heads)


def _unpack(heads: bytes | None) -> tuple[bytes, ...] | None:
    return None if heads is None else tuple(heads.split(b"\n")[:-1])
