"""What never leaves its host, by all five tests of F.5, for what is sent, replied and handed on."""

import pytest

from core.errors import Code, DmpError
from core.inputs import Sender, SendInput
from core.message import Message
from core.store import registers
from core.store.messages import insert_message
from crypto.canonical import JsonValue
from replica.host import agents
from replica.records.commits import CommitPoint
from tests.replica.forge import Forger
from tests.replica.world import Machine, World, exchange

GATE: JsonValue = {"type": "scope", "paths": ["a.py"], "reason": "the fix needs it"}
TASK = "task:t-0000aa"


def refusal(machine: Machine, **members: JsonValue) -> tuple[Code, str | None]:
    given = SendInput.from_json({"to": ["human:bob"], "kind": "message", "body": "Psst.", **members})
    with pytest.raises(DmpError) as refused:
        machine.node.engine.send(Sender(machine.node.address, True), given)
    return refused.value.code, refused.value.field


def gate(machine: Machine, sender: str = "run:r-0000aa") -> Message:
    """A gate that a session raised to the person of a machine."""
    given = SendInput.from_json(
        {
            "to": [machine.node.address],
            "kind": "question",
            "body": "May I?",
            "blocking": True,
            "choices": ["grant", "deny"],
            "data": GATE,
        }
    )
    return machine.node.engine.send(Sender(sender), given).message


def test_a_reply_to_a_gate_does_not_leave_and_says_so_on_its_data(w: World) -> None:
    ada, _ = w.team("ada", "bob")
    raised = gate(ada)
    assert refusal(ada, replyTo=raised.id) == (Code.FORBIDDEN, "data")


@pytest.mark.parametrize("type_", ["x-closed", "x-breaker", "x-policy", "x-expired"])
def test_a_marker_does_not_leave(w: World, type_: str) -> None:
    ada, _ = w.team("ada", "bob")
    assert refusal(ada, data={"type": type_}) == (Code.FORBIDDEN, "to[0]")


@pytest.mark.parametrize("who", ["agent:ada/overseer", "agent:ada/a2a.peer"])
def test_a_message_with_who_is_not_federated_does_not_leave(w: World, who: str) -> None:
    ada, _ = w.team("ada", "bob")
    with ada.node.store.transaction(CommitPoint.AGENT) as db:
        agents.register(db, ada.node.random, who, "test", ada.me)
        agents.decide(db, who, "approved")
    assert refusal(ada, to=[who, "human:bob"]) == (Code.FORBIDDEN, "to[1]")


def test_a_channels_members_elsewhere_go_without_it(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    for member in ("human:ada", "human:bob"):
        ada.node.engine.join("eng", member)
    exchange(ada, bob)
    ada.send(("channel:eng", "human:ada"), "Only here.", data={"type": "x-policy"})
    exchange(ada, bob)
    assert bob.bodies() == []


def test_what_stays_here_stays_when_its_work_item_moves(w: World) -> None:
    """Held mail that is handed on is tested as a send is."""
    ada, bob = w.team("ada", "bob")
    exchange(ada, bob)
    raised = gate(ada)
    ada.send(TASK, "about that gate", replyTo=raised.id)
    ada.send(TASK, "marked", data={"type": "x-policy"})
    ada.send((TASK, "agent:ada/overseer"), "with the overseer")
    ada.send(TASK, "free to go")
    with bob.node.store.transaction(CommitPoint.SESSION) as db:
        run: dict[str, JsonValue] = {"task": "t-0000aa", "runKind": "execute", "live": True}
        registers.edit(db, "session", "run:r-0000bb", {**run, "replica": bob.me})
    exchange(bob, ada, bob)
    assert [message.body for _, message in bob.node.engine.inbox(TASK)] == ["free to go"]


def test_a_reply_to_gate_data_that_is_here_is_refused_when_it_comes(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    exchange(ada, bob)
    with bob.node.store.transaction(CommitPoint.APPLIED) as db:
        insert_message(
            db,
            Message(
                id="m-gate",
                thread="m-gate",
                reply_to=None,
                sender="agent:dispatch",
                to=("human:ada",),
                kind="question",
                body="?",
                data={"type": "zebra"},
                created_at="2026-09-21T14:13:20.000Z",
            ),
        )
    forger = Forger(ada)
    forger.publish(forger.mail(bob, replyTo="m-gate", thread="m-gate"))
    bob.sync()
    assert bob.bodies() == []
    assert bob.problems()[f"mail-drop:{ada.me}"].startswith("forbidden on data")
