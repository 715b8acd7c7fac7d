"""Dispatch, failing hooks, recovery and session start (sections 6.2-6.4)."""

import logging

import pytest

from core.errors import Code, DmpError
from core.inputs import SendInput
from core.message import Delivery, Message, State, Via
from core.store.deliveries import insert_deliveries
from tests.core.support import (
    ADA,
    LATER_RUN,
    OTHER_RUN,
    OTHER_TASK,
    RUN,
    TASK,
    Recorder,
    World,
    draft,
    world,
)


@pytest.fixture
def one() -> World:
    return world()


def only(one: World, message: Message) -> Delivery:
    (delivery,) = one.engine.deliveries(message.id)
    return delivery


def through_a_channel(one: World, message: Message, recipient: str) -> Delivery:
    """Store a delivery that a channel's member would have."""
    delivery = Delivery("d-channel", message.id, recipient, Via.CHANNEL, State.HELD, None, "then")
    with one.store.transaction("test") as db:
        insert_deliveries(db, [delivery])
    return delivery


def test_hooks_run_after_the_commit_published_first(one: World) -> None:
    seen = []
    one.host.published = lambda message: seen.append(one.store.db.in_transaction)  # type: ignore[method-assign]
    one.host.push = lambda session, message: seen.append(one.store.db.in_transaction)  # type: ignore[method-assign]
    sent = one.engine.send(ADA, draft(TASK, "human:bob"))
    assert seen == [False, False]
    assert [d.state for d in sent.deliveries] == [State.PUSHED, State.NOTIFIED]
    assert one.host.calls == [{"hook": "notifyHuman", "actor": "human:bob", "message": sent.message.id}]


def test_a_failed_push_returns_to_held_and_never_fails_the_send(one: World) -> None:
    one.host.failing = {RUN}
    (delivery,) = one.engine.send(ADA, draft(TASK)).deliveries
    assert (delivery.state, delivery.session) == (State.HELD, None)


@pytest.mark.parametrize("hook", ["published", "notify_human"])
def test_no_failing_hook_fails_the_send(one: World, hook: str) -> None:
    def fails(*_: object) -> None:
        raise OSError("no")

    setattr(one.host, hook, fails)
    (delivery,) = one.engine.send(ADA, draft("human:bob")).deliveries
    assert delivery.state is State.NOTIFIED


def test_a_failing_hook_is_logged_without_message_text(one: World, caplog: pytest.LogCaptureFixture) -> None:
    """Section 13.10: even where the hook's own error quotes the body."""

    def fails(session: str, message: Message) -> None:
        raise ValueError(message.body)

    one.host.push = fails  # type: ignore[method-assign]
    with caplog.at_level(logging.DEBUG):
        message = one.engine.send(ADA, draft(TASK, body="top secret")).message
    assert message.id in caplog.text
    assert "ValueError" in caplog.text
    assert "secret" not in caplog.text


def test_channel_mail_is_notified_unless_it_is_urgent(one: World) -> None:
    for urgent, hook, state in ((False, "notify", State.NOTIFIED), (True, "push", State.PUSHED)):
        one = world()
        message = one.engine.send(ADA, draft("agent:bob/x", urgent=urgent)).message
        through_a_channel(one, message, OTHER_TASK)
        one.host.change({"startSession": {"workItem": "t-000002", "session": OTHER_RUN}})
        (delivery,) = one.engine.session_started(OTHER_RUN, OTHER_TASK)
        assert (delivery.state, delivery.session) == (state, OTHER_RUN)
        assert one.host.calls[-1]["hook"] == hook


def test_a_session_start_claims_the_held_mail_of_its_work_item_and_earlier_sessions(one: World) -> None:
    held = one.engine.send(ADA, draft(OTHER_TASK)).message
    one.host.failing = {RUN}
    to_run = one.engine.send(ADA, draft(RUN)).message
    to_task = one.engine.send(ADA, draft(TASK, body="later")).message
    read = one.engine.send(ADA, draft(TASK)).message
    one.engine.mark_read(only(one, read).id)
    one.host.change({"endSession": {"workItem": "t-000001"}})
    one.host.change({"startSession": {"workItem": "t-000001", "session": LATER_RUN}})
    claimed = one.engine.session_started(LATER_RUN, TASK)
    assert [(d.message, d.recipient, d.state, d.session) for d in claimed] == [
        (to_run.id, RUN, State.PUSHED, LATER_RUN),
        (to_task.id, TASK, State.PUSHED, LATER_RUN),
    ]
    assert only(one, held).state is State.HELD
    assert only(one, read).state is State.READ
    assert one.engine.session_started(LATER_RUN, TASK) == ()


