"""Acknowledgements: what this replica holds of each teammate's chain, and what they hold of its own.

An acknowledgement is made from committed cursors only, so it never names an op that a crash could lose here
(federation wire 6.10). A teammate's is believed when its own decided key signed it.
"""

import json
from collections.abc import Iterable
from typing import Final

from crypto.acks import Acks, AcksError, read_acks, sign_acks
from crypto.op import MAX_SEQ
from replica.node import Node
from replica.records import ops
from replica.records.commits import CommitPoint
from replica.team.roster import Team
from transports.base import Line

_MISSING: Final = """
SELECT replica, min(seq) FROM missing JOIN ops USING (replica, seq) WHERE type != 'presence' GROUP BY replica
"""


def acks_to_publish(node: Node, team: Team, said: str | None) -> bytes | None:
    """This replica's acknowledgements, signed; None when they would say what those of `said` say (`published_text`).

    They stop before mail and states that are still missing here: their publisher may drop what everyone acknowledged.
    """
    missing = dict(node.store.db.execute(_MISSING))
    through = {
        replica: min(position.cursor.head.seq, missing.get(replica, MAX_SEQ) - 1)
        for replica, position in ops.positions(node.store.db).items()
        if replica != node.me and replica in team.keys and position.cursor.head is not None
    }
    if not through or json.dumps(through, sort_keys=True) == said:
        return None
    return sign_acks(Acks(node.me, through, node.now()), node.identity.secrets.signer)


def published_text(acks: bytes) -> str:
    """What is remembered of acknowledgements that went out over a transport."""
    return json.dumps(json.loads(acks)["through"], sort_keys=True)


def keep_acks(node: Node, team: Team, lines: Iterable[Line]) -> set[str]:
    """Keep what teammates acknowledge, while they are in the team; what their key did not sign is passed over.

    Returns those whose acknowledgements were there.
    """
    fresh: list[tuple[str, str, int]] = []
    for line in lines:
        key = team.keys.get(line.replica)
        if key is None or line.replica == node.me:
            continue
        try:
            acks = read_acks(line.raw, replica=line.replica, public=key.sign_key)
        except AcksError:
            continue
        fresh.append((line.replica, json.dumps(dict(acks.through)), acks.through.get(node.me, 0)))
    shown = {replica for replica, *_ in fresh}
    known = dict(node.store.db.execute("SELECT replica, through_json FROM acks"))
    fresh = [row for row in fresh if known.get(row[0]) != row[1]]
    left = [(replica,) for replica in known if replica not in team.view.members]
    if fresh or left:
        with node.store.transaction(CommitPoint.ACKNOWLEDGED) as db:
            db.executemany("DELETE FROM acks WHERE replica = ?", left)
            db.executemany(
                "INSERT INTO acks (replica, through_json, own_through) VALUES (?, ?, ?) "
                "ON CONFLICT (replica) DO UPDATE SET through_json = excluded.through_json, "
                "own_through = excluded.own_through",
                fresh,
            )
    return shown
