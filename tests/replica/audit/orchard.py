"""A small team whose chains are signed for real, and audits of its lines."""

from collections.abc import Iterable
from contextlib import AbstractContextManager
from itertools import count
from pathlib import Path

from crypto.canonical import JsonValue
from crypto.clock import Reading
from crypto.keys import team_id
from crypto.op import Op, to_line
from crypto.roster.bodies import Action, Admit, CutPoint, Found, Revoke, Role
from replica.audit.engine import audit
from replica.audit.from_file import open_file
from replica.audit.report import ReplicaReport, Report
from replica.audit.scratch import LOOK_AHEAD_KIB, Scratch
from replica.audit.source import Source
from tests.crypto.publisher import START_MS, Publisher

ADA = "ada-0000000a"
BOB = "bob-0000000b"
CY = "cy-0000000c"
EVE = "eve-0000000e"
NOW_MS = START_MS + 10_000_000

_tick = count(2)


class Member:
    """A replica that signs one op after another; `ops` are all it has signed.

    What is signed later, by anyone, has a later clock.
    """

    def __init__(self, replica: str, fill: int) -> None:
        self.publisher = Publisher(replica, fill)
        self.replica = replica
        self.key = self.publisher.key
        self.ops: list[Op] = []

    @property
    def head(self) -> Op:
        return self.ops[-1]

    def announce(self, **changes: JsonValue) -> "Member":
        self.ops.append(self.publisher.key_op(**changes))
        return self

    def say(self, type: str, body: JsonValue) -> Op:
        self.ops.append(self.publisher.sign(self.head, type, body, hlc=self._now()))
        return self.head

    def rival(self, after: Op, body: JsonValue, *, seq: int | None = None) -> Op:
        """Sign an op after another one, beside the chain."""
        return self.publisher.sign(after, "task", body, seq=seq, hlc=self._now())

    def _now(self) -> Reading:
        return Reading(START_MS + next(_tick), 0, self.replica)

    def tasks(self, number: int) -> "Member":
        for each in range(number):
            self.say("task", {"task": f"t-{each}"})
        return self

    def mail(self) -> Op:
        sealed = self.publisher.mail(self.head).sealed
        self.ops.append(self.publisher.sign(self.head, "mail", sealed=sealed, hlc=self._now()))
        return self.head

    def roster(self, action: Action) -> Op:
        return self.say("roster", action.to_json())

    def found(self, name: str = "Orchard") -> Op:
        return self.roster(Found(name, (), self.key.sign_pub))

    def admit(self, other: "Member", role: Role = Role.MEMBER, *, observer: bool = False) -> Op:
        return self.roster(Admit(other.replica, other.key.handle, role, other.key.fingerprint, (), observer))

    def revoke(self, other: "Member", after: Op | None = None, *, hash: str | None = None) -> Op:
        after = after or other.head
        return self.roster(Revoke(other.replica, CutPoint(after.seq, hash or after.hash), "left"))

    @property
    def lines(self) -> list[bytes]:
        return [to_line(op) for op in self.ops]


class Orchard:
    """ada founded the team and admitted bob; eve waits."""

    def __init__(self) -> None:
        self.ada = Member(ADA, 1).announce()
        self.bob = Member(BOB, 2).announce()
        self.eve = Member(EVE, 5).announce()
        self.founding = self.ada.found()
        self.ada.admit(self.bob)
        self.ada.tasks(2)
        self.bob.tasks(3)
        self.bob.mail()

    @property
    def members(self) -> tuple[Member, ...]:
        return (self.ada, self.bob, self.eve)

    @property
    def lines(self) -> list[bytes]:
        """The lines of all, a member's after another's."""
        return [line for member in self.members for line in member.lines]

    @property
    def team_id(self) -> str:
        return team_id(self.founding.hash)


def audit_source(
    opened: AbstractContextManager[Source],
    scratch: Scratch,
    *,
    team: str | None = None,
    replica: str | None = None,
    now_ms: int = NOW_MS,
) -> Report:
    with opened as source:
        return audit(source, scratch, now_ms, team=team, replica=replica)


def audit_lines(
    folder: Path,
    lines: Iterable[bytes],
    *,
    team: str | None = None,
    replica: str | None = None,
    look_ahead_kib: int = LOOK_AHEAD_KIB,
    now_ms: int = NOW_MS,
) -> Report:
    """Audit lines as a file."""
    path = folder / "lines.jsonl"
    path.write_bytes(b"".join(line + b"\n" for line in lines))
    with Scratch(look_ahead_kib) as scratch:
        return audit_source(open_file(path, scratch), scratch, team=team, replica=replica, now_ms=now_ms)


def row(report: Report, replica: str) -> ReplicaReport:
    return next(each for each in report.replicas if each.replica == replica)


def faults(report: Report) -> dict[str, tuple[str, int | None, str]]:
    """By replica, the trouble, seq and reason of every fault."""
    return {
        each.replica: (each.fault.trouble.value, each.fault.seq, each.fault.reason)
        for each in report.replicas
        if each.fault is not None
    }
