"""The team as this replica knows it: the founding it follows, the decided keys, the folded roster.

All of it is derived from key claims and verified roster ops, by the pure functions of `crypto.roster`.
"""

import re
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from core.errors import Code, DmpError
from crypto.key_claims import Claim, key_claims
from crypto.keys import KeyBody
from crypto.op import Op, read_entry
from crypto.roster.bodies import CutPoint, Revoke
from crypto.roster.claims import resolve
from crypto.roster.ops import RosterOp
from crypto.roster.view import View
from replica.chain.forks import ends_of, forks, rivals
from replica.quoting import quoted
from replica.records import ops
from replica.records.meta import Meta, get, roster_version

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
        return f"{member.handle if member else key.handle}'s {device} ({replica})"


class TeamReader:
    """Folds the roster when something was added to it, and remembers the result until then."""

    def __init__(self) -> None:
        self._seen: tuple[int, str | None, str | None] | None = None
        self._team: Team | None = None

    def read(self, db: sqlite3.Connection) -> Team | None:
        """The team, or None while no founding is followed."""
        now = (roster_version(db), get(db, Meta.FOUNDING), get(db, Meta.FIRM))
        if now != self._seen:
            self._team = fold_team(db)
            self._seen = now
        return self._team


def fold_team(db: sqlite3.Connection, unsigned: Iterable[RosterOp] = ()) -> Team | None:
    """Fold the stored roster, with ops that are not signed yet added to it.

    None while no founding is followed, or the one that is has not been read yet.
    """
    founding = get(db, Meta.FOUNDING)
    stored = stored_roster_ops(db)
    if founding is None or all(op.hash != founding for op in stored):
        return None
    unsigned, claims = list(unsigned), stored_claims(db)
    forked = forks(db)
    ends = ends_of(_cuts(stored), forked)
    while True:
        void = {replica: fork.seq for replica, fork in forked.items() if replica not in ends}
        view, keys = resolve(founding, claims, [*_counting(db, stored, founding, void), *unsigned])
        fallen = [replica for replica, end in ends.items() if not _ends_at(view, replica, end)]
        if not fallen:
            view = replace(view, forks=void) if void else view
            return Team(founding, get(db, Meta.FIRM) == "1", view, keys)
        for replica in fallen:  # a revocation that is void says nothing of any history
            del ends[replica]


def _cuts(stored: Iterable[RosterOp]) -> list[tuple[str, CutPoint]]:
    return [(op.body.replica, op.body.cut) for op in stored if isinstance(op.body, Revoke)]


def _ends_at(view: View, replica: str, end: CutPoint) -> bool:
    cut = view.revoked.get(replica)
    return cut is not None and cut.point == end


def _counting(
    db: sqlite3.Connection, stored: Iterable[RosterOp], founding: str, void: Mapping[str, int]
) -> Iterator[RosterOp]:
    """The roster ops that count where some replicas signed two histories: `void` is where these part."""
    for op in stored:
        if op.hash == founding or op.seq <= void.get(op.replica, op.seq):
            yield op
    for replica in void:
        known = ops.position(db, replica)
        for rival in rivals(db, replica):
            if known is not None and isinstance(rival, Op) and rival.type == "roster":
                yield RosterOp.of(rival, known.fingerprint)


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


def stored_roster_ops(db: sqlite3.Connection) -> list[RosterOp]:
    """Every verified roster op, each with the fingerprint of the key that signed its chain."""
    fingerprints = {name: position.fingerprint for name, position in ops.positions(db).items()}
    found = []
    for replica, line in ops.roster_lines(db):
        op = read_entry(line)
        assert isinstance(op, Op)
        found.append(RosterOp.of(op, fingerprints[replica]))
    return found
