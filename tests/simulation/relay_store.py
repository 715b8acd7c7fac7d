"""What a simulated relay keeps, in memory (transports.relay.server.store.Store)."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from crypto.chain import Head
from crypto.clock import Reading
from transports.relay.server.store import (
    FIRST_TOO,
    Acks,
    Append,
    Change,
    NewTeam,
    Prune,
    Read,
    Row,
    StoredLane,
    StoredTeam,
)


@dataclass
class RelayStore:
    """One team's rows. `kept` is told of each row that is appended, as it came."""

    kept: Callable[[str, Sequence[Row]], None]
    team: NewTeam | None = None
    lanes: dict[str, list[Row]] = field(default_factory=dict)
    acks: dict[str, dict[str, int]] = field(default_factory=dict)
    _presence: dict[tuple[str, str], tuple[int, int]] = field(default_factory=dict)

    def healthy(self) -> bool:
        return True

    def close(self) -> None:
        pass

    def teams(self) -> int:
        return 0 if self.team is None else 1

    def found_of(self, team: str) -> str | None:
        return self.team.found if self.team is not None and self.team.team == team else None

    def load(self, team: str) -> StoredTeam | None:
        if self.team is None or self.team.team != team:
            return None
        lanes = [self._stored(replica, rows) for replica, rows in self.lanes.items()]
        acks = {reader: dict(through) for reader, through in self.acks.items()}
        return StoredTeam(team, self.team.found, self.team.created_ms, lanes, acks)

    def _stored(self, replica: str, rows: Sequence[Row]) -> StoredLane:
        last = rows[-1]
        key_op, *roster = (row.line or "" for row in rows if row.type in ("key", "roster"))
        return StoredLane(replica, Head(last.seq, last.hash, Reading.parse(last.hlc)), key_op, roster)

    def write(self, changes: Iterable[Change], now_ms: int) -> None:
        for change in changes:
            match change:
                case NewTeam():
                    self.team = change
                case Append(_, replica, rows):
                    self.lanes.setdefault(replica, []).extend(rows)
                    for row in rows:
                        self._note_presence(replica, row)
                    self.kept(replica, rows)
                case Acks(_, reader, through):
                    held = self.acks.setdefault(reader, {})
                    held.update({lane: max(seq, held.get(lane, 0)) for lane, seq in through.items()})
                case Prune(_, replica, seqs):
                    self._prune(replica, seqs)

    def read(self, team: str, replica: str, since: int, *, ops: int, size: int) -> Sequence[Read]:
        found: list[Read] = []
        for row in self.lanes.get(replica, ()):
            if row.seq <= since:
                continue
            found.append(Read(row.seq, row.to, row.line, row.stub))
            size -= len(row.line or row.stub or "")
            if size < 0 or len(found) == ops:
                break
        return found

    def hashes(self, team: str, replica: str, low: int, high: int) -> Mapping[int, str]:
        return {row.seq: row.hash for row in self.lanes.get(replica, ()) if low <= row.seq <= high}

    def unpruned(
        self, team: str, replica: str, low: int, high: int, limit: int
    ) -> Iterator[tuple[int, str, tuple[str, ...]]]:
        whole = (row for row in self.lanes.get(replica, ()) if row.line is not None)
        found = ((row.seq, row.hlc, row.to) for row in whole if low < row.seq <= high and row.to is not None)
        yield from islice(found, limit)

    def used(self, team: str | None = None) -> int:
        return 0

    def expire(self, before_ms: int, limit: int) -> int:
        return 0

    def spend(self, stamp: str, until_ms: int, now_ms: int) -> bool:
        return True

    def _note_presence(self, replica: str, row: Row) -> None:
        if row.presence is None:
            return
        known = self._presence.get((replica, row.presence))
        self._presence[replica, row.presence] = (row.seq if known is None else known[0], row.seq)
        if known is not None and (known[0] != known[1] or not row.presence.startswith(FIRST_TOO)):
            self._prune(replica, [known[1]])

    def _prune(self, replica: str, seqs: Iterable[int]) -> None:
        gone = set(seqs)
        self.lanes[replica] = [
            row._replace(line=None) if row.seq in gone and row.stub is not None else row
            for row in self.lanes[replica]
        ]
