"""Taking back the content of own mail that everybody has (federation wire 6.11, 6.12).

Only its publisher may: each own `mail` and `state` op that every reader still in the team has acknowledged becomes its
stub, on the branch and here. The stub has the op's hash, so the chain stays whole, and an own lane that holds a stub
where this store has the op, or the other way round, lacks nothing: neither is ever mended back. The branch comes
first: when a crash comes between, the next time finds nothing left to do there.

A reader that was restored from a backup has acknowledged what it lost. So mail is kept for some days after it was
sent, in which it can be had again.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from crypto.op import Op, to_line
from replica.chain.own_lane import published_head
from replica.node import Node
from replica.records import ops, problems, subjects
from replica.records.commits import CommitPoint
from replica.records.meta import Meta, get, put
from replica.team.roster import Team
from transports.base import Behind, Transport, TransportError
from transports.pruning import Prunes

DAY_MS: Final = 24 * 60 * 60 * 1000

EVERY_MS: Final = DAY_MS
"""How often a pass looks for what can be taken back."""

SILENT_MS: Final = 30 * DAY_MS
"""A member that holds up pruning and has not been heard of for so long is told of."""

LARGE_BYTES: Final = 1024 * 1024 * 1024
"""A branch that takes more is told of."""

AT_ONCE: Final = 2_000
"""Ops that are taken back in one push."""


@dataclass(frozen=True, slots=True)
class Compacted:
    """What pruning did, and the members that hold up more of it: how many ops each has not acknowledged."""

    ops: int
    saved: int
    held_up_by: dict[str, int]


def prune_now_and_then(node: Node, transport: Transport) -> None:
    """Prune when it is time, after a pass has published. What fails is tried again another time."""
    days, db = node.host.config.prune_after_days, node.store.db
    looked_at = int(get(db, Meta.PRUNED_AT) or 0)
    if days is None or not isinstance(transport, Prunes) or abs(node.wall() - looked_at) < EVERY_MS:
        return
    try:
        compact(node, transport, older_than_ms=days * DAY_MS)
    except Behind:
        return  # the next pass comes to it
    except TransportError:
        pass
    with node.store.transaction(CommitPoint.PRUNED) as writing:
        put(writing, Meta.PRUNED_AT, str(node.wall()))


def compact(node: Node, transport: Prunes, *, older_than_ms: int = 0) -> Compacted:
    """Take back what was signed longer ago than that. The own lane has just been compared, and published to.

    Raises TransportError; what was taken back until then stays so.
    """
    team = node.team
    if team is None or not team.ready(node.me):
        return Compacted(0, 0, {})
    found = _Found(node, team, node.wall() - older_than_ms)
    ready = list(found.ready())
    done = saved = 0
    for start in range(0, len(ready), AT_ONCE):
        batch = ready[start : start + AT_ONCE]
        pruned = transport.prune(node.me, {to_line(op): to_line(op.stub()) for op in batch})
        with node.store.transaction(CommitPoint.PRUNED) as db:
            for op in batch:
                ops.replace(db, op.stub())
        done, saved = done + len(batch), saved + pruned.saved
    with node.store.transaction(CommitPoint.PRUNED) as db:
        put(db, Meta.PRUNED_THROUGH, str(found.through))
    _note_bloat(node, team, found.held_up_by, transport.stored_bytes())
    return Compacted(done, saved, found.held_up_by)


@dataclass(slots=True)
class _Found:
    """A look through the own chain. `through` and `held_up_by` are right once `ready` has ended."""

    node: Node
    team: Team
    until_ms: int
    through: int = 0
    held_up_by: dict[str, int] = field(default_factory=dict)

    def ready(self) -> Iterator[Op]:
        """Yield the ops that can be taken back, in the order of their seqs."""
        db, me = self.node.store.db, self.node.me
        self.through = start = int(get(db, Meta.PRUNED_THROUGH) or 0)
        acknowledged = dict(db.execute("SELECT replica, own_through FROM acks"))
        head = published_head(db, me)
        whole = True
        for (seq,) in db.execute(
            "SELECT seq FROM ops WHERE replica = ? AND seq > ? AND seq <= ? AND type IN ('mail', 'state') "
            "AND seq NOT IN (SELECT seq FROM unpublished) ORDER BY seq",
            (me, start, head),
        ).fetchall():
            op = ops.entry_at(db, me, seq)
            if isinstance(op, Op):
                behind = [
                    reader
                    for reader in op.to or ()
                    if reader in self.team.view.members and reader != me and acknowledged.get(reader, 0) < seq
                ]
                for reader in behind:
                    self.held_up_by[reader] = self.held_up_by.get(reader, 0) + 1
                if behind or op.hlc.ms > self.until_ms:
                    whole = False
                else:
                    yield op
            if whole:
                self.through = seq


def _note_bloat(node: Node, team: Team, held_up_by: dict[str, int], stored: int) -> None:
    """Tell of members that keep mail on the branch and are silent, and of a branch that is large."""
    db, texts = node.store.db, dict[str, str]()
    for replica, count in held_up_by.items():
        position = ops.position(db, replica)
        head = None if position is None else position.cursor.head
        if head is not None and node.wall() - head.hlc.ms > SILENT_MS:
            days = (node.wall() - head.hlc.ms) // DAY_MS
            texts[subjects.BLOAT.of(replica)] = (
                f"{team.describe(replica)} has not been heard of for {days} days, and keeps {count} op(s) of this "
                "replica on the branch that it has not acknowledged"
            )
    if stored > LARGE_BYTES:
        texts[subjects.BLOAT.of("branch")] = f"the branch takes {stored / 2**30:.1f} GiB"
    noted = {each.subject for each in problems.all_problems(db) if subjects.BLOAT.covers(each.subject)}
    if not texts and not noted:
        return
    with node.store.transaction(CommitPoint.PROBLEM) as writing:
        for subject, text in texts.items():
            problems.note(writing, problems.Problem(subject, text, None, None, node.now()))
        for subject in noted - texts.keys():
            problems.clear(writing, subject)