def test_a_session_that_continues_gets_the_mail_that_waits_for_it(one: World) -> None:
    one.host.change({"endSession": {"workItem": "t-000001"}})
    message = one.engine.send(ADA, draft(RUN, wake="request")).message
    one.host.change({"startSession": {"workItem": "t-000001", "session": RUN}})
    (claimed,) = one.engine.session_started(RUN, TASK)
    assert (claimed.message, claimed.state) == (message.id, State.PUSHED)


def test_a_delivery_that_moved_while_its_hook_ran_stays_where_it_went(one: World) -> None:
    """Section 6.3: when two changes race, the newer state stays."""

    def marks_read(session: str, message: Message) -> None:
        assert only(one, message).state is State.SENDING
        one.engine.mark_read(only(one, message).id)

    one.host.push = marks_read  # type: ignore[method-assign]
    (delivery,) = one.engine.send(ADA, draft(TASK)).deliveries
    assert delivery.state is State.READ

    def answered(session: str, message: Message) -> None:
        one.engine.close(message.id, "over")
        raise RuntimeError

    one.host.push = answered  # type: ignore[method-assign]
    (delivery,) = one.engine.send(ADA, draft(TASK, kind="question")).deliveries
    assert delivery.state is State.ANSWERED


def test_a_push_that_returns_late_does_not_move_what_another_session_is_getting(one: World) -> None:
    """The binding is compared too: the delivery is `sending` again, but to a later session."""

    def lost(session: str, message: Message) -> None:
        one.host.change({"endSession": {"workItem": "t-000001"}})
        assert one.engine.recover().reverted == 1
        one.host.change({"startSession": {"workItem": "t-000001", "session": LATER_RUN}})
        one.host.push = crashes  # type: ignore[method-assign]
        with pytest.raises(KeyboardInterrupt):
            one.engine.session_started(LATER_RUN, TASK)

    def crashes(session: str, message: Message) -> None:
        raise KeyboardInterrupt

    one.host.push = lost  # type: ignore[method-assign]
    (delivery,) = one.engine.send(ADA, draft(TASK)).deliveries
    assert (delivery.state, delivery.session) == (State.SENDING, LATER_RUN)


def crashed(one: World, given: SendInput) -> Message:
    """Send, and die inside the push."""

    def dies(session: str, message: Message) -> None:
        raise KeyboardInterrupt

    alive = one.host.push
    one.host.push = dies  # type: ignore[method-assign]
    with pytest.raises(KeyboardInterrupt):
        one.engine.send(ADA, given)
    one.host.push = alive  # type: ignore[method-assign]
    (message_id,) = one.store.db.execute("SELECT id FROM messages ORDER BY position DESC LIMIT 1").fetchone()
    found = one.engine.message(message_id)
    assert found is not None
    return found


def test_recovery_dispatches_again_where_the_session_is_live(one: World) -> None:
    message = crashed(one, draft(TASK))
    assert only(one, message).state is State.SENDING
    done = one.engine.recover()
    assert (done.retried, done.reverted) == (1, 0)
    assert only(one, message).state is State.PUSHED
    assert one.engine.recover().retried == 0


def test_recovery_returns_to_held_where_the_session_is_gone() -> None:
    federation = Recorder()
    one = world(federation=federation)
    message = crashed(one, draft(TASK))
    one.host.change({"endSession": {"workItem": "t-000001"}})
    federation.seen.clear()
    done = one.engine.recover()
    assert (done.retried, done.reverted) == (0, 1)
    assert (only(one, message).state, only(one, message).session) == (State.HELD, None)
    assert federation.seen == [("moved", TASK, "held")]


def test_recovery_leaves_every_other_delivery_alone(one: World) -> None:
    sent = one.engine.send(ADA, draft(TASK, OTHER_TASK, "human:bob", "agent:x"))
    assert one.engine.recover() == one.engine.recover()
    assert tuple(one.engine.deliveries(sent.message.id)) == sent.deliveries


def test_a_store_that_fails_after_the_commit_leaves_the_delivery_to_recovery(one: World) -> None:
    def busy(point: str, when: str) -> None:
        raise DmpError(Code.UNAVAILABLE, "the store is busy, try again")

    def breaks(session: str, message: Message) -> None:
        one.store.observer = busy

    one.host.push = breaks  # type: ignore[method-assign]
    (delivery,) = one.engine.send(ADA, draft(TASK)).deliveries
    assert delivery.state is State.SENDING
    one.store.observer = None
    one.host.push = lambda session, message: None  # type: ignore[method-assign]
    assert one.engine.recover().retried == 1


def test_what_a_session_is_getting_is_never_reported_to_other_replicas() -> None:
    federation = Recorder()
    one = world(federation=federation)
    sent = one.engine.send(ADA, draft(TASK, "human:bob", OTHER_TASK))
    assert federation.seen == [
        ("moved", "human:bob", "notified"),
        ("moved", OTHER_TASK, "held"),
        ("stored", sent.message.id),
        ("moved", TASK, "pushed"),
    ]
