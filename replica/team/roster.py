"""The team as this replica knows it: the founding it follows, the decided keys, the folded roster.

All of it is derived from key claims and verified roster ops, by the pure functions of `crypto.roster`.
"""

import re
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from core.errors import Code, DmpError
from crypto.canonical import parse
from crypto.clock import Reading
from crypto.key_claims import Claim, key_claims
from crypto.keys import HANDLE, KeyBody, parse_key_body
from crypto.op import Op
from crypto.roster.bodies import CutPoint, Revoke, read_body
from crypto.roster.claims import Claim as Announced
from crypto.roster.claims import DecidedKeys, by_fingerprint, resolve
from crypto.roster.fold import FoundingError
from crypto.roster.growing import GrowingRoster
from crypto.roster.ops import RosterOp
from crypto.roster.view import View
from replica.chain.forks import Fork, ends_of, forks, rivals
from replica.quoting import quoted
from replica.records import ops
from replica.records.meta import Meta, get

_NAME: Final = re.compile(r"[A-Za-z0-9._-]{1,40}")
_DEVICE_SHOWN: Final = 40


@dataclass(frozen=True, slots=True)
class Team:
    """A folded roster, with the key decided for each replica it knows."""

    founding: str
    firm: bool
    view: View
    keys: Mapping[str, KeyBody]

    def ready(self, me: str) -> bool:
        """Whether mail may leave and be applied: admitted, under a founding that is certain (9.0)."""
        return self.firm and me in self.view.members

    def knows(self, replica: str) -> bool:
        """Whether a replica is in the team, or was."""
        return replica in self.view.members or replica in self.view.revoked

    def handle(self, replica: str) -> str:
        """The handle of a replica's person, as far as it is known; else the replica's id."""
        held = self.view.members.get(replica) or self.view.revoked.get(replica)
        return replica if held is None or held.handle is None else held.handle

    def describe(self, replica: str) -> str:
        """A replica in a person's words: `bob's laptop (bob-0000000b)`.

        What it calls its device is in quotes, and cut, where it could be read as more than a name.
        """
        key = self.keys.get(replica)
        member = self.view.members.get(replica)
        if key is None:
            return replica
        device = key.device if _NAME.fullmatch(key.device) else quoted(key.device, _DEVICE_SHOWN)
        return f"{named(member.handle if member else key.handle)}'s {device} ({replica})"


def named(handle: str) -> str:
    """A handle in a sentence. What an admission calls somebody is text of an admin, and need not be a name."""
    return handle if HANDLE.fullmatch(handle) else quoted(handle, _DEVICE_SHOWN)


class TeamReader:
    """The team as the store has it: what was added since it was read last is taken in, and the rest remembered."""

    def __init__(self) -> None:
        self._team: Team | None = None
        self._growing: _Growing | None = None
        self._last: _News | None = None

    def read(self, db: sqlite3.Connection) -> Team | None:
        """The team, or None while no founding is followed."""
        since = 0 if self._last is None else self._last[0]
        rows: list[_News] = db.execute(
            "SELECT id, kind, what, replica, seq FROM roster_news WHERE id >= ? ORDER BY id", (since,)
        ).fetchall()
        if rows and rows[0] == self._last:
            if len(rows) == 1:
                return self._team
            added = rows[1:]
        else:
            added = []  # nothing was read yet, or it was never committed
        if self._team is None or self._growing is None or not added or not self._growing.take_in(db, added):
            self._begin(db)
        else:
            view, keys = self._growing.read()
            self._team = Team(self._team.founding, self._team.firm, view, keys)
        self._last = rows[-1] if rows else None
        return self._team

    def ops(self, db: sqlite3.Connection) -> Sequence[RosterOp]:
        """Every verified roster op, whether it counts or not, in no order to be relied upon."""
        self.read(db)
        return stored_roster_ops(db) if self._growing is None else self._growing.ops

    def _begin(self, db: sqlite3.Connection) -> None:
        """Read all that is stored. Where somebody signed two histories, it takes several folds to say what counts."""
        founding, self._growing, self._team = get(db, Meta.FOUNDING), None, None
        if founding is None or forks(db):
            self._team = fold_team(db)
            return
        claims = {replica: by_fingerprint(each) for replica, each in stored_claims(db).items()}
        try:
            roster = GrowingRoster(founding, stored_roster_ops(db), claims)
        except FoundingError:
            return
        self._growing = _Growing(roster, claims)
        self._team = Team(founding, get(db, Meta.FIRM) == "1", *self._growing.read())


