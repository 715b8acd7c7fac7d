"""The steps of a replica's way into a team, shared by founding, joining, trusting a founder and recovering.

Nothing that was read of a far side binds until the first op is signed; from then on this replica's key, and where it
publishes, are that one team's.
"""

from importlib.metadata import version

from core.errors import Code, DmpError
from crypto.invites import InviteCode, invite_id, invite_proof, public_of
from crypto.keys import InviteProof, KeyBody
from replica.capabilities import CAPS
from replica.chain.guard import own_head
from replica.node import Node
from replica.records import ops, problems, subjects
from replica.records.commits import CommitPoint
from replica.records.link import Link, may_change, remember, remembered
from replica.records.meta import Meta, get, put


def begin(node: Node, invited_to: str | None) -> None:
    """Forget what an earlier try read of a far side: as long as nothing is signed, none of it binds.

    `invited_to` is the id of the team an invite names, the only one that is then followed. Without one, the founder
    that a person chose stays chosen.
    """
    with node.store.transaction(CommitPoint.BEGUN) as db:
        for table in ("claims", "acks", *ops.TABLES):
            db.execute(f"DELETE FROM {table}")
        db.execute("DELETE FROM problems WHERE subject NOT LIKE 'own:%'")
        for name in (Meta.FOUNDING, Meta.FOUNDER, Meta.FOUNDER_FINGERPRINT, Meta.FIRM, Meta.TIP):
            put(db, name, None)
        put(db, Meta.INVITED_TEAM, invited_to)
        if invited_to is not None:
            put(db, Meta.TRUSTED, None)


def move(node: Node, link: Link | None) -> None:
    """Use another link from here on, which only does while nothing was published.

    Raises DmpError `conflict` otherwise.
    """
    known = remembered(node.store.db)
    if link is None or link == known:
        return
    if known is not None and not may_change(node.store.db):
        raise DmpError(
            Code.CONFLICT,
            "this replica publishes over another remote or branch already; leave the address out of it: `dmp sync`",
        )
    with node.store.transaction(CommitPoint.BEGUN) as db:
        remember(db, link)
        put(db, Meta.TIP, None)


def refuse_second_team(node: Node) -> None:
    """One key serves one team: nothing signed names the team, so a chain would verify in any (K5).

    Raises DmpError `conflict` when this replica's key was published already.
    """
    if own_head(node)[0]:
        raise DmpError(
            Code.CONFLICT,
            "this replica's key was published to a team already, and a key serves one team; "
            "make another replica with `dmp init` in a new directory",
        )


def announce(node: Node, held: InviteCode | None) -> KeyBody:
    """Sign the key op, inside an open transaction, and keep it as this replica's claim."""
    secrets, db = node.identity.secrets, node.store.db
    proof = None
    if held is not None:
        sig = invite_proof(held.seed, team=held.team, replica=node.me, sign_pub=secrets.sign_pub)
        proof = InviteProof(invite_id(public_of(held.seed)), sig)
    body = KeyBody(
        handle=node.handle,
        device=get(db, Meta.DEVICE) or "machine",
        build=f"dmp-replica {version('dmp-replica')}",
        sign_pub=secrets.sign_pub,
        seal_pub=secrets.seal_pub,
        invite=proof,
        caps=CAPS,
    )
    op = node.signer.append(db, "key", body.to_json())
    db.execute(
        "INSERT INTO claims (replica, fingerprint, line) VALUES (?, ?, ?)",
        (node.me, body.fingerprint, ops.line_at(db, node.me, op.seq)),
    )
    return body


def ambiguous(node: Node) -> bool:
    """Whether more than one team was founded where this replica looked, and nobody said which one is meant."""
    return any(subjects.FOUNDING.covers(each.subject) for each in problems.all_problems(node.store.db))
