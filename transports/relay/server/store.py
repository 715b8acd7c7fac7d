"""Where a relay keeps its teams: the interface, and SQLite behind it.

One writer at a time makes each `write` one transaction, on the disk before it returns. Texts of ops are JSON
that nothing here looks into. `line` is what only some may see of an op, or what was pruned since; `stub` stands
in its place, where an op has one.
"""

import sqlite3
import threading
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol, TypeAlias

from crypto.chain import Head
from crypto.clock import Reading

FIRST_TOO: Final = "run:"
"""How the presence keys begin of which the first op is kept whole as the latest is."""


@dataclass(frozen=True, slots=True)
class Row:
    """One op to keep. `presence` is what it is the latest news of, for a presence op.

    `line` is None for one that came as a stub; `stub` is None for one that never becomes one.
    """

    seq: int
    hash: str
    hlc: str
    type: str
    to: tuple[str, ...] | None
    line: str | None
    stub: str | None
    presence: str | None = None


@dataclass(frozen=True, slots=True)
class Read:
    """One op as it is kept now."""

    seq: int
    to: Collection[str] | None
    line: str | None
    stub: str | None


@dataclass(frozen=True, slots=True)
class NewTeam:
    """A team that was registered at `created_ms`, known by the opHash of its founding."""

    team: str
    found: str
    created_ms: int


@dataclass(frozen=True, slots=True)
class Append:
    """Ops that follow what a lane has."""

    team: str
    replica: str
    rows: Sequence[Row]


@dataclass(frozen=True, slots=True)
class Acks:
    """How far a replica holds the lanes of others."""

    team: str
    reader: str
    through: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Prune:
    """Sealed ops whose content nobody needs any more."""

    team: str
    replica: str
    seqs: Sequence[int]


Change: TypeAlias = NewTeam | Append | Acks | Prune


@dataclass(frozen=True, slots=True)
class StoredLane:
    """One lane of a stored team: its head, its key op and its roster ops, in order."""

    replica: str
    head: Head
    key_op: str
    roster: Sequence[str]


@dataclass(frozen=True, slots=True)
class StoredTeam:
    """A team as it is kept."""

    team: str
    found: str
    created_ms: int
    lanes: Sequence[StoredLane]
    acks: Mapping[str, Mapping[str, int]]


class Store(Protocol):
    """What a relay asks of its disk. Reading may go on in one thread while another writes."""

    def load(self, team: str) -> StoredTeam | None:
        """Return a team, None for one that is not kept."""

    def found_of(self, team: str) -> str | None:
        """Return the opHash of a team's founding, None for a team that is not kept."""

    def teams(self) -> int:
        """Return how many teams are kept."""

    def write(self, changes: Iterable[Change], now_ms: int) -> None:
        """Keep all of this, or none of it. It is on the disk when this returns."""

    def read(self, team: str, replica: str, since: int, *, ops: int, size: int) -> Sequence[Read]:
        """Return the first ops of a lane above a seq, in order: at most `ops`, and one more than `size` bytes hold."""

    def hashes(self, team: str, replica: str, low: int, high: int) -> Mapping[int, str]:
        """Return the hashes of a lane's ops with seqs from `low` to `high`."""

    def unpruned(
        self, team: str, replica: str, low: int, high: int
    ) -> Iterator[tuple[int, str, tuple[str, ...]]]:
        """Give seq, clock and recipients of the sealed ops above `low` and up to `high` that are whole."""

    def expire(self, before_ms: int, limit: int) -> int:
        """Prune sealed ops that were stored before a time, at most `limit`; return how many."""

    def spend(self, stamp: str, until_ms: int, now_ms: int) -> bool:
        """Note that a stamp served, until it is stale anyway; False for one that did before."""

    def healthy(self) -> bool:
        """Whether it can be read and takes writes."""

    def close(self) -> None:
        """Give back what is open."""


