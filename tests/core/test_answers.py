"""Questions, answers and closes, within a host and across replicas (sections 4.7, 4.8, 4.9, F.6)."""

from dataclasses import replace

import pytest

from core.answering import answer_deliveries, choose, store_answer, supersede, withdraw
from core.errors import Code
from core.inputs import ReplyInput
from core.message import ABSENT, Message, Standing, State
from core.store.messages import answers_to, insert_message
from tests.core.support import ADA, BOB, HOST, OTHER_TASK, RUN, Recorder, World, draft, refused, world


@pytest.fixture
def one() -> World:
    return world()


def ask(one: World, *to: str) -> Message:
    return one.engine.send(
        BOB, draft(*(to or ("human:ada",)), kind="question", choices=("yes", "no"))
    ).message


def states(one: World, question: Message) -> list[State]:
    return [delivery.state for delivery in one.engine.deliveries(question.id)]


# Within a host


def test_an_answer_moves_every_delivery_of_its_question_whatever_its_state(one: World) -> None:
    one.host.failing = {RUN}
    question = ask(one, "human:ada", "human:eve", OTHER_TASK, RUN)
    one.engine.mark_read(one.engine.deliveries(question.id)[1].id)
    answer = one.engine.reply(ADA, question.id, ReplyInput("", choice="yes")).message
    assert states(one, question) == [State.ANSWERED] * 4
    assert one.engine.answer_of(question.id) == answer
    assert answer.standing is Standing.ACCEPTED


def test_a_question_takes_one_answer_and_the_second_stores_nothing(one: World) -> None:
    question = ask(one)
    one.engine.reply(ADA, question.id, ReplyInput("first"))
    with refused(Code.CONFLICT, "replyTo"):
        one.engine.reply(ADA, question.id, ReplyInput("second"))
    assert len(one.engine.thread(question.id)) == 2


def test_a_message_that_replies_to_a_question_leaves_it_open(one: World) -> None:
    question = ask(one)
    one.engine.send(ADA, draft("human:bob", reply_to=question.id))
    assert one.engine.answer_of(question.id) is None
    assert states(one, question) == [State.NOTIFIED]


def test_a_close_answers_without_a_delivery_of_its_own(one: World) -> None:
    question = ask(one)
    close = one.engine.close(question.id, "the run ended")
    assert (close.sender, close.to, close.kind) == (HOST.address, ("human:bob",), "answer")
    assert close.data == {"type": "x-closed", "reason": "the run ended"}
    assert "the run ended" in close.body
    assert one.engine.deliveries(close.id) == []
    assert states(one, question) == [State.ANSWERED]
    assert one.host.calls[-1] == {"hook": "published", "message": close.id}
    with refused(Code.CONFLICT, "replyTo"):
        one.engine.close(question.id, "again")
    with refused(Code.CONFLICT, "replyTo"):
        one.engine.reply(ADA, question.id, ReplyInput("late"))


def test_a_close_makes_no_choice_whatever_is_offered(one: World) -> None:
    handoff = one.engine.send(BOB, draft("human:ada", kind="handoff")).message
    gate = replace(ask(one), id="m-gate", thread="m-gate", data={"type": "future"})
    with one.store.transaction("test") as db:
        insert_message(db, gate)
    for question in (handoff, ask(one), gate):
        assert one.engine.close(question.id, "over").choice is None


def test_only_an_open_question_closes(one: World) -> None:
    with refused(Code.NOT_FOUND, "replyTo"):
        one.engine.close("m-absent", "x")
    note = one.engine.send(BOB, draft("human:ada", kind="notice")).message
    with refused(Code.INVALID, "replyTo"):
        one.engine.close(note.id, "x")


@pytest.mark.parametrize("reason", ["", " \u3000", "r" * 65_536, "\u2028" * 22_000, "\ud800"])
def test_a_close_gives_a_reason_that_fits_a_message(one: World, reason: str) -> None:
    question = ask(one)
    with refused(Code.INVALID, "reason"):
        one.engine.close(question.id, reason)
    assert one.engine.answer_of(question.id) is None


