"""Where this replica meets its team: the main transport, kept with the first op that was signed for it.

Until then a wrong address costs nothing: founding or joining may be tried again with another one.
"""

import sqlite3
from dataclasses import dataclass, field
from enum import StrEnum

from replica.records.meta import Meta
from transports.remotes import DEFAULT_BRANCH, Source, redact


@dataclass(frozen=True, slots=True)
class Link:
    """The address of a transport, and the branch where it has any. It may hold credentials: show `shown`.

    `source` says who chose the address, and so where it may lead; it does not tell one link from another.
    """

    remote: str = field(repr=False)
    branch: str = DEFAULT_BRANCH
    source: Source = field(default=Source.TYPED, compare=False)

    @property
    def shown(self) -> str:
        """The address without credentials."""
        return redact(self.remote)


class Role(StrEnum):
    """What a transport is to this replica."""

    MAIN = "main"
    """The team's: what is new goes there first."""
    OTHER = "other"
    """One more, which gets what the main one has."""
    FORMER = "former"
    """A main one that the team left: it is only read, for what machines that have not heard yet say there."""


def remembered(db: sqlite3.Connection) -> Link | None:
    """The main transport of this replica, or None before it founded or joined a team."""
    row = db.execute("SELECT address, branch, source FROM transports WHERE role = ?", (Role.MAIN,)).fetchone()
    return None if row is None else Link(row[0], row[1], Source(row[2]))


def remember(db: sqlite3.Connection, link: Link | None) -> None:
    """Keep the main transport, in the transaction that signs for it; with None the one that is kept stays."""
    if link is None or link == remembered(db):
        return
    db.execute("DELETE FROM transports WHERE role = ?", (Role.MAIN,))
    make_main(db, link)


def make_main(db: sqlite3.Connection, link: Link) -> None:
    """Make a transport the main one, where there is none now, inside an open transaction."""
    db.execute("DELETE FROM transports WHERE address = ? AND branch = ?", (link.remote, link.branch))
    db.execute(
        "INSERT INTO transports (address, branch, source, role) VALUES (?, ?, ?, ?)",
        (link.remote, link.branch, link.source.value, Role.MAIN),
    )


def may_change(db: sqlite3.Connection) -> bool:
    """Whether another link may be used: as long as no transport is known to have taken an own op."""
    signed, unpublished = db.execute(
        "SELECT count(*), count(unpublished.seq) FROM ops LEFT JOIN unpublished USING (seq) "
        "WHERE replica = (SELECT value FROM meta WHERE name = ?)",
        (Meta.REPLICA,),
    ).fetchone()
    return bool(signed == unpublished)
