"""Waking what waits: the policy, the gate, and the notices to the sender (sections 5.9, 6.5, C.8)."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NoReturn

import pytest

from core.inputs import ReplyInput, Sender
from core.message import Delivery, Message, Ref, State
from core.waking import Waking
from tests.core.support import (
    ADA,
    HOST,
    OTHER_RUN,
    OTHER_TASK,
    RUN,
    TASK,
    World,
    draft,
    world,
)

SESSION = Sender(RUN)
SECRET = "the body that no log may hold"
ITEMS = [{"id": "t-000001", "liveSession": RUN}, {"id": "t-000002", "sessions": [OTHER_RUN]}]


def waiting(ruling: str, **given: Any) -> World:
    """Return a host with an idle work item and its ended session, on waking which it rules so."""
    given.setdefault("rulings", {OTHER_TASK: ruling, OTHER_RUN: ruling})
    given.setdefault("owner", "human:ada")
    return world(workItems=ITEMS, **given)


def ask(one: World, *to: str, sender: Sender = SESSION, body: str = SECRET) -> Message:
    return one.engine.send(sender, draft(*(to or (OTHER_TASK,)), body=body, wake="request")).message


def waking(one: World) -> Waking:
    return Waking(one.store, one.host, lambda given: one.engine.send(HOST, given))


def from_the_system(one: World, kind: str) -> list[Message]:
    """Return what the system sent of a kind, in order."""
    ids = one.store.db.execute(
        "SELECT id FROM messages WHERE sender = ? AND kind = ? ORDER BY position",
        (one.host.system_address, kind),
    )
    found = [one.engine.message(row[0]) for row in ids.fetchall()]
    return [message for message in found if message is not None]


def notices(one: World) -> list[Message]:
    return from_the_system(one, "notice")


def gates(one: World) -> list[Message]:
    return from_the_system(one, "question")


def hooks(one: World) -> list[tuple[str, str]]:
    """Return the wakes and the rulings asked for, each with its target."""
    return [(call["hook"], call["target"]) for call in one.host.calls if "target" in call]


def state(one: World, message: Message) -> State:
    (delivery,) = one.engine.deliveries(message.id)
    return delivery.state


def failing(error: Exception) -> Callable[..., NoReturn]:
    def fail(*_: object) -> NoReturn:
        raise error

    return fail


# Who is considered


def test_an_allowed_waking_asks_for_exactly_the_target_that_waits() -> None:
    one = waiting("allow")
    message = ask(one, OTHER_TASK, TASK, "human:bob", "agent:bob/bot")
    assert hooks(one) == [("decide", OTHER_TASK), ("wake", OTHER_TASK)]
    assert [call["message"] for call in one.host.calls if "target" in call] == [message.id] * 2
    assert notices(one) == gates(one) == []


def test_a_message_that_asks_for_no_waking_wakes_nobody() -> None:
    one = waiting("allow")
    sent = one.engine.send(SESSION, draft(OTHER_TASK))
    one.engine.announce(sent.message, sent.deliveries, lambda _: True)
    assert hooks(one) == []


def test_a_push_that_failed_leaves_a_work_item_waiting_as_any_does() -> None:
    one = waiting("allow", rulings={TASK: "allow"}, failPush=[RUN])
    ask(one, TASK, sender=ADA)
    assert hooks(one) == [("decide", TASK), ("wake", TASK)]


def test_a_muted_senders_message_waits_for_nobody() -> None:
    agents = [{"address": "agent:bob/bot", "status": "approved", "muted": True}]
    one = waiting("allow", agents=agents)
    ask(one, sender=Sender("agent:bob/bot"))
    assert hooks(one) == []


def test_a_member_of_a_channel_that_waits_is_woken_too() -> None:
    one = waiting("allow")
    one.engine.join("eng", OTHER_TASK)
    ask(one, "channel:eng")
    assert hooks(one) == [("decide", OTHER_TASK), ("wake", OTHER_TASK)]


def test_a_human_wakes_exactly_the_session_it_names() -> None:
    one = waiting("allow")
    message = ask(one, OTHER_RUN, sender=ADA)
    assert hooks(one) == [("decide", OTHER_RUN), ("wake", OTHER_RUN)]
    assert state(one, message) is State.HELD


@pytest.mark.parametrize(
    ("sender", "origin"), [("human:eve", "eve-00000003"), ("run:r-00000e", None), ("agent:eve/bot", None)]
)
def test_only_a_human_of_this_host_wakes_a_session(sender: str, origin: str | None) -> None:
    one = waiting("allow")
    message = ask(one, OTHER_RUN, OTHER_TASK, sender=ADA)
    deliveries = one.engine.deliveries(message.id)
    one.host.calls.clear()
    waking(one).consider(replace(message, sender=sender, origin=origin), deliveries)
    assert hooks(one) == [("decide", OTHER_TASK), ("wake", OTHER_TASK)]


def test_a_send_returns_its_deliveries_as_the_waking_left_them(monkeypatch: pytest.MonkeyPatch) -> None:
    one = waiting("allow")

    def wake(_target: str, _message: Message) -> None:
        one.host.live[OTHER_TASK] = "run:r-0000aa"
        one.engine.session_started("run:r-0000aa", OTHER_TASK)

    monkeypatch.setattr(one.host, "wake", wake)
    (delivery,) = one.engine.send(SESSION, draft(OTHER_TASK, wake="request")).deliveries
    assert (delivery.state, delivery.session) == (State.PUSHED, "run:r-0000aa")


def test_one_session_that_gets_all_that_waits_is_started_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A message to an idle work item and to its ended session: the first waking takes both."""
    one = waiting("allow")
    started = []

    def wake(target: str, _message: Message) -> None:
        started.append(target)
        one.host.change({"startSession": {"workItem": "t-000002", "session": "run:r-0000aa"}})
        one.engine.session_started("run:r-0000aa", OTHER_TASK)

    monkeypatch.setattr(one.host, "wake", wake)
    sent = one.engine.send(ADA, draft(OTHER_TASK, OTHER_RUN, wake="request"))
    assert started == [OTHER_TASK]
    assert {delivery.session for delivery in sent.deliveries} == {"run:r-0000aa"}


