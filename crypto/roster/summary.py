"""Writing down what a fold came to, as a View (federation wire 5.37)."""

from collections.abc import Iterable, Mapping, Sequence

from crypto.keys import team_id
from crypto.roster.bodies import Dismiss, Found, Revoke, Role, is_known
from crypto.roster.notes import Ignored, Note, notes_on
from crypto.roster.ops import RosterOp
from crypto.roster.removals import Decisions
from crypto.roster.rights import FOREVER, Kind, Removal, Standing, Tier
from crypto.roster.view import Cut, Decision, Dismissal, Invite, License, Member, View
from crypto.roster.walk import Charter, Walk


def view_of(
    charter: Charter,
    ops: Sequence[RosterOp],
    removals: Sequence[Removal],
    decisions: Decisions,
    walk: Walk,
    *,
    relay: bool,
) -> View:
    """The view of a finished walk over `ops`, `removals` among them."""
    founding = charter.founding
    assert isinstance(founding.body, Found)
    accepted = {each.hash for each in decisions.accepted}
    revoked = _revoked(decisions, walk)
    dismissed, refused = _dismissed(ops, walk)
    ignored = walk.ignored | _void(removals, decisions, walk) | refused
    ignored |= dict.fromkeys((each.hash for each in dismissed), Ignored.DISMISSED)
    members = _members(walk, revoked)
    unread = [op for op in walk.unreadable if ignored.get(op.hash) is not Ignored.DISMISSED]
    return View(
        team_id=team_id(founding.hash),
        name=founding.body.name,
        founder=founding.replica,
        members=members,
        revoked=revoked,
        resolution={
            each.hash: Decision.ACCEPTED if each.hash in accepted else Decision.VOID for each in removals
        },
        pending=_pending(charter, walk, revoked),
        invites={
            invite.id: Invite(invite.id, invite.pub, invite.handle, invite.expires, by)
            for invite, by in walk.invites.values()
        },
        recovery_pub=walk.recovery_pub,
        recovery_used=walk.recovery_pub in walk.recovery_used,
        license=License(*walk.licenses[-1]) if walk.licenses else None,
        dismissed=dismissed,
        transport=walk.transport,
        legacy_closed=walk.legacy_closed,
        ignored=ignored,
        problems=(*_recovered(members), *notes_on(ops, ignored, walk.holders)),
        unknown=None if relay or not unread else unread[0],
    )


def _dismissed(ops: Sequence[RosterOp], walk: Walk) -> tuple[tuple[Dismissal, ...], dict[str, Ignored]]:
    """The ops that are taken out, and why the other dismissals have no effect (federation wire 5.31).

    Only ops that this build cannot read can be: they grant nothing, so that taking them out changes no right.
    """
    held = {(op.replica, op.seq, op.hash): op for op in ops} if walk.dismissals else {}
    found: dict[str, Dismissal] = {}
    refused: dict[str, Ignored] = {}
    for op in walk.dismissals:
        assert isinstance(op.body, Dismiss)
        named = held.get((op.body.replica, op.body.seq, op.body.hash))
        if named is None:
            refused[op.hash] = Ignored.NOT_HELD
        elif is_known(named.body):
            refused[op.hash] = Ignored.READABLE
        elif not _may_dismiss(op, named, walk):
            refused[op.hash] = Ignored.NOT_OUTRANKED
        else:
            found.setdefault(named.hash, Dismissal(named.replica, named.seq, named.hash, op.replica))
    return tuple(found[op.hash] for op in ops if op.hash in found), refused


def _may_dismiss(op: RosterOp, named: RosterOp, walk: Walk) -> bool:
    return (
        named.replica == op.replica
        or walk.standing(named) is not Standing.ADMIN
        or walk.rank(op) < walk.rank(named)
    )


def _recovered(members: Mapping[str, Member]) -> list[Note]:
    return [
        Note(f"replica:{replica}", f"{replica} let itself in as an admin with the recovery code.", replica)
        for replica, member in members.items()
        if member.recovered
    ]


def _void(removals: Iterable[Removal], decisions: Decisions, walk: Walk) -> dict[str, Ignored]:
    """Why the void removals are void, but for those the walk itself has given a reason for."""
    accepted = {each.hash for each in decisions.accepted}
    spared = {each.hash for each in decisions.spared}
    reasons = {}
    for each in removals:
        if each.hash in accepted or each.hash in walk.ignored:
            continue
        if each.hash in spared:
            reasons[each.hash] = Ignored.LAST_ADMIN
        else:
            reasons[each.hash] = Ignored.OUTRANKED if walk.holds(each) else Ignored.NO_RIGHT
    return reasons


def _members(walk: Walk, revoked: Mapping[str, Cut]) -> dict[str, Member]:
    holders = [holder for replica, holder in sorted(walk.holders.items()) if replica not in revoked]
    admins = [holder for holder in holders if walk.is_admin(holder.replica)]
    admins.sort(key=lambda holder: holder.rank(walk.cuts(holder.replica), FOREVER, None))
    ranks = {holder.replica: rank for rank, holder in enumerate(admins)}
    return {
        holder.replica: Member(
            holder.replica,
            holder.handle,
            holder.key,
            Role.ADMIN if holder.replica in ranks else Role.MEMBER,
            ranks.get(holder.replica),
            holder.hosts,
            holder.observer,
            holder.since,
            tuple(holder.host_cuts),
            holder.first_tier is Tier.RECOVERED,
        )
        for holder in holders
    }


def _revoked(decisions: Decisions, walk: Walk) -> dict[str, Cut]:
    """By replica, the accepted revocation that cuts lowest (federation wire 5.37)."""
    revoked: dict[str, Cut] = {}
    for each in sorted(decisions.accepted, key=lambda each: (each.target, each.after_seq, each.position)):
        if each.kind is not Kind.ALL or each.target in revoked:
            continue
        assert isinstance(each.op.body, Revoke)
        holder = walk.holders.get(each.target)
        revoked[each.target] = Cut(
            each.target,
            each.op.body.cut,
            each.op.body.reason,
            each.publisher,
            holder.handle if holder else None,
            holder.key if holder else None,
            holder.hosts if holder else (),
            observer=holder.observer if holder else False,
            host_cuts=tuple(holder.host_cuts) if holder else (),
        )
    return revoked


def _pending(charter: Charter, walk: Walk, revoked: Mapping[str, Cut]) -> tuple[str, ...]:
    return tuple(
        sorted(
            replica
            for replica in charter.claims
            if replica not in walk.holders and replica not in revoked and charter.only_key(replica)
        )
    )
