"""Gates in the store: which stored messages are gates, who answers them, and how they are listed (5.1, 5.4, 5.6)."""

from dataclasses import replace
from typing import Any

import pytest

from core.errors import Code
from core.inputs import ReplyInput, Sender
from core.message import Message, Standing, State
from core.store.messages import insert_message
from tests.core.support import ADA, BOB, HOST, OTHER_TASK, RUN, World, draft, refused, world

SESSION = Sender(RUN)

WAKE = {"type": "wake", "target": OTHER_TASK, "message": "m-elsewhere"}
SCOPE = {"type": "scope", "paths": ["a.py"], "reason": "the fix needs it"}


@pytest.fixture
def one() -> World:
    return world(owner="human:ada", agents=[{"address": "agent:bob/x", "status": "approved"}])


def raise_wake(one: World, *to: str) -> Message:
    """Raise a wake gate as the host does."""
    given = draft(
        *(to or ("human:ada",)), kind="question", blocking=True, choices=("approve", "deny"), data=WAKE
    )
    return one.engine.send(HOST, given).message


def stored(one: World, message_id: str, sender: str, **fields: Any) -> Message:
    """Store a blocking question to human:ada that another build let through."""
    fields = {
        "kind": "question",
        "data": {"type": "future"},
        "choices": ("approve", "deny"),
        "blocking": True,
        **fields,
    }
    message = Message(
        message_id, message_id, None, sender, ("human:ada",), body="?", created_at="then", **fields
    )
    with one.store.transaction("test") as db:
        insert_message(db, message)
    return message


def test_a_gate_takes_an_answer_from_those_who_decide_alone(one: World) -> None:
    gate = raise_wake(one, "human:bob", "agent:bob/x", OTHER_TASK)
    one.host.change({"startSession": {"workItem": "t-000002", "session": "run:r-000002"}})
    for sender in (BOB, Sender("agent:bob/x"), Sender("run:r-000002")):
        with refused(Code.FORBIDDEN, "replyTo"):
            one.engine.reply(sender, gate.id, ReplyInput("", choice="approve"))
    answer = one.engine.reply(ADA, gate.id, ReplyInput("", choice="deny")).message
    assert one.engine.answer_of(gate.id) == answer
    assert {delivery.state for delivery in one.engine.deliveries(gate.id)} == {State.ANSWERED}


def test_one_who_takes_no_part_in_a_gate_learns_nothing_of_it(one: World) -> None:
    """Section 13.5: participation comes before the right to decide."""
    gate = raise_wake(one)
    with refused(Code.NOT_FOUND, "replyTo"):
        one.engine.reply(BOB, gate.id, ReplyInput("", choice="approve"))


def test_a_session_raises_a_scope_gate_and_cannot_grant_it_to_itself(one: World) -> None:
    given = draft("human:ada", kind="question", blocking=True, choices=("grant", "deny"), data=SCOPE)
    gate = one.engine.send(SESSION, given).message
    with refused(Code.FORBIDDEN, "replyTo"):
        one.engine.reply(SESSION, gate.id, ReplyInput("", choice="grant"))
    answer = one.engine.reply(ADA, gate.id, ReplyInput("", choice="grant"))
    assert one.engine.effects_applied() == [gate.id]
    assert [delivery.recipient for delivery in answer.deliveries] == [RUN]


def test_the_system_may_answer_a_gate_itself_with_a_marker(one: World) -> None:
    """Section C.4: its policy decided; that is no close, so the effect applies."""
    given = draft("human:ada", kind="question", blocking=True, choices=("grant", "deny"), data=SCOPE)
    gate = one.engine.send(SESSION, given).message
    one.engine.reply(HOST, gate.id, ReplyInput("", choice="deny", data={"type": "x-expired"}))
    assert one.engine.effects_applied() == [gate.id]


def test_an_answer_to_a_gate_makes_one_of_its_choices(one: World) -> None:
    gate = raise_wake(one)
    for given in (ReplyInput("fine"), ReplyInput("", choice="grant")):
        with refused(Code.INVALID, "choice"):
            one.engine.reply(ADA, gate.id, given)
    assert one.engine.open_gates() == [gate.id]


@pytest.mark.parametrize("sender", [HOST.address, "human:eve"])
def test_a_stored_gate_of_an_unknown_type_takes_a_deciding_answer_and_no_effect(
    one: World, sender: str
) -> None:
    """Section 5.6: it fails closed, and a build that knows the type may still apply it."""
    gate = stored(one, "m-gate", sender)
    if sender == "human:eve":  # who takes part in it
        with refused(Code.FORBIDDEN, "replyTo"):
            one.engine.reply(Sender("human:eve"), gate.id, ReplyInput("", choice="approve"))
    assert one.engine.open_gates() == [gate.id]
    one.engine.reply(ADA, gate.id, ReplyInput("", choice="approve"))
    assert one.engine.recover().replayed == 0
    assert one.engine.effects_applied() == []
    assert all(call["hook"] != "onAnswered" for call in one.host.calls)
    one.host.gate_types = ("wake", "future")
    assert one.engine.recover().replayed == 1
    assert one.engine.effects_applied() == [gate.id]


def test_a_question_with_gate_data_that_could_not_be_raised_stays_plain(one: World) -> None:
    question = stored(one, "m-poll", "agent:bob/x")
    with one.store.transaction("test") as db:
        insert_message(db, replace(question, id="m-note", thread="m-note", kind="notice"))
    assert one.engine.open_gates() == []
    one.engine.reply(Sender("agent:bob/x"), question.id, ReplyInput("never mind"))
    assert one.engine.answer_of(question.id) is not None


def test_markers_and_private_data_are_never_gates(one: World) -> None:
    for data in ({"type": "x-closed", "reason": "r"}, {"type": "x-poll"}, {"kind": "wake"}, "wake", ["wake"]):
        question = one.engine.send(BOB, draft("human:eve", kind="question", data=data)).message
        one.engine.reply(Sender("human:eve"), question.id, ReplyInput("yes"))
    assert one.engine.open_gates() == one.engine.effects_applied() == []


def test_open_gates_are_listed_until_they_have_an_answer(one: World) -> None:
    first, second, third = raise_wake(one), raise_wake(one), raise_wake(one)
    one.engine.send(BOB, draft("human:ada", kind="question", blocking=True, data={"type": "x-poll"}))
    assert one.engine.open_gates() == [first.id, second.id, third.id]
    one.engine.reply(ADA, second.id, ReplyInput("", choice="deny"))
    one.engine.close(first.id, "over")
    assert one.engine.open_gates() == [third.id]
    assert third.id in [message.id for message in one.engine.open_blocking()]


def test_a_handoff_may_be_a_gate_and_keeps_its_default_choices(one: World) -> None:
    gate = one.engine.send(HOST, draft("human:ada", kind="handoff", data=WAKE)).message
    assert gate.choices == ("accept", "decline")
    with refused(Code.INVALID, "choice"):
        one.engine.reply(ADA, gate.id, ReplyInput("fine"))
    assert (
        one.engine.reply(ADA, gate.id, ReplyInput("", choice="accept")).message.standing is Standing.ACCEPTED
    )
