"""A relay's store in one SQLite file, written ahead and synced with each transaction."""

import sqlite3
import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from shutil import SameFileError
from typing import Final

from crypto.chain import Head
from crypto.clock import Reading
from transports.relay.server.store import (
    FIRST_TOO,
    ROW_BYTES,
    Acks,
    Append,
    Change,
    NewTeam,
    Prune,
    Read,
    StoredLane,
    StoredTeam,
    StoreError,
)

_SCHEMAS: Final = (
    """
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
""",
    f"""
ALTER TABLE teams ADD COLUMN used INTEGER NOT NULL DEFAULT 0;
UPDATE teams SET used = (
    SELECT coalesce(sum(
        {ROW_BYTES} + coalesce(length(CAST(line AS BLOB)), 0) + coalesce(length(CAST(stub AS BLOB)), 0)
    ), 0)
    FROM ops JOIN lanes ON lanes.id = lane WHERE lanes.team = teams.team
);
PRAGMA user_version = 2;
""",
)
"""What makes each version of a store of the one before it."""


def _connect(path: str | Path, *, synchronous: str = "FULL") -> sqlite3.Connection:
    db = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=30)
    db.execute("PRAGMA journal_mode = WAL")
    db.execute(f"PRAGMA synchronous = {synchronous}")
    db.execute("PRAGMA foreign_keys = ON")
    return db


