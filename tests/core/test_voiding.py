"""Answers to gates that could never decide are set aside, and their gates opened again (sections 5.7, 13.4)."""

from typing import Any

import pytest

from core.errors import Code
from core.inputs import ReplyInput
from core.message import Delivery, Message, Standing, State, Via
from core.store.deliveries import insert_deliveries
from core.store.effects import record_applied
from core.store.messages import insert_message
from tests.core.support import (
    ADA,
    HOST,
    NOW,
    OTHER_RUN,
    OTHER_TASK,
    RUN,
    TASK,
    Recorder,
    World,
    draft,
    refused,
    world,
)

BAD = "agent:bob/x"
DENY = ReplyInput("", choice="deny")


@pytest.fixture
def one() -> World:
    return world(owner="human:owner")


def answered_gate(
    one: World,
    *recipients: str,
    data_type: str = "wake",
    answerer: str = BAD,
    via: Via = Via.DIRECT,
    **fields: Any,
) -> tuple[str, str]:
    """Store a gate and an agent's answer to it, as an older build might have; return their ids."""
    recipients = recipients or ("human:ada",)
    gate = Message(
        "m-gate",
        "m-gate",
        None,
        HOST.address,
        recipients,
        "question",
        "Wake it?",
        "then",
        blocking=True,
        choices=("approve", "deny"),
        data={"type": data_type, "target": OTHER_TASK, "message": "m-elsewhere"},
    )
    answer = Message(
        "m-bad",
        "m-gate",
        "m-gate",
        answerer,
        (HOST.address,),
        "answer",
        "",
        "then",
        choice="approve",
        standing=Standing.ACCEPTED,
    )
    with one.store.transaction("test") as db:
        insert_message(db, gate)
        insert_message(db, answer)
        insert_deliveries(
            db,
            [
                Delivery(f"d-{n}", "m-gate", recipient, via, State.ANSWERED, None, "then")
                for n, recipient in enumerate(recipients)
            ],
        )
    return "m-gate", "m-bad"


def notices(one: World) -> list[Message]:
    return [message for _, message in one.engine.inbox("human:owner")]


def test_recovery_sets_it_aside_and_opens_the_gate_for_another_answer(one: World) -> None:
    gate, bad = answered_gate(one)
    done = one.engine.recover()
    assert (done.replayed, done.voided) == (0, 1)
    voided = one.engine.message(bad)
    assert voided is not None
    assert (voided.kind, voided.standing, voided.choice) == ("message", Standing.VOIDED, "approve")
    assert voided.as_sent().kind == "answer"
    assert one.engine.voided() == [bad]
    assert one.engine.open_gates() == [gate]
    assert one.engine.recover().voided == 0
    answer = one.engine.reply(ADA, gate, DENY).message
    assert one.engine.answer_of(gate) == answer
    assert one.engine.effects_applied() == [gate]
    effects = [call for call in one.host.calls if call["hook"] == "onAnswered"]
    assert effects == [{"hook": "onAnswered", "question": gate, "answer": answer.id}]


def test_a_new_answer_finds_it_too(one: World) -> None:
    gate, bad = answered_gate(one)
    answer = one.engine.reply(ADA, gate, DENY).message
    assert one.engine.voided() == [bad]
    assert one.engine.answer_of(gate) == answer
    hooks = [(call["hook"], call.get("message")) for call in one.host.calls]
    (notice,) = notices(one)
    assert hooks == [
        ("published", bad),
        ("notifyHuman", gate),
        ("published", notice.id),
        ("notifyHuman", notice.id),
        ("onAnswered", None),
        ("published", answer.id),
    ]


def test_a_close_finds_it_too(one: World) -> None:
    gate, bad = answered_gate(one)
    close = one.engine.close(gate, "over")
    assert one.engine.voided() == [bad]
    assert one.engine.answer_of(gate) == close
    assert one.engine.effects_applied() == []


def test_a_new_answer_that_is_refused_leaves_it_set_aside(one: World) -> None:
    gate, bad = answered_gate(one)
    given = draft("run:r-0000ff", kind="answer", reply_to=gate, choice="deny")
    with refused(Code.INVALID, "to[0]"):
        one.engine.send(ADA, given)
    assert one.engine.voided() == [bad]
    assert one.engine.open_gates() == [gate]


def test_a_gate_of_an_unknown_type_is_opened_by_its_next_answer_and_not_by_recovery(one: World) -> None:
    """Section 6.3, step 3, is about types the host knows; section 5.7 about any gate that is answered."""
    gate, bad = answered_gate(one, data_type="future")
    assert one.engine.recover().voided == 0
    assert one.engine.voided() == []
    one.engine.reply(ADA, gate, DENY)
    assert one.engine.voided() == [bad]
    assert one.engine.effects_applied() == []


