"""Agents on every machine: whose they are, and what each machine may say of them (8.6)."""

from typing import Final

import pytest

from core.errors import DmpError
from core.host import AgentStatus
from core.store import registers
from crypto.canonical import JsonValue
from replica.host import agents
from replica.records.commits import CommitPoint
from replica.team import commands
from tests.replica.forge import Forger
from tests.replica.shared.acts import homes_at, register, types
from tests.replica.world import Machine, World, exchange

HELPER: Final = "agent:ada/helper"


def status(machine: Machine) -> str | None:
    return machine.node.host.agent_status(HELPER)


def decide(machine: Machine, status: AgentStatus) -> None:
    with machine.node.store.transaction(CommitPoint.AGENT) as db:
        agents.decide(db, HELPER, status)


def test_an_agent_is_known_everywhere_with_its_status(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    register(ada, "agent:ada/helper")
    exchange(ada, bob)
    assert bob.node.host.agent_status("agent:ada/helper") == "approved"
    assert homes_at(bob, "agent:ada/helper") == homes_at(ada, "agent:ada/helper") == (ada.me,)
    with ada.node.store.transaction(CommitPoint.AGENT) as db:
        agents.decide(db, "agent:ada/helper", "revoked")
    exchange(ada, bob)
    assert bob.node.host.agent_status("agent:ada/helper") == "revoked"
    assert types(ada) == ["agent", "agent"]


def test_nobody_registers_an_agent_of_another_person(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    exchange(ada, bob)
    forger = Forger(bob)
    row: dict[str, JsonValue] = {
        "address": "agent:ada/helper",
        "displayName": "x",
        "client": "x",
        "status": "approved",
    }
    forger.publish(forger.op("agent", body=row))
    ada.sync()
    assert ada.node.host.agent_status("agent:ada/helper") is None
    assert "does not speak for ada" in ada.problems()[f"agent:{bob.me}"]


def test_an_agent_registered_here_wins_here_over_what_other_machines_publish(w: World) -> None:
    ada, _ = w.team("ada", "bob")
    desk = w.machine("ada", "desk")
    commands.join(desk.pass_(), commands.invite(ada.pass_(), "ada").encode())
    exchange(ada, desk)
    register(ada, "agent:ada/helper")
    exchange(ada, desk)
    forger = Forger(desk)
    row: dict[str, JsonValue] = {
        "address": "agent:ada/helper",
        "displayName": "x",
        "client": "x",
        "status": "pending",
    }
    forger.publish(forger.op("agent", body=row))
    ada.sync()
    assert ada.node.host.agent_status("agent:ada/helper") == "approved"


def test_an_agent_that_its_person_revokes_on_another_machine_is_revoked_where_it_was_registered(
    w: World,
) -> None:
    ada, bob = w.team("ada", "bob")
    desk = w.machine("ada", "desk")
    w.admit(ada, desk)
    register(ada, HELPER)
    exchange(ada, desk, bob)
    decide(desk, "revoked")
    exchange(desk, ada, bob)
    assert [status(each) for each in (ada, desk, bob)] == ["revoked"] * 3
    assert homes_at(bob, HELPER) == homes_at(ada, HELPER)
    register(ada, HELPER)
    exchange(ada, desk, bob)
    assert [status(each) for each in (ada, desk, bob)] == [
        "approved"
    ] * 3  # by a later word of the same person's
    decide(desk, "revoked")
    exchange(desk, ada, bob)
    assert [status(each) for each in (ada, desk, bob)] == ["revoked"] * 3


def test_an_agent_that_another_person_calls_revoked_is_not(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    register(ada, HELPER)
    exchange(ada, bob)
    forger = Forger(bob)
    row: dict[str, JsonValue] = {
        "address": HELPER,
        "displayName": "x",
        "client": "x",
        "status": "revoked",
    }
    forger.publish(forger.op("agent", body=row))
    exchange(ada, rounds=2)
    assert status(ada) == "approved"


def test_agents_of_a_revoked_replica_are_revoked(w: World) -> None:
    ada, bob, cy = w.team("ada", "bob", "cy")
    exchange(ada, bob, cy)
    register(cy, "agent:cy/helper")
    exchange(ada, bob, cy)
    assert bob.node.host.agent_status("agent:cy/helper") == "approved"
    commands.revoke(ada.pass_(), cy.me, "stolen")
    exchange(ada, bob)
    assert bob.node.host.agent_status("agent:cy/helper") == "revoked"
    assert homes_at(bob, "agent:cy/helper") == ()


def test_an_agent_that_waits_on_another_machine_is_approved_there(w: World) -> None:
    ada, _ = w.team("ada", "bob")
    desk = w.machine("ada", "desk")
    commands.join(desk.pass_(), commands.invite(ada.pass_(), "ada").encode())
    exchange(ada, desk)
    with ada.node.store.transaction(CommitPoint.AGENT) as db:
        agents.register(db, ada.node.random, "agent:ada/helper", "cli", ada.me)
    exchange(ada, desk)
    with (
        pytest.raises(DmpError, match="another machine"),
        desk.node.store.transaction(CommitPoint.AGENT) as db,
    ):
        agents.register(db, desk.node.random, "agent:ada/helper", "cli", desk.me)
    with desk.node.store.transaction(CommitPoint.AGENT) as db:
        agents.decide(db, "agent:ada/helper", "revoked")  # any machine of its person's may end it
    exchange(desk, ada)
    told = registers.published_fields(ada.node.store.db, "agent", "agent:ada/helper")
    assert told["status"] == "revoked"
