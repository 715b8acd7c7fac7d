"""Rights in every case at once: one walk for all ways to accept or void a few removals.

A contest of n removals has 2**n cases, one for each set of them that might be accepted. What is true in some
cases and not in others is written as a *table*: an integer of 2**n bits, in which bit `s` says whether it is
true in the case `s`, whose own bits say which removals are accepted. A single walk over the grants then gives
for each removal the table of the cases in which it holds its right, by the rules that `walk` applies to one
case; the properties compare the two.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from crypto.roster.bodies import Admit, Recover, Role, SetRecoveryKey, SetRole
from crypto.roster.ops import Position, RosterOp
from crypto.roster.rights import FOREVER, NO_CUTS, Cuts, Kind, Removal
from crypto.roster.walk import Charter, is_own_device

Table: TypeAlias = int

NEVER: Final[Table] = 0


@dataclass(slots=True)
class _Seat:
    """A replica that was let in in some cases: how in which of them, and the grants it has had.

    A grant is its position, the cases in which it was given, and those in which it makes an admin. Grants
    that every removal treats alike are kept as one.
    """

    let_in: Table = NEVER
    ways: dict[tuple[str, bool, str], Table] = field(default_factory=dict)
    """By handle, whether an observer, and key."""
    grants: list[tuple[Position, Table, Table]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Claim:
    """What a removal's publisher was at it, in which cases."""

    admin: Table
    member: Mapping[str, Table]
    """By the publisher's handle."""


