"""Saying which founding is meant, where more than one was published (federation wire 4.5)."""

from dataclasses import dataclass

from core.errors import Code, DmpError
from replica.chain.guard import own_head
from replica.chain.pinning import unpin
from replica.node import Node
from replica.records.commits import CommitPoint
from replica.records.link import Link, remember
from replica.records.meta import Meta, get, put
from replica.sync import SyncPass
from replica.team.entering import begin, move
from replica.team.roster import Team


@dataclass(frozen=True, slots=True)
class Trusted:
    """The team that is followed for good from here on; `already` where it was before."""

    team: Team
    already: bool


def trust(sync: SyncPass, fingerprint: str, link: Link | None = None) -> Trusted:
    """Follow the team whose founder has this fingerprint, and no other whatever is published.

    `link` is what `sync` goes over, to be remembered.

    Raises DmpError: `conflict` where this replica is in another team; `not-found` on `fingerprint` when no
    founder there has it.
    """
    node = sync.node
    team = node.team
    if team is not None and team.firm:
        if get(node.store.db, Meta.FOUNDER_FINGERPRINT) == fingerprint:
            return Trusted(team, already=True)
        raise DmpError(
            Code.CONFLICT,
            f"this machine follows the founder with the fingerprint {get(node.store.db, Meta.FOUNDER_FINGERPRINT)} "
            "for good; for another team make another replica with `dmp init` in a new directory",
            "fingerprint",
        )
    _choose(node, fingerprint, link)
    while sync.run().more and node.team is None:
        pass
    team = node.team
    if team is None or not team.firm:
        with node.store.transaction(CommitPoint.BEGUN) as db:
            put(db, Meta.TRUSTED, None)
            put(db, Meta.TIP, None)
        raise DmpError(
            Code.NOT_FOUND,
            "no team was founded there by a machine with that fingerprint; compare it with the founder again, and "
            "check the remote and the branch",
            "fingerprint",
        )
    return Trusted(team, already=False)


def _choose(node: Node, fingerprint: str, link: Link | None) -> None:
    asked = own_head(node)[0] > 0
    if asked:
        move(node, link)
    else:
        begin(node, None)
    with node.store.transaction(CommitPoint.BEGUN) as db:
        if asked:
            unpin(node.store, node.me)
        put(db, Meta.TRUSTED, fingerprint)
        put(db, Meta.TIP, None)
        remember(db, link)
