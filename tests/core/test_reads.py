"""Who takes part in a message, who may read it, and what reading returns (sections 4.6, 7.1, 9.3)."""

from dataclasses import replace

import pytest

from core.errors import Code
from core.inputs import ReplyInput, Sender
from core.message import Delivery, Message, State
from core.store.deliveries import page
from core.store.messages import insert_message
from tests.core.support import (
    ADA,
    BOB,
    HOST,
    LATER_RUN,
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

EVE = Sender("human:eve")


@pytest.fixture
def one() -> World:
    return world(
        workItems=[
            {"id": "t-000001", "liveSession": RUN, "sessions": [LATER_RUN]},
            {"id": "t-000002", "liveSession": OTHER_RUN},
        ],
        auxSessions=["run:r-0000ab"],
    )


def test_a_session_takes_part_as_its_work_item_and_that_ones_sessions(one: World) -> None:
    from_run = one.engine.send(Sender(RUN), draft("human:bob")).message
    to_task = one.engine.send(ADA, draft(TASK)).message
    to_run = one.engine.send(ADA, draft(RUN)).message
    for message in (from_run, to_task, to_run):
        assert one.engine.can_read(Sender(LATER_RUN), message.id)
        for foreign in (OTHER_RUN, "run:r-0000ab", "run:r-unknown", "human:eve"):
            assert not one.engine.can_read(Sender(foreign), message.id)


def test_a_session_takes_part_in_every_delivery_bound_to_it(one: World) -> None:
    message = one.engine.send(ADA, draft(TASK)).message
    one.store.db.execute("UPDATE deliveries SET session = 'run:r-0000ab', state = 'pushed'")
    assert one.engine.can_read(Sender("run:r-0000ab"), message.id)


def test_an_auxiliary_session_acts_only_for_itself(one: World) -> None:
    message = one.engine.send(Sender("run:r-0000ab"), draft("human:bob")).message
    assert one.engine.can_read(Sender("run:r-0000ab"), message.id)
    assert not one.engine.can_read(Sender(RUN), message.id)


def test_being_named_in_to_without_a_delivery_is_not_taking_part(one: World) -> None:
    gone = replace(one.engine.send(ADA, draft("human:bob")).message, id="m-gone", thread="m-gone")
    with one.store.transaction("test") as db:
        insert_message(db, gone)
    assert not one.engine.can_read(BOB, "m-gone")


def test_those_who_decide_read_and_reply_anywhere(one: World) -> None:
    message = one.engine.send(Sender(RUN), draft("human:bob")).message
    for principal in (ADA, HOST):
        assert one.engine.can_read(principal, message.id)
        assert one.engine.send(principal, draft(reply_to=message.id)).message.thread == message.id
    assert not one.engine.can_read(Sender("agent:x", can_decide=True), message.id)


def test_nobody_reads_what_does_not_exist(one: World) -> None:
    for principal in (ADA, BOB, HOST):
        assert not one.engine.can_read(principal, "m-absent")
        assert not one.engine.can_read_thread(principal, "m-absent")


def test_a_thread_is_readable_when_any_of_its_messages_is(one: World) -> None:
    root = one.engine.send(ADA, draft("human:bob")).message
    one.engine.send(ADA, draft("human:eve", reply_to=root.id))
    assert not one.engine.can_read(EVE, root.id)
    assert one.engine.can_read_thread(EVE, root.id)
    assert not one.engine.can_read_thread(Sender("human:zoe"), root.id)


def test_recipients_on_other_replicas_take_part(one: World) -> None:
    far = world(federation=Recorder(elsewhere=["human:bob"]))
    message = far.engine.send(ADA, draft("human:bob")).message
    assert far.engine.deliveries(message.id) == []
    assert far.engine.can_read(BOB, message.id)
    assert far.engine.send(BOB, draft("human:ada", reply_to=message.id)).message.reply_to == message.id
    assert not far.engine.can_read(EVE, message.id)


def test_a_reply_joins_the_thread_of_what_it_replies_to(one: World) -> None:
    root = one.engine.send(ADA, draft("human:bob")).message
    first = one.engine.reply(BOB, root.id, ReplyInput("one")).message
    second = one.engine.reply(ADA, first.id, ReplyInput("two")).message
    assert {first.thread, second.thread} == {root.id}
    assert [message.id for message in one.engine.thread(root.id)] == [root.id, first.id, second.id]


def test_a_thread_is_ordered_by_clock_as_numbers_then_by_id(one: World) -> None:
    plain = Message("m-x", "m-root", None, "human:ada", ("human:bob",), "message", "hi", "")
    clocks = {
        "m-8": f"{NOW}.10000.a-00000001",
        "m-4": f"{NOW}.9999.z-00000001",
        "m-7": f"{NOW + 1}.0000.a-00000001",
        "m-3": None,
        "m-9": None,
        "m-6": f"{NOW}.9999.b-00000001",
        "m-5": f"{NOW}.9999.b-00000001",
    }
    with one.store.transaction("test") as db:
        for message_id, hlc in clocks.items():
            insert_message(db, replace(plain, id=message_id, hlc=hlc))
    order = [message.id for message in one.engine.thread("m-root")]
    assert order == ["m-3", "m-9", "m-5", "m-6", "m-4", "m-8", "m-7"]


def test_c3_a_reply_never_sorts_before_what_it_replies_to_whatever_its_clock(one: World) -> None:
    plain = Message("m-x", "m-root", None, "human:ada", ("human:bob",), "message", "hi", "")
    said: dict[str, tuple[int | None, str | None]] = {
        "m-root": (50, None),
        "m-backdated": (10, "m-root"),
        "m-undated": (None, "m-root"),
        "m-to-it": (20, "m-backdated"),
        "m-honest": (60, "m-root"),
        "m-orphan": (30, "m-never-arrived"),
        "m-circle-1": (40, "m-circle-2"),
        "m-circle-2": (41, "m-circle-1"),
        "m-itself": (5, "m-itself"),
    }
    with one.store.transaction("test") as db:
        for message_id, (ms, target) in said.items():
            hlc = None if ms is None else f"{NOW + ms}.0000.a-00000001"
            insert_message(db, replace(plain, id=message_id, reply_to=target, hlc=hlc))
    order = [message.id for message in one.engine.thread("m-root")]
    assert order == [
        *("m-itself", "m-orphan", "m-root", "m-undated", "m-backdated", "m-to-it", "m-honest"),
        *("m-circle-1", "m-circle-2"),
    ]


def test_a_mailbox_lists_in_delivery_order_by_page_and_by_state(one: World) -> None:
    sent = [one.engine.send(ADA, draft("human:bob", OTHER_TASK, body=f"{n}")) for n in range(7)]
    bobs = [next(d for d in s.deliveries if d.recipient == "human:bob") for s in sent]
    for delivery in (bobs[1], bobs[4]):
        one.engine.mark_read(delivery.id)

    def listed(states: list[State] | None, after: str | None = None, limit: int | None = None) -> str:
        return "".join(m.body for _, m in one.engine.inbox("human:bob", states, after=after, limit=limit))

    assert listed(None) == "0123456"
    assert listed(None, limit=3) == "012"
    assert listed(None, after=bobs[2].id, limit=3) == "345"
    assert listed([State.READ]) == "14"
    assert listed([State.READ, State.NOTIFIED, State.READ], limit=5) == "01234"
    assert listed([State.NOTIFIED], after=bobs[0].id, limit=2) == "23"
    assert listed([]) == ""
    other = next(d for d in sent[0].deliveries if d.recipient == OTHER_TASK)
    told = set()
    for foreign in (other.id, "d-absent", "\ud800"):
        with refused(Code.NOT_FOUND, "after") as refusal:
            listed(None, after=foreign)
        told.add(str(refusal.value))
    assert len(told) == 1, "nobody can tell whose delivery is there (section 13.5)"
    assert one.engine.inbox("human:nobody") == []


@pytest.mark.parametrize("states", [None, (State.HELD,), (State.READ, State.HELD)])
@pytest.mark.parametrize("limit", [1, 3, 100])
def test_the_newest_of_some_mailboxes_are_the_last_in_delivery_order(
    one: World, states: tuple[State, ...] | None, limit: int
) -> None:
    boxes = ("human:bob", TASK)
    for number in range(7):
        sent = one.engine.send(ADA, draft(boxes[number % 2], "human:eve"))
        if number % 3 == 0:
            one.engine.mark_read(sent.deliveries[0].id)
    every = sorted((each for box in boxes for each in one.engine.inbox(box, states)), key=lambda e: e[0].id)
    assert one.engine.newest(boxes, states, limit) == every[-limit:]
    assert one.engine.count(boxes, states) == len(every)
    assert one.engine.newest((), states, limit) == []


def test_marking_read_moves_any_state_but_answered_and_then_changes_nothing(one: World) -> None:
    one.host.failing = {OTHER_RUN}
    sent = one.engine.send(ADA, draft("human:bob", TASK, OTHER_TASK, "agent:bob/x", kind="question"))
    assert {d.state for d in sent.deliveries} == {State.NOTIFIED, State.PUSHED, State.HELD}
    for delivery in sent.deliveries[:-1]:
        assert one.engine.mark_read(delivery.id).state is State.READ
        assert one.engine.mark_read(delivery.id).state is State.READ
    one.engine.reply(ADA, sent.message.id, ReplyInput("done"))
    for delivery in sent.deliveries:
        assert one.engine.mark_read(delivery.id).state is State.ANSWERED
    with refused(Code.NOT_FOUND, None):
        one.engine.mark_read("d-absent")


def test_open_questions_are_the_blocking_ones_without_an_answer(one: World) -> None:
    blocking = [
        one.engine.send(Sender(RUN), draft("human:ada", kind=kind, blocking=True, body=kind)).message
        for kind in ("question", "handoff")
    ]
    one.engine.send(Sender(RUN), draft("human:ada", kind="question"))
    assert one.engine.open_blocking() == blocking
    one.engine.reply(ADA, blocking[1].id, ReplyInput("", choice="accept"))
    assert one.engine.open_blocking() == [blocking[0]]
    one.engine.close(blocking[0].id, "over")
    assert one.engine.open_blocking() == []


def test_a_text_that_is_no_unicode_names_nothing(one: World) -> None:
    half = "\ud800"
    assert one.engine.members(half) == ()
    assert (one.engine.message(half), one.engine.thread(half)) == (None, [])
    assert not one.engine.can_read(ADA, half)


@pytest.mark.parametrize("newest", [False, True])
@pytest.mark.parametrize("states", [None, (State.HELD,), (State.HELD, State.READ)])
def test_pages_of_several_mailboxes_are_all_of_them_in_order(
    newest: bool, states: tuple[State, ...] | None
) -> None:
    made = world()
    agents = ["agent:a/one", "agent:a/two", "agent:a/three"]
    for index in range(24):
        sent = made.engine.send(ADA, draft(*agents[: 1 + index % 3], body=str(index)))
        if index % 4 == 0:
            made.engine.mark_read(sent.deliveries[0].id)
    boxes = {agents[0]: None, agents[2]: None}
    whole = [delivery for agent in boxes for delivery, _ in made.engine.inbox(agent, states)]
    whole.sort(key=lambda each: each.id, reverse=newest)
    found: list[Delivery] = []
    after = None
    while part := page(made.store.db, boxes, states, after, 5, newest=newest):
        found += part
        after = part[-1].id
    assert found == whole


def test_a_page_of_another_sessions_mail_holds_what_is_bound_to_one_alone() -> None:
    made = world()
    made.engine.send(ADA, draft(RUN, body="to the session"))
    made.engine.send(ADA, draft(TASK, body="to the work item"))
    for session, expected in ((RUN, [RUN, TASK]), (LATER_RUN, [])):
        boxes: dict[str, str | None] = {RUN: session, TASK: session}
        assert [each.recipient for each in page(made.store.db, boxes, None, None, 9)] == expected
