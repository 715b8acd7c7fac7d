"""The log of a team as lines of JSON, to be carried to another machine, kept, or read by other programs.

Every op that was verified here is in it, one a line in canonical form, chain after chain; and what claims an id or
forked a chain, so that whoever reads it can judge for themselves. Own ops that no transport has taken yet are not: what
was sealed to somebody who leaves meanwhile goes out to nobody.
"""

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass

from replica.chain.own_lane import published_head
from replica.node import Node

_LINES = """
SELECT line FROM ops WHERE replica = :replica AND (replica <> :me OR seq <= :published) ORDER BY seq
"""
_BESIDE = """
SELECT line FROM claims WHERE replica = :replica AND line NOT IN (SELECT line FROM ops WHERE replica = :replica)
UNION SELECT line FROM rivals WHERE replica = :replica
    AND hash NOT IN (SELECT hash FROM ops WHERE replica = :replica)
"""


@dataclass(frozen=True, slots=True)
class Extent:
    """What there is to export: how many replicas, and about how many lines."""

    replicas: int
    lines: int


def extent(db: sqlite3.Connection) -> Extent:
    """How much there is to export."""
    replicas, lines = db.execute("SELECT count(DISTINCT replica), count(*) FROM ops").fetchone()
    return Extent(int(replicas), int(lines))


def exported(node: Node) -> Iterator[bytes]:
    """The lines of the log, without line feeds."""
    db = node.store.db
    published = published_head(db, node.me)
    names = db.execute("SELECT replica FROM ops UNION SELECT replica FROM claims ORDER BY 1").fetchall()
    for (replica,) in names:
        where = {"replica": replica, "me": node.me, "published": published}
        for query in (_LINES, _BESIDE):
            for (line,) in db.execute(query, where):
                yield bytes(line)
