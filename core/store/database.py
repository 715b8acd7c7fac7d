"""Opening the database and bracketing its transactions.

One connection in WAL mode with `synchronous=FULL`: a commit is on the disk when it returns. Writers take
turns from their first statement on (BEGIN IMMEDIATE), so what a transaction read is still true when it
commits, and another process that writes meanwhile only waits.
"""

import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final, Literal

from core.commits import CommitPoint
from core.errors import Code, DmpError

Observer = Callable[[str, Literal["before", "after"]], None]
"""Called with a commit point's value before its COMMIT and after it; what it raises is raised there."""

BUSY_TIMEOUT_MS: Final = 30_000
"""How long a writer waits for its turn. Transactions are short; a longer wait means another process hangs."""

IN_MEMORY: Final = ":memory:"


class Store:
    """A host's database, used by one thread. Open it once more for another."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self.db = db
        self.observer: Observer | None = None

    @classmethod
    def open(
        cls, path: Path | str, migrations: Sequence[str], *, observer: Observer | None = None
    ) -> "Store":
        """Open or create the database, readable by its owner alone, and bring its tables up to date.

        `user_version` counts the migrations that were run. Raises DmpError `unavailable` where the file
        cannot be opened, is no database, or was written by a newer version of the application.
        """
        try:
            if str(path) != IN_MEMORY:
                os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
            db = sqlite3.connect(path, timeout=BUSY_TIMEOUT_MS / 1000, isolation_level=None)
        except (OSError, sqlite3.Error) as error:
            raise _unavailable(f"cannot open the store {path}: {error}") from error
        store = cls(db)
        store.observer = observer
        try:
            db.execute("PRAGMA journal_mode = WAL")
            db.execute("PRAGMA synchronous = FULL")
            db.execute("PRAGMA foreign_keys = ON")
            store._migrate(migrations)
        except sqlite3.DatabaseError as error:
            db.close()
            raise _unavailable(f"cannot use the store {path}: {error}") from error
        except BaseException:
            db.close()
            raise
        return store

    def close(self) -> None:
        """Close the connection."""
        self.db.close()

    @contextmanager
    def transaction(self, point: str) -> Iterator[sqlite3.Connection]:
        """Run a block as one write transaction: committed when it ends, undone when it raises.

        Raises DmpError `unavailable` where other processes hold the database for BUSY_TIMEOUT_MS.
        Transactions do not nest.
        """
        db = self.db
        try:
            db.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY:
                raise
            raise _unavailable("the store is busy: another process holds it; try again") from error
        try:
            yield db
            if self.observer is not None:
                self.observer(point, "before")
            db.execute("COMMIT")
        except BaseException:
            if db.in_transaction:
                db.execute("ROLLBACK")
            raise
        if self.observer is not None:
            self.observer(point, "after")

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Run a block of reads on one state of the database, inside the open transaction if there is one."""
        if self.db.in_transaction:
            yield self.db
            return
        self.db.execute("BEGIN")
        try:
            yield self.db
        finally:
            self.db.execute("ROLLBACK")

    def _migrate(self, migrations: Sequence[str]) -> None:
        if self._version() == len(migrations):
            return
        with self.transaction(CommitPoint.MIGRATE) as db:
            done = self._version()  # once more: another process may have been first
            if done > len(migrations):
                raise _unavailable("the store was written by a newer version of this program; upgrade it")
            for migration in migrations[done:]:
                for statement in _statements(migration):
                    db.execute(statement)
            db.execute(f"PRAGMA user_version = {len(migrations)}")

    def _version(self) -> int:
        (version,) = self.db.execute("PRAGMA user_version").fetchone()
        return int(version)


def _statements(script: str) -> Iterator[str]:
    """Split a script, since sqlite3's own executescript would commit first."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""


def _unavailable(text: str) -> DmpError:
    return DmpError(Code.UNAVAILABLE, text)
