"""One walk over the roster ops in fold order, under a given set of accepted removals (federation wire 5.C).

The same walk serves twice: over the ops that grant rights, to judge which removals hold their right under
some set of accepted ones, and over all ops under the set that came out, to say what the roster is.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final, TypeAlias

from crypto.invites import invite_id, verify_recovery
from crypto.keys import person_part, team_id
from crypto.roster.bodies import (
    Admit,
    Attestation,
    Body,
    CloseLegacy,
    Dismiss,
    Found,
    Malformed,
    OpenInvite,
    Recover,
    Revoke,
    Role,
    SetHosts,
    SetLicense,
    SetRecoveryKey,
    SetRole,
    SetTransport,
    TransportKind,
    Unknown,
    is_known,
)
from crypto.roster.notes import Ignored
from crypto.roster.ops import Key, Position, RosterOp
from crypto.roster.rights import (
    FOREVER,
    NO_CUTS,
    NOWHERE,
    Cuts,
    Holder,
    HostCut,
    Kind,
    Rank,
    Removal,
    Standing,
    Tier,
)

LEGACY_WINDOW_MS: Final = 30 * 24 * 60 * 60 * 1000
"""How long after the founding any member may close the legacy window (federation wire 5.1)."""

Claims: TypeAlias = Mapping[str, Mapping[str, Key]]
"""By replica, the keys announced for it, by fingerprint."""


@dataclass(frozen=True, slots=True)
class Charter:
    """What a walk starts from: the founding, the announced keys, and which op begins each chain.

    `first` has, by replica and key, the lowest seq of the chain's roster ops since the founding that are any
    of the twelve actions; only there a recovery counts (federation wire 5.15).
    """

    founding: RosterOp
    claims: Claims
    first: dict[tuple[str, str], int] = field(default_factory=dict)

    def key(self, replica: str, fingerprint: str) -> Key | None:
        """The key of this fingerprint that was announced for a replica."""
        return self.claims.get(replica, {}).get(fingerprint)

    def only_key(self, replica: str) -> Key | None:
        """The key announced for a replica, where no rival was."""
        keys = self.claims.get(replica, {})
        return next(iter(keys.values())) if len(keys) == 1 else None

    def handle_of_nobody(self, replica: str) -> str:
        """Whose a replica is that was not let in: as it announced itself, else by its id."""
        key = self.only_key(replica)
        return person_part(replica) if key is None else key.handle

    def founders_handle(self) -> str:
        """Whose the founder is: as it announced itself, else by its id."""
        key = self.key(self.founding.replica, self.founding.key)
        return person_part(self.founding.replica) if key is None else key.handle

    def recovery_key(self) -> str:
        """The public key of the recovery code that the founding names."""
        assert isinstance(self.founding.body, Found)
        return self.founding.body.recovery_pub

    def is_first(self, op: RosterOp) -> bool:
        """Whether a chain has no roster op before this one."""
        return self.first.get((op.replica, op.key)) == op.seq

    def proves_recovery(self, op: RosterOp, recovery_pub: str) -> bool:
        """Whether a `recover` op proves that the code of this recovery key is held."""
        key = self.key(op.replica, op.key)
        assert isinstance(op.body, Recover)
        return key is not None and _proves_recovery(
            recovery_pub, op.body.proof, team_id(self.founding.hash), op.replica, key.sign_pub
        )


@lru_cache(maxsize=16_384)
def _proves_recovery(pub: str, proof: str, team: str, replica: str, sign_pub: str) -> bool:
    return verify_recovery(pub, proof, team=team, replica=replica, sign_pub=sign_pub)


def charter_of(founding: RosterOp, claims: Claims, ops: Iterable[RosterOp]) -> Charter:
    """The charter of a walk over these ops."""
    first: dict[tuple[str, str], int] = {}
    for op in ops:
        chain = op.replica, op.key
        if op.position > founding.position and is_known(op.body):
            first[chain] = min(op.seq, first.get(chain, op.seq))
    return Charter(founding, claims, first)


def removal(op: RosterOp) -> Removal | None:
    """Return what an op takes away, if it is a removal (5.16): a revocation, or another change with a cut."""
    match op.body:
        case Revoke(replica=target, cut=cut):
            return Removal(op, Kind.ALL, target, cut.after_seq)
        case SetRole(replica=target, role=Role.MEMBER, cut=cut) if cut is not None:
            return Removal(op, Kind.ADMIN, target, cut.after_seq)
        case SetHosts(replica=target, cut=cut) if cut is not None:
            return Removal(op, Kind.HOSTS, target, cut.after_seq)
    return None


def is_own_device(admit: Admit, key: Key) -> bool:
    """Whether a member of the admitted handle may admit this replica, without being an admin (5.13)."""
    return (
        key.handle == admit.handle == person_part(admit.replica)
        and admit.role is Role.MEMBER
        and not admit.hosts
        and not admit.observer
    )


class Walk:
    """The state of one walk. Ops are given to `step` in fold order; what it came to is read afterwards."""

    def __init__(self, charter: Charter, accepted: Iterable[Removal]) -> None:
        self.charter = charter
        self.holders: dict[str, Holder] = {}
        self.invites: dict[str, tuple[OpenInvite, str]] = {}
        self.transport = SetTransport(TransportKind.GIT)
        self.legacy_closed = False
        self.attested: tuple[Attestation, ...] = ()
        """What is vouched for of unsigned logs, by the founding and by whoever closed the window."""
        self.people: dict[str, None] = {}
        """Every handle that was given, by the first time."""
        self.recovery_pub = charter.recovery_key()
        self.recovery_used: set[str] = set()
        self.licenses: list[tuple[str, str]] = []
        """Every licence key that was shared, and by whom."""
        self.dismissals: list[RosterOp] = []
        """Every `dismiss` by an admin; what they take out is judged when the walk is over."""
        self.unreadable: list[RosterOp] = []
        """The ops of later builds whose publishers stood at them."""
        self.ignored: dict[str, Ignored] = {}
        """By op hash, why an op has no effect. Removals are judged elsewhere, and only noted here when no
        removal could be accepted in their place."""
        self.recut(accepted)

    def recut(self, accepted: Iterable[Removal]) -> None:
        """Go on with these removals accepted, which would have changed nothing of the walk so far."""
        self._removals: defaultdict[str, list[Removal]] = defaultdict(list)
        self._accepted = set()
        for each in accepted:
            self._removals[each.target].append(each)
            self._accepted.add(each.hash)
        self._cuts = {target: Cuts(removals) for target, removals in self._removals.items()}

    def cut(self, removal: Removal) -> None:
        """Go on with one more removal accepted, which would have changed nothing of the walk so far."""
        self._removals[removal.target].append(removal)
        self._accepted.add(removal.hash)
        self._cuts[removal.target] = Cuts(self._removals[removal.target])

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
        return self.charter.handle_of_nobody(replica) if holder is None else holder.handle

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
        if holder is not None and not holder.observer and self.standing(op):
            self.unreadable.append(op)

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
                return self._close_legacy(op, body)
            case SetHosts():
                return self._hosts(op, body)
            case Recover():
                return self._recover(op)
            case _:
                return self._settings(op, body)

    def _found(self, op: RosterOp) -> Ignored | None:
        if op.hash != self.charter.founding.hash:
            return Ignored.OTHER_FOUNDING
        handle = self.charter.founders_handle()
        founder = Holder(op.replica, handle, (), False, op.key, op.hlc, first_tier=Tier.FOUNDER)
        founder.grant(op.position, admin=True)
        self.holders[op.replica] = founder
        assert isinstance(op.body, Found)
        self.attested = op.body.legacy
        self._give(handle, *(person_part(each.replica) for each in op.body.legacy))
        return None

    def _give(self, *handles: str) -> None:
        for handle in handles:
            self.people.setdefault(handle)

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
            standing is Standing.MEMBER
            and is_own_device(admit, key)
            and self.holders[op.replica].handle == admit.handle
        ):
            return Ignored.NO_RIGHT
        hosts = () if admit.observer else admit.hosts
        holder = Holder(admit.replica, admit.handle, hosts, admit.observer, admit.fingerprint, since=op.hlc)
        holder.grant(op.position, admin=admit.role is Role.ADMIN)
        self.holders[admit.replica] = holder
        if not admit.observer:
            self._give(admit.handle, *hosts)
        return None

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

    def _close_legacy(self, op: RosterOp, closing: CloseLegacy) -> Ignored | None:
        standing = self.standing(op)
        elapsed_ms = op.hlc.ms - self.charter.founding.hlc.ms
        if standing is not Standing.ADMIN and not (
            standing is Standing.MEMBER and elapsed_ms >= LEGACY_WINDOW_MS
        ):
            return Ignored.NO_RIGHT
        if self.legacy_closed:
            return Ignored.ALREADY_CLOSED
        self.legacy_closed = True
        self.attested += closing.entries
        return None

    def _hosts(self, op: RosterOp, change: SetHosts) -> Ignored | None:  # federation wire 5.12
        target = self.holders.get(change.replica)
        if change.cut is not None:  # judged before the walk
            if target is not None and op.hash in self._accepted:
                dropped = [handle for handle in target.hosts if handle not in change.hosts]
                target.host_cuts += [HostCut(handle, change.cut.after_seq) for handle in dropped]
                self._host(target, change.hosts)
            return None
        if self.standing(op) is not Standing.ADMIN:
            return Ignored.NO_RIGHT
        if target is None:
            return Ignored.NOT_ADMITTED
        if self._revoked_before(change.replica, op.position):
            return Ignored.REVOKED
        if not set(target.hosts) <= set(change.hosts):
            return Ignored.HOSTS_CUT_MISSING
        self._host(target, change.hosts)
        return None

    def _host(self, target: Holder, handles: tuple[str, ...]) -> None:
        target.hosts = handles
        if not target.observer:
            self._give(*handles)

    def _recover(self, op: RosterOp) -> Ignored | None:  # federation wire 5.15, in its order
        if op.replica in self.holders:
            return Ignored.ALREADY_ADMITTED
        if self._revoked_before(op.replica, op.position) or self.cuts(op.replica).revokes(op.seq):
            return Ignored.REVOKED_ITSELF
        if not self.charter.is_first(op):
            return Ignored.NOT_FIRST
        key = self.charter.key(op.replica, op.key)
        if key is None:
            return Ignored.NO_OWN_KEY
        if self.recovery_pub in self.recovery_used:
            return Ignored.RECOVERY_USED
        if not self.charter.proves_recovery(op, self.recovery_pub):
            return Ignored.OTHER_RECOVERY
        self.recovery_used.add(self.recovery_pub)
        holder = Holder(op.replica, key.handle, (), False, op.key, op.hlc, first_tier=Tier.RECOVERED)
        holder.grant(op.position, admin=True)
        self.holders[op.replica] = holder
        self._give(key.handle)
        return None

    def _settings(self, op: RosterOp, body: Body) -> Ignored | None:
        """What only an admin may do, and is done by its being there."""
        if self.standing(op) is not Standing.ADMIN:
            return Ignored.NO_RIGHT
        match body:
            case SetTransport():
                self.transport = body
            case SetRecoveryKey(pub=pub):
                self.recovery_pub = pub
            case SetLicense(key=key):
                self.licenses.append((key, op.replica))
            case Dismiss():
                self.dismissals.append(op)
        return None

    def _revoked_before(self, replica: str, position: Position) -> bool:
        revoked_at = self.cuts(replica).revoked_at
        return revoked_at is not None and revoked_at < position
