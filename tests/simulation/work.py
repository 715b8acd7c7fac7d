"""Acts of shared work: work items, sessions, agents and channels."""

from random import Random
from typing import Final

from core.gate_types import GATE_TYPES
from core.inputs import ReplyInput
from crypto.canonical import JsonValue
from replica.host import agents, items, principals, raising
from replica.records.commits import CommitPoint
from tests.simulation.machine import SimMachine
from tests.simulation.mail import CHANNELS, agents_of, first_with, pick, session_of, tasks, words
from tests.simulation.registry import act
from tests.simulation.stage import Stage

_NAMES: Final = ("claude", "gpt")


def assignee(stage: Stage, random: Random) -> str:
    return f"human:{random.choice(sorted({each.handle for each in stage.machines}))}"


@act("make a work item", 3)
def _make(stage: Stage, machine: SimMachine, random: Random) -> None:
    fields: dict[str, JsonValue] = {"title": words(random), "assignee": assignee(stage, random)}
    with machine.store.transaction(CommitPoint.WORK_ITEM) as db:
        items.add(db, machine.node.random, fields, now=machine.node.now())


@act("change a work item", 4)
def _change(stage: Stage, machine: SimMachine, random: Random) -> None:
    found = pick(random, tasks(machine))
    changes: list[dict[str, JsonValue]] = [
        {"title": words(random)},
        {"assignee": assignee(stage, random)},
        {"labels": [words(random)]},
        {"status": random.choice(("ready", "working", "landed", "dropped"))},
    ]
    with machine.store.transaction(CommitPoint.WORK_ITEM) as db:
        items.edit(db, found, random.choice(changes))


@act("begin a session", 4)
def _begin(stage: Stage, machine: SimMachine, random: Random) -> None:
    machine, _ = first_with(stage, machine, lambda each: [1] if each.node.host.attached is None else [])
    here = machine.node.host.sessions_here
    task = pick(random, tasks(machine))
    with machine.store.transaction(CommitPoint.SESSION):
        here.need_free(task)
        made = here.make(machine.node.random, task, None, now=machine.node.now())
    machine.attach(made.address)


@act("end a session", 1.5)
def _end(stage: Stage, machine: SimMachine, _random: Random) -> None:
    machine, _ = first_with(stage, machine, session_of)
    machine.detach()


@act("register an agent", 2)
def _register(_: Stage, machine: SimMachine, random: Random) -> None:
    address = f"agent:{machine.handle}/{random.choice(_NAMES)}"
    node = machine.node
    with machine.store.transaction(CommitPoint.AGENT) as db:
        made = agents.register(db, node.random, address, "cli", node.me)
    gate = raising.registration_gate(node, GATE_TYPES["agent-registration"], made)
    node.engine.reply(principals.sender(node, None), gate.id, ReplyInput("", choice="approve"))


@act("revoke an agent", 1)
def _revoke(stage: Stage, machine: SimMachine, random: Random) -> None:
    machine, own = first_with(stage, machine, agents_of)
    with machine.store.transaction(CommitPoint.AGENT) as db:
        agents.decide(db, random.choice(own), "revoked")


@act("mute an agent", 1)
def _mute(_: Stage, machine: SimMachine, random: Random) -> None:
    with machine.store.transaction(CommitPoint.AGENT) as db:
        known = [each.address for each in agents.every(db)]
        agents.mute(db, pick(random, known), random.random() < 0.7)


@act("join a channel", 4)
def _join(stage: Stage, machine: SimMachine, random: Random) -> None:
    member = random.choice([assignee(stage, random), *tasks(machine)[:2]])
    machine.node.engine.join(random.choice(CHANNELS), member)


@act("leave a channel", 1)
def _leave(stage: Stage, machine: SimMachine, random: Random) -> None:
    machine.node.engine.leave(random.choice(CHANNELS), assignee(stage, random))
