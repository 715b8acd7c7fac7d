"""Writing down what a fold came to, as a View (federation wire 5.37).

A Summary is written once from a finished walk, and then follows it: an op that came last and changed no decision
changes little of what is written, and only that is written again. Views that were given out stay as they were.
"""

from bisect import bisect_left, insort
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Generic, TypeVar

from crypto.keys import team_id
from crypto.roster.bodies import (
    Admit,
    Dismiss,
    Found,
    OpenInvite,
    Recover,
    Revoke,
    Role,
    SetHosts,
    SetRole,
    is_known,
)
from crypto.roster.notes import Ignored, Note, Notes
from crypto.roster.ops import RosterOp
from crypto.roster.removals import Decisions
from crypto.roster.rights import FOREVER, Holder, Kind, Rank, Removal, Standing, Tier
from crypto.roster.view import Cut, Decision, Dismissal, Invite, License, Member, View
from crypto.roster.walk import LEGACY_WINDOW_MS, Charter, Walk

_V = TypeVar("_V")


class Summary:
    """What a walk over `ops`, `removals` among them, came to under these decisions."""

    def __init__(
        self,
        charter: Charter,
        ops: Sequence[RosterOp],
        removals: Sequence[Removal],
        decisions: Decisions,
        walk: Walk,
        *,
        relay: bool,
    ) -> None:
        assert isinstance(charter.founding.body, Found)
        self._charter = charter
        self._walk = walk
        self._relay = relay
        self._team_id = team_id(charter.founding.hash)
        self._name = charter.founding.body.name
        accepted = {each.hash for each in decisions.accepted}
        self._resolution = _Growing(
            {each.hash: Decision.ACCEPTED if each.hash in accepted else Decision.VOID for each in removals}
        )
        self._ends = _ends(decisions)
        self._revoked = _Growing({each.target: _cut(each, walk) for each in self._ends.values()})
        self._members: _Growing[Member] = _Growing({})
        self._admins: list[tuple[Rank, str]] = []
        """Every admin by rank."""
        for holder in walk.holders.values():
            if holder.replica not in self._revoked.live and walk.is_admin(holder.replica):
                self._admins.append((_rank(walk, holder), holder.replica))
        self._admins.sort()
        ranks = {replica: rank for rank, (_, replica) in enumerate(self._admins)}
        for replica, holder in sorted(walk.holders.items()):
            if replica not in self._revoked.live:
                self._members.set(replica, _member(holder, ranks.get(replica)))
        self._dismissed, refused = _dismissed(ops, walk)
        ignored = walk.ignored | _void(removals, decisions, walk) | refused
        ignored |= dict.fromkeys((each.hash for each in self._dismissed), Ignored.DISMISSED)
        self._ignored = _Growing(ignored)
        self._notes = Notes(walk.holders)
        for op in ops:
            self._notes.add(op, ignored.get(op.hash))
        self._pending = sorted(
            replica
            for replica in charter.claims
            if replica not in walk.holders and replica not in self._revoked.live and charter.only_key(replica)
        )
        self._pending_shown: tuple[str, ...] | None = None
        self._granted_shown: tuple[str, ...] = ()
        self._recovering = {
            each.replica for each in walk.holders.values() if each.first_tier is Tier.RECOVERED
        }
        self._invites = _Growing({id_: _invite(*each) for id_, each in walk.invites.items()})

    def announce(self, replica: str) -> None:
        """Take note of a first key of a replica that no op is about yet."""
        insort(self._pending, replica)
        self._pending_shown = None

    def follow(self, op: RosterOp, removal: Removal | None, *, accepted: bool) -> bool:
        """Take in an op that was walked over last; False where all has to be written anew."""
        if op.body.__class__ is Dismiss or (self._walk.dismissals and (removal or not is_known(op.body))):
            return False
        if self._walk.dismissals and any(_names(each, op) for each in self._walk.dismissals):
            return False
        reason = self._walk.ignored.get(op.hash)
        if removal is not None:
            self._resolution.set(op.hash, Decision.ACCEPTED if accepted else Decision.VOID)
            if accepted:
                self._remove(removal)
            elif reason is None:
                reason = Ignored.OUTRANKED if self._walk.holds(removal) else Ignored.NO_RIGHT
        if reason is not None:
            self._ignored.set(op.hash, reason)
            self._notes.add(op, reason)
            return True
        return self._effect(op)

    def _granted(self) -> tuple[str, ...]:
        """Every handle that was ever given, in the order of the first time; asked of the walk only where it grew."""
        if len(self._granted_shown) != len(self._walk.people):
            self._granted_shown = tuple(self._walk.people)
        return self._granted_shown

    def _recovered(self) -> list[Note]:
        return [
            Note(
                f"replica:{replica}", f"{replica} let itself in as an admin with the recovery code.", replica
            )
            for replica in sorted(self._recovering & self._members.live.keys())
        ]

    def _effect(self, op: RosterOp) -> bool:
        match op.body:
            case Admit(replica=target):
                self._waits_no_more(target)
                self._refresh(target)
                return not self._notes.has_any(target)
            case Recover():
                self._waits_no_more(op.replica)
                self._recovering.add(op.replica)
                self._refresh(op.replica)
                return not self._notes.has_any(op.replica)
            case SetRole(replica=target) | SetHosts(replica=target):
                self._refresh(target)
            case OpenInvite(id=id_):
                self._invites.set(id_, _invite(*self._walk.invites[id_]))
        return True

    def _remove(self, removal: Removal) -> None:
        if removal.kind is Kind.ALL:
            before = self._ends.get(removal.target)
            if before is None or removal.after_seq < before.after_seq:
                self._ends[removal.target] = removal
            self._revoked.set(removal.target, _cut(self._ends[removal.target], self._walk))
            self._waits_no_more(removal.target)
        self._refresh(removal.target)

    def _waits_no_more(self, replica: str) -> None:
        at = bisect_left(self._pending, replica)
        if self._pending[at : at + 1] == [replica]:
            del self._pending[at]
            self._pending_shown = None

    def _refresh(self, replica: str) -> None:
        """Write anew what one replica is, and the ranks of the admins that come after it."""
        holder, before = self._walk.holders.get(replica), self._members.live.get(replica)
        if holder is None:
            return
        stays = replica not in self._ends
        if not stays:
            self._revoked.set(replica, _cut(self._ends[replica], self._walk))
        rank = _rank(self._walk, holder) if stays and self._walk.is_admin(replica) else None
        moved = len(self._admins)
        if before is not None and before.rank is not None:
            if rank == self._admins[before.rank][0]:
                self._members.set(replica, _member(holder, before.rank))
                return
            del self._admins[before.rank]
            moved = before.rank
        if rank is not None:
            moved = min(moved, bisect_left(self._admins, (rank, replica)))
            insort(self._admins, (rank, replica))
        if stays:
            self._members.set(replica, _member(holder, None))
        elif before is not None:
            self._members.drop(replica)
        for at in range(moved, len(self._admins)):
            name = self._admins[at][1]
            self._members.set(name, replace(self._members.live[name], role=Role.ADMIN, rank=at))

    def view(self) -> View:
        """What the roster comes to as it is now."""
        walk, ignored = self._walk, self._ignored.live
        unread = [op for op in walk.unreadable if ignored.get(op.hash) is not Ignored.DISMISSED]
        if self._pending_shown is None:
            self._pending_shown = tuple(self._pending)
        return View(
            team_id=self._team_id,
            name=self._name,
            founder=self._charter.founding.replica,
            members=self._members.shown,
            revoked=self._revoked.shown,
            resolution=self._resolution.shown,
            pending=self._pending_shown,
            invites=self._invites.shown,
            recovery_pub=walk.recovery_pub,
            recovery_used=walk.recovery_pub in walk.recovery_used,
            license=License(*walk.licenses[-1]) if walk.licenses else None,
            dismissed=self._dismissed,
            transport=walk.transport,
            legacy_closed=walk.legacy_closed,
            legacy_deadline_ms=self._charter.founding.hlc.ms + LEGACY_WINDOW_MS,
            attested=walk.attested,
            unannounced=tuple(each for each in walk.attested if not self._charter.claims.get(each.replica)),
            granted=self._granted(),
            ignored=self._ignored.shown,
            problems=(*self._recovered(), *self._notes.shown()),
            unknown=None if self._relay or not unread else unread[0],
        )


