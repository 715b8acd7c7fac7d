"""What an audit found, as values and as one JSON document (docs/audit.md)."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from core.timestamp import timestamp
from crypto.canonical import JsonValue
from crypto.chain import Head
from crypto.clock import Reading
from crypto.fork_proof import ForkProof
from replica.audit.evidence import Evidence
from transports.base import Skipped

SHAPE: Final = 1
"""Counts the shapes of the JSON document; members may be added within one."""


class Status(StrEnum):
    """What a replica is in the team."""

    FOUNDER = "founder"
    ADMIN = "admin"
    MEMBER = "member"
    OBSERVER = "observer"
    PENDING = "pending"
    REVOKED = "revoked"
    DISPUTED = "disputed"
    """Several keys were announced for it, and the roster has decided for none."""
    ANNOUNCED = "announced"
    """It has announced a key, and there is no team that could vouch for it."""
    UNKNOWN = "unknown"
    """It has announced no key that verifies."""


class Trouble(StrEnum):
    """Why a chain does not verify to its end."""

    HALT = "halt"
    FORK = "fork"
    STALL = "stall"
    GAP = "gap"
    CLOCK = "clock"
    UNDECIDED = "undecided"
    NO_KEY = "no-key"
    SHORT = "short"


@dataclass(frozen=True, slots=True)
class Fault:
    """Where and why a chain does not verify: in short, and as a sentence.

    `seq` is that of the op at fault; for an op that waits for its clock, of the op before it; None where no
    op can be named.
    """

    trouble: Trouble
    seq: int | None
    reason: str
    text: str


@dataclass(frozen=True, slots=True)
class ReplicaReport:
    """One chain. `handle` and `device` are text of others.

    Counts are of the ops accepted, of a revoked replica those up to the seq `cut`; `past_cut` counts the
    rest. `unlinked` are lines past the last accepted op that do not link to it, `junk` lines that are no part
    of the chain, `rival_keys` other keys announced for this id, and `repeated` the seqs of ops whose line
    repeats a key: the first few of `repeated_count`. `evidence` are the lines at the place of the fault, and
    `proof` shows to anybody that the key signed two histories.
    """

    replica: str
    status: Status
    handle: str | None = None
    device: str | None = None
    fingerprint: str | None = None
    cut: int | None = None
    ops: int = 0
    past_cut: int = 0
    stubs: int = 0
    types: Mapping[str, int] | None = None
    first: Reading | None = None
    last: Reading | None = None
    head: Head | None = None
    repeated_count: int = 0
    repeated: tuple[int, ...] = ()
    unlinked: int = 0
    junk: int = 0
    rival_keys: int = 0
    fault: Fault | None = None
    evidence: tuple[Evidence, ...] = ()
    proof: ForkProof | None = None

    def to_json(self) -> dict[str, JsonValue]:
        return {
            "replica": self.replica,
            "status": self.status.value,
            "handle": self.handle,
            "device": self.device,
            "fingerprint": self.fingerprint,
            "cut": self.cut,
            "ops": self.ops,
            "pastCut": self.past_cut,
            "stubs": self.stubs,
            "types": dict(sorted((self.types or {}).items())),
            "first": None if self.first is None else timestamp(self.first.ms),
            "last": None if self.last is None else timestamp(self.last.ms),
            "head": None if self.head is None else {"seq": self.head.seq, "hash": self.head.hash},
            "repeatedKeys": {"count": self.repeated_count, "seqs": list(self.repeated)},
            "unlinked": self.unlinked,
            "junk": self.junk,
            "rivalKeys": self.rival_keys,
            "fault": None
            if self.fault is None
            else {
                "kind": self.fault.trouble.value,
                "seq": self.fault.seq,
                "reason": self.fault.reason,
                "text": self.fault.text,
                "evidence": [each.to_json() for each in self.evidence],
            },
            "proof": None if self.proof is None else self.proof.to_bytes().decode(),
        }


@dataclass(frozen=True, slots=True)
class TeamReport:
    """The team. The name is text of the founder; `notes` say which roster ops have no effect, and why."""

    id: str
    name: str
    founder: str
    notes: tuple[str, ...]

    def to_json(self) -> dict[str, JsonValue]:
        return {"id": self.id, "name": self.name, "founder": self.founder, "notes": list(self.notes)}


@dataclass(frozen=True, slots=True)
class Unlisted:
    """Chains that were verified and have no row of their own: how many, their ops, how many have a fault."""

    replicas: int = 0
    ops: int = 0
    faulty: int = 0

    def plus(self, row: ReplicaReport) -> "Unlisted":
        return Unlisted(self.replicas + 1, self.ops + row.ops, self.faulty + (row.fault is not None))

    def to_json(self) -> dict[str, JsonValue]:
        return {"replicas": self.replicas, "ops": self.ops, "faulty": self.faulty}


@dataclass(frozen=True, slots=True)
class Report:
    """A whole audit. Without a team, every key is only what its holder says.

    `replicas` are the roster's and the first of all others, by id; the rest is `unlisted`. `skipped` are the
    first places of what is no line of any chain, and `skipped_count` all such lines.
    """

    source: str
    team: TeamReport | None
    replicas: tuple[ReplicaReport, ...]
    unlisted: Unlisted
    skipped: tuple[Skipped, ...]
    skipped_count: int

    @property
    def verified(self) -> bool:
        """Whether every chain verifies."""
        return not self.faulty and not self.unlisted.faulty

    @property
    def faulty(self) -> tuple[ReplicaReport, ...]:
        return tuple(each for each in self.replicas if each.fault is not None)

    def to_json(self) -> dict[str, JsonValue]:
        return {
            "audit": SHAPE,
            "source": self.source,
            "verified": self.verified,
            "team": None if self.team is None else self.team.to_json(),
            "replicas": [each.to_json() for each in self.replicas],
            "unlisted": self.unlisted.to_json(),
            "skipped": {
                "count": self.skipped_count,
                "places": [
                    {
                        "place": each.place,
                        "replica": each.replica or None,
                        "line": each.line or None,
                        "count": each.count,
                        "reason": each.reason,
                    }
                    for each in self.skipped
                ],
            },
        }