# What the sender is told


def test_a_denied_waking_tells_the_sender() -> None:
    one = waiting("deny")
    message = ask(one)
    (notice,) = notices(one)
    assert (notice.sender, notice.to, notice.kind) == (one.host.system_address, (RUN,), "notice")
    assert notice.refs == (Ref("message", message.id),)
    assert notice.body == f"Waking {OTHER_TASK} was not allowed. Your message is waiting for it."
    assert (notice.reply_to, notice.wake) == (None, "none")
    assert hooks(one) == [("decide", OTHER_TASK)]
    assert state(one, message) is State.HELD


def test_a_waking_that_failed_tells_the_sender_why() -> None:
    results = {OTHER_TASK: {"ok": False, "reason": "task is blocked"}}
    one = waiting("allow", wakeResults=results)
    message = ask(one)
    (notice,) = notices(one)
    assert notice.to == (RUN,)
    assert notice.body == f"Could not wake {OTHER_TASK}: task is blocked. Your message is waiting for it."
    assert state(one, message) is State.HELD


def test_a_reason_of_many_lines_is_told_on_one_and_cut() -> None:
    one = waiting(
        "allow", wakeResults={OTHER_TASK: {"ok": False, "reason": "first\u2028second" + "x" * 70_000}}
    )
    ask(one)
    (notice,) = notices(one)
    assert notice.body.startswith(f"Could not wake {OTHER_TASK}: first secondxxx")
    assert notice.body.endswith("x…. Your message is waiting for it.")
    assert len(notice.body) < 400