class SqliteStore:
    """A relay's store in one SQLite file."""

    def __init__(self, path: Path) -> None:
        """Open or make it, readable by its owner alone. Raises StoreError."""
        if not path.exists():  # while it is empty; the files SQLite puts beside it get the same mode
            path.touch(mode=0o600)
        self._writer = _connect(path)
        version = self._writer.execute("PRAGMA user_version").fetchone()[0]
        if version > len(_SCHEMAS):
            raise StoreError(f"{path} was made by a later version of dmp; update this one")
        for schema in _SCHEMAS[version:]:
            self._writer.executescript(f"BEGIN IMMEDIATE; {schema} COMMIT;")
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
                "SELECT found, created_ms, used FROM teams WHERE team = ?", (team,)
            ).fetchone()
            if row is None:
                return None
            acks: dict[str, dict[str, int]] = {}
            for reader, publisher, through in self._reader.execute(
                "SELECT reader, publisher, through FROM acks WHERE team = ?", (team,)
            ):
                acks.setdefault(reader, {})[publisher] = through
            return StoredTeam(team, row[0], row[1], list(self._stored_lanes(team)), acks, row[2])

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
        self, team: str, replica: str, low: int, high: int, limit: int
    ) -> Iterator[tuple[int, str, tuple[str, ...]]]:
        with self._reading:
            rows = self._reader.execute(
                "SELECT ops.seq, ops.hlc, recipients FROM ops JOIN lanes ON lanes.id = lane "
                "WHERE team = ? AND replica = ? AND ops.seq > ? AND ops.seq <= ? "
                "AND recipients IS NOT NULL AND line IS NOT NULL ORDER BY ops.seq LIMIT ?",
                (team, replica, low, high, limit),
            ).fetchall()
        return ((seq, hlc, tuple(recipients.split(" "))) for seq, hlc, recipients in rows)

    def used(self, team: str | None = None) -> int:
        of_all, of_one = "SELECT coalesce(sum(used), 0) FROM teams", "SELECT used FROM teams WHERE team = ?"
        with self._reading:
            found = self._reader.execute(of_all) if team is None else self._reader.execute(of_one, (team,))
            return int((found.fetchone() or (0,))[0])

    # Writing

    def write(self, changes: Iterable[Change], now_ms: int) -> None:
        grown = Counter[str]()
        with self._writing:
            self._writer.execute("BEGIN IMMEDIATE")
            try:
                for change in changes:
                    match change:
                        case NewTeam(team, found, created_ms):
                            self._writer.execute(
                                "INSERT INTO teams VALUES (?, ?, ?, 0)",
                                (team, found, created_ms),
                            )
                        case Append():
                            grown[change.team] += self._append(change, now_ms)
                        case Acks(team, reader, through):
                            self._writer.executemany(
                                "INSERT INTO acks VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE "
                                "SET through = excluded.through WHERE excluded.through > through",
                                [(team, reader, publisher, seq) for publisher, seq in through.items()],
                            )
                        case Prune(team, replica, seqs):
                            grown[team] -= self._prune(self._lane(team, replica), seqs)
                self._grow(grown)
                self._writer.execute("COMMIT")
            except BaseException:
                self._lanes.clear()
                if self._writer.in_transaction:
                    self._writer.execute("ROLLBACK")
                raise

    def _grow(self, grown: Mapping[str, int]) -> None:
        self._writer.executemany(
            "UPDATE teams SET used = used + ? WHERE team = ?", [(size, team) for team, size in grown.items()]
        )

    def _append(self, change: Append, now_ms: int) -> int:
        """Add rows; return how much more the team takes then."""
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
        return sum(row.size for row in change.rows) - sum(
            self._note_presence(lane, row.presence, row.seq)
            for row in change.rows
            if row.presence is not None
        )

    def _note_presence(self, lane: int, what: str, seq: int) -> int:
        """Make a stub of the news that this op is newer than; of a run the first op stays whole too.

        Return how much less is kept then.
        """
        known = self._writer.execute(
            "SELECT first, latest FROM presence WHERE lane = ? AND what = ?", (lane, what)
        ).fetchone()
        if known is None:
            self._writer.execute("INSERT INTO presence VALUES (?, ?, ?, ?)", (lane, what, seq, seq))
            return 0
        first, latest = known
        self._writer.execute("UPDATE presence SET latest = ? WHERE lane = ? AND what = ?", (seq, lane, what))
        if latest != first or not what.startswith(FIRST_TOO):
            return self._prune(lane, [latest])
        return 0

    def _prune(self, lane: int | None, seqs: Iterable[int]) -> int:
        """Let go of what has a stub; return how many bytes that was."""
        freed = 0
        for seq in seqs:
            found = self._writer.execute(
                "SELECT id, length(CAST(line AS BLOB)) FROM ops "
                "WHERE lane = ? AND seq = ? AND stub IS NOT NULL AND line IS NOT NULL",
                (lane, seq),
            ).fetchone()
            if found is not None:
                self._writer.execute("UPDATE ops SET line = NULL WHERE id = ?", found[:1])
                freed += found[1]
        return freed

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
            self._writer.execute("BEGIN IMMEDIATE")
            try:
                old = self._writer.execute(
                    "SELECT ops.id, lanes.team, length(CAST(line AS BLOB)) FROM ops JOIN lanes ON lanes.id = lane "
                    "WHERE stored_ms < ? AND recipients IS NOT NULL AND line IS NOT NULL LIMIT ?",
                    (before_ms, limit),
                ).fetchall()
                self._writer.executemany(
                    "UPDATE ops SET line = NULL WHERE id = ?", [(id_,) for id_, _, _ in old]
                )
                freed = Counter[str]()
                for _, team, size in old:
                    freed[team] -= size
                self._grow(freed)
                self._writer.execute("COMMIT")
            except BaseException:
                if self._writer.in_transaction:
                    self._writer.execute("ROLLBACK")
                raise
            return len(old)

    def spend(self, stamp: str, until_ms: int, now_ms: int) -> bool:
        with self._writing:
            self._writer.execute("DELETE FROM stamps WHERE until_ms < ?", (now_ms,))
            return (
                self._writer.execute("INSERT OR IGNORE INTO stamps VALUES (?, ?)", (stamp, until_ms)).rowcount
                == 1
            )


def backup(source: Path, target: Path) -> None:
    """Copy a store into one file, while a relay may be writing to it. The target appears once it is whole.

    What a backup left that was killed meanwhile the next one to that target does away with.
    Raises StoreError where there is no store, OSError and sqlite3.Error where it cannot be copied.
    """
    if not source.is_file():
        raise StoreError(f"there is no relay in {source.parent}")
    if target.exists() and target.samefile(
        source
    ):  # a relay that runs would go on writing to a file nobody finds
        raise SameFileError(f"{target} is the relay's own file; name another one")
    part = target.with_name(f".{target.name}.part")
    try:
        part.unlink(missing_ok=True)
        part.touch(mode=0o600)
    except OSError as error:  # which names a file that whoever asked for the backup never heard of
        raise OSError(error.errno, f"{target.parent} takes no file ({error.strerror})") from None
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
