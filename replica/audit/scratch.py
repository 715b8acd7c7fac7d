"""What an audit has to keep and cannot keep in memory: temporary databases.

SQLite holds each in memory up to a bound and in a temporary file beyond. Such a file has no name from the
moment it is made, so nothing is left of it however the process ends.
"""

import sqlite3
from contextlib import ExitStack, closing
from types import TracebackType
from typing import Final

from replica.audit.index import AuditIndex

LOOK_AHEAD_KIB: Final = 8 * 1024
"""How much of each is held in memory, in KiB, before it goes on in a file."""

_TABLES: Final = """
PRAGMA journal_mode = OFF;

-- Stretches of a file whose lines all belong to one lane.
CREATE TABLE stretches (
    lane  TEXT NOT NULL,
    start INTEGER NOT NULL,
    stop  INTEGER NOT NULL,
    PRIMARY KEY (lane, start)
) STRICT, WITHOUT ROWID;

-- Self-signed key ops; of several that announce the same keys, the one with the smallest hash.
CREATE TABLE claims (
    lane        TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    hash        TEXT NOT NULL,
    line        BLOB NOT NULL,
    PRIMARY KEY (lane, fingerprint)
) STRICT, WITHOUT ROWID;
CREATE INDEX claims_by_hash ON claims (lane, hash);

-- Ops that would found a team, before it is known who signed them.
CREATE TABLE foundings (
    lane TEXT NOT NULL,
    hash TEXT NOT NULL,
    line BLOB NOT NULL,
    PRIMARY KEY (lane, hash)
) STRICT, WITHOUT ROWID;

-- Ops that would let their publisher in by the recovery code, likewise.
CREATE TABLE recoveries (
    lane TEXT NOT NULL,
    hash TEXT NOT NULL,
    line BLOB NOT NULL,
    PRIMARY KEY (lane, hash)
) STRICT, WITHOUT ROWID;
"""


class Scratch:
    """The temporary databases of one audit. A context manager: they are gone when it is closed.

    `db` holds what the first reading of a source finds, and `side` the lines that wait while one chain is
    walked. Raises sqlite3.Error where no temporary file can be written.
    """

    def __init__(self, look_ahead_kib: int = LOOK_AHEAD_KIB) -> None:
        with ExitStack() as stack:
            self.db = stack.enter_context(closing(sqlite3.connect("", isolation_level=None)))
            self.db.execute(f"PRAGMA cache_size = -{look_ahead_kib:d}")
            self.db.executescript(_TABLES)
            self.db.execute("BEGIN")
            self.side = stack.enter_context(AuditIndex(look_ahead_kib))
            self._open = stack.pop_all()

    def __enter__(self) -> "Scratch":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open.close()
