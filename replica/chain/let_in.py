"""Who may ever have had a right in the team, whatever removals take away again (federation wire 5.22).

Which of two removals that contradict each other stands may be decided by an op of somebody whom neither leaves in the
team. So all roster ops are kept of everybody whom the founder let in, or somebody whom the founder let in, and so on.
Where one of them signed two histories, both are looked at: which of them counts is for the roster to say.
"""

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain

from crypto.invites import verify_recovery
from crypto.keys import KeyBody
from crypto.lane import verified_entries
from crypto.op import Op
from crypto.roster.bodies import Admit, Recover
from crypto.roster.claims import recovery_keys
from crypto.roster.ops import RosterOp
from replica.chain import forks
from replica.chain.pinning import Lanes
from replica.team.roster import Team


def ever_let_in(
    db: sqlite3.Connection, team: Team, ops: Sequence[RosterOp], lanes: Lanes
) -> dict[str, set[str]]:
    """The fingerprints under which each replica was let in; the founder and who recovered are let in under none."""
    recoveries = recovery_keys(ops)
    recovered = {
        op.replica
        for op in ops
        if isinstance(op.body, Recover)
        and (key := team.keys.get(op.replica)) is not None
        and proves_recovery(team, recoveries, op, key)
    }
    forked = forks.forks(db)
    elsewhere = {replica: _in_any_history(team, replica, lanes.get(replica, ())) for replica in forked}
    return let_in_by({team.view.founder, *recovered}, ops, elsewhere)


def let_in_by(
    first: Iterable[str], ops: Iterable[RosterOp], elsewhere: Mapping[str, Iterable[Admit]] | None = None
) -> dict[str, set[str]]:
    """Whom these replicas let in, and whom those did, with the fingerprints; `elsewhere` has more admissions."""
    by_publisher: dict[str, list[Admit]] = {}
    for op in ops:
        if isinstance(op.body, Admit):
            by_publisher.setdefault(op.replica, []).append(op.body)
    found: dict[str, set[str]] = {replica: set() for replica in first}
    left = [*found]
    for replica in left:  # which grows as it is walked
        for admit in chain(by_publisher.get(replica, ()), (elsewhere or {}).get(replica, ())):
            if admit.replica not in found:
                left.append(admit.replica)
            found.setdefault(admit.replica, set()).add(admit.fingerprint)
    return found


def proves_recovery(team: Team, pubs: Iterable[str], op: RosterOp, key: KeyBody) -> bool:
    """Whether an op is a recovery that proves one of these keys of recovery codes."""
    body, claimed = op.body, {"team": team.view.team_id, "replica": op.replica, "sign_pub": key.sign_pub}
    return isinstance(body, Recover) and any(verify_recovery(pub, body.proof, **claimed) for pub in pubs)


def _in_any_history(team: Team, replica: str, lines: Sequence[bytes]) -> Iterator[Admit]:
    """The admissions that a replica signed, on whatever chain of its."""
    key = team.keys.get(replica)
    if key is None:
        return
    some = (raw for raw in lines if b"admit" in raw or b"\\u" in raw)
    for entry in verified_entries(replica, some, key.sign_key):
        if isinstance(entry, Op) and entry.type == "roster":
            body = RosterOp.of(entry, key.fingerprint).body
            if isinstance(body, Admit):
                yield body
