"""One walk over the roster ops in fold order, under a given set of accepted removals (federation wire 5.C).

The same walk serves twice: over the ops that grant rights, to judge which removals hold their right under
some set of accepted ones, and over all ops under the set that came out, to say what the roster is.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from crypto.invites import invite_id
from crypto.keys import person_part
from crypto.roster.bodies import (
    Admit,
    Body,
    CloseLegacy,
    Found,
    Malformed,
    OpenInvite,
    Revoke,
    Role,
    SetRole,
    SetTransport,
    TransportKind,
    Unknown,
)
from crypto.roster.notes import Ignored
from crypto.roster.ops import Key, Position, RosterOp
from crypto.roster.rights import FOREVER, NO_CUTS, NOWHERE, Cuts, Holder, Kind, Rank, Removal, Standing, Tier

LEGACY_WINDOW_MS: Final = 30 * 24 * 60 * 60 * 1000
"""How long after the founding any member may close the legacy window (federation wire 5.1)."""

Claims: TypeAlias = Mapping[str, Mapping[str, Key]]
"""By replica, the keys announced for it, by fingerprint."""


@dataclass(frozen=True, slots=True)
class Charter:
    """What a walk starts from: the founding and the announced keys."""

    founding: RosterOp
    claims: Claims

    def key(self, replica: str, fingerprint: str) -> Key | None:
        """The key of this fingerprint that was announced for a replica."""
        return self.claims.get(replica, {}).get(fingerprint)

    def only_key(self, replica: str) -> Key | None:
        """The key announced for a replica, where no rival was."""
        keys = self.claims.get(replica, {})
        return next(iter(keys.values())) if len(keys) == 1 else None


def removal(op: RosterOp) -> Removal | None:
    """Return what an op takes away, if it is a removal: a revocation, or a demotion with a cut (5.16)."""
    match op.body:
        case Revoke(replica=target, cut=cut):
            return Removal(op, Kind.ALL, target, cut.after_seq)
        case SetRole(replica=target, role=Role.MEMBER, cut=cut) if cut is not None:
            return Removal(op, Kind.ADMIN, target, cut.after_seq)
    return None


class Walk:
    """The state of one walk. Ops are given to `step` in fold order; what it came to is read afterwards."""

    def __init__(self, charter: Charter, accepted: Iterable[Removal]) -> None:
        self.charter = charter
        self.holders: dict[str, Holder] = {}
        self.invites: dict[str, tuple[OpenInvite, str]] = {}
        self.transport = SetTransport(TransportKind.GIT)
        self.legacy_closed = False
        self.unreadable: RosterOp | None = None
        """The first op of a later build whose publisher stood at it."""
        self.ignored: dict[str, Ignored] = {}
        """By op hash, why an op has no effect. Removals are judged elsewhere, and only noted here when no
        removal could be accepted in their place."""
        by_target: defaultdict[str, list[Removal]] = defaultdict(list)
        for each in accepted:
            by_target[each.target].append(each)
        self._cuts = {target: Cuts(removals) for target, removals in by_target.items()}

    # What the walk came to

    def cuts(self, replica: str) -> Cuts:
        """The accepted removals of a replica."""
        return self._cuts.get(replica, NO_CUTS)

    def standing(self, op: RosterOp) -> Standing:
        """What an op's publisher is at the op; nothing under another key than the admitted one."""
        holder = self.holders.get(op.replica)
        if holder is None or holder.key != op.key:
            return Standing.NONE
        return holder.standing(self.cuts(op.replica), op.seq, op.position)

    def rank(self, op: RosterOp) -> Rank:
        """How senior an op's publisher is at the op."""
        holder = self.holders.get(op.replica)
        if holder is None or holder.key != op.key:
            return Tier.NONE, NOWHERE
        return holder.rank(self.cuts(op.replica), op.seq, op.position)

    def is_admin(self, replica: str) -> bool:
        """Whether a replica is an admin from now on."""
        holder = self.holders[replica]
        return holder.standing(self.cuts(replica), FOREVER, None) is Standing.ADMIN

    def admins(self) -> list[str]:
        """The replicas that are admins from now on."""
        return [replica for replica in self.holders if self.is_admin(replica)]

    def handle_of(self, replica: str) -> str:
        """Whose a replica is: as it was let in, else as it announced itself, else by its id."""
        holder = self.holders.get(replica)
        if holder is not None:
            return holder.handle
        key = self.charter.only_key(replica)
        return person_part(replica) if key is None else key.handle

    def holds(self, removal: Removal) -> bool:
        """Whether a removal's publisher has the right to it (federation wire 5.17)."""
        publisher = self.holders.get(removal.publisher)
        if publisher is None or publisher.observer or removal.position < self.charter.founding.position:
            return False
        standing = self.standing(removal.op)
        if standing is Standing.MEMBER and removal.kind is Kind.ALL:
            return self.handle_of(removal.target) == publisher.handle
        return standing is Standing.ADMIN

    # One op

    def step(self, op: RosterOp) -> None:
        """Walk over the next op."""
        if isinstance(op.body, Unknown):
            self._pause(op)
            return
        ignored = self._enact(op, op.body)
        if ignored is not None:
            self.ignored[op.hash] = ignored

    def _pause(self, op: RosterOp) -> None:
        holder = self.holders.get(op.replica)
        if self.unreadable is None and holder is not None and not holder.observer and self.standing(op):
            self.unreadable = op

    def _enact(self, op: RosterOp, body: Body) -> Ignored | None:
        if isinstance(body, Found):
            return self._found(op)
        if op.position < self.charter.founding.position:
            return Ignored.BEFORE_FOUNDING
        publisher = self.holders.get(op.replica)
        if publisher is not None and publisher.key != op.key:
            return Ignored.OTHER_KEY
        if publisher is not None and publisher.observer:
            return Ignored.OBSERVER
        match body:
            case Malformed():
                return Ignored.MALFORMED
            case Admit():
                return self._admit(op, body)
            case SetRole():
                return self._role(op, body)
            case Revoke():
                return None  # judged before the walk (federation wire 5.16)
            case OpenInvite():
                return self._invite(op, body)
            case CloseLegacy():
                return self._close_legacy(op)
            case SetTransport():
                return self._transport(op, body)
        return Ignored.NOT_YET

    def _found(self, op: RosterOp) -> Ignored | None:
        if op.hash != self.charter.founding.hash:
            return Ignored.OTHER_FOUNDING
        key = self.charter.key(op.replica, op.key)
        handle = person_part(op.replica) if key is None else key.handle
        founder = Holder(op.replica, handle, (), observer=False, key=op.key, since=op.hlc, founder=True)
        founder.grant(op.position, admin=True)
        self.holders[op.replica] = founder
        return None

    def _admit(self, op: RosterOp, admit: Admit) -> Ignored | None:  # federation wire 5.13, in its order
        if not self.charter.claims.get(admit.replica):
            return Ignored.NO_KEY
        key = self.charter.key(admit.replica, admit.fingerprint)
        if key is None:
            return Ignored.OTHER_FINGERPRINT
        if self._revoked_before(admit.replica, op.position):
            return Ignored.REVOKED
        if admit.replica in self.holders:
            return Ignored.ALREADY_ADMITTED
        if admit.observer and admit.role is Role.ADMIN:
            return Ignored.OBSERVING_ADMIN
        standing = self.standing(op)
        if standing is not Standing.ADMIN and not (
            standing is Standing.MEMBER and self._is_own_device(op, admit, key)
        ):
            return Ignored.NO_RIGHT
        hosts = () if admit.observer else admit.hosts
        holder = Holder(admit.replica, admit.handle, hosts, admit.observer, admit.fingerprint, since=op.hlc)
        holder.grant(op.position, admin=admit.role is Role.ADMIN)
        self.holders[admit.replica] = holder
        return None

    def _is_own_device(self, op: RosterOp, admit: Admit, key: Key) -> bool:
        handle = self.holders[op.replica].handle
        return (
            handle == key.handle == admit.handle == person_part(admit.replica)
            and admit.role is Role.MEMBER
            and not admit.hosts
            and not admit.observer
        )

    def _role(self, op: RosterOp, change: SetRole) -> Ignored | None:
        if change.role is Role.MEMBER:
            return Ignored.CUT_MISSING if change.cut is None else None  # with one, judged before the walk
        if self.standing(op) is not Standing.ADMIN:
            return Ignored.NO_RIGHT
        target = self.holders.get(change.replica)
        if target is None:
            return Ignored.NOT_ADMITTED
        if self._revoked_before(change.replica, op.position):
            return Ignored.REVOKED
        if target.observer:
            return Ignored.OBSERVING_ADMIN
        target.grant(op.position, admin=True)
        return None

    def _invite(self, op: RosterOp, invite: OpenInvite) -> Ignored | None:
        standing = self.standing(op)
        if standing is not Standing.ADMIN and not (
            standing is Standing.MEMBER and self.holders[op.replica].handle == invite.handle
        ):
            return Ignored.NO_RIGHT
        if invite_id(invite.pub) != invite.id:
            return Ignored.OTHER_INVITE_ID
        if invite.id in self.invites:
            return Ignored.ALREADY_INVITED
        self.invites[invite.id] = invite, op.replica
        return None

    def _close_legacy(self, op: RosterOp) -> Ignored | None:
        standing = self.standing(op)
        elapsed_ms = op.hlc.ms - self.charter.founding.hlc.ms
        if standing is not Standing.ADMIN and not (
            standing is Standing.MEMBER and elapsed_ms >= LEGACY_WINDOW_MS
        ):
            return Ignored.NO_RIGHT
        if self.legacy_closed:
            return Ignored.ALREADY_CLOSED
        self.legacy_closed = True
        return None

    def _transport(self, op: RosterOp, transport: SetTransport) -> Ignored | None:
        if self.standing(op) is not Standing.ADMIN:
            return Ignored.NO_RIGHT
        self.transport = transport
        return None

    def _revoked_before(self, replica: str, position: Position) -> bool:
        revoked_at = self.cuts(replica).revoked_at
        return revoked_at is not None and revoked_at < position
