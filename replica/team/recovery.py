"""The recovery code: letting oneself in with it where every admin's machine is lost, and making a new one (4.6)."""

from dataclasses import dataclass

from core.errors import Code, DmpError, invalid
from crypto.ed25519 import SEED_BYTES
from crypto.invites import CodeError, public_of, recovery_code, recovery_proof, recovery_seed
from crypto.op import Op
from crypto.roster.bodies import Recover, SetRecoveryKey
from replica.chain.guard import own_head
from replica.moving import is_relay
from replica.node import Node
from replica.records.commits import CommitPoint
from replica.records.link import Link, remember
from replica.records.meta import Meta, put
from replica.sync import SyncPass
from replica.team.changes import check_stands, sign_change
from replica.team.entering import ambiguous, announce, begin, move
from replica.team.roster import Team, need_team
from transports.base import TransportError


@dataclass(frozen=True, slots=True)
class Recovered:
    """The team this machine let itself into; `already` where it had done so before."""

    team: Team
    already: bool


def recover(sync: SyncPass, code: str, link: Link | None = None) -> Recovered:
    """Let this machine in as an admin, with the team's recovery code.

    A machine that has asked to join may do so, and one that never was in a team. `link` is what `sync` goes over,
    to be remembered.

    Raises DmpError: `invalid` on `code` for what cannot be one, `forbidden` on `code` when it is not the team's
    any more; `not-found` when no founding is there to follow; `conflict` when this replica is in a team, or was, and
    over a relay, where nobody gets in so (federation wire 7.6).
    """
    node = sync.node
    try:
        seed = recovery_seed("".join(code.split()))
    except CodeError as error:
        raise invalid("code", str(error)) from None
    team = node.team
    if team is not None and node.me in team.view.members:
        return _again(sync, team, link)
    if link is not None and is_relay(link):
        raise DmpError(
            Code.CONFLICT,
            "a relay lets in members and machines that were invited, and nobody by the recovery code; recover over the "
            "git remote or folder where the team was before, and see that its members use that too",
        )
    if own_head(node)[0]:
        move(node, link)
    else:
        begin(node, None)
    signed: list[Op] = []

    def say() -> None:
        known = _team_to_recover(node)
        with node.store.transaction(CommitPoint.JOINED) as db:
            if not own_head(node)[0]:
                announce(node, None)
            proof = recovery_proof(
                seed, team=known.view.team_id, replica=node.me, sign_pub=node.identity.secrets.sign_pub
            )
            _check_code(known, public_of(seed))
            signed.append(sign_change(node, db, Recover(proof)))
            put(db, Meta.FIRM, "1")  # who founded it knew this very code
            remember(db, link)

    sync.publish(say)
    for op in signed:
        check_stands(node, op)
    return Recovered(need_team(node.team), already=False)


def _again(sync: SyncPass, team: Team, link: Link | None) -> Recovered:
    """A recovery that is asked for again only publishes what is still to be published."""
    if not team.view.members[sync.node.me].recovered:
        raise DmpError(Code.CONFLICT, "this machine is in the team already; the code is for one that is not")
    move(sync.node, link)
    sync.run()
    return Recovered(need_team(sync.node.team), already=True)


def _team_to_recover(node: Node) -> Team:
    team = node.team
    if team is None:
        if ambiguous(node):
            raise DmpError(
                Code.CONFLICT,
                "more than one team was founded there; say which one is meant with `dmp team trust FINGERPRINT`, "
                "then recover",
            )
        raise DmpError(Code.NOT_FOUND, "no team was founded there; check the remote and the branch")
    if node.me in team.view.revoked:
        raise DmpError(
            Code.CONFLICT,
            "this machine was revoked, and never comes back; recover with a new one: `dmp init` in a new directory",
        )
    return team


def _check_code(team: Team, pub: str) -> None:
    """Raise DmpError `forbidden` on `code` for one that lets nobody in, with the reason why."""
    if pub != team.view.recovery_pub:
        raise DmpError(
            Code.FORBIDDEN,
            "that is not the recovery code of this team as it is now: it was mistyped, or replaced by a newer one",
            "code",
        )
    if team.view.recovery_used:
        who = ", ".join(team.describe(each.replica) for each in team.view.members.values() if each.recovered)
        raise DmpError(
            Code.FORBIDDEN,
            "that code was used before, and lets one machine in only once"
            + (f"; by {who}, which may admit this one" if who else ""),
            "code",
        )


@dataclass(frozen=True, slots=True)
class NewCode:
    """A recovery code that counts from now on and is kept nowhere.

    `unpublished` is why the far side did not take it yet; the next sync tries again.
    """

    code: str
    unpublished: TransportError | None


def new_recovery_key(sync: SyncPass) -> NewCode:
    """Replace the team's recovery code; the one before opens nothing any more.

    Raises DmpError `forbidden` when this replica may not.
    """
    node = sync.node
    seed = node.random(SEED_BYTES)
    signed: list[Op] = []

    def say() -> None:
        need_team(node.team)
        with node.store.transaction(CommitPoint.ROSTER_SIGNED) as db:
            signed.append(sign_change(node, db, SetRecoveryKey(public_of(seed))))

    try:
        sync.publish(say)
    except TransportError as error:
        if not signed:
            raise
        return NewCode(recovery_code(seed), error)  # signed, so this is the code once it is published
    for op in signed:
        check_stands(node, op)
    return NewCode(recovery_code(seed), None)
