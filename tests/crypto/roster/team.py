"""A team in a few lines: roster ops of replicas whose keys are placeholders."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field

from crypto.clock import Reading
from crypto.invites import public_of, recovery_proof
from crypto.keys import InviteProof, person_part
from crypto.roster import RosterOp, View, fold
from crypto.roster.bodies import Admit, Body, CutPoint, Found, Recover, Revoke, Role, SetHosts, SetRole
from crypto.roster.walk import Charter, charter_of

ADA = "ada-0000000a"
BOB = "bob-0000000b"
CY = "cy-0000000c"
DEE = "dee-0000000d"
EVE = "eve-0000000e"

START_MS = 1_790_000_000_000
NO_HASH = "0" * 64


@dataclass(frozen=True, slots=True)
class PlaceholderKey:
    """A key that signs nothing; its fingerprint is made of the replica's id."""

    handle: str
    sign_pub: str
    fingerprint: str
    invite: InviteProof | None = None


def key_of(replica: str, handle: str | None = None) -> PlaceholderKey:
    return PlaceholderKey(handle or person_part(replica), f"sign-{replica}", fp(replica))


def fp(replica: str) -> str:
    return f"FP-{replica}"


def op(
    replica: str, seq: int, at: int, body: Body, *, key: str | None = None, salt: str = "", counter: int = 0
) -> RosterOp:
    """A roster op at a seq, `at` milliseconds into the story."""
    reading = Reading(START_MS + at, counter, replica)
    text = f"{replica} {seq} {reading} {body} {key} {salt}"
    return RosterOp(
        replica, seq, reading, hashlib.sha256(text.encode()).hexdigest(), body, key or fp(replica)
    )


def admit(
    replica: str,
    role: Role = Role.MEMBER,
    *,
    handle: str | None = None,
    fingerprint: str | None = None,
    hosts: Iterable[str] = (),
    observer: bool = False,
) -> Admit:
    return Admit(
        replica, handle or person_part(replica), role, fingerprint or fp(replica), tuple(hosts), observer
    )


def admin(replica: str) -> Admit:
    return admit(replica, Role.ADMIN)


def revoke(replica: str, after_seq: int) -> Revoke:
    return Revoke(replica, CutPoint(after_seq, NO_HASH), "left")


def demote(replica: str, after_seq: int) -> SetRole:
    return SetRole(replica, Role.MEMBER, CutPoint(after_seq, NO_HASH))


def promote(replica: str) -> SetRole:
    return SetRole(replica, Role.ADMIN)


def hosts(replica: str, *handles: str, after_seq: int | None = None) -> SetHosts:
    return SetHosts(replica, handles, None if after_seq is None else CutPoint(after_seq, NO_HASH))


SEED, OTHER_SEED = b"r" * 32, b"s" * 32
"""Of the recovery code that the founding names, and of another."""

FOUNDING = op(ADA, 2, 0, Found("Orchard", (), public_of(SEED)))


def recover(replica: str, seed: bytes = SEED) -> Recover:
    return Recover(recovery_proof(seed, team=FOUNDING.hash[:32], replica=replica, sign_pub=f"sign-{replica}"))


@dataclass
class Team:
    """A team that ada founded at seq 2; each op is published one millisecond after the one before."""

    keys: dict[str, PlaceholderKey] = field(default_factory=dict)
    ops: list[RosterOp] = field(default_factory=lambda: [FOUNDING])

    def __post_init__(self) -> None:
        for replica in (ADA, BOB, CY, DEE, EVE):
            self.keys.setdefault(replica, key_of(replica))

    def says(self, replica: str, body: Body, *, seq: int | None = None, at: int | None = None) -> RosterOp:
        """Publish an op; by default at the replica's next seq, and later than everything so far."""
        own = [each.seq for each in self.ops if each.replica == replica]
        latest = max(each.hlc.ms for each in self.ops) - START_MS
        made = op(
            replica,
            max(own, default=1) + 1 if seq is None else seq,
            latest + 1 if at is None else at,
            body,
        )
        self.ops.append(made)
        return made

    @property
    def charter(self) -> Charter:
        claims = {replica: {key.fingerprint: key} for replica, key in self.keys.items()}
        return charter_of(FOUNDING, claims, self.ops)

    @property
    def view(self) -> View:
        return fold(FOUNDING.hash, self.ops, self.keys)
