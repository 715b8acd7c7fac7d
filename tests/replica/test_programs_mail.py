"""Mail of sessions and agents stays on their machine, and what the host says of it does too (section F.5)."""

import pytest

from core.errors import DmpError
from core.inputs import Sender, SendInput
from core.message import Message
from crypto.canonical import JsonValue
from replica.host import agents
from replica.records import remote
from replica.records.commits import CommitPoint
from replica.team import commands
from tests.replica.world import Machine, World, exchange

CLAUDE = "agent:ada/claude"


def claude(machine: Machine) -> Sender:
    """An approved agent of ada's."""
    with machine.node.store.transaction(CommitPoint.AGENT) as db:
        agents.register(db, machine.node.random, CLAUDE, "x", machine.me)
        agents.decide(db, CLAUDE, "approved")
    return Sender(CLAUDE)


def send(machine: Machine, sender: Sender, to: str, **members: JsonValue) -> Message:
    given = SendInput.from_json({"to": [to], "kind": "message", "body": "Hi.", **members})
    return machine.node.engine.send(sender, given).message


def test_an_agents_mail_to_a_teammate_is_refused_and_nothing_waits(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    agent = claude(ada)
    with pytest.raises(DmpError) as refused:
        send(ada, agent, "human:bob")
    assert (str(refused.value.code), refused.value.field) == ("forbidden", "to[0]")
    assert "does not leave this machine" in refused.value.message
    exchange(ada, bob)
    assert (ada.count("outbox"), bob.count("parked"), bob.inbox()) == (0, 0, [])


def test_an_agents_mail_to_a_channel_reaches_those_who_are_here(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    agent = claude(ada)
    for member in ("human:ada", "human:bob"):
        ada.node.engine.join("all", member)
    send(ada, agent, "channel:all")
    exchange(ada, bob)
    assert (ada.bodies(), bob.bodies()) == (["Hi."], [])


def test_a_person_with_two_machines_is_asked_and_told_on_the_one_where_it_happens(w: World) -> None:
    (first,) = w.team("ada")
    second = w.machine("ada", "tower")
    code = commands.invite(first.pass_(), "ada")
    commands.join(second.pass_(), code.encode())
    exchange(first, second)
    agent = claude(first)
    question = send(first, agent, "human:ada", kind="question", blocking=True)
    assert remote.rows_of(first.node.store.db, question.id) == []
    waking = send(first, agent, "task:t-0000aa", wake="request")  # which is missing, so the agent is told
    assert waking.wake == "request"
    gate = SendInput.from_json(
        {
            "to": ["human:ada"],
            "kind": "question",
            "body": "May it?",
            "blocking": True,
            "choices": ["approve", "reject"],
            "data": {"type": "doc", "doc": "doc-1", "proposal": "rev-1"},
        }
    )
    raised = first.node.engine.send(Sender(first.node.host.system_address), gate).message
    given = SendInput.from_json(
        {"to": [raised.sender], "kind": "answer", "body": "", "replyTo": raised.id, "choice": "approve"}
    )
    first.node.engine.send(Sender("human:ada", can_decide=True), given)
    assert first.node.engine.effects_applied() == [raised.id]
    exchange(first, second)
    assert [message.id for message in first.inbox()] == [question.id, raised.id]
    assert second.inbox() == []
    assert first.problems() == second.problems() == {}
