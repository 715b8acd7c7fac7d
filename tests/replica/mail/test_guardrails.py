"""Guardrails, mutes and waking for mail that came from another replica (section F.5, steps 6, 8 and 10)."""

import pytest

from core.host import Limits
from core.message import State
from crypto.canonical import JsonValue
from replica.host import agents
from replica.host.person import PersonHost
from replica.records import remote
from replica.records.commits import CommitPoint
from tests.replica.forge import Forger
from tests.replica.world import Machine, World, exchange

HELPER = "agent:ada/helper"
TASK = "task:t-0000aa"
HOUR_MS = 3_600_000


def agent(machine: Machine, *, approved: bool = True) -> None:
    """An agent of ada's, which the team hears of with the next pass."""
    with machine.node.store.transaction(CommitPoint.AGENT) as db:
        agents.register(db, machine.node.random, HELPER, "x", machine.me)
        if approved:
            agents.decide(db, HELPER, "approved")
    machine.sync()


def by_helper(forger: Forger, to: Machine, **changes: JsonValue) -> None:
    forger.publish(forger.mail(to, **{"from": HELPER, **changes}))


def limit(machine: Machine, monkeypatch: pytest.MonkeyPatch, limits: Limits) -> None:
    monkeypatch.setattr(PersonHost, "limits", property(lambda _: limits))


def test_what_an_agent_sends_is_counted_when_it_arrives_and_kept_as_it_was_signed(
    w: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Backdating escapes no quota; what is over it stays urgent and is dispatched as if it were not."""
    ada, bob = w.team("ada", "bob")
    agent(ada)
    limit(bob, monkeypatch, Limits(urgent_per_hour=2))
    forger = Forger(ada)
    for n in range(4):
        by_helper(forger, bob, urgent=True, createdAt="2020-01-01T00:00:00.000Z", body=f"now {n}")
    bob.sync()
    arrived = bob.inbox()
    assert [message.urgent for message in arrived] == [True] * 4
    assert [message.is_pressing for message in arrived] == [True, True, False, False]
    bob.clock.ms += HOUR_MS + 1
    by_helper(forger, bob, urgent=True, body="an hour later")
    bob.sync()
    assert bob.inbox()[-1].is_pressing


def test_the_breaker_refuses_a_teammates_agents_and_tells_once(
    w: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada, bob = w.team("ada", "bob")
    agent(ada)
    root = bob.send(HELPER, "go on")
    exchange(bob, ada)
    limit(bob, monkeypatch, Limits(agent_turns_per_thread_per_hour=2))
    forger = Forger(ada)
    for n in range(4):
        by_helper(forger, bob, replyTo=root.id, thread=root.id, body=f"turn {n}")
    bob.sync()
    said = [message.body for message in bob.inbox() if message.sender == HELPER]
    assert said == ["turn 0", "turn 1"]
    assert bob.problems()[f"mail-drop:{ada.me}"].startswith("limited")
    told = [message for message in bob.inbox() if message.kind == "notice"]
    assert [message.reply_to for message in told] == [root.id]


def test_the_breaker_counts_a_thread_whose_beginning_is_not_here(
    w: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada, bob = w.team("ada", "bob")
    agent(ada)
    limit(bob, monkeypatch, Limits(agent_turns_per_thread_per_hour=1))
    forger = Forger(ada)
    for n in range(2):
        by_helper(forger, bob, replyTo=f"m-unseen-{n}", thread="m-unseen", body=f"turn {n}")
    bob.sync()
    assert "turn 1" not in bob.bodies()
    assert "turn 0" in bob.bodies()


def test_mail_of_a_muted_agent_starts_read(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    agent(ada)
    with bob.node.store.transaction(CommitPoint.AGENT) as db:
        agents.mute(db, HELPER, True)
    by_helper(Forger(ada), bob, body="psst")
    bob.sync()
    ((delivery, _),) = bob.node.engine.inbox("human:bob")
    assert delivery.state is State.READ


def test_mail_of_an_agent_that_is_not_approved_is_refused(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    agent(ada, approved=False)
    by_helper(Forger(ada), bob)
    bob.sync()
    assert bob.inbox() == []
    assert bob.problems()[f"mail-drop:{ada.me}"].startswith("forbidden")


@pytest.mark.parametrize("named", [True, False], ids=["named", "not named"])
def test_a_work_item_is_woken_where_its_origin_says_and_under_the_policy_there(
    w: World, monkeypatch: pytest.MonkeyPatch, named: bool
) -> None:
    ada, bob, cy = w.team("ada", "bob", "cy")
    exchange(ada, bob, cy)
    asked: list[str] = []

    def rule(_host: PersonHost, target: str, _message: object) -> str:
        asked.append(target)
        return "deny"

    monkeypatch.setattr(PersonHost, "rule_wake", rule)
    forger = Forger(ada)
    payload = forger.payload(bob, to=[TASK], wake="request")
    payload["targets"] = [
        {"recipient": TASK, "via": "direct", "homes": [bob.me], "wakeAt": bob.me if named else cy.me}
    ]
    forger.publish(forger.op("mail", payload=payload, to=(bob,)))
    bob.sync()
    ((delivery, _),) = bob.node.engine.inbox(TASK)
    assert delivery.state is State.HELD
    assert asked == ([TASK] if named else [])
    told = bob.node.store.db.execute("SELECT recipients FROM messages WHERE kind = 'notice'").fetchall()
    assert told == ([("human:ada",)] if named else [])


def test_a_target_elsewhere_is_a_row_that_waits_for_its_homes(w: World) -> None:
    ada, bob, cy = w.team("ada", "bob", "cy")
    exchange(ada, bob, cy)
    forger = Forger(ada)
    payload = forger.payload(bob, to=["human:bob", "human:cy"])
    payload["targets"] = [
        {"recipient": each.node.address, "via": "direct", "homes": [each.me]} for each in (bob, cy)
    ]
    forger.publish(forger.op("mail", payload=payload, to=(bob, cy)))
    bob.sync()
    (message,) = bob.inbox()
    (row,) = remote.rows_of(bob.node.store.db, message.id)
    assert (row.recipient, row.homes, row.state) == ("human:cy", (cy.me,), "forwarded")