class _Growing(Generic[_V]):
    """A mapping that changes, and what it was when it was last shown."""

    __slots__ = ("_shown", "live")

    def __init__(self, live: dict[str, _V]) -> None:
        self.live = live
        self._shown: Mapping[str, _V] | None = None

    @property
    def shown(self) -> Mapping[str, _V]:
        """A copy that later changes leave alone."""
        if self._shown is None:
            self._shown = self.live.copy()
        return self._shown

    def set(self, name: str, value: _V) -> None:
        self._shown = None
        self.live[name] = value

    def drop(self, name: str) -> None:
        self._shown = None
        del self.live[name]


def _names(dismissal: RosterOp, op: RosterOp) -> bool:
    body = dismissal.body
    return isinstance(body, Dismiss) and (body.replica, body.seq, body.hash) == (op.replica, op.seq, op.hash)


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


def _rank(walk: Walk, holder: Holder) -> Rank:
    return holder.rank(walk.cuts(holder.replica), FOREVER, None)


def _member(holder: Holder, rank: int | None) -> Member:
    return Member(
        holder.replica,
        holder.handle,
        holder.key,
        Role.MEMBER if rank is None else Role.ADMIN,
        rank,
        holder.hosts,
        holder.observer,
        holder.since,
        tuple(holder.host_cuts),
        holder.first_tier is Tier.RECOVERED,
    )


def _invite(invite: OpenInvite, by: str) -> Invite:
    return Invite(invite.id, invite.pub, invite.handle, invite.expires, by)


def _ends(decisions: Decisions) -> dict[str, Removal]:
    """By replica, the accepted revocation that cuts lowest (federation wire 5.37)."""
    ends: dict[str, Removal] = {}
    for each in sorted(decisions.accepted, key=lambda each: (each.target, each.after_seq, each.position)):
        if each.kind is Kind.ALL:
            ends.setdefault(each.target, each)
    return ends


def _cut(removal: Removal, walk: Walk) -> Cut:
    assert isinstance(removal.op.body, Revoke)
    holder = walk.holders.get(removal.target)
    return Cut(
        removal.target,
        removal.op.body.cut,
        removal.op.body.reason,
        removal.publisher,
        holder.handle if holder else None,
        holder.key if holder else None,
        holder.hosts if holder else (),
        observer=holder.observer if holder else False,
        host_cuts=tuple(holder.host_cuts) if holder else (),
    )
