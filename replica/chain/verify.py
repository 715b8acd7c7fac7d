"""From pulled lines to verified ops: claims, the founding, decided keys, chains (federation wire 2).

Line order means nothing. Key claims come first, then the founding, then every chain whose key is decided;
roster ops found on the way may decide more keys, so the walk repeats until nothing changes. Roster ops
count at once, before anything else of the same pull is applied (5.43), so an admission and the first mail of
the machine it admits may arrive together.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from core.store import Store
from core.timestamp import timestamp
from crypto.chain import Cursor
from crypto.clock import MAX_CLOCK_LEAD_MS
from crypto.judge import SignatureMemory
from crypto.keys import KeyBody
from crypto.lane import LaneResult, read_lane
from crypto.op import Unverified, read_line
from crypto.roster.bodies import CutPoint, Revoke
from replica.chain import forks
from replica.chain.claims import Claims
from replica.chain.clock import adopt_reading
from replica.chain.let_in import ever_let_in
from replica.chain.pinning import Lanes, pin_founding
from replica.records import ops
from replica.records.commits import CommitPoint
from replica.records.meta import Meta, get
from replica.team.roster import Team, TeamReader
from transports.base import Line

MAX_STRANGER_OPS: Final = 8
"""Ops of a chain that are looked at before anybody let its replica in (federation wire 2.4)."""

MAX_ROUNDS: Final = 64
"""Times roster ops may decide more keys within one pass; the rest follows in the next."""


@dataclass(frozen=True, slots=True)
class Chain:
    """What a pull adds to one chain, read from the cursor `start` on."""

    start: Cursor
    found: LaneResult


@dataclass(slots=True)
class Verified:
    """One pull, verified: what it adds to each chain.

    `held` tells that something in it can only be judged later, so it has to be pulled again. `missing_heads` are
    the replicas whose last known op the far side did not show.
    """

    chains: dict[str, Chain] = field(default_factory=dict)
    held: bool = False
    missing_heads: tuple[str, ...] = ()


class Verifier:
    """Verifies one pull after another against the store."""

    def __init__(
        self,
        store: Store,
        me: str,
        reader: TeamReader,
        asked: Mapping[str, str] | None = None,
        *,
        strangers: bool = True,
    ) -> None:
        """Verify for replica `me`. `asked` has fingerprints, by replica, that are kept however many claim an id.

        Without `strangers`, whom nobody admitted and who proves no invite makes no claim: where others meet too,
        nothing tells whose team they mean.
        """
        self._store = store
        self._me = me
        self._reader = reader
        self._asked = asked or {}
        self._strangers = strangers
        self._memory = SignatureMemory()
        self._whole = False

    def marks(self, *, whole: bool = False) -> dict[str, int]:
        """From which seq on each chain is to be pulled: its head, so that a rival of the head is seen, or the
        first content that is still missing. From its start where it forked or a key is asked for, and all with `whole`.
        """
        db, self._whole = self._store.db, whole
        marks = {
            replica: position.cursor.head.seq
            for replica, position in ops.positions(db).items()
            if position.cursor.head is not None
        }
        for replica, seq in db.execute("SELECT replica, min(seq) FROM missing GROUP BY replica"):
            marks[replica] = min(seq, marks.get(replica, seq))
        again = (*forks.forks(db), *self._asked)
        return dict.fromkeys(marks, 0) if whole else marks | dict.fromkeys(again, 0)

    def verify(self, lines: Iterable[Line], now_ms: int) -> Verified:
        """Read a pull. Claims, the founding and roster ops are stored at once; nothing else is."""
        lanes: dict[str, list[bytes]] = {}
        for line in lines:
            if line.replica != self._me:
                lanes.setdefault(line.replica, []).append(line.raw)
        found = Verified(missing_heads=self._missing_heads(lanes))
        if self._whole and get(self._store.db, Meta.FIRM) == "1":
            lanes = self._without_what_is_known(lanes)
        if not pin_founding(self._store, self._me, lanes, now_ms):
            found.held = True
            return found
        claims = Claims(self._store, self._reader, self._asked, strangers=self._strangers)
        for _ in range(MAX_ROUNDS):
            claims.take(lanes)
            found.held |= claims.held
            team = self._reader.read(self._store.db)
            if team is not None and claims.bind_recovered(team, lanes):
                team = self._reader.read(self._store.db)
            if team is None or not self._round(team, lanes, found, now_ms):
                return found
        found.held = True
        return found

    def _missing_heads(self, lanes: Lanes) -> tuple[str, ...]:
        """The replicas whose head, which is asked for each time, was not among the lines."""
        return tuple(
            replica
            for replica, position in ops.positions(self._store.db).items()
            if replica != self._me
            and (head := position.cursor.head) is not None
            and not self._shows(
                lanes.get(replica, ()), ops.line_at(self._store.db, replica, head.seq), head.hash
            )
        )

    def _shows(self, lines: Sequence[bytes], line: bytes | None, hash_: str) -> bool:
        if line in lines:
            return True
        reads = map(read_line, lines)
        return any(isinstance(read, Unverified) and read.hash == hash_ for read in reads)

    def _without_what_is_known(self, lanes: Lanes) -> dict[str, list[bytes]]:
        """The lines that are not, byte for byte, those of ops that were applied: lanes are often read whole."""
        left: dict[str, list[bytes]] = {}
        for replica, lines in lanes.items():
            known = ops.position(self._store.db, replica)
            if known is None or known.cursor.head is None:
                left[replica] = list(lines)
                continue
            have = {
                line for seq, line in ops.lines_of(self._store.db, replica) if seq < known.cursor.head.seq
            }
            left[replica] = [line for line in lines if line not in have]
        return left

    def _round(self, team: Team, lanes: Lanes, found: Verified, now_ms: int) -> bool:
        """Read every chain under its decided key; True when that may have changed the roster."""
        changed, known_forks = False, forks.forks(self._store.db)
        let_in = ever_let_in(self._store.db, team, self._reader.ops(self._store.db), lanes)
        for replica, lines in lanes.items():
            key = team.keys.get(replica)
            if key is None:
                continue
            known = ops.position(self._store.db, replica)
            if known is not None and known.fingerprint != key.fingerprint:
                self._start_over(replica, key)
                found.chains.pop(replica, None)
                known, changed, found.held = None, True, True
            if replica not in found.chains:
                start = Cursor() if known is None else known.cursor
                found.chains[replica] = Chain(start, self._read(team, replica, lines, start, now_ms))
            changed |= self._keep_roster_ops(team, replica, key, found.chains[replica], let_in)
            halted = found.chains[replica].found.cursor.halted
            if replica in known_forks or forks.is_fork(halted):
                changed |= self._read_forked(team, replica, lines, found, let_in, now_ms)
        return changed

    def _read_forked(
        self,
        team: Team,
        replica: str,
        lines: Sequence[bytes],
        found: Verified,
        let_in: Collection[str],
        now_ms: int,
    ) -> bool:
        """Read a log of two histories as far as it counts; True when that may have changed the roster."""
        db, key, start = self._store.db, team.keys[replica], found.chains[replica].start
        ends = self._ends(team, replica)
        what = forks.digest(lines, ends)
        if forks.was_read(db, replica, what):
            found.chains[replica] = Chain(start, LaneResult((), start))
            return False
        horizon_ms, wanted = now_ms + MAX_CLOCK_LEAD_MS, self._missing(replica)
        read = forks.reread(db, replica, lines, key, ends, horizon_ms=horizon_ms, wanted=wanted)
        if read.fork is None:
            return False
        with self._store.transaction(CommitPoint.CLAIMED):
            changed = forks.keep(db, replica, read, timestamp(now_ms))
            start = forks.leave_for(db, replica, read.along, start)
            head = 0 if start.head is None else start.head.seq
            new = [
                each
                for each in read.along.entries
                if each.seq > head or ops.hash_at(db, replica, each.seq) is None
            ]
            start = Cursor(start.head, read.along.cursor.halted)
            ops.set_position(db, replica, ops.Position(key.fingerprint, start))
            if not new and not read.along.restored:
                forks.note_read(db, replica, what)
        result = replace(read.along, entries=tuple(new), cursor=start)
        found.chains[replica] = Chain(start, result)
        return self._keep_roster_ops(team, replica, key, found.chains[replica], let_in) or changed

    def _ends(self, team: Team, replica: str) -> list[CutPoint]:
        """Where revocations say that a log ends; first the one that stands, then those that may yet."""
        cut = team.view.revoked.get(replica)
        said = {
            op.body.cut
            for op in self._reader.ops(self._store.db)
            if isinstance(op.body, Revoke) and op.body.replica == replica
        }
        others = sorted(said, key=lambda each: (each.after_seq, each.after_hash))
        return others if cut is None else [cut.point, *(each for each in others if each != cut.point)]

    def _read(
        self, team: Team, replica: str, lines: Sequence[bytes], start: Cursor, now_ms: int
    ) -> LaneResult:
        """Read a chain past its cut too: roster ops count by seq alone (5.3), or which of two removals that contradict
        each other is known first would decide between them."""
        return read_lane(
            replica,
            lines,
            start,
            team.keys[replica],
            remembered=ops.Accepted(self._store.db, replica),
            horizon_ms=now_ms + MAX_CLOCK_LEAD_MS,
            wanted=self._missing(replica),
            memory=self._memory,
        )

    def _missing(self, replica: str) -> set[str]:
        """The ops of a replica whose content never came."""
        rows = self._store.db.execute("SELECT hash FROM missing WHERE replica = ?", (replica,))
        return {hash_ for (hash_,) in rows}

    def _start_over(self, replica: str, key: KeyBody) -> None:
        """Another key was decided for this id: its chain is read again from the start (2.4)."""
        db = self._store.db
        with self._store.transaction(CommitPoint.CLAIMED):
            ops.forget_chain(db, replica)
            ops.set_position(db, replica, ops.Position(key.fingerprint, Cursor()))

    def _keep_roster_ops(
        self, team: Team, replica: str, key: KeyBody, chain: Chain, let_in: Collection[str]
    ) -> bool:
        """Store the roster ops of a chain ahead of its cursor; True when any was new."""
        db = self._store.db
        stranger = replica not in team.view.members and replica not in team.view.revoked
        looked_at = chain.found.entries if replica in let_in else chain.found.entries[:MAX_STRANGER_OPS]
        new = [
            entry
            for entry in looked_at
            if entry.type == "roster" and ops.hash_at(db, replica, entry.seq) is None
        ]
        if not new:
            return False
        with self._store.transaction(CommitPoint.CLAIMED):
            for entry in new:
                ops.insert(db, entry)
            if not stranger:
                adopt_reading(db, self._me, new[-1].hlc)  # what is said in answer comes after it
            if ops.position(db, replica) is None:
                ops.set_position(db, replica, ops.Position(key.fingerprint, Cursor()))
        return True
