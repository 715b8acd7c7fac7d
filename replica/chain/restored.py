"""A directory that `dmp restore` made: it signs nothing before it has read back what it published.

It may be older than what its key has signed since the backup was made, and it cannot tell by itself. So its first pass
over the transports only reads. Where one of them shows an op under its key that it does not have, it stops for good, as
every replica does (`guard`); where the main one shows all that it has published itself, it goes on as before; and
where that shows less, only its owner can say that nothing was lost.
"""

import sqlite3
from typing import Final

from replica.chain.own_lane import published_head
from replica.node import Node
from replica.records import problems, subjects
from replica.records.commits import CommitPoint
from replica.records.meta import Meta, get, put

RESTORED: Final = subjects.OWN_RESTORED.of()

_UNREAD: Final = (
    "this directory was restored from a backup, so it signs nothing before it has read back from the team's main "
    "transport what it published; `dmp sync` does that"
)


def mark_restored(db: sqlite3.Connection, replica: str, now: str) -> None:
    """Mark a store as restored, inside an open transaction."""
    put(db, Meta.RESTORED, "unread")
    _say(db, replica, _UNREAD, now)


def reason(db: sqlite3.Connection) -> str | None:
    """Why a restored replica signs nothing yet; None for every other one."""
    return None if get(db, Meta.RESTORED) is None else get(db, Meta.PAUSED) or _UNREAD


def has_read_back(db: sqlite3.Connection) -> bool:
    """Whether a restored replica has read its lane, and found less than it published."""
    return get(db, Meta.RESTORED) == "short"


def settle(node: Node, through: int) -> bool:
    """End it where the main transport shows all own ops up to the last one that was published; False where not.

    `through` is the op up to which it shows them all. To be called when no transport showed an op that is unknown here.
    """
    db, published = node.store.db, published_head(node.store.db, node.me)
    with node.store.transaction(CommitPoint.STOPPED):
        if through >= published:
            forget(db)
            return True
        put(db, Meta.RESTORED, "short")
        text = (
            f"this directory was restored from a backup; the team's main transport has op {through} of this replica as "
            f"the last one, but it had published op {published}: it was set back, or is another place, so it cannot "
            "tell whether more was signed after the backup. Sync where the team's newest state is; or, if you are sure "
            "that nothing signed here was lost, run `dmp resume`"
        )
        _say(db, node.me, text, node.now())
    return False


def forget(db: sqlite3.Connection) -> None:
    """End it, inside an open transaction."""
    put(db, Meta.RESTORED, None)
    put(db, Meta.PAUSED, None)
    problems.clear(db, RESTORED)


def _say(db: sqlite3.Connection, replica: str, text: str, now: str) -> None:
    put(db, Meta.PAUSED, text)
    problems.note(db, problems.Problem(RESTORED, text, replica, None, now))
