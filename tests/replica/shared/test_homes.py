"""Homes: where mail to a work item goes, and which machine may wake it (9.1, 9.2, 9.4)."""

from replica.shared import runs
from replica.shared.homes import waking_replica
from replica.sync import SyncPass
from replica.team import commands
from tests.replica.forge import Forger
from tests.replica.shared.acts import add_task, edit_task, end_session, homes_at, run_body, run_session
from tests.replica.world import World, exchange, no_sleep

HOUR_MS = 3_600_000


def test_a_live_session_homes_its_work_item_then_its_assignee_does(w: World) -> None:
    ada, bob, cy = w.team("ada", "bob", "cy")
    exchange(ada, bob, cy)
    made = add_task(ada)
    exchange(ada, bob, cy)
    assert {homes_at(each, made) for each in (ada, bob, cy)} == {()}
    edit_task(ada, made, assignee="human:bob")
    exchange(ada, bob, cy)
    assert {homes_at(each, made) for each in (ada, bob, cy)} == {(bob.me,)}
    run = run_session(cy, made)
    exchange(ada, bob, cy)
    assert {homes_at(each, made) for each in (ada, bob, cy)} == {(cy.me,)}
    end_session(cy, run)
    assert homes_at(cy, made) == (bob.me,)  # its own word counts at once
    exchange(ada, bob, cy)
    assert {homes_at(each, made) for each in (ada, bob, cy)} == {(bob.me,)}
    edit_task(ada, made, assignee="agent:cy/helper")
    exchange(ada, bob, cy)
    assert {homes_at(each, made) for each in (ada, bob, cy)} == {(cy.me,)}


def test_mail_to_a_work_item_is_held_where_it_lives(w: World) -> None:
    ada, bob, cy = w.team("ada", "bob", "cy")
    made = add_task(ada, assignee="human:bob")
    exchange(ada, bob, cy)
    sent = ada.send(made, "for whoever works on it")
    exchange(ada, bob, cy)
    assert ada.row(sent).state == "held"
    assert [each.body for _, each in bob.node.engine.inbox(made)] == ["for whoever works on it"]
    assert cy.count("messages") == 0


def test_mail_to_a_work_item_of_nobody_stays(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    made = add_task(ada)
    exchange(ada, bob)
    sent = ada.send(made, "for whoever works on it")
    assert [each.recipient for each in ada.node.engine.deliveries(sent.id)] == [made]
    assert ada.count("remote_rows") == 0


def test_an_auxiliary_session_homes_nothing(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    made = add_task(ada)
    exchange(ada, bob)
    forger = Forger(bob)
    forger.publish(forger.op("presence", body=run_body("r-0000aa", made, runKind="review")))
    ada.sync()
    assert homes_at(ada, made) == ()


def test_the_machine_that_may_wake_a_work_item_is_the_one_heard_of_last(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    desk = w.machine("bob", "desk")
    commands.join(desk.pass_(), commands.invite(ada.pass_(), "bob").encode())
    ada.sync()
    desk.sync()
    made = add_task(ada, assignee="human:bob")
    exchange(ada, bob, desk)
    at = homes_at(ada, made)
    assert set(at) == {bob.me, desk.me}
    team = ada.node.team
    assert team is not None
    for machine in (bob, desk):
        ada.clock.ms += HOUR_MS
        machine.clock.ms = ada.clock.ms
        SyncPass(machine.node, machine.transport, sleep=no_sleep, running=True).run()
        ada.sync()
        assert waking_replica(ada.node.store.db, team.view, made, at) == machine.me


def test_a_report_and_a_home_ask_as_often_however_many_sessions_a_teammate_claims(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    made = add_task(ada, assignee="human:ada")
    exchange(ada, bob)
    forger = Forger(bob)
    asked: list[str] = []

    def claim(*numbers: int) -> None:
        said = [run_body(f"r-{number:06x}", made, live=False) for number in numbers]
        forger.publish(*(forger.op("presence", body=each) for each in said))
        ada.sync()

    def queries() -> int:
        asked.clear()
        ada.node.store.db.set_trace_callback(asked.append)
        assert homes_at(ada, made) == (ada.me,)
        assert runs.has_run(ada.node.store.db, bob.me, made)
        assert not runs.has_run(ada.node.store.db, ada.me, made)
        ada.node.store.db.set_trace_callback(None)
        return len(asked)

    claim(1)
    few = queries()
    claim(*range(2, 40))
    assert queries() == few
