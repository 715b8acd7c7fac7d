"""Machines that edit at random, apart, agree once they have met, and compute the same homes."""

from pathlib import Path
from random import Random

import pytest

from core.store import registers
from crypto.canonical import JsonValue
from replica.host import items
from replica.records.commits import CommitPoint
from replica.shared import fold, runs
from replica.shared.homes import homes
from replica.shared.kinds import KINDS
from replica.team import commands
from tests.replica.world import Machine, exchange, world

STEPS = 60
HANDLES = ("ada", "bob", "cy")
CHANNELS = ("eng", "ops/night")


class Acts:
    """What a machine may do, drawn by one seed."""

    def __init__(self, machines: list[Machine], random: Random) -> None:
        self.machines, self.random = machines, random
        self.tasks: list[str] = []

    def step(self) -> None:
        machine = self.random.choice(self.machines)
        machine.clock.ms += self.random.choice((0, 1, 40_000))
        self.random.choice(
            (self.add, self.edit, self.join, self.leave, self.run, self.end, self.sync, self.sync)
        )(machine)

    def sync(self, machine: Machine) -> None:
        machine.sync()

    def add(self, machine: Machine) -> None:
        node = machine.node
        with node.store.transaction(CommitPoint.WORK_ITEM) as db:
            fields: dict[str, JsonValue] = {"title": self.word(), "assignee": self.assignee()}
            self.tasks.append(items.add(db, node.random, fields, now=node.now()).address)

    def edit(self, machine: Machine) -> None:
        known = items.every(machine.node.store.db)
        if known:
            with machine.node.store.transaction(CommitPoint.WORK_ITEM) as db:
                changes: list[tuple[str, JsonValue]] = [
                    ("title", self.word()),
                    ("assignee", self.assignee()),
                    ("labels", [self.word()]),
                ]
                items.edit(db, self.random.choice(known).address, dict([self.random.choice(changes)]))

    def join(self, machine: Machine) -> None:
        machine.node.engine.join(self.random.choice(CHANNELS), f"human:{self.random.choice(HANDLES)}")

    def leave(self, machine: Machine) -> None:
        machine.node.engine.leave(self.random.choice(CHANNELS), f"human:{self.random.choice(HANDLES)}")

    def run(self, machine: Machine) -> None:
        node, known = machine.node, items.every(machine.node.store.db)
        if known:
            with node.store.transaction(CommitPoint.SESSION) as db:
                task = self.random.choice(known).address
                made = node.host.sessions_here.make(node.random, task, None, now=node.now())
                registers.edit(db, "session", made.address, {"live": True})

    def end(self, machine: Machine) -> None:
        here = machine.node.host.sessions_here
        live = [each for each in here.every() if each.marked_live]
        if live:
            with machine.node.store.transaction(CommitPoint.SESSION):
                here.end(self.random.choice(live), now=machine.node.now())

    def word(self) -> str:
        return f"word {self.random.randrange(1_000)}"

    def assignee(self) -> str:
        return f"human:{self.random.choice(HANDLES)}"


def shared(machine: Machine) -> dict[str, object]:
    """All of the shared state of a machine, as it is read there."""
    db = machine.node.store.db
    found: dict[str, object] = {kind: registers.subjects(db, kind) for kind in KINDS}
    found["runs"] = runs.bound(db)
    return found


def homes_of(machine: Machine, addresses: list[str]) -> list[tuple[str, ...]]:
    team = machine.node.team
    assert team is not None
    return [homes(machine.node.store.db, team.view, address) for address in addresses]


@pytest.mark.parametrize("seed", range(8))
def test_machines_that_edit_apart_agree_once_they_have_met(tmp_path: Path, seed: int) -> None:
    random = Random(seed)
    with world(tmp_path / "machines") as w:
        machines = w.team(*HANDLES)
        exchange(*machines)
        acts = Acts(machines, random)
        for _ in range(STEPS):
            acts.step()
        settle(machines)
        assert acts.tasks
        agree(machines, acts.tasks)
        assert all(each.count("registers") > 0 for each in machines)
        revoked = machines.pop()
        commands.revoke(machines[0].pass_(), revoked.me, "lost")
        for _ in range(STEPS // 3):
            acts.step()
        settle(machines)
        agree(machines, acts.tasks)
        for machine in machines:
            before = shared(machine)
            team = machine.node.team
            assert team is not None
            fold.refold(machine.node.store, team.view, machine.node.now())
            assert shared(machine) == before, "what was folded op by op is what all of them come to"


def settle(machines: list[Machine]) -> None:
    latest = max(machine.clock.ms for machine in machines)
    for machine in machines:
        machine.clock.ms = latest
    exchange(*machines)


def agree(machines: list[Machine], tasks: list[str]) -> None:
    first, *others = machines
    for other in others:
        assert shared(other) == shared(first)
        assert homes_of(other, tasks) == homes_of(first, tasks)
    for machine in machines:
        assert not registers.edits(machine.node.store.db, "task")
        assert not registers.edits(machine.node.store.db, "channel")