@pytest.mark.parametrize("answerer", ["run:r-000001", "agent:bob/x", "task:t-000001"])
def test_only_a_humans_and_the_systems_answers_stand(answerer: str) -> None:
    one = world()
    answered_gate(one, answerer=answerer)
    assert one.engine.recover().voided == 1


@pytest.mark.parametrize("answerer", ["human:eve", HOST.address])
def test_a_humans_stored_answer_takes_effect_whether_or_not_it_may_decide_now(answerer: str) -> None:
    one = world()
    gate, _ = answered_gate(one, answerer=answerer)
    done = one.engine.recover()
    assert (done.replayed, done.voided) == (1, 0)
    assert one.engine.effects_applied() == [gate]


def test_what_another_build_recorded_as_applied_is_applied_again_for_the_answer_that_counts(
    one: World,
) -> None:
    gate, _ = answered_gate(one)
    with one.store.transaction("test") as db:
        record_applied(db, gate, "then")
    assert one.engine.recover().voided == 0  # section 6.3: only effects that are not recorded
    one.host.failing_effects = True
    one.engine.reply(ADA, gate, DENY)
    assert one.engine.effects_applied() == []
    one.host.failing_effects = False
    assert one.engine.recover().replayed == 1
    assert one.engine.effects_applied() == [gate]


STATES = {
    "human:ada": (State.NOTIFIED, None),
    "agent:bob/x": (State.HELD, None),
    TASK: (State.PUSHED, RUN),
    OTHER_TASK: (State.HELD, None),
    RUN: (State.PUSHED, RUN),
    OTHER_RUN: (State.HELD, None),
}


def test_each_delivery_goes_where_a_new_one_would_and_is_dispatched(one: World) -> None:
    gate, _ = answered_gate(one, *STATES)
    one.engine.recover()
    assert {d.recipient: (d.state, d.session) for d in one.engine.deliveries(gate)} == STATES
    pushes = [call for call in one.host.calls if call["hook"] == "push"]
    assert pushes == [{"hook": "push", "session": RUN, "message": gate}] * 2


def test_a_delivery_that_was_not_answered_stays_where_it_is(one: World) -> None:
    gate, _ = answered_gate(one)
    with one.store.transaction("an older build") as db:
        insert_deliveries(db, [Delivery("d-9", gate, TASK, Via.DIRECT, State.READ, RUN, "then")])
    one.engine.recover()
    assert [d.state for d in one.engine.deliveries(gate)] == [State.NOTIFIED, State.READ]


def test_a_delivery_keeps_its_route(one: World) -> None:
    gate, _ = answered_gate(one, TASK, OTHER_RUN, via=Via.CHANNEL)
    one.engine.recover()
    assert [(d.state, d.via) for d in one.engine.deliveries(gate)] == [
        (State.NOTIFIED, Via.CHANNEL),
        (State.HELD, Via.CHANNEL),
    ]


def test_the_answerers_owner_is_told_once_in_the_profiles_words(one: World) -> None:
    gate, _ = answered_gate(one)
    one.engine.recover()
    one.engine.recover()
    (notice,) = notices(one)
    assert (notice.sender, notice.kind, notice.reply_to, notice.thread) == (
        HOST.address,
        "notice",
        gate,
        gate,
    )
    assert notice.body == (
        "An answer from agent:bob/x to gate m-gate was set aside; only deciding humans answer gates. "
        "The gate is open again."
    )


@pytest.mark.parametrize("owner", [None, "run:r-0000ff", "nobody at all"])
def test_an_owner_who_cannot_be_told_keeps_nothing_from_happening(owner: str | None) -> None:
    one = world()
    one.host.owner = lambda _target: owner  # type: ignore[method-assign]
    gate, bad = answered_gate(one)
    assert one.engine.recover().voided == 1
    assert one.engine.voided() == [bad]
    assert [message.id for message in one.engine.thread(gate)] == [gate, bad]


def test_a_host_that_fails_to_name_an_owner_keeps_nothing_from_happening(one: World) -> None:
    def fails(_target: str) -> None:
        raise OSError

    one.host.owner = fails  # type: ignore[method-assign]
    answered_gate(one)
    assert one.engine.recover().voided == 1


def test_other_replicas_hear_where_the_deliveries_went() -> None:
    federation = Recorder()
    one = world(federation=federation)
    answered_gate(one, "human:ada", TASK)
    one.engine.recover()
    assert federation.seen == [("moved", "human:ada", "notified"), ("moved", TASK, "pushed")]


def test_the_reopened_deliveries_say_when(one: World) -> None:
    gate, _ = answered_gate(one)
    one.now = NOW + 60_000
    one.engine.recover()
    (delivery,) = one.engine.deliveries(gate)
    assert delivery.changed_at == "2026-09-21T14:14:20.000Z"
