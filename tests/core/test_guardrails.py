"""The urgent quota and the breaker (sections 6.6, C.6, C.7)."""

from dataclasses import replace
from typing import Any, NoReturn

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.commits import CommitPoint
from core.errors import Code, DmpError
from core.guardrails import PausedError, check_breaker, is_over_quota
from core.host import Limits
from core.inputs import ReplyInput, Sender
from core.message import Message, State, Via
from core.store.messages import insert_message
from core.timestamp import timestamp
from tests.core.support import ADA, BOB, HOST, NOW, OTHER_TASK, RUN, TASK, World, draft, refused, world

HOUR = 3_600_000
BOT = "agent:bob/bot"
AGENT, SESSION = Sender(BOT), Sender(RUN)


def limited(urgent: int = 100, turns: int = 100, **given: Any) -> World:
    limits = {"urgentPerHour": urgent, "agentTurnsPerThreadPerHour": turns}
    given.setdefault("owner", "human:ada")
    return world(limits=limits, agents=[{"address": BOT, "status": "approved"}], **given)


def urgent(one: World, sender: Sender = SESSION, *to: str) -> bool:
    """Send something urgent, and return whether it stayed so."""
    sent = one.engine.send(sender, draft(*(to or ("human:bob",)), urgent=True))
    assert sent.message.urgent is not sent.downgraded
    return sent.message.urgent


def notices(one: World) -> list[Message]:
    return [message for _, message in one.engine.inbox("human:ada") if message.sender == HOST.address]


# The urgent quota


@pytest.mark.parametrize("sender", [AGENT, SESSION], ids=["agent", "session"])
def test_an_urgent_message_over_the_quota_is_downgraded(sender: Sender) -> None:
    one = limited(urgent=2)
    assert [urgent(one, sender) for _ in range(4)] == [True, True, False, False]


@pytest.mark.parametrize("sender", [ADA, BOB, HOST], ids=["decider", "human", "system"])
def test_humans_and_the_system_have_no_quota(sender: Sender) -> None:
    one = limited(urgent=1)
    assert all(urgent(one, sender, "human:eve") for _ in range(3))


def test_a_quota_is_each_senders_own() -> None:
    one = limited(urgent=1)
    assert urgent(one, AGENT)
    assert urgent(one, SESSION)
    assert not urgent(one, AGENT)


def test_a_downgraded_message_is_delivered_as_any_plain_one() -> None:
    one = limited(urgent=0, workItems=[{"id": "t-000002", "liveSession": "run:r-000002"}])
    one.engine.join("eng", OTHER_TASK)
    sent = one.engine.send(SESSION, draft("channel:eng", urgent=True))
    assert [(each.via, each.state) for each in sent.deliveries] == [(Via.CHANNEL, State.NOTIFIED)]


def test_what_was_not_urgent_or_was_downgraded_does_not_count() -> None:
    one = limited(urgent=2)
    for _ in range(3):
        one.engine.send(SESSION, draft())
    assert urgent(one)
    one.host.limits = Limits(1, 100)
    assert not urgent(one)
    one.host.limits = Limits(2, 100)
    assert urgent(one)


def test_the_quota_counts_the_hour_that_ends_now_its_first_instant_included() -> None:
    one = limited(urgent=1)
    assert urgent(one)
    one.now = NOW + HOUR
    assert not urgent(one)
    one.now = NOW + HOUR + 1
    assert urgent(one)


def test_a_replayed_send_says_that_it_was_downgraded() -> None:
    one = limited(urgent=0)
    first = one.engine.send(SESSION, draft(urgent=True, idempotency_key="k"))
    again = one.engine.send(SESSION, draft(urgent=True, idempotency_key="k"))
    assert (first.downgraded, again.downgraded, again.replayed) == (True, True, True)


def test_a_reply_that_is_refused_uses_no_quota() -> None:
    one = limited(urgent=1, turns=0)
    question = one.engine.send(BOB, draft(TASK, kind="question")).message
    with refused(Code.LIMITED, "replyTo"):
        one.engine.send(SESSION, draft("human:bob", kind="answer", reply_to=question.id, urgent=True))
    assert urgent(one)


@given(st.lists(st.tuples(st.integers(0, HOUR), st.booleans()), max_size=12), st.integers(0, 3))
def test_the_quota_holds_in_every_window(steps: list[tuple[int, bool]], quota: int) -> None:
    one = limited(urgent=quota)
    kept: list[int] = []
    for pause, is_urgent in steps:
        one.now += pause
        sent = one.engine.send(SESSION, draft(urgent=is_urgent))
        recent = [at for at in kept if at >= one.now - HOUR]
        assert sent.downgraded == (is_urgent and len(recent) >= quota)
        if sent.message.urgent:
            kept.append(one.now)
    one.store.close()


# The breaker


def started(one: World) -> Message:
    """Let a human start a thread with the session and the agent in it."""
    return one.engine.send(BOB, draft(TASK, BOT, "human:ada", kind="message")).message


def turn(one: World, root: Message, sender: Sender = SESSION) -> Message:
    return one.engine.reply(sender, root.id, ReplyInput("and another thing")).message