def test_an_error_that_is_no_reason_is_told_without_its_text(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    one = waiting("allow")
    monkeypatch.setattr(one.host, "wake", failing(RuntimeError("token 1234")))
    message = ask(one)
    (notice,) = notices(one)
    assert notice.body.startswith(f"Could not wake {OTHER_TASK}: ")
    assert "1234" not in notice.body
    assert "1234" not in caplog.text
    assert state(one, message) is State.HELD


def test_a_notice_to_a_session_that_has_ended_goes_to_its_work_item() -> None:
    one = waiting("deny")
    one.host.live[TASK] = None
    ask(one)
    (notice,) = notices(one)
    assert notice.to == (TASK,)
    assert state(one, notice) is State.HELD


def test_the_system_tells_itself_nothing() -> None:
    one = waiting("deny")
    ask(one, sender=HOST)
    assert notices(one) == []


# A failure never fails the send


def test_a_policy_that_fails_wakes_nobody_and_the_sender_is_told(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    one = waiting("allow")
    monkeypatch.setattr(one.host, "rule_wake", failing(RuntimeError(SECRET)))
    message = ask(one)
    assert hooks(one) == []
    assert [notice.to for notice in notices(one)] == [(RUN,)]
    assert state(one, message) is State.HELD
    assert caplog.records
    assert SECRET not in caplog.text


def test_a_notice_that_fails_is_logged_without_text(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    one = waiting("deny")
    one.host.auxiliary.add("run:r-0000aa")

    def end(*_: object) -> str:
        one.host.auxiliary.discard("run:r-0000aa")
        return "deny"

    monkeypatch.setattr(one.host, "rule_wake", end)  # the sender ends meanwhile, and stands for no work item
    sent = one.engine.send(Sender("run:r-0000aa"), draft(OTHER_TASK, body=SECRET, wake="request"))
    assert notices(one) == []
    assert [each.state for each in sent.deliveries] == [State.HELD]
    assert "DmpError" in caplog.text
    assert SECRET not in caplog.text


def test_a_gate_that_cannot_be_raised_tells_the_sender(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    one = waiting("ask", owner="human:not-an address")
    message = ask(one)
    assert gates(one) == []
    (notice,) = notices(one)
    assert notice.body.startswith(f"Could not wake {OTHER_TASK}: ")
    assert state(one, message) is State.HELD
    assert SECRET not in caplog.text


def test_one_target_that_fails_keeps_no_other_from_being_woken(monkeypatch: pytest.MonkeyPatch) -> None:
    one = world(workItems=[*ITEMS, {"id": "t-000003"}], rulings={"task:t-000003": "allow"})
    rule = one.host.rule_wake

    def rule_or_fail(target: str, message: Message) -> Any:
        if target == OTHER_TASK:
            raise RuntimeError
        return rule(target, message)

    monkeypatch.setattr(one.host, "rule_wake", rule_or_fail)
    ask(one, OTHER_TASK, "task:t-000003")
    assert ("wake", "task:t-000003") in hooks(one)


# The wake gate


def test_a_policy_that_asks_raises_a_wake_gate_to_the_owner() -> None:
    one = waiting("ask")
    message = ask(one, body="please look\nmore")
    (gate,) = gates(one)
    assert (gate.to, gate.kind, gate.blocking, gate.choices) == (
        ("human:ada",),
        "question",
        True,
        ("approve", "deny"),
    )
    assert gate.data == {"type": "wake", "target": OTHER_TASK, "message": message.id}
    assert gate.refs == (Ref("message", message.id),)
    assert gate.body == f"{RUN} wants to wake {OTHER_TASK}:\n\n> please look"
    assert one.engine.open_gates() == [gate.id]
    assert hooks(one) == [("decide", OTHER_TASK)]
    assert notices(one) == []


@pytest.mark.parametrize("line_break", ["\r\n", "\r", "\x0b", "\x0c", "\x85", "\u2028", "\u2029"])
def test_a_gate_quotes_the_first_line_whatever_ends_it(line_break: str) -> None:
    one = waiting("ask")
    ask(one, body=f"please look{line_break}more")
    assert gates(one)[0].body.endswith(":\n\n> please look")


def test_a_first_line_as_long_as_a_body_may_be_still_raises_a_gate() -> None:
    one = waiting("ask")
    ask(one, body="é" * (32 * 1024))
    assert gates(one)[0].body.endswith(f"\n\n> {'é' * 79}…")


def test_a_target_nobody_can_be_asked_about_is_not_woken_and_the_sender_is_told() -> None:
    one = world(workItems=ITEMS, rulings={OTHER_TASK: "ask"})
    ask(one)
    assert gates(one) == []
    assert [notice.body for notice in notices(one)] == [
        f"Waking {OTHER_TASK} was not allowed. Your message is waiting for it."
    ]


def asked(**given: Any) -> tuple[World, Message]:
    one = waiting("ask", **given)
    ask(one)
    (gate,) = gates(one)
    return one, gate


def decide(one: World, gate: Message, choice: str) -> Message:
    return one.engine.reply(ADA, gate.id, ReplyInput("", choice=choice)).message


def test_an_approved_gate_wakes_the_target_before_anybody_hears_of_it() -> None:
    one, gate = asked()
    one.host.calls.clear()
    answer = decide(one, gate, "approve")
    assert one.host.calls == [
        {"hook": "onAnswered", "question": gate.id, "answer": answer.id},
        {"hook": "wake", "target": OTHER_TASK, "message": gate.refs[0].id},
        {"hook": "published", "message": answer.id},
    ]
    assert one.engine.effects_applied() == [gate.id]


def test_a_denied_gate_leaves_the_message_held_and_is_done_with() -> None:
    one, gate = asked()
    one.host.calls.clear()
    decide(one, gate, "deny")
    assert hooks(one) == []
    assert [each.state for each in one.engine.deliveries(gate.refs[0].id)] == [State.HELD]
    assert one.engine.effects_applied() == [gate.id]


def test_a_target_that_has_a_live_session_by_now_needs_no_waking() -> None:
    one, gate = asked()
    one.host.live[OTHER_TASK] = "run:r-0000aa"
    one.host.calls.clear()
    decide(one, gate, "approve")
    assert hooks(one) == []
    assert notices(one) == []
    assert one.engine.effects_applied() == [gate.id]


def test_a_session_that_is_live_again_needs_no_waking() -> None:
    one = waiting("ask")
    ask(one, OTHER_RUN, sender=ADA)
    one.host.live[OTHER_TASK] = OTHER_RUN
    one.host.calls.clear()
    decide(one, gates(one)[0], "approve")
    assert hooks(one) == []


def test_a_target_that_no_longer_qualifies_is_not_woken_and_the_sender_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    one, gate = asked()
    monkeypatch.setattr(one.host, "why_not_woken", lambda _target: "landed")
    one.host.calls.clear()
    decide(one, gate, "approve")
    assert hooks(one) == []
    (notice,) = notices(one)
    assert notice.body == "Not woken: task t-000002 is landed."
    assert (notice.to, notice.refs) == ((RUN,), gate.refs)
    assert one.engine.effects_applied() == [gate.id]


def test_a_target_that_cannot_be_read_is_not_woken_and_the_sender_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    one, gate = asked()
    monkeypatch.setattr(one.host, "why_not_woken", failing(OSError("disk\non fire")))
    one.host.calls.clear()
    decide(one, gate, "approve")
    assert hooks(one) == []
    assert [notice.body for notice in notices(one)] == [
        "Not woken: task t-000002 could not be read: disk on fire."
    ]
    assert one.engine.effects_applied() == [gate.id]


def test_an_approved_waking_that_fails_tells_the_sender_and_is_done_with() -> None:
    one, gate = asked(wakeResults={OTHER_TASK: {"ok": False, "reason": "no room"}})
    decide(one, gate, "approve")
    assert [notice.body for notice in notices(one)] == [
        f"Could not wake {OTHER_TASK}: no room. Your message is waiting for it."
    ]
    assert one.engine.effects_applied() == [gate.id]


def test_an_effect_that_is_applied_again_tells_the_sender_once() -> None:
    one, gate = asked(wakeResults={OTHER_TASK: {"ok": False, "reason": "no room"}})
    answer = decide(one, gate, "approve")
    waking(one).approved(gate, answer)
    assert len(notices(one)) == 1


def test_a_gate_about_a_message_that_is_not_here_wakes_nobody() -> None:
    one = waiting("allow")
    data = {"type": "wake", "target": OTHER_TASK, "message": "m-elsewhere"}
    question = draft("human:ada", kind="question", data=data, blocking=True, choices=("approve", "deny"))
    gate = one.engine.send(HOST, question).message
    decide(one, gate, "approve")
    assert hooks(one) == []
    assert notices(one) == []
    assert one.engine.effects_applied() == [gate.id]


# Nothing said here asks for a waking itself


@pytest.mark.parametrize("ruling", ["deny", "ask"])
def test_notices_and_gates_wake_nobody(ruling: str, monkeypatch: pytest.MonkeyPatch) -> None:
    one = waiting(ruling, owner="human:ada")
    one.host.live[TASK] = None  # so that the notice is held for a work item
    considered: list[str] = []
    rule = one.host.rule_wake

    def rule_wake(target: str, message: Message) -> Any:
        considered.append(message.kind)
        return rule(target, message)

    monkeypatch.setattr(one.host, "rule_wake", rule_wake)
    ask(one)
    assert considered == ["message"]
    assert [message.wake for message in (*notices(one), *gates(one))] == ["none"]


def test_no_delivery_that_another_process_pushes_is_considered() -> None:
    one = waiting("allow")
    message = ask(one, TASK, sender=ADA)
    (pushed,) = one.engine.deliveries(message.id)
    for other in (State.SENDING, State.PUSHED, State.READ, State.ANSWERED):
        moved: Delivery = replace(pushed, state=other)
        waking(one).consider(message, [moved])
    assert hooks(one) == []
