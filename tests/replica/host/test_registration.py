"""An agent's registration is asked about by one gate, and by another once that was closed without a decision."""

import pytest

from core.errors import Code, DmpError
from core.gate_types import GATE_TYPES
from core.inputs import ReplyInput, Sender
from core.message import Message
from replica.host import agents, raising
from replica.node import Node
from replica.records.commits import CommitPoint

BOT = "agent:ada/bot"


def gate(node: Node) -> Message:
    """The gate of the registration, as `dmp agent register`, `approve` and `revoke` ask for it."""
    with node.store.transaction(CommitPoint.AGENT) as db:
        known = agents.find(db, BOT)
        if known is None or known.status == "revoked":
            agents.register(db, node.random, BOT, "a program", node.me)
    found = agents.need(node.store.db, BOT)
    return raising.registration_gate(node, GATE_TYPES["agent-registration"], found)


def answer(node: Node, asked: Message, choice: str) -> None:
    node.engine.reply(Sender("human:ada", can_decide=True), asked.id, ReplyInput("", choice=choice))


def status(node: Node) -> str:
    return agents.need(node.store.db, BOT).status


def test_a_registration_has_one_gate_while_that_is_open(node: Node) -> None:
    assert gate(node) == gate(node)


@pytest.mark.parametrize(("choice", "then"), [("approve", "approved"), ("deny", "revoked")])
def test_a_registration_whose_gate_was_closed_is_decided_by_another(
    node: Node, choice: str, then: str
) -> None:
    first = gate(node)
    node.engine.close(first.id, "not now")
    assert status(node) == "pending"
    second = gate(node)
    assert second.id != first.id
    assert gate(node) == second
    with pytest.raises(DmpError) as refused:
        answer(node, first, "approve")
    assert refused.value.code is Code.CONFLICT
    answer(node, second, choice)
    assert status(node) == then


def test_a_gate_that_was_answered_is_not_asked_again(node: Node) -> None:
    first = gate(node)
    answer(node, first, "approve")
    assert gate(node) == first