def paused(one: World, root: Message) -> None:
    with refused(Code.LIMITED, "replyTo"):
        turn(one, root)


def test_agents_that_have_had_their_turns_in_a_thread_are_refused() -> None:
    one = limited(turns=2)
    root = started(one)
    turn(one, root, SESSION)
    turn(one, root, AGENT)
    count = one.store.db.execute("SELECT count(*) FROM messages").fetchone()
    for sender in (SESSION, AGENT):
        with refused(Code.LIMITED, "replyTo"):
            turn(one, root, sender)
    (after,) = one.store.db.execute(
        "SELECT count(*) FROM messages WHERE sender <> ?", (HOST.address,)
    ).fetchone()
    assert (after,) == count


def test_an_agents_root_is_a_turn_too() -> None:
    one = limited(turns=1)
    root = one.engine.send(SESSION, draft(BOT)).message
    with refused(Code.LIMITED, "replyTo"):
        turn(one, root, AGENT)


def test_humans_and_the_system_are_not_limited_and_take_no_turn() -> None:
    one = limited(turns=1)
    root = started(one)
    for sender in (BOB, ADA, HOST, HOST):
        turn(one, root, sender)
    turn(one, root, SESSION)
    with refused(Code.LIMITED, "replyTo"):
        turn(one, root, SESSION)
    assert turn(one, root, BOB).thread == root.thread


def test_other_threads_and_new_ones_go_on() -> None:
    one = limited(turns=1)
    first, second = started(one), started(one)
    turn(one, first)
    turn(one, second)
    with refused(Code.LIMITED, "replyTo"):
        turn(one, first)
    assert one.engine.send(SESSION, draft("human:bob")).message


def test_the_breaker_counts_the_hour_that_ends_now_its_first_instant_included() -> None:
    one = limited(turns=1)
    root = started(one)
    turn(one, root)
    one.now = NOW + HOUR
    with refused(Code.LIMITED, "replyTo"):
        turn(one, root)
    one.now = NOW + HOUR + 1
    assert turn(one, root)


def test_a_retry_of_a_reply_that_was_sent_is_replayed_and_not_refused() -> None:
    one = limited(turns=1)
    root = started(one)
    given = ReplyInput("done", idempotency_key="k")
    first = one.engine.reply(SESSION, root.id, given)
    again = one.engine.reply(SESSION, root.id, given)
    assert (again.message, again.replayed) == (first.message, True)


def test_the_breaker_comes_after_validation_and_before_the_one_answer() -> None:
    one = limited(turns=0)
    question = one.engine.send(BOB, draft(TASK, kind="question", choices=("yes", "no"))).message
    with refused(Code.INVALID, "choice"):
        one.engine.reply(SESSION, question.id, ReplyInput("?", choice="perhaps"))
    one.engine.close(question.id, "over")
    with refused(Code.LIMITED, "replyTo"):
        one.engine.reply(SESSION, question.id, ReplyInput("yes"))


def test_who_takes_no_part_learns_nothing_from_the_breaker() -> None:
    one = limited(turns=0)
    message = one.engine.send(ADA, draft("human:bob")).message
    with refused(Code.NOT_FOUND, "replyTo"):
        turn(one, message, SESSION)
    assert notices(one) == []


# The breaker's notice


def test_the_owner_is_told_what_the_breaker_did() -> None:
    one = limited(turns=2)
    root = started(one)
    turn(one, root, SESSION)
    turn(one, root, AGENT)
    later = one.engine.send(BOB, draft(TASK, reply_to=root.id)).message
    paused(one, later)
    (notice,) = notices(one)
    assert (notice.sender, notice.to, notice.kind) == (HOST.address, ("human:ada",), "notice")
    assert notice.data == {"type": "x-breaker", "thread": root.thread}
    assert (notice.reply_to, notice.thread) == (later.id, root.thread)
    assert notice.body == (
        f"Agents have sent 2 messages in thread {root.thread} this hour; further agent replies are paused."
    )
    assert {"hook": "notifyHuman", "actor": "human:ada", "message": notice.id} in one.host.calls


def test_the_owner_is_told_once_a_thread_and_hour() -> None:
    one = limited(turns=0)
    first, second = started(one), started(one)
    paused(one, first)
    paused(one, first)
    paused(one, second)
    assert [notice.thread for notice in notices(one)] == [first.id, second.id]
    one.now = NOW + HOUR
    paused(one, first)
    assert len(notices(one)) == 2
    one.now = NOW + HOUR + 1
    paused(one, first)
    assert [notice.thread for notice in notices(one)] == [first.id, second.id, first.id]


def test_only_the_systems_own_notice_counts_as_the_breakers() -> None:
    one = limited(turns=0)
    root = started(one)
    data = {"type": "x-breaker", "thread": root.id}
    one.engine.send(ADA, draft("human:ada", kind="notice", data=data, reply_to=root.id))
    one.engine.send(HOST, draft("human:ada", kind="notice", data={"type": "x-mine"}, reply_to=root.id))
    one.engine.send(HOST, draft("human:ada", kind="notice", reply_to=root.id))
    one.engine.send(HOST, draft("human:eve", data=data, reply_to=root.id))
    paused(one, root)
    assert [notice.kind for notice in notices(one) if notice.data == data] == ["notice"]


