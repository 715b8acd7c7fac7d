"""A machine whose owner runs another program from some moment on, one that breaks the rules with the machine's own key.

It signs on top of what its lane shows, and puts lines wherever it can push, which is everywhere.
"""

from collections.abc import Callable, Collection, Iterable
from random import Random
from typing import Any, Final

from crypto.canonical import JsonValue
from crypto.clock import Reading
from crypto.op import ABSENT, ZERO_HASH, Absent, Op, Unverified, make_op, read_line, to_line
from crypto.sealing import seal
from replica.team.roster import Team
from tests.simulation.machine import SimMachine
from tests.simulation.registry import NothingError
from tests.simulation.stage import Stage
from transports.memory import MemoryRemote

WEIGHT: Final = 1.5
"""How often most hostile acts are drawn."""

_HONEST: Final = 3
"""Machines of a team that stay honest, at least."""


def some(found: list[Any], random: Random) -> Any:
    """One of what there is. Raises NothingError."""
    if not found:
        raise NothingError
    return random.choice(found)


def team_of(machine: SimMachine) -> Team:
    """The team as a machine knew it last. Raises NothingError."""
    team = machine.node.team
    if team is None:
        raise NothingError
    return team


def villain(stage: Stage, machine: SimMachine, random: Random) -> "Villain":
    """A machine that breaks the rules already, or this one from now on. Raises NothingError where it stays honest."""
    if not stage.network.keeps_everything and stage.happened["hostile: roll back"]:
        raise NothingError  # as there
    fallen = [each for each in stage.machines if each.me in stage.dishonest]
    if not fallen or random.random() < 0.1:
        team = machine.node.team
        honest = [
            each
            for each in stage.standing
            if each.me not in stage.dishonest and each.node.team is not None and each is not machine
        ]
        if (
            machine.me in stage.dishonest
            or team is None
            or not team.ready(machine.me)
            or len(honest) < _HONEST
        ):
            raise NothingError
        fall(stage, machine)
        fallen = [machine]
    return Villain(stage, random.choice(fallen), random)


def fall(stage: Stage, machine: SimMachine) -> None:
    """Let a machine break the rules from here on; nobody runs `dmp` on it any more."""
    stage.dishonest.add(machine.me)
    machine.gone = True


class Villain:
    """Signs with the key of a machine what it likes, from the end of its lane on."""

    def __init__(self, stage: Stage, machine: SimMachine, random: Random) -> None:
        self.stage, self.machine, self.random = stage, machine, random
        self.side = stage.network.side_of(machine.me)
        reads = [read_line(raw) for raw in lane(self.side, machine.me)]
        own = [each for each in reads if isinstance(each, Unverified) and each.replica == machine.me]
        last = max(own, key=lambda each: each.seq, default=None)
        self.seq = 1 if last is None else last.seq + 1
        self.prev = ZERO_HASH if last is None else last.hash
        self.before = last
        self.ms = max(stage.time.now, 0 if last is None else last.hlc.ms + 1)
        self.earliest = 0 if last is None else last.hlc.ms + 1

    @property
    def me(self) -> str:
        return self.machine.me

    def others(self) -> list[SimMachine]:
        """Machines of the team besides this one, as far as their keys are known here."""
        keys = team_of(self.machine).keys
        found = [each for each in self.stage.machines if each is not self.machine and each.me in keys]
        if not found:
            raise NothingError
        return found

    def victim(self) -> SimMachine:
        """One honest machine."""
        honest = [each for each in self.others() if each.me not in self.stage.dishonest]
        if not honest:
            raise NothingError
        return self.random.choice(honest)

    def op(
        self,
        type_: str,
        *,
        body: JsonValue | Absent = ABSENT,
        payload: JsonValue = None,
        to: Collection[SimMachine] = (),
        sealed: dict[str, JsonValue] | None = None,
    ) -> Op:
        """Sign the next op, with a payload sealed to machines where there are any, or with a seal as given."""
        if to:
            keys = team_of(self.machine).keys
            sealed = seal(
                payload,
                replica=self.me,
                seq=self.seq,
                type=type_,
                recipients={each.me: keys[each.me].seal_key for each in to},
                random=self.random.randbytes,
            )
        made = make_op(
            replica=self.me,
            seq=self.seq,
            prev=self.prev,
            hlc=Reading(self.ms, self.random.choice((0, 1, 9_999, 10_000)), self.me),
            type=type_,
            signer=self.machine.identity.secrets.signer,
            body=body,
            sealed=sealed,
        )
        self.seq, self.prev, self.ms = made.seq + self.random.choice((1, 1, 3)), made.hash, self.ms + 1
        return made

    def mail(self, to: SimMachine, **changes: JsonValue) -> Op:
        """A mail op to one machine, with members of its message changed."""
        return self.op("mail", payload=self.payload(to, **changes), to=(to,))

    def payload(self, to: SimMachine, **changes: JsonValue) -> dict[str, JsonValue]:
        name = f"m-hostile-{self.random.randrange(10**9)}"
        message: dict[str, JsonValue] = {
            "id": name,
            "thread": name,
            "replyTo": None,
            "from": self.machine.address,
            "to": [to.address],
            "kind": "message",
            "body": f"words {self.random.randrange(10**9)}",
            "refs": [],
            "urgent": False,
            "blocking": False,
            "wake": "none",
            "createdAt": "2026-09-21T14:13:20.000Z",
            "hlc": f"{self.ms}.0000.{self.me}",
            **changes,
        }
        targets: list[JsonValue] = [{"recipient": to.address, "via": "direct", "homes": [to.me]}]
        return {"message": message, "targets": targets}

    def state(self, to: SimMachine, *entries: dict[str, JsonValue]) -> Op:
        at = "2026-09-21T14:13:20.000Z"
        return self.op("state", payload={"entries": [{"at": at, **entry} for entry in entries]}, to=(to,))

    def publish(self, *made: Op, side: MemoryRemote | None = None) -> None:
        """Put ops into the own lane."""
        (side or self.side).put(self.me, *(to_line(op) for op in made))


def lane(side: MemoryRemote, replica: str) -> list[bytes]:
    """The lines of one lane."""
    found = side.state().lanes.get(replica)
    return [] if found is None else found[0].raws[: found[1]]


def rewritten(
    side: MemoryRemote, replica: str, change: Callable[[list[bytes]], Iterable[bytes]]
) -> MemoryRemote:
    """A far side as this one is, but for one lane. Raises NothingError where nobody can write to others' lanes."""
    if type(side) is not MemoryRemote:
        raise NothingError
    made, state = MemoryRemote(f"{side.name}-rewritten-{side.tip}"), side.state()
    for name in state.lanes:
        raws = lane(side, name)
        made._append(name, list(change(raws)) if name == replica else raws, state.acks.get(name))
    return made