_SCHEMA: Final = """
CREATE TABLE teams (team TEXT PRIMARY KEY, found TEXT NOT NULL, created_ms INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE lanes (
    id INTEGER PRIMARY KEY, team TEXT NOT NULL REFERENCES teams, replica TEXT NOT NULL,
    seq INTEGER NOT NULL, hash TEXT NOT NULL, hlc TEXT NOT NULL, UNIQUE (team, replica)
);
CREATE TABLE ops (
    id INTEGER PRIMARY KEY, lane INTEGER NOT NULL REFERENCES lanes, seq INTEGER NOT NULL, hash TEXT NOT NULL,
    hlc TEXT NOT NULL, type TEXT NOT NULL, recipients TEXT, line TEXT, stub TEXT, stored_ms INTEGER NOT NULL,
    UNIQUE (lane, seq)
);
CREATE INDEX ops_of_the_roster ON ops (lane, seq) WHERE type IN ('key', 'roster');
CREATE INDEX ops_sealed ON ops (lane, seq) WHERE recipients IS NOT NULL AND line IS NOT NULL;
CREATE INDEX ops_by_age ON ops (stored_ms) WHERE recipients IS NOT NULL AND line IS NOT NULL;
CREATE TABLE presence (
    lane INTEGER NOT NULL REFERENCES lanes, what TEXT NOT NULL, first INTEGER NOT NULL, latest INTEGER NOT NULL,
    PRIMARY KEY (lane, what)
) WITHOUT ROWID;
CREATE TABLE acks (
    team TEXT NOT NULL REFERENCES teams, reader TEXT NOT NULL, publisher TEXT NOT NULL, through INTEGER NOT NULL,
    PRIMARY KEY (team, reader, publisher)
) WITHOUT ROWID;
CREATE TABLE stamps (stamp TEXT PRIMARY KEY, until_ms INTEGER NOT NULL) WITHOUT ROWID;
PRAGMA user_version = 1;
"""

_VERSION: Final = 1


class StoreError(Exception):
    """A file that is not a relay's, or that a later version made; the message says what to do."""


def _connect(path: str | Path, *, synchronous: str = "FULL") -> sqlite3.Connection:
    db = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=30)
    db.execute("PRAGMA journal_mode = WAL")
    db.execute(f"PRAGMA synchronous = {synchronous}")
    db.execute("PRAGMA foreign_keys = ON")
    return db


