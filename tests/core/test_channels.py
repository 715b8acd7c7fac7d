"""Channels: membership, and whom a message to one reaches (sections 3.5-3.7, 6.7, 7.2, 7.3)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import Code
from core.federation import Placement, Target
from core.inputs import ReplyInput, Sender
from core.message import Delivery, Message, State, Via
from core.store import registers
from crypto.clock import Reading
from tests.core.support import (
    ADA,
    BOB,
    LATER_RUN,
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

AGENT = "agent:bob/bot"


@pytest.fixture
def one() -> World:
    return world(
        workItems=[
            {"id": "t-000001", "liveSession": RUN},
            {"id": "t-000002", "liveSession": OTHER_RUN, "sessions": [LATER_RUN]},
        ],
        agents=[
            {"address": AGENT, "status": "approved"},
            {"address": "agent:bob/loud", "status": "approved"},
        ],
    )


def reached(deliveries: tuple[Delivery, ...]) -> dict[str, tuple[Via, State]]:
    return {each.recipient: (each.via, each.state) for each in deliveries}


# Membership


def test_a_channel_exists_from_its_first_join_even_when_all_have_left(one: World) -> None:
    assert one.engine.channels() == ()
    one.engine.join("eng/web", TASK)
    one.engine.join("eng/web", "human:bob")
    assert one.engine.channels() == ("eng/web",)
    assert one.engine.members("eng/web") == ("human:bob", TASK)
    assert one.engine.leave("eng/web", TASK)
    assert one.engine.leave("eng/web", "human:bob")
    assert one.engine.members("eng/web") == ()
    assert one.engine.channels() == ("eng/web",)
    assert one.engine.send(ADA, draft("channel:eng/web")).deliveries == ()


def test_joining_again_changes_nothing_and_leaving_twice_removes_once(one: World) -> None:
    one.engine.join("eng", AGENT)
    one.engine.join("eng", AGENT)
    assert one.engine.members("eng") == (AGENT,)
    assert one.engine.leave("eng", AGENT)
    assert not one.engine.leave("eng", AGENT)


def test_leaving_a_channel_nobody_joined_removes_nothing_and_makes_no_channel(one: World) -> None:
    assert not one.engine.leave("nowhere", TASK)
    assert one.engine.channels() == ()


def test_who_left_may_join_again(one: World) -> None:
    one.engine.join("eng", TASK)
    one.engine.leave("eng", TASK)
    one.engine.join("eng", TASK)
    assert one.engine.members("eng") == (TASK,)


@pytest.mark.parametrize("member", [RUN, "channel:ops", "bob", "human:", "task:a/b", ""])
def test_what_is_no_work_item_or_actor_cannot_join(one: World, member: str) -> None:
    with refused(Code.INVALID, "member"):
        one.engine.join("eng", member)
    assert one.engine.channels() == ()


@pytest.mark.parametrize("channel", ["", "Eng", "eng/", "/eng", "eng//web", "a b", "x" * 65, "channel:eng"])
def test_a_name_that_no_channel_has_is_refused(one: World, channel: str) -> None:
    with refused(Code.INVALID, "channel"):
        one.engine.join(channel, TASK)
    with refused(Code.INVALID, "channel"):
        one.engine.leave(channel, TASK)
    assert one.engine.channels() == ()


def test_what_is_no_address_cannot_leave(one: World) -> None:
    with refused(Code.INVALID, "member"):
        one.engine.leave("eng", "bob")


def test_leaving_never_removes_a_member_the_host_computes() -> None:
    one = world(implicit={"epic": [OTHER_TASK]})
    assert not one.engine.leave("epic", OTHER_TASK)
    assert reached(one.engine.send(ADA, draft("channel:epic")).deliveries) == {
        OTHER_TASK: (Via.CHANNEL, State.HELD)
    }


def test_a_membership_of_the_team_is_read_under_what_was_done_here(one: World) -> None:
    reading = Reading.parse("1790000000000.0000.bob-00000002")
    with one.store.transaction("merge") as db:
        registers.merge(db, "channel", "eng", TASK, True, reading)
        registers.merge(db, "channel", "eng", "human:bob", True, reading)
    assert one.engine.leave("eng", TASK)
    assert one.engine.members("eng") == ("human:bob",)


def test_joining_where_the_team_has_it_so_is_no_edit_of_this_host(one: World) -> None:
    with one.store.transaction("merge") as db:
        reading = Reading.parse("1790000000000.0000.bob-00000002")
        registers.merge(db, "channel", "eng", TASK, True, reading)
    one.engine.join("eng", TASK)
    one.engine.leave("eng", "human:bob")
    assert one.store.db.execute("SELECT count(*) FROM register_edits").fetchone() == (0,)


# Whom a message reaches


def test_every_member_is_reached_through_the_channel(one: World) -> None:
    for member in (TASK, "human:bob", AGENT):
        one.engine.join("eng", member)
    sent = one.engine.send(ADA, draft("channel:eng"))
    assert sent.message.to == ("channel:eng",)
    assert reached(sent.deliveries) == {
        TASK: (Via.CHANNEL, State.NOTIFIED),
        "human:bob": (Via.CHANNEL, State.NOTIFIED),
        AGENT: (Via.CHANNEL, State.HELD),
    }


def test_who_joins_later_gets_no_earlier_message(one: World) -> None:
    one.engine.join("eng", TASK)
    sent = one.engine.send(ADA, draft("channel:eng"))
    one.engine.join("eng", "human:bob")
    assert [each.recipient for each in one.engine.deliveries(sent.message.id)] == [TASK]
    assert one.engine.inbox("human:bob") == []


def test_a_computed_member_comes_after_the_explicit_ones_and_once() -> None:
    one = world(implicit={"epic": [OTHER_TASK, TASK, OTHER_TASK]})
    one.engine.join("epic", TASK)
    sent = one.engine.send(ADA, draft("channel:epic"))
    assert [each.recipient for each in sent.deliveries] == [TASK, OTHER_TASK]


@pytest.mark.parametrize(
    "to", [("channel:eng", TASK), (TASK, "channel:eng"), ("channel:eng", TASK, "channel:ops")]
)
def test_who_is_named_directly_too_gets_one_delivery_and_it_is_direct(
    one: World, to: tuple[str, ...]
) -> None:
    one.engine.join("eng", TASK)
    one.engine.join("ops", TASK)
    assert reached(one.engine.send(ADA, draft(*to)).deliveries) == {TASK: (Via.DIRECT, State.PUSHED)}


def test_a_member_of_two_channels_gets_one_delivery(one: World) -> None:
    one.engine.join("eng", TASK)
    one.engine.join("ops", TASK)
    sent = one.engine.send(ADA, draft("channel:eng", "channel:ops"))
    assert reached(sent.deliveries) == {TASK: (Via.CHANNEL, State.NOTIFIED)}


def test_a_sender_its_work_item_and_the_system_get_nothing_through_a_channel(one: World) -> None:
    for member in (TASK, one.host.system_address, "human:bob"):
        one.engine.join("eng", member)
    sent = one.engine.send(Sender(RUN), draft("channel:eng"))
    assert [each.recipient for each in sent.deliveries] == ["human:bob"]
    assert [each.recipient for each in one.engine.send(BOB, draft("channel:eng")).deliveries] == [TASK]


def test_a_session_that_has_ended_gets_nothing_through_a_channel() -> None:
    one = world(implicit={"eng": [RUN, "run:r-0000ff"]})
    assert reached(one.engine.send(ADA, draft("channel:eng")).deliveries) == {
        RUN: (Via.CHANNEL, State.NOTIFIED)
    }


def test_a_channel_that_is_a_member_is_skipped_stored_or_computed() -> None:
    one = world(implicit={"eng": ["channel:ops", "human:bob"]})
    with one.store.transaction("older") as db:
        registers.edit(db, "channel", "eng", {"channel:all": True})
    sent = one.engine.send(ADA, draft("channel:eng"))
    assert [each.recipient for each in sent.deliveries] == ["human:bob"]


def test_a_muted_senders_mail_starts_read_through_a_channel_too() -> None:
    muted = {"address": AGENT, "status": "approved", "muted": True}
    one = world(agents=[muted])
    for member in (TASK, OTHER_TASK, "human:bob"):
        one.engine.join("eng", member)
    sent = one.engine.send(Sender(AGENT), draft("channel:eng", urgent=True))
    assert {each.state for each in sent.deliveries} == {State.READ}
    assert [call["hook"] for call in one.host.calls] == ["published"]


# Errors name the sender's own slot


def test_an_unknown_channel_is_not_found_on_the_senders_own_slot(one: World) -> None:
    one.engine.join("eng", TASK)
    with refused(Code.NOT_FOUND, "to[2]"):
        one.engine.send(ADA, draft("human:bob", "channel:eng", "channel:nowhere"))
    assert one.engine.inbox("human:bob") == []


def test_an_unknown_channel_keeps_its_slot_when_a_reply_rewrote_the_others(one: World) -> None:
    asked = one.engine.send(Sender(RUN), draft("human:ada", kind="question")).message
    one.host.live[TASK] = None
    with refused(Code.NOT_FOUND, "to[2]"):
        one.engine.send(ADA, draft(TASK, RUN, "channel:nowhere", reply_to=asked.id))


def test_a_session_that_ended_names_its_own_slot_after_a_channel_that_reaches_it() -> None:
    one = world(implicit={"eng": ["run:r-0000ff"]})
    with refused(Code.INVALID, "to[0]"):
        one.engine.send(ADA, draft("channel:eng", "run:r-0000ff"))
    with refused(Code.INVALID, "to[1]"):
        one.engine.send(ADA, draft("human:bob", "run:r-0000ff", "channel:eng"))


# Reading and replying


def test_a_member_takes_part_in_what_reached_it_and_others_do_not(one: World) -> None:
    one.engine.join("eng", "human:bob")
    message = one.engine.send(ADA, draft("channel:eng", kind="question")).message
    one.engine.join("eng", "human:eve")
    assert one.engine.can_read(BOB, message.id)
    assert not one.engine.can_read(Sender("human:eve"), message.id)
    with refused(Code.NOT_FOUND, "replyTo"):
        one.engine.reply(Sender("human:eve"), message.id, ReplyInput("me too"))
    assert one.engine.reply(BOB, message.id, ReplyInput("yes")).message.kind == "answer"


def test_members_elsewhere_are_placed_as_any_recipient_is() -> None:
    class Placing(Recorder):
        placed: list[Target]

        def place(self, message: Message, target: Target) -> Placement:
            self.placed.append(target)
            return super().place(message, target)

    federation = Placing(elsewhere=("human:bob",))
    federation.placed = []
    one = world(federation=federation)
    for member in ("human:bob", TASK):
        one.engine.join("eng", member)
    sent = one.engine.send(ADA, draft("human:eve", "channel:eng"))
    assert federation.placed == [
        Target("human:eve", Via.DIRECT, "to[0]"),
        Target("human:bob", Via.CHANNEL, "to[1]"),
        Target(TASK, Via.CHANNEL, "to[1]"),
    ]
    assert [each.recipient for each in sent.deliveries] == ["human:eve", TASK]
    assert ("stored", sent.message.id, "human:bob") in federation.seen


POOL = ["human:bob", "human:eve", TASK, OTHER_TASK, AGENT, "agent:bob/loud"]
members = st.dictionaries(st.sampled_from(["eng", "ops", "web"]), st.lists(st.sampled_from(POOL), max_size=4))


@given(members, members, st.data())
def test_resolution_reaches_each_recipient_once_and_by_the_best_route(
    stored: dict[str, list[str]], implicit: dict[str, list[str]], data: st.DataObject
) -> None:
    one = world(implicit=implicit)
    for name, joining in stored.items():
        for member in joining:
            one.engine.join(name, member)
    known = sorted({name for each in (stored, implicit) for name, found in each.items() if found})
    entries = [*POOL, *(f"channel:{name}" for name in known)]
    to = data.draw(st.lists(st.sampled_from(entries), min_size=1, max_size=6))
    sent = one.engine.send(ADA, draft(*to))
    through = {
        member
        for name in known
        if f"channel:{name}" in to
        for member in (*stored.get(name, ()), *implicit.get(name, ()))
    }
    direct = {entry for entry in to if not entry.startswith("channel:")}
    assert sorted((each.recipient, each.via) for each in sent.deliveries) == sorted(
        [*((each, Via.DIRECT) for each in direct), *((each, Via.CHANNEL) for each in through - direct)]
    )
    one.store.close()


def test_one_channel_is_looked_up_without_reading_the_others(one: World) -> None:
    queries: list[str] = []
    one.engine.join("eng", TASK)
    one.store.db.set_trace_callback(queries.append)
    one.engine.send(ADA, draft("channel:eng"))
    one.store.db.set_trace_callback(None)
    plans = [
        row[3]
        for query in queries
        if query.lstrip().startswith("SELECT") and "register" in query
        for row in one.store.db.execute(f"EXPLAIN QUERY PLAN {query}")
    ]
    assert [plan for plan in plans if "SEARCH" in plan]
    assert all("kind=? AND subject=?" in plan for plan in plans if "register" in plan)
