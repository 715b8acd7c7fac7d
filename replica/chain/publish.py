"""What goes out next: own ops the transport has not taken, in seq order, as the lines to append.

Readers may leave between signing and publishing. An op already sealed to one of them never goes out whole: its
stub does, which keeps the chain linked, and the readers that are left get the content in a new op.
"""

import json
import sqlite3
from collections.abc import Iterable

from core.store import Store
from crypto.op import Op
from replica.records import ops, outbox
from replica.records.commits import CommitPoint
from replica.team.roster import Team


def withdraw_from_leavers(store: Store, me: str, team: Team) -> int:
    """Turn each unpublished op sealed to someone no longer in the team into its stub; return how many."""
    db = store.db
    withdrawn = 0
    for seq, rows_json in db.execute(
        "SELECT seq, rows_json FROM unpublished WHERE rows_json IS NOT NULL ORDER BY seq"
    ).fetchall():
        op = ops.entry_at(db, me, seq)
        if not isinstance(op, Op) or set(op.to or ()) <= team.view.members.keys():
            continue
        with store.transaction(CommitPoint.READERS_LEFT):
            ops.replace(db, op.stub())
            db.execute("UPDATE unpublished SET rows_json = NULL WHERE seq = ?", (seq,))
            for kind, content in json.loads(rows_json):
                outbox.add(db, outbox.Kind(kind), content, op.to or ())
        withdrawn += 1
    return withdrawn


def unpublished_lines(store: Store, me: str, lacking: Iterable[int]) -> list[tuple[int, bytes]]:
    """The (seq, line) pairs to append: what was never published, and what the transport has lost."""
    db = store.db
    wanted = {seq for (seq,) in db.execute("SELECT seq FROM unpublished")} | set(lacking)
    lines = ((seq, ops.line_at(db, me, seq)) for seq in sorted(wanted))
    return [(seq, line) for seq, line in lines if line is not None]


def already_there(db: sqlite3.Connection, present: Iterable[int]) -> list[int]:
    """Which of the own ops that the transport shows were thought to be unpublished: a push whose answer was lost."""
    waiting = {seq for (seq,) in db.execute("SELECT seq FROM unpublished WHERE rows_json IS NOT NULL")}
    return sorted(waiting.intersection(present))


def mark_published(store: Store, seqs: Iterable[int]) -> None:
    """Note that the transport has these own ops."""
    done = [(seq,) for seq in seqs]
    if done:
        with store.transaction(CommitPoint.PUBLISHED) as db:
            db.executemany("DELETE FROM unpublished WHERE seq = ?", done)