class Cases:
    """The cases of a contest. Bit `i` of a case says whether `contested[i]` is accepted in it.

    Those in `accepted` are accepted in every case. `grants` are in fold order, the founding first.
    """

    def __init__(
        self,
        charter: Charter,
        accepted: Iterable[Removal],
        contested: Sequence[Removal],
        grants: Iterable[RosterOp],
    ) -> None:
        self._charter = charter
        self.count = len(contested)
        self.always: Table = (1 << (1 << self.count)) - 1
        self._contested: defaultdict[str, list[tuple[Removal, Table]]] = defaultdict(list)
        for bit, removal in enumerate(contested):
            if removal.kind is not Kind.HOSTS:
                self._contested[removal.target].append((removal, self.accepting(bit)))
        by_target: defaultdict[str, list[Removal]] = defaultdict(list)
        for removal in accepted:
            by_target[removal.target].append(removal)
        self._cuts = {target: Cuts(removals) for target, removals in by_target.items()}
        self._cut_at = {
            target: sorted(
                [removal.position for removal in by_target[target]]
                + [removal.position for removal, _ in self._contested.get(target, ())]
            )
            for target in {*by_target, *self._contested}
        }
        self._seats: dict[str, _Seat] = {}
        self._recovery: dict[str, Table] = {charter.recovery_key(): self.always}
        """By recovery key, the cases in which it is the one that counts."""
        self._used: defaultdict[str, Table] = defaultdict(int)
        claims = self._walk(grants, contested)
        self.holds = [self._held(removal, claims.get(removal.hash)) for removal in contested]
        """For each contested removal, the cases in which it holds its right, its own acceptance included."""

    def accepting(self, bit: int) -> Table:
        """The cases in which `contested[bit]` is accepted."""
        span = 1 << bit
        return (self.always // ((1 << span) + 1)) << span

    def some_admin(self) -> Table:
        """The cases in which someone is an admin in the end."""
        found = NEVER
        for replica, seat in self._seats.items():
            found |= self._surviving(replica, seat, FOREVER)[1]
        return found

    # The walk

    def _walk(self, grants: Iterable[RosterOp], contested: Sequence[Removal]) -> dict[str, _Claim]:
        claims: dict[str, _Claim] = {}
        waiting = sorted(contested, key=lambda removal: removal.position, reverse=True)
        for op in grants:
            while waiting and waiting[-1].position <= op.position:
                removal = waiting.pop()
                claims[removal.hash] = self._claim(removal.op)
            self._step(op)
        for removal in waiting:
            claims[removal.hash] = self._claim(removal.op)
        return claims

    def _step(self, op: RosterOp) -> None:
        founding = self._charter.founding
        if op.hash == founding.hash:
            way = (self._charter.founders_handle(), False, op.key)
            self._let_in(op.replica, way, op.position, self.always, admin=True)
        match op.body:
            case Admit():
                self._admit(op, op.body)
            case SetRole(replica=target, role=Role.ADMIN):
                self._promote(op, target)
            case SetRecoveryKey(pub=pub):
                given = self._claim(op).admin
                for each in self._recovery:
                    self._recovery[each] &= ~given
                self._recovery[pub] = self._recovery.get(pub, NEVER) | given
            case Recover():
                self._recover(op)

    def _admit(self, op: RosterOp, admit: Admit) -> None:
        key = self._charter.key(admit.replica, admit.fingerprint)
        if key is None or (admit.observer and admit.role is Role.ADMIN):
            return
        claim = self._claim(op)
        given = claim.admin
        if is_own_device(admit, key):
            given |= claim.member.get(admit.handle, NEVER)
        seat = self._seats.get(admit.replica)
        given &= ~self._revoked_before(admit.replica, op.position)
        if seat is not None:
            given &= ~seat.let_in
        way = (admit.handle, admit.observer, admit.fingerprint)
        self._let_in(admit.replica, way, op.position, given, admin=admit.role is Role.ADMIN)

    def _promote(self, op: RosterOp, target: str) -> None:
        seat = self._seats.get(target)
        if seat is None:
            return
        given = self._claim(op).admin & seat.let_in & ~self._revoked_before(target, op.position)
        for (_, observer, _), table in seat.ways.items():
            if observer:
                given &= ~table
        self._grant(target, seat, op.position, given, given)

    def _recover(self, op: RosterOp) -> None:
        key = self._charter.key(op.replica, op.key)
        if key is None or not self._charter.is_first(op):
            return
        seat = self._seats.get(op.replica)
        free = self.always & ~self._revoked_before(op.replica, op.position)
        if seat is not None:
            free &= ~seat.let_in
        if self._cuts.get(op.replica, NO_CUTS).revokes(op.seq):
            return
        for removal, accepted in self._contested.get(op.replica, ()):
            if removal.kind is Kind.ALL and removal.after_seq < op.seq:
                free &= ~accepted
        given = NEVER
        for pub, counts in self._recovery.items():
            usable = counts & ~self._used[pub] & free
            if usable and self._charter.proves_recovery(op, pub):
                self._used[pub] |= usable
                given |= usable
        self._let_in(op.replica, (key.handle, False, op.key), op.position, given, admin=True)

    def _let_in(
        self, replica: str, way: tuple[str, bool, str], position: Position, given: Table, *, admin: bool
    ) -> None:
        if not given:
            return
        seat = self._seats.setdefault(replica, _Seat())
        seat.let_in |= given
        seat.ways[way] = seat.ways.get(way, NEVER) | given
        self._grant(replica, seat, position, given, given if admin else NEVER)

    def _grant(self, replica: str, seat: _Seat, position: Position, given: Table, admin: Table) -> None:
        if seat.grants:
            last, members, admins = seat.grants[-1]
            if not any(last < cut < position for cut in self._cut_at.get(replica, ())):
                seat.grants[-1] = (last, members | given, admins | admin)
                return
        seat.grants.append((position, given, admin))

    # Rights

    def _claim(self, op: RosterOp) -> _Claim:
        """What an op's publisher is at it; the walk has come that far."""
        seat = self._seats.get(op.replica)
        if seat is None:
            return _Claim(NEVER, {})
        member, admin = self._surviving(op.replica, seat, op.seq)
        own = NEVER
        by_handle: dict[str, Table] = {}
        for (handle, observer, key), table in seat.ways.items():
            if key == op.key and not observer:
                own |= table
                by_handle[handle] = by_handle.get(handle, NEVER) | (member & table)
        return _Claim(admin & own, by_handle)

    def _surviving(self, replica: str, seat: _Seat, seq: int) -> tuple[Table, Table]:
        """The cases in which some grant so far survives at `seq`, and in which one to be an admin does."""
        cuts = self._cuts.get(replica, NO_CUTS)
        floor, admin_floor = cuts.floor(seq), cuts.admin_floor(seq)
        contested = [each for each in self._contested.get(replica, ()) if each[0].after_seq < seq]
        member = admin = NEVER
        for position, given, as_admin in seat.grants:
            gone = demoted = NEVER
            for removal, accepted in contested:
                if position < removal.position:
                    if removal.kind is Kind.ALL:
                        gone |= accepted
                    else:
                        demoted |= accepted
            if position > floor:
                member |= given & ~gone
            if position > admin_floor:
                admin |= as_admin & ~gone & ~demoted
        return member, admin

    def _revoked_before(self, replica: str, position: Position) -> Table:
        revoked_at = self._cuts.get(replica, NO_CUTS).revoked_at
        if revoked_at is not None and revoked_at < position:
            return self.always
        found = NEVER
        for removal, accepted in self._contested.get(replica, ()):
            if removal.kind is Kind.ALL and removal.position < position:
                found |= accepted
        return found

    def _held(self, removal: Removal, claim: _Claim | None) -> Table:
        if claim is None or removal.position < self._charter.founding.position:
            return NEVER
        held = claim.admin
        if removal.kind is Kind.ALL:
            for handle, table in claim.member.items():
                held |= table & self._belongs_to(removal.target, handle)
        return held

    def _belongs_to(self, replica: str, handle: str) -> Table:
        """The cases in which a replica is of this handle in the end."""
        seat = self._seats.get(replica)
        let_in = NEVER if seat is None else seat.let_in
        found = self.always & ~let_in if self._charter.handle_of_nobody(replica) == handle else NEVER
        for (of, _, _), table in ({} if seat is None else seat.ways).items():
            if of == handle:
                found |= table
        return found