_News: TypeAlias = tuple[int, str, str, str, int | None]
"""A row of what was added: its id, its kind, the opHash or fingerprint, the replica, and an op's seq."""


class _Growing:
    """The fold of what was read so far, and the keys that were announced."""

    def __init__(self, roster: GrowingRoster, claims: dict[str, dict[str, KeyBody]]) -> None:
        self._roster = roster
        self._claims = claims

    def take_in(self, db: sqlite3.Connection, added: Sequence[_News]) -> bool:
        """Take in what was added; False where something was taken away, so that all has to be read anew."""
        if any(kind not in ("op", "claim") for _, kind, _, _, _ in added):
            return False
        for _, kind, fingerprint, replica, _ in added:
            if kind == "claim":
                key = _stored_key(db, replica, fingerprint)
                if key is None:
                    return False
                self._announce(replica, key)
        for _, kind, _, replica, seq in added:
            if kind == "op":
                assert seq is not None
                op = _stored_op(db, replica, seq)
                if op is None:
                    return False  # another process took it away meanwhile
                self._roster.add(op)
        return True

    @property
    def ops(self) -> Sequence[RosterOp]:
        """Every op that was read."""
        return self._roster.ops

    def _announce(self, replica: str, key: KeyBody) -> None:
        # The one before stays as it is: views that were given out hold it.
        self._claims[replica] = {**self._claims.get(replica, {}), key.fingerprint: key}
        self._roster.announce(replica, key)

    def read(self) -> tuple[View, Mapping[str, KeyBody]]:
        """What it comes to."""
        view = self._roster.view
        return view, DecidedKeys(view, self._claims.copy())


def fold_team(db: sqlite3.Connection, unsigned: Iterable[RosterOp] = ()) -> Team | None:
    """Fold the stored roster, with ops that are not signed yet added to it.

    None while no founding is followed, or the one that is has not been read yet.
    """
    founding = get(db, Meta.FOUNDING)
    stored = stored_roster_ops(db)
    if founding is None or all(op.hash != founding for op in stored):
        return None
    claims, forked = stored_claims(db), forks(db)
    kept = {replica: _stored_rivals(db, replica) for replica in forked}
    view, keys = fold_histories(founding, claims, stored, forked, kept, unsigned=unsigned)
    return Team(founding, get(db, Meta.FIRM) == "1", view, keys)


def fold_histories(
    founding: str,
    claims: Mapping[str, Iterable[Announced]],
    verified: Sequence[RosterOp],
    forked: Mapping[str, Fork],
    parting: Mapping[str, Sequence[RosterOp]],
    *,
    unsigned: Iterable[RosterOp] = (),
) -> tuple[View, Mapping[str, KeyBody]]:
    """Fold a roster of which some publishers signed two histories; `parting` are their ops where these part."""
    unsigned, ends = list(unsigned), ends_of(_cuts(verified), forked)
    while True:
        void = {replica: fork.seq for replica, fork in forked.items() if replica not in ends}
        counting = _counting(verified, founding, void, ends, parting)
        view, keys = resolve(founding, claims, [*counting, *unsigned])
        fallen = [replica for replica, end in ends.items() if not _ends_at(view, replica, end)]
        if not fallen:
            return (replace(view, forks=void) if void else view), keys
        for replica in fallen:  # a revocation that is void says nothing of any history
            del ends[replica]


