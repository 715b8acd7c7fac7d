"""Presence: whose a session is, and which machines are there (8.1, 8.4)."""

import pytest

from core.errors import DmpError
from core.inputs import ReplyInput, Sender, SendInput
from core.message import Message
from crypto.canonical import JsonValue
from replica.records.commits import CommitPoint
from replica.shared import runs
from replica.sync import SyncPass
from replica.team import commands
from tests.replica.forge import Forger
from tests.replica.shared.acts import (
    add_task,
    end_session,
    homes_at,
    register,
    run_body,
    run_session,
    types,
)
from tests.replica.world import Machine, World, exchange, no_sleep


def test_a_session_that_two_replicas_claim_is_nobodys_until_an_admin_says_whose(w: World) -> None:
    ada, bob, cy = w.team("ada", "bob", "cy")
    made = add_task(ada)
    exchange(ada, bob, cy)
    run = run_session(bob, made)
    exchange(ada, bob, cy)
    bound = runs.binding(ada.node.store.db, run).claim
    assert bound is not None
    assert bound.replica == bob.me
    thief = Forger(cy)
    thief.publish(thief.op("presence", body=run_body(run.partition(":")[2], made)))
    ada.sync()
    found = runs.binding(ada.node.store.db, run)
    assert (found.claim, found.contested) == (None, True)
    assert homes_at(ada, made) == ()
    subject = f"run-conflict:{run.partition(':')[2]}"
    assert subject in ada.problems()
    word: JsonValue = {"kind": "resolve", "run": run.partition(":")[2], "replica": cy.me}
    thief.publish(thief.op("presence", body=word))
    ada.sync()
    assert runs.binding(ada.node.store.db, run).contested  # cy is no admin
    with ada.node.store.transaction(CommitPoint.SESSION) as db:
        for other, field in ((run, "replica"), ("run:r-0000aa", "session")):
            with pytest.raises(DmpError) as caught:
                runs.resolve(db, other, ada.me)
            assert caught.value.field == field
        runs.resolve(db, run, bob.me)
    ada.sync()
    bob.sync()
    for each in (ada, bob):
        found = runs.binding(each.node.store.db, run)
        assert found.claim is not None
        assert found.claim.replica == bob.me
        assert homes_at(each, made) == (bob.me,)
        assert subject not in each.problems()


def test_a_session_is_its_first_owners_again_once_the_other_is_revoked(w: World) -> None:
    ada, bob, cy = w.team("ada", "bob", "cy")
    made = add_task(ada)
    exchange(ada, bob, cy)
    run = run_session(bob, made)
    exchange(ada, bob, cy)
    thief = Forger(cy)
    thief.publish(thief.op("presence", body=run_body(run.partition(":")[2], made)))
    ada.sync()
    commands.revoke(ada.pass_(), cy.me, "a thief")
    ada.sync()
    bob.sync()
    for each in (ada, bob):
        found = runs.binding(each.node.store.db, run)
        assert found.claim is not None
        assert found.claim.replica == bob.me
        assert f"run-conflict:{run.partition(':')[2]}" not in each.problems()


def test_a_replica_that_keeps_running_says_that_it_is_there_once_an_hour(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    exchange(ada, bob)
    passes = SyncPass(ada.node, ada.transport, sleep=no_sleep, running=True)
    for minutes in (0, 10, 40, 20):
        ada.clock.ms += minutes * 60_000
        bob.clock.ms = ada.clock.ms
        passes.run()
        bob.sync()
    assert types(ada) == ["presence", "presence"]
    ((wall,),) = bob.node.store.db.execute("SELECT wall FROM devices WHERE replica = ?", (ada.me,)).fetchall()
    assert wall == ada.clock.ms
    assert types(bob) == []


def test_sessions_that_ended_before_the_team_are_not_told_to_it(w: World) -> None:
    ada = w.machine("ada")
    end_session(ada, run_session(ada, None))
    ada.clock.ms += 1_000
    commands.found_team(ada.pass_(), "Orchard")
    live = run_session(ada, None)
    ada.sync()
    assert [claim.run for claim in runs.bound(ada.node.store.db)] == [live]


def test_a_session_elsewhere_stands_for_its_work_item(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    made = add_task(ada)
    run = run_session(bob, made)
    exchange(ada, bob)
    assert ada.node.host.work_item(run) == made
    assert list(ada.node.host.sessions(made)) == list(bob.node.host.sessions(made)) == [run]
    assert ada.node.host.live_session(made) is None  # it lives on bob's machine


def test_a_session_says_whom_it_waits_on_until_its_blocking_question_is_answered(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    exchange(ada, bob)
    run = run_session(ada, add_task(ada))
    exchange(ada, bob)
    assert waits_on(bob, run) is None
    ask(ada, run, "human:bob", "First?", blocking=False)
    asked = ask(ada, run, "human:bob", "Ship it?", blocking=True)
    ask(ada, run, "human:ada", "Or not?", blocking=True)
    exchange(ada, bob)
    assert waits_on(bob, run) == waits_on(ada, run) == "bob"  # the oldest of those that block
    bob.node.engine.reply(Sender("human:bob", True), asked.id, ReplyInput(body="yes"))
    exchange(bob, ada)
    assert waits_on(bob, run) == "ada"
    end_session(ada, run)
    exchange(ada, bob)
    assert waits_on(bob, run) is None
    told = len([entry for entry in ada.chain() if entry.type == "presence"])
    exchange(ada, bob)
    assert len([entry for entry in ada.chain() if entry.type == "presence"]) == told  # each change once


def test_a_session_waits_on_the_person_behind_an_agent(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    exchange(ada, bob)
    register(ada, "agent:ada/helper")
    run = run_session(ada, add_task(ada))
    ask(ada, run, "agent:ada/helper", "Ship it?", blocking=True)
    exchange(ada, bob)
    assert waits_on(bob, run) == "ada"


def test_a_session_that_ended_is_listed_for_30_days_and_stays_whose_it_was(w: World) -> None:
    ada, bob, cy = w.team("ada", "bob", "cy")
    made = add_task(ada)
    exchange(ada, bob, cy)
    run, live = run_session(bob, made), run_session(bob, None)
    end_session(bob, run)
    exchange(ada, bob, cy)
    db = ada.node.store.db
    assert {claim.run for claim in runs.listed(db, ada.clock.ms)} == {run, live}
    later = bob.clock.ms + 30 * 24 * 3_600_000
    assert {claim.run for claim in runs.listed(db, later - 1_000)} == {run, live}
    assert {claim.run for claim in runs.listed(db, later + 1_000)} == {live}
    thief = Forger(cy)
    thief.ms = later + 1_000
    for each in (ada, bob):
        each.clock.ms = later + 2_000
    thief.publish(thief.op("presence", body=run_body(run.partition(":")[2], made)))
    exchange(ada, bob)
    assert runs.binding(db, run).contested  # its id is no stranger's to take


def waits_on(machine: Machine, run: str) -> str | None:
    claim = runs.binding(machine.node.store.db, run).claim
    assert claim is not None
    return claim.waiting_on


def ask(machine: Machine, run: str, to: str, body: str, *, blocking: bool) -> Message:
    given = SendInput(to=(to,), kind="question", body=body, blocking=blocking)
    return machine.node.engine.send(Sender(run), given).message
