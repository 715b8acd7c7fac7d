"""Resolution, rewriting and first states (sections 3.5-3.7, 4.6, 6.1)."""

from dataclasses import replace

import pytest

from core.errors import Code
from core.federation import Target
from core.inputs import Sender
from core.message import State, Via
from core.planning import Planned, collapse, plan, plan_received, rewrite
from tests.core.support import (
    ADA,
    BOB,
    LATER_RUN,
    OTHER_RUN,
    OTHER_TASK,
    RUN,
    TASK,
    World,
    draft,
    refused,
    world,
)

AUX = "run:r-0000aa"


@pytest.fixture
def one() -> World:
    return world(
        workItems=[{"id": "t-000001", "liveSession": RUN}, {"id": "t-000002", "sessions": [OTHER_RUN]}],
        auxSessions=["run:r-0000ab"],
        agents=[{"address": "agent:bob/loud", "status": "approved", "muted": True}],
    )


@pytest.mark.parametrize(
    ("recipient", "state", "session"),
    [
        ("human:bob", State.NOTIFIED, None),
        ("agent:bob/bot", State.HELD, None),
        (TASK, State.SENDING, RUN),
        (OTHER_TASK, State.HELD, None),
        ("task:t-unknown", State.HELD, None),
        (RUN, State.SENDING, RUN),
        ("run:r-0000ab", State.SENDING, "run:r-0000ab"),
    ],
)
def test_a_delivery_starts_as_its_recipient_is(
    one: World, recipient: str, state: State, session: str | None
) -> None:
    message = one.engine.send(ADA, draft("human:eve")).message
    planned = plan(one.host, message, Target(recipient, Via.DIRECT, "to[0]"), None, muted=False)
    assert planned == Planned(recipient, Via.DIRECT, state, session)


def test_a_muted_senders_mail_starts_read_whoever_gets_it(one: World) -> None:
    muted = Sender("agent:bob/loud")
    sent = one.engine.send(muted, draft("human:bob", TASK, "agent:bob/bot", RUN, OTHER_RUN))
    assert {(d.state, d.session) for d in sent.deliveries} == {(State.READ, None)}
    assert [call["hook"] for call in one.host.calls] == ["published"]


def test_a_session_that_has_ended_is_refused_on_its_own_slot(one: World) -> None:
    for lost in (OTHER_RUN, AUX):
        with refused(Code.INVALID, "to[1]"):
            one.engine.send(ADA, draft("human:bob", lost))


def test_a_humans_wake_request_holds_mail_for_an_ended_session_of_a_work_item(one: World) -> None:
    (delivery,) = one.engine.send(ADA, draft(OTHER_RUN, wake="request")).deliveries
    assert (delivery.recipient, delivery.state, delivery.session) == (OTHER_RUN, State.HELD, None)
    with refused(Code.INVALID, "to[0]"):
        one.engine.send(ADA, draft(AUX, wake="request"))
    with refused(Code.INVALID, "to[0]"):
        one.engine.send(Sender(RUN), draft(OTHER_RUN, wake="request"))


def test_the_sender_its_work_item_and_the_system_get_no_delivery(one: World) -> None:
    sent = one.engine.send(Sender(RUN), draft(RUN, TASK, "agent:dispatch", "human:bob"))
    assert [d.recipient for d in sent.deliveries] == ["human:bob"]
    assert sent.message.to == (RUN, TASK, "agent:dispatch", "human:bob")
    assert one.engine.send(BOB, draft("human:bob")).deliveries == ()


def test_a_recipient_named_twice_gets_one_delivery_and_the_message_keeps_its_to(one: World) -> None:
    sent = one.engine.send(ADA, draft("human:bob", "human:eve", "human:bob"))
    assert [d.recipient for d in sent.deliveries] == ["human:bob", "human:eve"]
    assert sent.message.to == ("human:bob", "human:eve", "human:bob")


def test_an_error_names_the_senders_own_slot_after_rewriting(one: World) -> None:
    question = one.engine.send(Sender(RUN), draft("human:ada", kind="question")).message
    one.host.change({"endSession": {"workItem": "t-000001"}})
    for lost, code in ((AUX, Code.INVALID), ("channel:nowhere", Code.NOT_FOUND)):
        with refused(code, "to[3]"):
            one.engine.send(ADA, draft(TASK, RUN, "human:bob", lost, reply_to=question.id))


