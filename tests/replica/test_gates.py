"""Gates never cross between replicas (F.5): they are raised, answered and take effect on one host."""

import pytest

from core.errors import Code, DmpError
from core.inputs import ReplyInput, Sender, SendInput
from core.message import Message
from crypto.canonical import JsonValue
from replica.team import commands
from tests.replica.world import Machine, World, exchange

CALL: dict[str, JsonValue] = {
    "requestId": "q",
    "runId": "r-0000aa",
    "tool": "Bash",
    "input": {},
    "floor": False,
}


def raise_gate(machine: Machine, to: str) -> Message:
    given = SendInput(
        (to,),
        "question",
        "May it?",
        blocking=True,
        choices=("approve", "approve-session", "deny"),
        data={"type": "tool-approval", **CALL},
    )
    return machine.node.engine.send(Sender(machine.node.host.system_address), given).message


def refuses(machine: Machine, to: str) -> None:
    """Expect a gate to be refused on its data, and nothing of it to be stored."""
    stored = machine.count("messages")
    with pytest.raises(DmpError) as refusal:
        raise_gate(machine, to)
    assert (refusal.value.code, refusal.value.field) == (Code.FORBIDDEN, "data")
    assert machine.count("messages") == stored


def test_a_gate_to_ones_own_person_stays_here_and_takes_effect(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    exchange(ada, bob)
    published = len(ada.chain())
    gate = raise_gate(ada, "human:ada")
    given = ReplyInput("", choice="deny")
    answer = ada.node.engine.reply(Sender("human:ada", can_decide=True), gate.id, given).message
    assert ada.node.engine.effects_applied() == [gate.id]
    exchange(ada, bob)
    assert len(ada.chain()) == published
    assert ada.count("outbox") == 0
    for message in (gate, answer):
        assert bob.node.engine.message(message.id) is None


def test_a_gate_to_a_teammate_is_refused_even_from_the_system(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    exchange(ada, bob)
    refuses(ada, "human:bob")


def test_a_gate_to_a_person_with_a_second_machine_stays_on_the_one_that_asks(w: World) -> None:
    (ada,) = w.team("ada")
    phone = w.machine("ada", "phone")
    commands.join(phone.pass_(), commands.invite(ada.pass_(), "ada").encode())
    exchange(ada, phone)
    gate = raise_gate(ada, "human:ada")
    assert gate in ada.inbox()
    exchange(ada, phone)
    assert phone.node.engine.message(gate.id) is None
    assert phone.problems() == {}


def test_a_sessions_gate_to_a_teammate_is_refused_on_its_data_too(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    exchange(ada, bob)
    given = SendInput(
        ("human:bob",),
        "question",
        "May I?",
        blocking=True,
        choices=("grant", "deny"),
        data={"type": "scope", "paths": ["a.py"], "reason": "the fix needs it"},
    )
    with pytest.raises(DmpError) as refusal:
        ada.node.engine.send(Sender("run:r-0000aa"), given)
    assert (refusal.value.code, refusal.value.field) == (Code.FORBIDDEN, "data")


def test_what_replies_to_a_gate_is_as_local_as_the_gate(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    exchange(ada, bob)
    gate = raise_gate(ada, "human:ada")
    with pytest.raises(DmpError) as refusal:
        ada.send("human:bob", "what do you say?", replyTo=gate.id)
    assert (refusal.value.code, refusal.value.field) == (Code.FORBIDDEN, "data")


@pytest.mark.parametrize("marker", ["x-closed", "x-breaker", "x-policy", "x-expired"])
def test_a_marker_is_private_data_among_ones_own_and_never_leaves(w: World, marker: str) -> None:
    ada, bob = w.team("ada", "bob")
    exchange(ada, bob)
    assert ada.send("human:ada2", "to one of us", data={"type": marker})
    with pytest.raises(DmpError) as refusal:
        ada.send("human:bob", "to a teammate", data={"type": marker})
    assert (refusal.value.code, refusal.value.field) == (Code.FORBIDDEN, "to[0]")