def _stored_rivals(db: sqlite3.Connection, replica: str) -> list[RosterOp]:
    known = ops.position(db, replica)
    if known is None:
        return []
    kept = rivals(db, replica)
    return [
        RosterOp.of(each, known.fingerprint)
        for each in kept
        if isinstance(each, Op) and each.type == "roster"
    ]


def _cuts(stored: Iterable[RosterOp]) -> list[tuple[str, CutPoint]]:
    return [(op.body.replica, op.body.cut) for op in stored if isinstance(op.body, Revoke)]


def _ends_at(view: View, replica: str, end: CutPoint) -> bool:
    cut = view.revoked.get(replica)
    return cut is not None and cut.point == end


def _counting(
    verified: Iterable[RosterOp],
    founding: str,
    void: Mapping[str, int],
    ends: Mapping[str, CutPoint],
    parting: Mapping[str, Sequence[RosterOp]],
) -> Iterator[RosterOp]:
    """The roster ops that may count where some replicas signed two histories: `void` is where these part.

    What is beyond the end that a revocation names never does, and may not even be known to everybody.
    """
    last = {**void, **{replica: end.after_seq for replica, end in ends.items()}}
    for op in verified:
        if op.hash == founding or op.seq <= last.get(op.replica, op.seq):
            yield op
    for replica in void:
        yield from parting.get(replica, ())


def need_team(team: Team | None) -> Team:
    """`team`, or DmpError `not-found` while there is none."""
    if team is None:
        raise DmpError(
            Code.NOT_FOUND,
            "this replica is in no team yet; found one with `dmp team found NAME --git REMOTE`, "
            "or join one with `dmp join [CODE] --git REMOTE`",
        )
    return team


def stored_claims(db: sqlite3.Connection) -> dict[str, list[Claim]]:
    """Every key claim kept, by replica."""
    claims: dict[str, list[Claim]] = {}
    for replica, line in db.execute("SELECT replica, line FROM claims ORDER BY replica, fingerprint"):
        claims.setdefault(replica, []).extend(key_claims(replica, [bytes(line)]))
    return claims


_OPS: Final = """
SELECT ops.line, ops.replica, ops.seq, ops.hash, cursors.fingerprint FROM ops JOIN cursors USING (replica)
"""


def stored_roster_ops(db: sqlite3.Connection) -> list[RosterOp]:
    """Every verified roster op, each with the fingerprint of the key that signed its chain."""
    rows = db.execute(
        _OPS + "WHERE ops.type = 'roster' AND ops.type NOT IN ('mail', 'state') ORDER BY ops.replica, ops.seq"
    )
    return [_read_op(*row) for row in rows]


def _stored_op(db: sqlite3.Connection, replica: str, seq: int) -> RosterOp | None:
    row = db.execute(_OPS + "WHERE ops.replica = ? AND ops.seq = ?", (replica, seq)).fetchone()
    return None if row is None else _read_op(*row)


def _read_op(line: bytes, replica: str, seq: int, op_hash: str, fingerprint: str) -> RosterOp:
    """A roster op from the canonical line that was verified before it was stored, and not again here."""
    entry = parse(line.decode()).value
    assert isinstance(entry, dict)
    return RosterOp(
        replica, seq, Reading.parse(str(entry["hlc"])), op_hash, read_body(entry.get("body")), fingerprint
    )


def _stored_key(db: sqlite3.Connection, replica: str, fingerprint: str) -> KeyBody | None:
    """The key of a claim that was judged before it was stored, and not again here."""
    row = db.execute(
        "SELECT line FROM claims WHERE replica = ? AND fingerprint = ?", (replica, fingerprint)
    ).fetchone()
    if row is None:
        return None
    entry = parse(row[0].decode()).value
    assert isinstance(entry, dict)
    return parse_key_body(entry.get("body"))
