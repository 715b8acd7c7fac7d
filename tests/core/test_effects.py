"""Effects: after the answer is committed, before anybody hears of it, and again until they are recorded (5.5, 6.3)."""

import logging

import pytest

from core.errors import Code, DmpError
from core.inputs import ReplyInput, Sender
from core.message import Message, State
from core.store.messages import answer_to, unsettled_questions_with_gate_data
from tests.core.support import ADA, BOB, HOST, OTHER_RUN, OTHER_TASK, RUN, World, draft, refused, world
from tests.core.test_gates import SCOPE, SESSION, raise_wake

APPROVE, DENY, GRANT = (ReplyInput("", choice=choice) for choice in ("approve", "deny", "grant"))


@pytest.fixture
def one() -> World:
    return world(owner="human:ada")


def raise_scope(one: World) -> Message:
    given = draft("human:ada", kind="question", blocking=True, choices=("grant", "deny"), data=SCOPE)
    return one.engine.send(SESSION, given).message


def hooks(one: World, *messages: Message) -> list[str]:
    """The hooks called with any of some messages, in order."""
    ids = {message.id for message in messages}
    return [call["hook"] for call in one.host.calls if ids & set(call.values())]


def test_the_order_is_commit_effect_record_publish_dispatch(one: World) -> None:
    gate = raise_scope(one)
    seen: list[tuple[str, bool, list[str], list[State]]] = []

    def look(name: str) -> None:
        answered = answer_to(one.store.db, gate.id) is not None
        states = [delivery.state for delivery in one.engine.deliveries(gate.id)]
        seen.append(
            (name, answered and not one.store.db.in_transaction, one.engine.effects_applied(), states)
        )

    one.host.apply_effect = lambda gate, answer: look("effect")  # type: ignore[method-assign]
    one.host.published = lambda message: look("published")  # type: ignore[method-assign]
    one.host.push = lambda session, message: look("push")  # type: ignore[method-assign]
    one.engine.reply(ADA, gate.id, GRANT)
    assert seen == [
        ("effect", True, [], [State.ANSWERED]),
        ("published", True, [gate.id], [State.ANSWERED]),
        ("push", True, [gate.id], [State.ANSWERED]),
    ]


@pytest.mark.parametrize("fails", [False, True])
def test_readers_see_an_answer_once_its_effect_was_tried(one: World, fails: bool) -> None:
    gate = raise_scope(one)
    seen: list[tuple[bool, bool, list[str]]] = []

    def look(message: Message) -> None:
        readable = one.engine.can_read(ADA, message.id)
        thread = [each.id for each in one.engine.thread(gate.id)]
        box = one.engine.newest((RUN,), None, 10)
        assert one.engine.count((RUN,), None) == len(box) == (len(thread) > 1)
        seen.append((readable, one.engine.answer_of(gate.id) is not None, thread))

    def effect(gate: Message, answer: Message) -> None:
        look(answer)
        if fails:
            raise OSError

    one.host.apply_effect = effect  # type: ignore[method-assign]
    one.host.published = look  # type: ignore[method-assign]
    answer = one.engine.reply(ADA, gate.id, GRANT).message
    assert seen == [(False, False, [gate.id]), (True, True, [gate.id, answer.id])]


def test_a_failing_effect_leaves_the_answer_committed_heard_and_to_be_applied_again(one: World) -> None:
    gate = raise_scope(one)
    one.host.failing_effects = True
    sent = one.engine.reply(ADA, gate.id, GRANT)
    assert hooks(one, sent.message) == ["onAnswered", "published", "push"]
    assert [delivery.state for delivery in sent.deliveries] == [State.PUSHED]
    assert one.engine.effects_applied() == []
    for _ in range(2):  # it fails, and fails again
        assert one.engine.recover().replayed == 0
    one.host.failing_effects = False
    assert one.engine.recover().replayed == 1
    assert one.engine.effects_applied() == [gate.id]
    assert one.engine.recover().replayed == 0
    assert hooks(one, sent.message) == ["onAnswered", "published", "push", *["onAnswered"] * 3]


def test_a_failing_effect_is_logged_without_gate_data_or_text(
    one: World, caplog: pytest.LogCaptureFixture
) -> None:
    def fails(gate: Message, answer: Message) -> None:
        raise ValueError(f"{gate.body} {gate.data} {answer.body}")

    gate = raise_scope(one)
    one.host.apply_effect = fails  # type: ignore[method-assign]
    with caplog.at_level(logging.DEBUG):
        one.engine.reply(ADA, gate.id, ReplyInput("top secret", choice="grant"))
    assert gate.id in caplog.text
    assert "ValueError" in caplog.text
    assert "secret" not in caplog.text
    assert "a.py" not in caplog.text


def test_nobody_takes_a_second_answer_while_the_effect_of_the_first_is_to_be_applied(one: World) -> None:
    gate = raise_scope(one)
    one.host.failing_effects = True
    one.engine.reply(ADA, gate.id, GRANT)
    for sender in (ADA, HOST):
        with refused(Code.CONFLICT, "replyTo"):
            one.engine.reply(sender, gate.id, DENY)
    with refused(Code.CONFLICT, "replyTo"):
        one.engine.close(gate.id, "over")


