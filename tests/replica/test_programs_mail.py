"""Mail of sessions and agents goes to teammates, who judge whose it is; their gates stay here (section F.5)."""

import pytest

from core.errors import Code, DmpError
from core.inputs import ReplyInput, Sender, SendInput
from core.message import Message
from core.store import registers
from crypto.canonical import JsonValue
from replica.host import agents
from replica.records.commits import CommitPoint
from replica.team import commands
from tests.replica.forge import Forger
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


def session(machine: Machine, work_item: str | None = None) -> str:
    """A session of a machine's that is marked live, as one that a process holds."""
    with machine.node.store.transaction(CommitPoint.SESSION) as db:
        made = machine.node.host.sessions_here.make(
            machine.node.random, work_item, None, now=machine.node.now()
        )
        registers.edit(db, "session", made.address, {"live": True})
    return made.address


def test_an_agents_mail_reaches_a_teammate_with_its_registration(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    sent = send(ada, claude(ada), "human:bob")
    exchange(ada, bob)
    (arrived,) = bob.inbox()
    assert (arrived.id, arrived.sender, arrived.origin) == (sent.id, CLAUDE, ada.me)
    assert ada.row(sent).state == "notified"


def test_a_sessions_mail_reaches_a_teammate_and_the_reply_comes_back_to_it(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    run = session(ada)
    question = send(ada, Sender(run), "human:bob", kind="question", blocking=True)
    exchange(ada, bob)
    (arrived,) = bob.inbox()
    assert arrived.sender == run
    answer = bob.node.engine.reply(Sender("human:bob", True), arrived.id, ReplyInput(body="Yes.")).message
    exchange(bob, ada)
    ((delivery, told),) = ada.node.engine.inbox(run)
    assert (told.id, delivery.state) == (answer.id, "held")  # no process of this test is the session
    found = ada.node.engine.answer_of(question.id)
    assert found is not None
    assert found.id == answer.id


def test_a_program_of_another_machine_does_not_speak_here(w: World) -> None:
    """Teammates know whose it is, and would believe no other machine."""
    (first,) = w.team("ada")
    second, bob = w.machine("ada", "tower"), w.machine("bob")
    for each, handle in ((second, "ada"), (bob, "bob")):
        commands.join(each.pass_(), commands.invite(first.pass_(), handle).encode())
        exchange(first, each)
    agent = claude(first)
    exchange(first, second, bob)
    with pytest.raises(DmpError) as refused:
        send(second, agent, "human:bob")
    assert (refused.value.code, refused.value.field) == (Code.FORBIDDEN, "to[0]")


@pytest.mark.parametrize("sender", ["run:r-0000aa", "agent:ada/claude"])
def test_mail_under_the_name_of_anothers_program_is_dropped(w: World, sender: str) -> None:
    ada, bob, cy = w.team("ada", "bob", "cy")
    claude(ada)
    with ada.node.store.transaction(CommitPoint.SESSION):
        ada.node.host.sessions_here.make(ada.node.random, None, "run:r-0000aa", now=ada.node.now())
    exchange(ada, bob, cy)
    forger = Forger(cy)
    forger.publish(forger.mail(bob, **{"from": sender}), forger.mail(bob, body="it is me, cy"))
    bob.sync()
    assert bob.bodies() == ["it is me, cy"]
    assert f"speaks-for:{cy.me}" in bob.problems()


def test_mail_of_a_session_waits_for_its_claim_and_while_two_claim_it(w: World) -> None:
    """What is known decides, not the order in which it came; an admin says whose a contested session is."""
    ada, bob, cy = w.team("ada", "bob", "cy")
    exchange(ada, bob, cy)
    run = "run:r-0000aa"
    body: JsonValue = {"kind": "run", "run": "r-0000aa", "task": None, "runKind": "x", "live": True}
    forger, rival = Forger(cy), Forger(bob)
    forger.publish(forger.mail(ada, **{"from": run, "body": "early"}))
    ada.sync()
    assert (ada.bodies(), ada.count("parked")) == ([], 1)
    claim = forger.op("presence", body=body)
    forger.publish(claim)
    ada.sync()
    assert (ada.bodies(), ada.count("parked")) == (["early"], 0)
    rival.publish(rival.op("presence", body=body))
    forger.publish(forger.mail(ada, **{"from": run, "body": "contested"}))
    ada.sync()
    assert (ada.bodies(), ada.count("parked")) == (["early"], 1)


def test_a_persons_gates_and_what_the_host_tells_stay_on_the_machine_where_they_happen(w: World) -> None:
    (first,) = w.team("ada")
    second = w.machine("ada", "tower")
    code = commands.invite(first.pass_(), "ada")
    commands.join(second.pass_(), code.encode())
    exchange(first, second)
    agent = claude(first)
    question = send(first, agent, "human:ada", kind="question", blocking=True)
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
    assert [message.id for message in second.inbox()] == [question.id]
    assert first.problems().keys() == {f"reads:{second.me}"}
    assert second.problems() == {}