@pytest.mark.parametrize(
    ("to", "stored"),
    [
        ([RUN], [TASK]),
        ([RUN, TASK], [TASK]),
        ([TASK, "human:bob", RUN], [TASK, "human:bob"]),
        ([RUN, RUN], [TASK]),
        (["human:bob", "human:bob", RUN], ["human:bob", "human:bob", TASK]),
        ([LATER_RUN, RUN], [LATER_RUN, TASK]),
    ],
)
def test_a_replys_ended_sessions_become_their_work_item_and_equal_entries_one(
    one: World, to: list[str], stored: list[str]
) -> None:
    replied = one.engine.send(Sender(RUN), draft("human:ada")).message
    one.host.change({"endSession": {"workItem": "t-000001"}})
    one.host.change({"startSession": {"workItem": "t-000001", "session": LATER_RUN}})
    assert one.engine.send(ADA, draft(*to, reply_to=replied.id)).message.to == tuple(stored)


def test_only_whom_the_target_was_from_or_to_is_rewritten(one: World) -> None:
    replied = one.engine.send(ADA, draft(RUN)).message
    assert rewrite(one.host, (RUN, OTHER_RUN), replied) == (RUN, OTHER_RUN)
    one.host.change({"endSession": {"workItem": "t-000001"}})
    assert rewrite(one.host, (RUN, OTHER_RUN, AUX), replied) == (TASK, OTHER_RUN, AUX)
    assert collapse((RUN, TASK), (RUN, TASK)) == (RUN, TASK)


def test_a_reply_to_an_ended_auxiliary_session_is_held_on_it(one: World) -> None:
    question = one.engine.send(Sender("run:r-0000ab"), draft("human:ada", kind="question")).message
    one.host.auxiliary.clear()
    given = draft("run:r-0000ab", kind="answer", reply_to=question.id)
    (delivery,) = one.engine.send(ADA, given).deliveries
    assert (delivery.recipient, delivery.state, delivery.session) == ("run:r-0000ab", State.HELD, None)


def test_a_handoff_gains_its_default_choices_and_nothing_else_does(one: World) -> None:
    assert one.engine.send(ADA, draft(kind="handoff")).message.choices == ("accept", "decline")
    assert one.engine.send(ADA, draft(kind="handoff", choices=("ok",))).message.choices == ("ok",)
    assert one.engine.send(ADA, draft(kind="question")).message.choices is None


def test_a_stored_message_keeps_every_field_of_its_input(one: World) -> None:
    full = draft(
        "human:bob",
        kind="question",
        body="Ship it?\n\u2028é",
        session="s-1",
        data={"type": "x-mine", "n": [1.5, None, "\u2029"]},
        urgent=True,
        blocking=True,
        choices=("yes", "no"),
        wake="request",
    )
    message = one.engine.send(ADA, full).message
    assert one.engine.message(message.id) == message
    assert replace(full, to=message.to) == draft(
        *message.to,
        kind=message.kind,
        body=message.body,
        session=message.session,
        data=message.data,
        urgent=message.urgent,
        blocking=message.blocking,
        choices=message.choices,
        wake=message.wake,
    )


@pytest.mark.parametrize(
    ("recipient", "via", "expected"),
    [
        ("human:bob", Via.CHANNEL, ("human:bob", State.NOTIFIED, None)),
        (TASK, Via.DIRECT, (TASK, State.SENDING, RUN)),
        (RUN, Via.DIRECT, (RUN, State.SENDING, RUN)),
        (OTHER_RUN, Via.DIRECT, (OTHER_TASK, State.HELD, None)),
        (AUX, Via.DIRECT, (AUX, State.HELD, None)),
        (AUX, Via.CHANNEL, None),
    ],
)
def test_a_received_message_starts_as_a_local_one_and_leaves_ended_sessions_their_work_item(
    one: World, recipient: str, via: Via, expected: tuple[str, State, str | None] | None
) -> None:
    planned = plan_received(one.host, recipient, via, muted=False)
    found = None if planned is None else (planned.recipient, planned.state, planned.session)
    assert found == expected
    assert planned is None or planned.via is via
    quiet = plan_received(one.host, recipient, via, muted=True)
    assert quiet is not None
    assert (quiet.recipient, quiet.state, quiet.session) == (recipient, State.READ, None)