def test_a_close_and_a_reply_that_is_no_answer_have_no_effect(one: World) -> None:
    gate = raise_wake(one)
    one.engine.send(ADA, draft("human:bob", reply_to=gate.id))
    one.engine.close(gate.id, "over")
    assert one.engine.recover().replayed == 0
    assert hooks(one, gate) == ["published", "notifyHuman"]
    assert one.engine.effects_applied() == []


def test_an_answer_that_only_looks_like_a_close_has_its_effect(one: World) -> None:
    """Section 13.14."""
    gate = raise_wake(one)
    one.engine.reply(ADA, gate.id, ReplyInput("", choice="deny", data={"type": "x-closed", "reason": "r"}))
    assert one.engine.effects_applied() == [gate.id]


def test_a_retried_answer_replays_without_a_second_effect(one: World) -> None:
    gate = raise_wake(one)
    given = ReplyInput("", choice="deny", idempotency_key="k")
    first = one.engine.reply(ADA, gate.id, given)
    calls = len(one.host.calls)
    again = one.engine.reply(ADA, gate.id, given)
    assert (again.replayed, again.message) == (True, first.message)
    assert len(one.host.calls) == calls


def test_a_plain_question_has_no_effect(one: World) -> None:
    question = one.engine.send(BOB, draft("human:ada", kind="question")).message
    one.engine.reply(ADA, question.id, ReplyInput("yes"))
    assert one.engine.recover().replayed == 0
    assert one.engine.effects_applied() == []


def test_a_store_that_fails_after_the_effect_leaves_it_to_recovery(one: World) -> None:
    def busy(point: str, when: str) -> None:
        raise DmpError(Code.UNAVAILABLE, "the store is busy, try again")

    def breaks(gate: Message, answer: Message) -> None:
        one.store.observer = busy

    gate, apply = raise_wake(one), one.host.apply_effect
    one.host.apply_effect = breaks  # type: ignore[method-assign]
    answer = one.engine.reply(ADA, gate.id, DENY).message
    one.store.observer = None
    one.host.apply_effect = apply  # type: ignore[method-assign]
    assert one.engine.effects_applied() == []
    assert ("published", answer.id) in [(call["hook"], call.get("message")) for call in one.host.calls]
    assert one.engine.recover().replayed == 1


# The wake gate


def asked(one: World) -> tuple[Message, Message]:
    """A message that waits for a work item, and the gate its owner got."""
    one.host.change({"ruling": {"target": OTHER_TASK, "ruling": "ask"}})
    message = one.engine.send(Sender(RUN), draft(OTHER_TASK, wake="request")).message
    (gate_id,) = one.engine.open_gates()
    gate = one.engine.message(gate_id)
    assert gate is not None
    return message, gate


def test_approving_a_wake_gate_wakes_before_the_answer_is_published(one: World) -> None:
    message, gate = asked(one)
    answer = one.engine.reply(ADA, gate.id, APPROVE).message
    assert one.host.calls[-3:] == [
        {"hook": "onAnswered", "question": gate.id, "answer": answer.id},
        {"hook": "wake", "target": OTHER_TASK, "message": message.id},
        {"hook": "published", "message": answer.id},
    ]
    assert one.engine.effects_applied() == [gate.id]


@pytest.mark.parametrize("why", ["denied", "live", "no longer allowed", "fails"])
def test_a_wake_gate_is_recorded_as_applied_however_it_ends(one: World, why: str) -> None:
    message, gate = asked(one)
    if why == "live":
        one.host.change({"startSession": {"workItem": "t-000002", "session": OTHER_RUN}})
    elif why == "no longer allowed":
        one.host.change({"ruling": {"target": OTHER_TASK, "ruling": "deny"}})
    elif why == "fails":
        one.host.change({"wakeResult": {"target": OTHER_TASK, "result": {"ok": False, "reason": "no room"}}})
    one.engine.reply(ADA, gate.id, DENY if why == "denied" else APPROVE)
    assert ("wake" in hooks(one, message)) == (why == "fails")
    assert one.engine.effects_applied() == [gate.id]
    assert one.engine.recover().replayed == 0


def test_a_wake_gate_whose_effect_fails_wakes_nobody_until_it_works(one: World) -> None:
    message, gate = asked(one)
    one.host.failing_effects = True
    one.engine.reply(ADA, gate.id, APPROVE)
    assert "wake" not in hooks(one, message)
    one.host.failing_effects = False
    assert one.engine.recover().replayed == 1
    assert hooks(one, message).count("wake") == 1


def test_recovery_reads_no_gate_that_is_settled_and_no_private_data(one: World) -> None:
    decided, closed, waiting = (raise_scope(one) for _ in range(3))
    one.engine.reply(ADA, decided.id, GRANT)
    one.engine.close(closed.id, "the session ended")
    private = one.engine.send(BOB, draft("human:ada", kind="question", data={"type": "x-poll"})).message
    one.engine.reply(ADA, private.id, ReplyInput("yes"))
    one.host.failing_effects = True
    one.engine.reply(ADA, waiting.id, GRANT)
    assert [gate.id for gate in unsettled_questions_with_gate_data(one.store.db)] == [waiting.id]