def test_without_an_owner_nobody_is_told() -> None:
    one = world(limits={"urgentPerHour": 1, "agentTurnsPerThreadPerHour": 0})
    root = one.engine.send(BOB, draft(TASK)).message
    paused(one, root)
    count = one.store.db.execute("SELECT count(*) FROM messages").fetchone()
    assert count == (1,)


def test_a_notice_that_fails_changes_nothing_about_the_refusal(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(_target: str) -> NoReturn:
        raise RuntimeError("a secret")

    one = limited(turns=0)
    root = started(one)
    monkeypatch.setattr(one.host, "owner", fail)
    paused(one, root)
    assert "RuntimeError" in caplog.text
    assert "secret" not in caplog.text
    monkeypatch.undo()
    paused(one, root)
    assert len(notices(one)) == 1


def test_refusals_that_race_tell_the_owner_once() -> None:
    one = limited(turns=0)
    root = started(one)
    refusal = PausedError(RUN, root, 0)
    inner: list[str] = []

    def observe(point: str, when: str) -> None:
        if point == CommitPoint.NOTICE and when == "after" and not inner:
            inner.append(point)
            one.engine.breaker.tell(refusal)

    one.store.observer = observe
    one.engine.breaker.tell(refusal)
    assert inner
    assert len(notices(one)) == 1


# Mail from other replicas


def received(one: World, count: int, **changes: Any) -> list[Message]:
    """Store messages as another replica's, that arrived now whatever they say they were made at."""
    root = one.engine.send(BOB, draft("human:eve")).message
    made = [
        replace(
            root,
            id=f"m-far-{one.now}-{number}",
            reply_to=root.id,
            created_at=timestamp(0),
            received_at=timestamp(one.now),
            origin="eve-00000003",
            **changes,
        )
        for number in range(count)
    ]
    with one.store.transaction("received") as db:
        for message in made:
            insert_message(db, message)
    return made


@pytest.mark.parametrize(
    "sender", ["agent:eve/bot", "run:r-0000ee", HOST.address], ids=["agent", "session", "system"]
)
def test_the_turns_of_agents_elsewhere_count_by_arrival_and_no_date_they_give(sender: str) -> None:
    one = limited(turns=2)
    (last, _) = received(one, 2, sender=sender)
    for origin in (None, "eve-00000003"):
        with pytest.raises(PausedError) as caught:
            check_breaker(one.store.db, one.host, "agent:eve/bot", last, one.now + HOUR, origin)
        assert (caught.value.code, caught.value.field, caught.value.turns) == (Code.LIMITED, "replyTo", 2)
        check_breaker(one.store.db, one.host, "agent:eve/bot", last, one.now + HOUR + 1, origin)
    check_breaker(one.store.db, one.host, "human:eve", last, one.now, "eve-00000003")


def test_a_system_elsewhere_is_an_agent_and_this_hosts_own_is_none() -> None:
    one = limited(turns=1)
    (last,) = received(one, 1, sender="agent:eve/bot")
    check_breaker(one.store.db, one.host, HOST.address, last, one.now)
    with pytest.raises(PausedError):
        check_breaker(one.store.db, one.host, HOST.address, last, one.now, "eve-00000003")


def test_the_quota_of_a_sender_elsewhere_counts_by_arrival_and_by_replica() -> None:
    one = limited(urgent=2)
    received(one, 2, sender="agent:eve/bot", urgent=True)
    db, host = one.store.db, one.host
    assert is_over_quota(db, host, "agent:eve/bot", one.now + HOUR, "eve-00000003")
    assert not is_over_quota(db, host, "agent:eve/bot", one.now + HOUR + 1, "eve-00000003")
    assert not is_over_quota(db, host, "agent:eve/bot", one.now, "bob-00000002")
    assert not is_over_quota(db, host, "agent:eve/bot", one.now)
    assert not is_over_quota(db, host, "human:eve", one.now, "eve-00000003")


# Cost


def test_the_guardrails_read_their_window_and_not_the_store() -> None:
    one = limited(urgent=1, turns=1)
    root = started(one)
    turn(one, root)
    queries: list[str] = []
    one.store.db.set_trace_callback(queries.append)
    urgent(one)
    paused(one, root)
    one.store.db.set_trace_callback(None)
    plans = {
        row[3]
        for query in queries
        if "coalesce" in query
        for row in one.store.db.execute(f"EXPLAIN QUERY PLAN {query}")
    }
    assert plans == {
        "SEARCH messages USING INDEX urgent_by_sender (sender=? AND origin=? AND <expr>>?)",
        "SEARCH messages USING INDEX turns_by_thread (thread=? AND <expr>>?)",
    }


def test_a_refusal_is_a_refusal_of_the_protocol_like_any() -> None:
    one = limited(turns=0)
    root = started(one)
    with pytest.raises(DmpError) as caught:
        turn(one, root)
    assert str(caught.value).startswith("limited on replyTo: ")
