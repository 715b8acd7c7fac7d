"""The side store of an audit: a temporary SQLite database, which stays in memory while it is small.

SQLite keeps a database without a name in its page cache and spills it to an unnamed temporary file once the
cache is full, so the memory of an audit is the size of that cache, whatever the order of the lines.
"""

import sqlite3
from collections.abc import Iterator
from types import TracebackType
from typing import Final

from crypto.side import Consumed, Waiting

CACHE_KIB: Final = 16 * 1024
"""The page cache, in KiB: how far an audit looks ahead in memory."""

_BATCH: Final = 500
"""Consumed ops that are written at once."""

_TABLES: Final = """
PRAGMA journal_mode = OFF;
CREATE TABLE consumed (
    seq   INTEGER PRIMARY KEY,
    hash  TEXT NOT NULL,
    grade INTEGER NOT NULL,
    prev  TEXT NOT NULL
) STRICT;
CREATE INDEX consumed_by_prev ON consumed (prev);
CREATE TABLE waiting (
    seq  INTEGER NOT NULL,
    hash TEXT NOT NULL,
    prev TEXT NOT NULL,
    raw  BLOB NOT NULL
) STRICT;
CREATE INDEX waiting_by_prev ON waiting (prev, seq, hash);
CREATE INDEX waiting_by_seq ON waiting (seq, hash);
"""


class AuditIndex:
    """A `SideStore` of bounded memory. A context manager: what it holds is gone when it is closed."""

    def __init__(self, cache_kib: int = CACHE_KIB) -> None:
        self._db = sqlite3.connect("", isolation_level=None)
        self._db.execute(f"PRAGMA cache_size = -{cache_kib:d}")
        self._db.executescript(_TABLES)
        self._db.execute("BEGIN")
        self._unwritten: list[tuple[int, str, int, str]] = []

    def __enter__(self) -> "AuditIndex":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._db.close()

    def consume(self, seq: int, prev: str, hash_: str, grade: int) -> None:
        self._unwritten.append((seq, hash_, grade, prev))
        if len(self._unwritten) >= _BATCH:
            self._write()

    def at(self, seq: int) -> Consumed | None:
        self._write()
        row = self._db.execute("SELECT seq, hash, grade FROM consumed WHERE seq = ?", (seq,)).fetchone()
        return None if row is None else Consumed(*row)

    def after(self, prev: str) -> Consumed | None:
        self._write()
        row = self._db.execute("SELECT seq, hash, grade FROM consumed WHERE prev = ?", (prev,)).fetchone()
        return None if row is None else Consumed(*row)

    def put(self, line: Waiting) -> None:
        self._db.execute("INSERT INTO waiting (seq, hash, prev, raw) VALUES (?, ?, ?, ?)", line)

    def following(self, prev: str) -> Iterator[Waiting]:
        rows = self._db.execute(
            "SELECT seq, hash, prev, raw FROM waiting WHERE prev = ? ORDER BY seq, hash", (prev,)
        )
        return map(Waiting._make, rows)

    def waiting(self) -> Iterator[Waiting]:
        return map(
            Waiting._make, self._db.execute("SELECT seq, hash, prev, raw FROM waiting ORDER BY seq, hash")
        )

    def clear(self) -> None:
        self._unwritten.clear()
        self._db.execute("DELETE FROM consumed")
        self._db.execute("DELETE FROM waiting")

    def _write(self) -> None:
        if self._unwritten:
            self._db.executemany("INSERT OR REPLACE INTO consumed VALUES (?, ?, ?, ?)", self._unwritten)
            self._unwritten.clear()
