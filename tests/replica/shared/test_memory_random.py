"""Machines that write to memory apart, at random, agree once they have met, and decide each for itself."""

from pathlib import Path
from random import Random

import pytest

from core.errors import DmpError
from core.inputs import Sender
from replica.host import memory, memory_gates, memory_merging
from replica.host.config import Config, MemoryPolicy
from replica.host.memory import Kept
from replica.host.principals import sender
from replica.shared import fold
from replica.shared.memory import changes, proposals
from replica.shared.memory.entries import Entry, entry_of
from replica.shared.memory.writes import all_writes
from replica.team import commands
from tests.replica.shared.acts import register, view_of
from tests.replica.world import Machine, exchange, world

HANDLES = ("ada", "bob", "cy")
STEPS = 70


class Acts:
    """What a machine may do, drawn by one seed."""

    def __init__(self, machines: list[Machine], random: Random) -> None:
        self.machines, self.random = machines, random
        self.done = 0

    def step(self) -> None:
        machine = self.random.choice(self.machines)
        machine.clock.ms += self.random.choice((0, 1, 40_000))
        act = self.random.choice(
            (
                self.put,
                self.put,
                self.edit,
                self.edit,
                self.pin,
                self.retire,
                self.merge,
                self.decide,
                self.sync,
            )
        )
        try:
            act(machine)
        except DmpError:  # what was drawn is not possible there now
            return
        self.done += 1

    def sync(self, machine: Machine) -> None:
        machine.sync()

    def put(self, machine: Machine) -> None:
        scope = self.random.choice(proposals.SCOPES)
        fields = {"title": self.word(), "body": self.word(), "kind": "fact"}
        memory.put(machine.node, self.who(machine), scope, fields)

    def edit(self, machine: Machine) -> None:
        name = self.random.choice(("title", "body", "epic"))
        memory.edit(machine.node, self.who(machine), self.any(machine), {name: self.word()})

    def pin(self, machine: Machine) -> None:
        memory.edit(
            machine.node, self.who(machine), self.any(machine), {"pinned": self.random.random() < 0.5}
        )

    def retire(self, machine: Machine) -> None:
        memory.retire(machine.node, self.who(machine), self.any(machine), "forgotten")

    def merge(self, machine: Machine) -> None:
        name = self.any(machine)
        revisions = memory_merging.names(memory.need(machine.node, name).entry)
        memory_merging.take(machine.node, self.who(machine), name, self.random.choice(revisions)[0])

    def decide(self, machine: Machine) -> None:
        memory_gates.judge(machine.node)
        open_ones = proposals.in_state(machine.node.store.db, proposals.State.OPEN)
        if open_ones:
            proposal = self.random.choice(open_ones)
            memory_gates.decide(machine.node, proposal, approve=self.random.random() < 0.6)

    def who(self, machine: Machine) -> Sender:
        by = f"agent:{machine.node.handle}/helper" if self.random.random() < 0.4 else None
        return sender(machine.node, by)

    def any(self, machine: Machine) -> str:
        found = [each.entry.id for each in memory.every(machine.node)]
        return self.random.choice(found) if found else "mem-none"

    def word(self) -> str:
        return f"word {self.random.randrange(1_000)}"


def published(machine: Machine) -> dict[str, Entry]:
    """What all writes of the team come to, before anybody here decided anything."""
    says = view_of(machine).speaks_for_handle
    return {
        name: entry_of(
            name, writes, "nobody", lambda replica, handle, seq: says(replica, handle, seq or 0), {}
        )
        for name, writes in all_writes(machine.node.store.db)
    }


def listed(machine: Machine) -> list[Kept]:
    return memory.every(machine.node)


def settle(machines: list[Machine]) -> None:
    latest = max(machine.clock.ms for machine in machines)
    for machine in machines:
        machine.clock.ms = latest
    exchange(*machines)


@pytest.mark.parametrize("seed", range(6))
def test_machines_that_write_apart_agree_once_they_have_met(tmp_path: Path, seed: int) -> None:
    random = Random(seed)
    with world(tmp_path / "machines") as w:
        machines = w.team(*HANDLES)
        exchange(*machines)
        machines[0].node.host._config = Config(memory=MemoryPolicy(agents="allow"))
        for machine in machines:
            register(machine, f"agent:{machine.node.handle}/helper")
        acts = Acts(machines, random)
        for _ in range(STEPS):
            acts.step()
        settle(machines)
        assert acts.done > STEPS // 2
        agree(machines)
        for machine in machines:
            assert changes.waiting(machine.node.store.db) == []
            whole = listed(machine)
            fold.refold(machine.node.store, view_of(machine), machine.node.now())
            machine.sync()
            assert listed(machine) == whole
        gone = machines.pop()
        commands.revoke(machines[0].pass_(), gone.me, "lost")
        for _ in range(STEPS // 4):
            acts.step()
        settle(machines)
        agree(machines)


def agree(machines: list[Machine]) -> None:
    first, *others = (published(machine) for machine in machines)
    assert first
    for other in others:
        assert other == first
    for machine in machines:
        for kept in listed(machine):
            if kept.scope == "team" and not first[kept.entry.id].held:
                assert kept.entry == first[kept.entry.id], "nobody had to decide anything about it"
            held = {each.write.place for each in kept.entry.held}
            asked = {each.place for each in proposals.of_memory(machine.node.store.db, kept.entry.id)}
            assert held <= asked, "everything that is held is asked about"
