"""What a roster comes to: who is in the team and what a replica may say at each of its ops (5.37, 5.40)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from crypto.clock import Reading
from crypto.invites import verify_invite
from crypto.keys import person_part
from crypto.roster.bodies import Attestation, CutPoint, Role, SetTransport
from crypto.roster.notes import Ignored, Note
from crypto.roster.ops import Key, RosterOp
from crypto.roster.rights import HostCut

FREE_SEATS: Final = 3
"""People a team may have without a licence."""


class Decision(StrEnum):
    """What became of a removal."""

    ACCEPTED = "accepted"
    VOID = "void"


@dataclass(frozen=True, slots=True)
class Member:
    """An admitted replica, and the fingerprint of the key it was admitted with.

    `rank` counts admins from 0, the most senior; None for the others. `hosts` are the handles it speaks for
    besides its own, `host_cuts` those it spoke for up to some seq. `recovered` is one that let itself in with
    the recovery code. Handles are text of whoever admitted it.
    """

    replica: str
    handle: str
    fingerprint: str
    role: Role
    rank: int | None
    hosts: tuple[str, ...]
    observer: bool
    since: Reading
    host_cuts: tuple[HostCut, ...] = ()
    recovered: bool = False


@dataclass(frozen=True, slots=True)
class Cut:
    """Where a revoked replica ends, who said so, and what it was.

    `handle` and `fingerprint` are None if it never was admitted. The reason and the handles are text of
    others.
    """

    replica: str
    point: CutPoint
    reason: str
    by: str
    handle: str | None
    fingerprint: str | None
    hosts: tuple[str, ...]
    observer: bool
    host_cuts: tuple[HostCut, ...] = ()


@dataclass(frozen=True, slots=True)
class Dismissal:
    """An op that this build cannot read and that an admin took out, and the replica of that admin."""

    replica: str
    seq: int
    hash: str
    by: str


@dataclass(frozen=True, slots=True)
class License:
    """The licence key that was shared last, and the replica that shared it; its text is not judged here."""

    key: str
    by: str


@dataclass(frozen=True, slots=True)
class Invite:
    """A published invite and the replica that published it; `expires` is its text, not judged here."""

    id: str
    pub: str
    handle: str
    expires: str
    by: str


@dataclass(frozen=True, slots=True)
class View:
    """A roster, folded."""

    team_id: str
    name: str
    founder: str
    members: Mapping[str, Member]
    """In no order to be relied upon."""
    revoked: Mapping[str, Cut]
    resolution: Mapping[str, Decision]
    """By op hash, what became of every removal."""
    pending: tuple[str, ...]
    """Replicas with one announced key that were neither admitted nor revoked, sorted."""
    invites: Mapping[str, Invite]
    recovery_pub: str
    """The public key of the recovery code that counts now."""
    recovery_used: bool
    """Whether that code was used already, so that it lets nobody in any more."""
    license: License | None
    dismissed: tuple[Dismissal, ...]
    """In fold order of what was dismissed."""
    transport: SetTransport
    legacy_closed: bool
    legacy_deadline_ms: int
    """When any member may close the window in which unsigned logs count."""
    attested: tuple[Attestation, ...]
    """What is vouched for of unsigned logs."""
    unannounced: tuple[Attestation, ...]
    """Of these, whose replicas have announced no key."""
    granted: tuple[str, ...]
    """Every handle that was ever given, in the order of the first time."""
    ignored: Mapping[str, Ignored]
    """By op hash, every op without effect and why."""
    problems: tuple[Note, ...]
    unknown: RosterOp | None
    """The first op that pauses this replica until it is updated (federation wire 5.34)."""
    forks: Mapping[str, int] = field(default_factory=dict)
    """Replicas that signed two histories, each with the seq from which on none of them counts. Whoever reads chains
    says so; a fold cannot see it."""

    @property
    def seats(self) -> int:
        """How many people a team may have by its licence (federation wire 5.38).

        No key is known here that a licence could be signed with, so every one reads as none. Nothing is refused for
        the lack of a seat: the number is shown, as others may count it.
        """
        return FREE_SEATS

    @property
    def people(self) -> tuple[str, ...]:
        """Those who take a seat, first come first (federation wire 5.38)."""
        counted = {
            handle
            for member in self.members.values()
            if not member.observer
            for handle in (member.handle, *member.hosts)
        }
        if not self.legacy_closed:
            counted.update(person_part(each.replica) for each in self.unannounced)
        return tuple(handle for handle in self.granted if handle in counted)

    @property
    def covered(self) -> tuple[str, ...]:
        """Those for whom there is a seat."""
        return self.people[: self.seats]

    def covers(self, replica: str) -> bool:
        """Whether a member's seat is there: an observer needs none, and whom it hosts does not count."""
        member = self.members.get(replica)
        return member is not None and (member.observer or member.handle in self.covered)

    def is_member(self, replica: str) -> bool:
        """Whether a replica is admitted and not revoked; observers are members too."""
        return replica in self.members

    def is_admin(self, replica: str) -> bool:
        """Whether a replica is an admin now."""
        member = self.members.get(replica)
        return member is not None and member.role is Role.ADMIN

    def standing(self, replica: str, seq: int) -> bool:
        """Whether what a replica published at `seq` counts: it is a member, or was revoked past there.

        Where it signed two histories, nothing does from where they part.
        """
        if seq >= self.forks.get(replica, seq + 1):
            return False
        if replica in self.members:
            return True
        cut = self.revoked.get(replica)
        return cut is not None and cut.handle is not None and seq <= cut.point.after_seq

    def speaks_for_handle(self, replica: str, handle: str, seq: int) -> bool:
        """Whether a replica's op at `seq` may speak for a handle (federation wire 5.40)."""
        if not self.standing(replica, seq):
            return False
        held = self.members.get(replica) or self.revoked[replica]
        return not held.observer and (
            handle == held.handle
            or handle in held.hosts
            or any(cut.handle == handle and seq <= cut.after_seq for cut in held.host_cuts)
        )

    def replicas_of(self, handle: str) -> tuple[str, ...]:
        """The replicas that deliver a handle's mail, sorted (federation wire 9.1)."""
        return tuple(
            sorted(
                member.replica
                for member in self.members.values()
                if not member.observer and (handle == member.handle or handle in member.hosts)
            )
        )

    def invited_by(self, replica: str, key: Key) -> Invite | None:
        """The invite that a key announced for a replica proves to have been given (federation wire 4.4).

        Whether it has expired or was used before is for the inviter to say.
        """
        proof = key.invite
        invite = None if proof is None else self.invites.get(proof.id)
        if proof is None or invite is None or invite.handle != key.handle:
            return None
        proved = verify_invite(
            invite.pub, proof.sig, team=self.team_id, replica=replica, sign_pub=key.sign_pub
        )
        return invite if proved else None
