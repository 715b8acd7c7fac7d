"""Opening the database and bracketing its transactions.

One connection in WAL mode with `synchronous=FULL`: a commit is on the disk when it returns. Writers take
turns from their first statement on (BEGIN IMMEDIATE), so what a transaction read is still true when it
commits, and another process that writes meanwhile only waits.
"""

import sqlite3
import time
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
        is_new = str(path) != IN_MEMORY and not Path(path).exists()
        try:
            db = sqlite3.connect(path, timeout=BUSY_TIMEOUT_MS / 1000, isolation_level=None)
        except sqlite3.Error as error:
            raise _unavailable(f"cannot open the store {path}: {error}") from error
        store = cls(db)
        store.observer = observer
        try:
            if is_new:  # while it is empty; the files SQLite puts beside it get the same mode
                Path(path).chmod(0o600)
            _write_ahead(db)
            db.execute("PRAGMA synchronous = FULL")
            # What a savepoint may have to put back would else go to a file, page by page.
            db.execute("PRAGMA temp_store = MEMORY")
            db.execute("PRAGMA foreign_keys = ON")
            store._migrate(migrations)
        except (OSError, sqlite3.DatabaseError) as error:
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

        Raises DmpError `unavailable` where other processes hold the database for BUSY_TIMEOUT_MS, and where the
        disk is full or fails. Transactions do not nest.
        """
        db = self.db
        try:
            db.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as error:
            if not _is_busy(error):
                raise
            raise _unavailable("the store is busy: another process holds it; try again") from error
        try:
            yield db
            if self.observer is not None:
                self.observer(point, "before")
            db.execute("COMMIT")
        except BaseException as error:
            if db.in_transaction:
                db.execute("ROLLBACK")
            if isinstance(error, sqlite3.OperationalError) and _primary(error) in _DISK:
                raise _unavailable(f"the store cannot be written: {error}") from error
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


def _write_ahead(db: sqlite3.Connection) -> None:
    """Set WAL mode. SQLite does not wait for its turn to, where several processes create one database."""
    until = time.monotonic() + BUSY_TIMEOUT_MS / 1000
    while True:
        try:
            db.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if not _is_busy(error) or time.monotonic() > until:
                raise
            time.sleep(0.01)
        else:
            return


def _statements(script: str) -> Iterator[str]:
    """Split a script, since sqlite3's own executescript would commit first."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""


_DISK: Final = frozenset((sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY))
"""What is the disk's fault, and nobody's who asked for the transaction."""


def _is_busy(error: sqlite3.OperationalError) -> bool:
    return _primary(error) == sqlite3.SQLITE_BUSY


def _primary(error: sqlite3.OperationalError) -> int:
    """What kind of error it is; 0 for one that SQLite did not raise. The higher bytes of its code say why."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def _unavailable(text: str) -> DmpError:
    return DmpError(Code.UNAVAILABLE, text)