def test_only_the_settler_closes_a_question() -> None:
    away = world(federation=Recorder(settler=False))
    question = ask(away)
    with refused(Code.FORBIDDEN, "replyTo"):
        away.engine.close(question.id, "x")


# Idempotency


def test_a_key_replays_the_first_message_with_its_deliveries_as_they_are_now(one: World) -> None:
    first = one.engine.send(BOB, draft("human:ada", idempotency_key="k"))
    one.engine.mark_read(first.deliveries[0].id)
    hooks = len(one.host.calls)
    again = one.engine.send(BOB, draft("human:eve", body="other", idempotency_key="k"))
    assert again.replayed
    assert again.message == first.message
    assert [d.state for d in again.deliveries] == [State.READ]
    assert len(one.host.calls) == hooks


def test_a_key_is_its_senders_own(one: World) -> None:
    one.engine.send(BOB, draft("human:ada", idempotency_key="k"))
    assert not one.engine.send(ADA, draft("human:bob", idempotency_key="k")).replayed
    assert not one.engine.send(BOB, draft("human:ada", idempotency_key="k2")).replayed


def test_a_send_that_failed_leaves_its_key_free(one: World) -> None:
    with refused(Code.INVALID, "to[0]"):
        one.engine.send(BOB, draft("run:r-0000ff", idempotency_key="k"))
    assert not one.engine.send(BOB, draft("human:ada", idempotency_key="k")).replayed


def test_a_reply_replays_too(one: World) -> None:
    question = ask(one)
    first = one.engine.reply(ADA, question.id, ReplyInput("yes", idempotency_key="k"))
    assert one.engine.reply(ADA, question.id, ReplyInput("yes", idempotency_key="k")).message == first.message


# Across replicas


def remote(answer_id: str, question: str, sender: str = "human:ada") -> Message:
    return Message(
        answer_id,
        question,
        question,
        sender,
        ("human:bob",),
        "answer",
        answer_id,
        "2026-09-23T10:00:00.000Z",
        origin="ada-00000001",
    )


def receive(one: World, answer: Message, question: Message | None) -> Message:
    with one.store.transaction("test") as db:
        return store_answer(db, one.engine.federation, answer, question, "now")


def standings(one: World, question: str) -> dict[str, tuple[Standing | None, str]]:
    return {each.id: (each.standing, each.kind) for each in answers_to(one.store.db, question)}


def test_at_the_settler_the_first_answer_is_accepted_and_a_later_remote_one_is_a_reply(one: World) -> None:
    question = ask(one)
    first = receive(one, remote("m-1", question.id), question)
    late = receive(one, remote("m-2", question.id), question)
    assert (first.kind, first.standing) == ("answer", Standing.ACCEPTED)
    assert (late.kind, late.standing) == ("message", Standing.SUPERSEDED)
    assert one.engine.answer_of(question.id) == first
    assert states(one, question) == [State.ANSWERED]
    with refused(Code.CONFLICT, "replyTo"):
        one.engine.reply(ADA, question.id, ReplyInput("third"))


def test_away_from_the_settler_answers_are_pending_and_candidates_until_one_is_chosen() -> None:
    away = world(federation=Recorder(settler=False))
    question = ask(away)
    local = away.engine.reply(ADA, question.id, ReplyInput("", choice="yes")).message
    assert local.standing is Standing.PENDING
    other = receive(away, remote("m-2", question.id), question)
    assert other.standing is Standing.CANDIDATE
    with refused(Code.CONFLICT, "replyTo"):
        away.engine.reply(ADA, question.id, ReplyInput("again"))
    with away.store.transaction("test") as db:
        assert choose(db, question.id, "m-2", standing=Standing.ACCEPTED, others=Standing.SUPERSEDED)
    assert standings(away, question.id) == {
        local.id: (Standing.SUPERSEDED, "message"),
        "m-2": (Standing.ACCEPTED, "answer"),
    }
    later = receive(away, remote("m-3", question.id), question)
    assert (later.kind, later.standing) == ("message", Standing.SUPERSEDED)


