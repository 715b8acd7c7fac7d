"""Own ops that a teammate's machine goes on not to acknowledge (T2), though it is there.

A far side can show this replica's log to this replica alone, or lose it after it said that it has it; and a teammate's
machine can be stuck at an op. Either shows in that machine's acknowledgements, and there alone. A machine that is
silent is not stuck: only one that published something long after it should have read the op is spoken of.
"""

import json
from collections.abc import Collection
from typing import Final

from replica.chain.own_lane import published_head
from replica.node import Node
from replica.records import ops, problems, subjects
from replica.records.commits import CommitPoint
from replica.records.meta import Meta, get, put
from replica.team.roster import Team

_HOUR_MS: Final = 60 * 60 * 1000


def note_unacknowledged(node: Node, team: Team, shown: Collection[str]) -> None:
    """After a pull was applied: judge the machines in `shown`, whose acknowledgements the far side has.

    Each is waited for from the first pass that found it behind, up to what was published by then.
    """
    hours = node.host.config.unacknowledged_hours
    db, said = node.store.db, get(node.store.db, Meta.UNACKNOWLEDGED)
    before: dict[str, tuple[int, int]] = {} if said is None else json.loads(said)
    head, waited, late = published_head(db, node.me), {}, {}
    acknowledged = dict(db.execute("SELECT replica, own_through FROM acks"))
    for replica in sorted(acknowledged.keys() & team.view.members.keys() & set(shown)):
        if acknowledged[replica] >= head:
            continue
        seq, since = before.get(replica, (0, 0))
        if acknowledged[replica] >= seq:
            seq, since = head, node.wall()
        waited[replica] = seq, since
        position = ops.position(db, replica)
        last = None if position is None else position.cursor.head
        if hours is not None and last is not None and last.hlc.ms >= since + hours * _HOUR_MS:
            late[replica] = (
                f"{team.describe(replica)} goes on publishing, but has not acknowledged op {seq} of this replica "
                f"for {hours} hours or more; it has what came up to op {acknowledged[replica]}"
            )
    noted = {
        each.subject for each in problems.all_problems(db) if subjects.UNACKNOWLEDGED.covers(each.subject)
    }
    over = noted - {subjects.UNACKNOWLEDGED.of(replica) for replica in late}
    if waited == {replica: tuple(each) for replica, each in before.items()} and not over and not late:
        return
    with node.store.transaction(CommitPoint.PROBLEM):
        put(db, Meta.UNACKNOWLEDGED, json.dumps(waited) if waited else None)
        for replica, text in late.items():
            problems.note(
                db, problems.Problem(subjects.UNACKNOWLEDGED.of(replica), text, replica, None, node.now())
            )
        for subject in over:
            problems.clear(db, subject)
