"""A replica's own store as a source, read as it was at one moment and never written."""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote

from core.store.database import BUSY_TIMEOUT_MS
from crypto.chain import Halt
from crypto.keys import REPLICA_ID
from replica.audit.source import Record, SourceError
from replica.records import fork_proofs, ops
from replica.records.meta import Meta, get
from replica.records.schema import MIGRATIONS
from transports.base import Line, Skipped

_T = TypeVar("_T")

_HEADS = "SELECT replica, seq FROM cursors"
_OF_LANE = "SELECT line FROM ops WHERE replica = ? AND seq <= ? ORDER BY seq"
_AHEAD = "SELECT line FROM ops WHERE replica = ? AND seq > ? ORDER BY seq"
_CLAIMS = "SELECT replica, line FROM claims ORDER BY replica"
_RIVALS_OF_LANE = "SELECT line FROM rivals WHERE replica = ? ORDER BY hash"
_CLAIMS_OF_LANE = "SELECT line FROM claims WHERE replica = ?"


class StoreSource:
    """The ops and key claims in a store, in the read transaction that is open on it."""

    def __init__(self, db: sqlite3.Connection, path: Path) -> None:
        self.shown = f"store {path}"
        self._db = db
        with self._readable():
            positions = ops.positions(db)
            self._heads = {_replica(replica): _checked(seq, int) for replica, seq in db.execute(_HEADS)}
            self.record = Record(
                get(db, Meta.FOUNDING),
                {
                    replica: (position.fingerprint, _halt(position.cursor.halted))
                    for replica, position in positions.items()
                    if position.cursor.halted is not None
                },
                [each.proof for each in fork_proofs.kept(db)],
            )

    def survey(self) -> Iterator[Line]:
        with self._readable():
            for replica, head in sorted(self._heads.items()):
                for (line,) in self._db.execute(_OF_LANE, (replica, head)):
                    yield Line(replica, _checked(line, bytes))
            for replica, line in self._db.execute(_CLAIMS):
                yield Line(_replica(replica), _checked(line, bytes))

    def lane(self, replica: str) -> Iterator[bytes]:
        with self._readable():
            for (line,) in self._db.execute(_OF_LANE, (replica, self._heads.get(replica, 0))):
                yield _checked(line, bytes)
            for (line,) in self._db.execute(_CLAIMS_OF_LANE, (replica,)):
                yield _checked(line, bytes)
            for (line,) in self._db.execute(_RIVALS_OF_LANE, (replica,)):
                yield _checked(line, bytes)

    def ahead(self, replica: str) -> Iterator[bytes]:
        with self._readable():
            for (line,) in self._db.execute(_AHEAD, (replica, self._heads.get(replica, 0))):
                yield _checked(line, bytes)

    def skipped(self) -> Sequence[Skipped]:
        return ()

    @contextmanager
    def _readable(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, ValueError, TypeError) as error:
            raise SourceError(f"cannot read the {self.shown}: {error}", "restore it from a backup") from error


@contextmanager
def open_store(path: Path) -> Iterator[StoreSource]:
    """Open the store at `path` for reading. Raises SourceError."""
    if not path.is_file():
        raise SourceError(
            f"there is no store at {path}",
            "name another place with --dir, or what to audit with --from git:REMOTE or --from FILE",
        )
    try:
        db = sqlite3.connect(
            f"file:{quote(str(path.absolute()))}?mode=ro",
            uri=True,
            timeout=BUSY_TIMEOUT_MS / 1000,
            isolation_level=None,
        )
    except sqlite3.Error as error:
        raise SourceError(f"cannot open the store {path}: {error}") from error
    with closing(db):
        _begin(db, path)
        yield StoreSource(db, path)


def _begin(db: sqlite3.Connection, path: Path) -> None:
    try:
        db.execute("BEGIN")
        (version,) = db.execute("PRAGMA user_version").fetchone()
    except sqlite3.Error as error:
        raise SourceError(f"cannot read the store {path}: {error}", "restore it from a backup") from error
    if version < len(MIGRATIONS):
        raise SourceError(
            f"the store {path} is from an older version", "run any other dmp command on it once"
        )
    if version > len(MIGRATIONS):
        raise SourceError(f"the store {path} is from a newer version of this program", "upgrade it")


# The file may be of anybody's making, tables and all.


def _checked(value: object, kind: type[_T]) -> _T:
    if not isinstance(value, kind):
        raise TypeError(f"{kind.__name__} expected")
    return value


def _replica(value: object) -> str:
    replica = _checked(value, str)
    if not REPLICA_ID.fullmatch(replica):
        raise ValueError("replica id outside the grammar")
    return replica


def _halt(value: Halt) -> Halt:
    return Halt(_checked(value.seq, int), _checked(value.reason, str), _checked(value.text, str))
