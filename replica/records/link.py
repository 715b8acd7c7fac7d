"""Where this replica meets its team: the remote and the branch, kept with the first op that was signed for them.

Until then a wrong address costs nothing: founding or joining may be tried again with another one.
"""

import sqlite3
from dataclasses import dataclass, field

from replica.records.meta import Meta, get, put


@dataclass(frozen=True, slots=True)
class Link:
    """A branch of a git remote. The address is as its owner typed it and may hold credentials."""

    remote: str = field(repr=False)
    branch: str


def remembered(db: sqlite3.Connection) -> Link | None:
    """The link this replica uses, or None before it founded or joined a team."""
    remote, branch = get(db, Meta.REMOTE), get(db, Meta.BRANCH)
    return None if remote is None or branch is None else Link(remote, branch)


def remember(db: sqlite3.Connection, link: Link | None) -> None:
    """Keep the link, in the transaction that signs for it; with None the one that is kept stays."""
    if link is None:
        return
    put(db, Meta.REMOTE, link.remote)
    put(db, Meta.BRANCH, link.branch)


def may_change(db: sqlite3.Connection) -> bool:
    """Whether another link may be used: as long as no transport is known to have taken an own op."""
    signed, unpublished = db.execute(
        "SELECT count(*), count(unpublished.seq) FROM ops LEFT JOIN unpublished USING (seq) "
        "WHERE replica = (SELECT value FROM meta WHERE name = ?)",
        (Meta.REPLICA,),
    ).fetchone()
    return bool(signed == unpublished)