class SqliteStore:
    """A relay's store in one SQLite file."""

    def __init__(self, path: Path) -> None:
        """Open or make it. Raises StoreError."""
        self._writer = _connect(path)
        version = self._writer.execute("PRAGMA user_version").fetchone()[0]
        if version > _VERSION:
            raise StoreError(f"{path} was made by a later version of dmp; update this one")
        if version == 0:
            self._writer.executescript(f"BEGIN IMMEDIATE; {_SCHEMA} COMMIT;")
        self._reader = _connect(path)
        self._writing = threading.Lock()
        self._reading = threading.RLock()
        self._lanes: dict[tuple[str, str], int] = {}

    def close(self) -> None:
        with self._writing, self._reading:
            self._reader.close()
            self._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            self._writer.close()

    # Reading

    def healthy(self) -> bool:
        try:
            with self._reading:
                return self._reader.execute("SELECT 1 FROM teams LIMIT 1") is not None
        except sqlite3.Error:
            return False

    def teams(self) -> int:
        with self._reading:
            return int(self._reader.execute("SELECT count(*) FROM teams").fetchone()[0])

    def found_of(self, team: str) -> str | None:
        with self._reading:
            row = self._reader.execute("SELECT found FROM teams WHERE team = ?", (team,)).fetchone()
        return None if row is None else str(row[0])

    def load(self, team: str) -> StoredTeam | None:
        with self._reading:
            row = self._reader.execute(
                "SELECT found, created_ms FROM teams WHERE team = ?", (team,)
            ).fetchone()
            if row is None:
                return None
            acks: dict[str, dict[str, int]] = {}
            for reader, publisher, through in self._reader.execute(
                "SELECT reader, publisher, through FROM acks WHERE team = ?", (team,)
            ):
                acks.setdefault(reader, {})[publisher] = through
            return StoredTeam(team, row[0], row[1], list(self._stored_lanes(team)), acks)

    def _stored_lanes(self, team: str) -> Iterator[StoredLane]:
        lanes = self._reader.execute("SELECT id, replica, seq, hash, hlc FROM lanes WHERE team = ?", (team,))
        for lane, replica, seq, hash_, hlc in lanes.fetchall():
            lines = self._reader.execute(
                "SELECT line FROM ops WHERE lane = ? AND type IN ('key', 'roster') ORDER BY seq", (lane,)
            )
            key_op, *roster = (line for (line,) in lines)
            yield StoredLane(replica, Head(seq, hash_, Reading.parse(hlc)), key_op, roster)

    def read(self, team: str, replica: str, since: int, *, ops: int, size: int) -> Sequence[Read]:
        found: list[Read] = []
        with self._reading:
            rows = self._reader.execute(
                "SELECT ops.seq, recipients, line, stub FROM ops JOIN lanes ON lanes.id = lane "
                "WHERE team = ? AND replica = ? AND ops.seq > ? ORDER BY ops.seq LIMIT ?",
                (team, replica, since, ops),
            )
            for seq, recipients, line, stub in rows:
                found.append(Read(seq, None if recipients is None else recipients.split(" "), line, stub))
                size -= len(line or stub)
                if size < 0:
                    break
            rows.close()
        return found

    def hashes(self, team: str, replica: str, low: int, high: int) -> Mapping[int, str]:
        with self._reading:
            return dict(
                self._reader.execute(
                    "SELECT ops.seq, ops.hash FROM ops JOIN lanes ON lanes.id = lane "
                    "WHERE team = ? AND replica = ? AND ops.seq BETWEEN ? AND ?",
                    (team, replica, low, high),
                ).fetchall()
            )

    def unpruned(
        self, team: str, replica: str, low: int, high: int
    ) -> Iterator[tuple[int, str, tuple[str, ...]]]:
        with self._reading:
            rows = self._reader.execute(
                "SELECT ops.seq, ops.hlc, recipients FROM ops JOIN lanes ON lanes.id = lane "
                "WHERE team = ? AND replica = ? AND ops.seq > ? AND ops.seq <= ? "
                "AND recipients IS NOT NULL AND line IS NOT NULL",
                (team, replica, low, high),
            ).fetchall()
        return ((seq, hlc, tuple(recipients.split(" "))) for seq, hlc, recipients in rows)

    # Writing

    def write(self, changes: Iterable[Change], now_ms: int) -> None:
        with self._writing:
            self._writer.execute("BEGIN IMMEDIATE")
            try:
                for change in changes:
                    match change:
                        case NewTeam(team, found, created_ms):
                            self._writer.execute(
                                "INSERT INTO teams VALUES (?, ?, ?)", (team, found, created_ms)
                            )
                        case Append():
                            self._append(change, now_ms)
                        case Acks(team, reader, through):
                            self._writer.executemany(
                                "INSERT INTO acks VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE "
                                "SET through = excluded.through WHERE excluded.through > through",
                                [(team, reader, publisher, seq) for publisher, seq in through.items()],
                            )
                        case Prune(team, replica, seqs):
                            lane = self._lane(team, replica)
                            self._prune(lane, seqs)
                self._writer.execute("COMMIT")
            except BaseException:
                self._lanes.clear()
                if self._writer.in_transaction:
                    self._writer.execute("ROLLBACK")
                raise

    def _append(self, change: Append, now_ms: int) -> None:
        last = change.rows[-1]
        lane = self._lane(change.team, change.replica)
        if lane is None:
            lane = self._writer.execute(
                "INSERT INTO lanes (team, replica, seq, hash, hlc) VALUES (?, ?, ?, ?, ?)",
                (change.team, change.replica, last.seq, last.hash, last.hlc),
            ).lastrowid
            assert lane is not None
            self._lanes[change.team, change.replica] = lane
        else:
            self._writer.execute(
                "UPDATE lanes SET seq = ?, hash = ?, hlc = ? WHERE id = ?",
                (last.seq, last.hash, last.hlc, lane),
            )
        self._writer.executemany(
            "INSERT INTO ops (lane, seq, hash, hlc, type, recipients, line, stub, stored_ms) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [
                (
                    lane,
                    row.seq,
                    row.hash,
                    row.hlc,
                    row.type,
                    None if row.to is None else " ".join(row.to),
                    row.line,
                    row.stub,
                    now_ms,
                )
                for row in change.rows
            ],
        )
        for row in change.rows:
            if row.presence is not None:
                self._note_presence(lane, row.presence, row.seq)

    def _note_presence(self, lane: int, what: str, seq: int) -> None:
        """Make a stub of the news that this op is newer than; of a run the first op stays whole too."""
        known = self._writer.execute(
            "SELECT first, latest FROM presence WHERE lane = ? AND what = ?", (lane, what)
        ).fetchone()
        if known is None:
            self._writer.execute("INSERT INTO presence VALUES (?, ?, ?, ?)", (lane, what, seq, seq))
            return
        first, latest = known
        self._writer.execute("UPDATE presence SET latest = ? WHERE lane = ? AND what = ?", (seq, lane, what))
        if latest != first or not what.startswith(FIRST_TOO):
            self._prune(lane, [latest])

    def _prune(self, lane: int | None, seqs: Iterable[int]) -> None:
        self._writer.executemany(
            "UPDATE ops SET line = NULL WHERE lane = ? AND seq = ? AND stub IS NOT NULL",
            [(lane, seq) for seq in seqs],
        )

    def _lane(self, team: str, replica: str) -> int | None:
        known = self._lanes.get((team, replica))
        if known is not None:
            return known
        row = self._writer.execute(
            "SELECT id FROM lanes WHERE team = ? AND replica = ?", (team, replica)
        ).fetchone()
        if row is None:
            return None
        if len(self._lanes) >= 50_000:
            self._lanes.clear()
        self._lanes[team, replica] = row[0]
        return int(row[0])

    def expire(self, before_ms: int, limit: int) -> int:
        with self._writing:
            return self._writer.execute(
                "UPDATE ops SET line = NULL WHERE id IN (SELECT id FROM ops WHERE stored_ms < ? "
                "AND recipients IS NOT NULL AND line IS NOT NULL LIMIT ?)",
                (before_ms, limit),
            ).rowcount

    def spend(self, stamp: str, until_ms: int, now_ms: int) -> bool:
        with self._writing:
            self._writer.execute("DELETE FROM stamps WHERE until_ms < ?", (now_ms,))
            return (
                self._writer.execute("INSERT OR IGNORE INTO stamps VALUES (?, ?)", (stamp, until_ms)).rowcount
                == 1
            )


def backup(source: Path, target: Path) -> None:
    """Copy a store into one file, while a relay may be writing to it. The target appears once it is whole.

    Raises StoreError where there is no store, OSError and sqlite3.Error where it cannot be copied.
    """
    if not source.is_file():
        raise StoreError(f"there is no relay in {source.parent}")
    part = target.with_name(f".{target.name}.part")
    part.unlink(missing_ok=True)
    part.touch(mode=0o600)
    origin = sqlite3.connect(f"{source.absolute().as_uri()}?mode=ro", uri=True)
    try:
        copy = sqlite3.connect(part)
        try:
            origin.backup(copy)
            copy.execute("PRAGMA journal_mode = DELETE")
        finally:
            copy.close()
    finally:
        origin.close()
    part.replace(target)
