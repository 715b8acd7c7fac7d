"""A team whose transports do badly for a while has all its mail, once, when they do well again."""

from contextlib import suppress
from random import Random

import pytest

from core.errors import DmpError
from crypto.clock import Reading
from crypto.op import Op, make_op, read_entry, to_line
from replica.chain.guard import resume
from replica.team import commands
from tests.replica.memory import memory_machine
from tests.replica.world import Machine, exchange
from transports.base import TransportError
from transports.faults import Fault, FaultyTransport, Step, drawn_steps
from transports.memory import MemoryRemote, MemoryTransport

PASSES = 8


def team(*handles: str) -> tuple[MemoryRemote, list[Machine]]:
    remote = MemoryRemote()
    made = [memory_machine(handle, seed) for seed, handle in enumerate(handles)]
    first, *others = [Machine(each.start(), MemoryTransport(remote), each.clock) for each in made]
    commands.found_team(first.pass_(), "Orchard")
    for other in others:
        commands.join(other.pass_(), commands.invite(first.pass_(), other.node.handle).encode())
    exchange(first, *others)
    return remote, [first, *others]


def go_on(machine: Machine) -> None:
    """One pass, however it ends, and what a person would say after it."""
    with suppress(TransportError, DmpError):
        if machine.sync().paused is not None:
            resume(machine.node)


@pytest.mark.parametrize("seed", range(10))
def test_mail_arrives_once_whatever_the_transports_did_over_many_passes(seed: int) -> None:
    remote, machines = team("ada", "bob", "cy")
    for at, machine in enumerate(machines):
        machine.transport = FaultyTransport(
            MemoryTransport(remote), drawn_steps(10 * seed + at, PASSES), Random(seed), own=machine.me
        )
    sent: dict[str, list[str]] = {machine.node.handle: [] for machine in machines}
    random = Random(seed)
    for number in range(PASSES):
        for machine in machines:
            to = random.choice([each.node.handle for each in machines if each is not machine])
            with suppress(DmpError):
                machine.send(f"human:{to}", f"{machine.node.handle} {number}")
                sent[to].append(f"{machine.node.handle} {number}")
        for machine in machines:
            machine.clock.ms += 1_000
            go_on(machine)
    for _ in range(3):
        for machine in machines:
            machine.clock.ms += 25 * 60 * 60 * 1000  # every lane is read whole again
            go_on(machine)
    exchange(*machines)
    assert {machine.node.handle: sorted(machine.bodies()) for machine in machines} == {
        handle: sorted(bodies) for handle, bodies in sent.items()
    }


def test_k4_who_is_shown_a_fork_halts_the_lane_once_both_versions_are_known() -> None:
    remote, (ada, bob, cy) = team("ada", "bob", "cy")
    ada.send("human:bob", "one version")
    ada.sync()
    op = read_entry(ada.lane()[-1])
    assert isinstance(op, Op)
    rival = make_op(
        replica=ada.me,
        seq=op.seq,
        prev=op.prev,
        hlc=Reading(op.hlc.ms, op.hlc.counter + 1, ada.me),
        type="task",
        signer=ada.node.identity.secrets.signer,
        body={"id": "t-0000000001", "fields": {"title": "another version"}},
    )
    step = Step(frozenset((Fault.FORK,)), last=1, versions={ada.me: [to_line(rival)]})
    cy.transport = FaultyTransport(MemoryTransport(remote), [step], Random(1), own=cy.me)
    cy.sync()
    bob.sync()
    assert not any(each.count("forks") for each in (bob, cy))
    cy.clock.ms += 25 * 60 * 60 * 1000
    exchange(cy, bob)
    assert [tuple(row) for row in cy.node.store.db.execute("SELECT replica FROM forks")] == [(ada.me,)]
