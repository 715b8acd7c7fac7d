"""What the checks tell apart: mail of a work item that was given to a session, and mail that is lost."""

from collections.abc import Iterator
from random import Random

import pytest

from core.message import Message
from core.store.deliveries import deliveries_of, remove_held
from replica.host import items
from replica.records.commits import CommitPoint
from replica.team import commands
from tests.simulation.acts import FEWEST, Script
from tests.simulation.checks import check
from tests.simulation.machine import SimMachine
from tests.simulation.mail import person, send
from tests.simulation.stage import FoundError, Stage, stage_of


@pytest.fixture
def stage() -> Iterator[Stage]:
    made = stage_of(Script(0, FEWEST, ()))
    yield made
    for machine in made.machines:
        machine.store.close()


def sync(stage: Stage, *machines: SimMachine) -> None:
    for machine in machines:
        stage.sync(machine, Random(0))


def of_bob(machine: SimMachine) -> str:
    """A work item that bob was given."""
    known = items.every(machine.store.db)
    return next(each.address for each in known if each.assignee == "human:bob")


def begin_session(machine: SimMachine, task: str) -> None:
    with machine.store.transaction(CommitPoint.SESSION):
        made = machine.node.host.sessions_here.make(machine.node.random, task, None, now=machine.node.now())
    machine.attach(made.address)


def written(stage: Stage, task: str) -> Message:
    """Mail of ada's to cy and to a work item that waits at bob's, which is on its way."""
    ada = stage.machines[0]
    sent = send(ada, person(ada), ["human:cy", task], "words")
    sync(stage, ada)
    return sent


def test_mail_of_a_work_item_that_is_nowhere_is_missed(stage: Stage) -> None:
    bob = stage.machines[1]
    sent = written(stage, of_bob(bob))
    sync(stage, bob)
    with bob.store.transaction(CommitPoint.SYNCED) as db:
        (held,) = deliveries_of(db, sent.id)
        assert remove_held(db, held)
    stage.heal()
    with pytest.raises(FoundError, match=f"{sent.id} .* is nowhere"):
        check(stage)


def test_mail_of_a_work_item_that_a_session_got_is_not_missed_once_its_machine_left(stage: Stage) -> None:
    _, bob, cy, *_ = stage.machines
    task = of_bob(cy)
    begin_session(cy, task)
    sent = written(stage, task)
    sync(stage, cy, cy, bob)
    commands.revoke(stage.pass_of(bob, Random(0)), cy.me, "gone")
    stage.heal()
    assert not bob.node.engine.deliveries(sent.id)
    assert "pushed" in {each.state for each in cy.node.engine.deliveries(sent.id)}
    check(stage)
