"""A client of one machine of a team: federation carries none of its mail, and its handoffs' work items alone (F.5)."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from core.errors import DmpError
from replica.host import items
from tests.bindings.a2a.exchange.desk import ACME, ADA, Caller, Desk, register
from tests.replica.world import Machine, exchange, world


@pytest.fixture
def machines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Machine, Machine]]:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    with world(tmp_path / "machines") as made:
        ada, bob = made.team("ada", "bob")
        register(ada.node, ACME)
        yield ada, bob


def test_a_teammate_hears_of_a_handoffs_work_item_and_of_nothing_else(
    machines: tuple[Machine, Machine],
) -> None:
    ada, bob = machines
    desk = Desk(ada.node, Caller(ACME), ada.clock)
    ask, handoff, canceled = desk.ask(), desk.hand_off(), desk.hand_off("Another")
    desk.question(ask)
    desk.send("Here.", taskId=ask["id"])
    desk.answer(ask)
    desk.decide(desk.gate(handoff))
    desk.set(handoff, "working")
    desk.send("How far?", taskId=handoff["id"])
    desk.cancel(canceled)

    exchange(ada, bob)

    assert bob.count("messages") == 0
    assert {each.title: each.status for each in items.every(bob.node.store.db)} == {
        "Rate-limit uploads": "working",
        "Another": "dropped",
    }
    assert not ada.problems()


def test_work_that_a_teammate_does_is_seen_by_the_client(machines: tuple[Machine, Machine]) -> None:
    ada, bob = machines
    desk = Desk(ada.node, Caller(ACME), ada.clock)
    task = desk.approved()
    exchange(ada, bob)
    Desk(bob.node).edit(desk.item(task), "landed")
    exchange(bob, ada)

    assert desk.state(task) == "COMPLETED"


def test_canceling_work_that_a_teammate_has_drops_it_there(machines: tuple[Machine, Machine]) -> None:
    ada, bob = machines
    desk = Desk(ada.node, Caller(ACME), ada.clock)
    task = desk.approved()
    with ada.node.store.transaction("test") as db:
        items.edit(db, desk.item(task), {"assignee": "human:bob", "status": "working"})
    exchange(ada, bob)

    assert desk.cancel(task)["status"]["state"] == "TASK_STATE_CANCELED"

    exchange(ada, bob)
    assert [each.status for each in items.every(bob.node.store.db)] == ["dropped"]
    assert any("canceled it" in each.body for _, each in ada.node.engine.inbox(ADA.address))


def test_a_question_for_another_machines_person_is_refused(machines: tuple[Machine, Machine]) -> None:
    ada, _ = machines
    desk = Desk(ada.node, Caller(ACME, ("human:ada", "human:bob")), ada.clock)
    with pytest.raises(DmpError) as refused:
        desk.ask(envelope={"to": ["human:bob"]})
    assert (refused.value.code, refused.value.field) == ("forbidden", "to[0]")