def test_choosing_what_was_never_an_answer_to_the_question_changes_nothing(one: World) -> None:
    question, other = ask(one), ask(one)
    answer = one.engine.reply(ADA, question.id, ReplyInput("yes")).message
    reply = one.engine.send(ADA, draft("human:bob", reply_to=question.id)).message
    elsewhere = one.engine.reply(ADA, other.id, ReplyInput("yes")).message
    for wrong in (reply.id, elsewhere.id, question.id, "m-absent"):
        with one.store.transaction("test") as db:
            assert not choose(db, question.id, wrong, standing=Standing.ACCEPTED, others=Standing.SUPERSEDED)
    assert one.engine.answer_of(question.id) == answer


def test_answers_that_came_before_their_question_are_pending_and_reordered_when_it_arrives(
    one: World,
) -> None:
    first = receive(one, remote("m-1", "m-q"), None)
    second = receive(one, remote("m-2", "m-q"), None)
    assert (first.standing, second.standing) == (Standing.PENDING, Standing.CANDIDATE)
    with one.store.transaction("test") as db:
        assert choose(db, "m-q", "m-2", standing=Standing.PENDING, others=Standing.CANDIDATE)
    assert standings(one, "m-q") == {
        "m-1": (Standing.CANDIDATE, "message"),
        "m-2": (Standing.PENDING, "answer"),
    }


def test_a_refused_answer_becomes_a_reply_and_its_question_waits_again() -> None:
    federation = Recorder(settler=False)
    away = world(federation=federation)
    question = ask(away, "human:ada", OTHER_TASK, RUN)
    answer = away.engine.reply(ADA, question.id, ReplyInput("yes")).message
    federation.seen.clear()
    with away.store.transaction("test") as db:
        withdraw(db, federation, answer, question, "now")
    assert states(away, question) == [State.NOTIFIED, State.HELD, State.HELD]
    assert all(delivery.session is None for delivery in away.engine.deliveries(question.id))
    assert federation.seen == [
        ("moved", "human:ada", "notified"),
        ("moved", OTHER_TASK, "held"),
        ("moved", RUN, "held"),
    ]
    assert away.engine.answer_of(question.id) is None
    assert away.engine.reply(ADA, question.id, ReplyInput("better")).message.standing is Standing.PENDING


def test_a_settlers_close_supersedes_every_answer_before_it_is_stored() -> None:
    away = world(federation=Recorder(settler=False))
    question = ask(away)
    away.engine.reply(ADA, question.id, ReplyInput("yes"))
    receive(away, remote("m-2", question.id), question)
    with away.store.transaction("test") as db:
        supersede(db, question.id)
        insert_message(db, replace(remote("m-c", question.id, HOST.address), standing=Standing.ACCEPTED))
        answer_deliveries(db, away.engine.federation, question, "now")
    assert [standing for standing, _ in standings(away, question.id).values()] == [
        Standing.SUPERSEDED,
        Standing.SUPERSEDED,
        Standing.ACCEPTED,
    ]


def test_an_answer_that_lost_is_still_what_its_sender_signed() -> None:
    away = world(federation=Recorder(settler=False))
    question = ask(away)
    local = away.engine.reply(ADA, question.id, ReplyInput("yes")).message
    receive(away, remote("m-2", question.id), question)
    with away.store.transaction("test") as db:
        choose(db, question.id, "m-2", standing=Standing.ACCEPTED, others=Standing.SUPERSEDED)
    stored = away.engine.message(local.id)
    assert stored is not None
    assert stored.kind == "message"
    assert stored.as_sent().to_json() == local.to_json()
    assert local.data is ABSENT


def test_the_table_keeps_one_answer_per_question(one: World) -> None:
    question = ask(one)
    receive(one, remote("m-1", question.id), question)
    with pytest.raises(Exception, match="UNIQUE"), one.store.transaction("test") as db:
        insert_message(db, remote("m-2", question.id))
