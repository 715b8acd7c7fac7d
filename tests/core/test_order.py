"""The order of checks in a send (section 4.5): of two broken rules, the earlier one is the error."""

from typing import Any

import pytest

from core.errors import Code, DmpError
from core.inputs import ReplyInput, Sender, SendInput
from crypto.canonical import JsonValue
from tests.core.support import ADA, BOB, RUN, World, draft, refused, world

AGENT = Sender("agent:bob/bot")


@pytest.fixture
def one() -> World:
    return world(agents=[{"address": AGENT.address, "status": "approved"}])


def test_1_authorization_comes_before_replay(one: World) -> None:
    one.engine.send(AGENT, draft(idempotency_key="k"))
    one.host.status[AGENT.address] = "revoked"
    with refused(Code.FORBIDDEN, "from"):
        one.engine.send(AGENT, draft(idempotency_key="k"))


@pytest.mark.parametrize(
    "sender",
    [
        Sender("agent:bob/stranger"),
        Sender("agent:bob/bot", can_decide=True),
        Sender(RUN, can_decide=True),
        Sender("task:t-000001"),
        Sender("channel:ops"),
        Sender("a2a:elsewhere", can_decide=True),
        Sender("nobody", can_decide=True),
    ],
)
@pytest.mark.parametrize("rest", [{"reply_to": "m-absent"}, {"body": ""}, {"to": ()}])
def test_1_authorization_comes_before_all_else(one: World, sender: Sender, rest: dict[str, Any]) -> None:
    given = SendInput(**{"to": ("human:bob",), "kind": "message", "body": "hi", **rest})
    with refused(Code.FORBIDDEN, "from"):
        one.engine.send(sender, given)
    with refused(Code.FORBIDDEN, "from"):
        one.engine.reply(sender, "m-absent", ReplyInput("hi"))


def test_2_replay_comes_before_participation_and_validation(one: World) -> None:
    first = one.engine.send(BOB, draft("human:ada", idempotency_key="k"))
    again = one.engine.send(BOB, draft(idempotency_key="k", reply_to="m-absent", body=""))
    assert again.replayed
    assert again.message == first.message
    reply = one.engine.reply(BOB, "m-absent", ReplyInput("", idempotency_key="k"))
    assert reply.message == first.message


def test_2_a_retried_answer_replays_instead_of_meeting_its_own_conflict(one: World) -> None:
    question = one.engine.send(BOB, draft("human:ada", kind="question")).message
    given = draft("human:bob", kind="answer", reply_to=question.id, idempotency_key="k")
    first = one.engine.send(ADA, given)
    assert one.engine.send(ADA, given).message == first.message


def test_3_participation_comes_before_validation(one: World) -> None:
    foreign = one.engine.send(ADA, draft("human:ada")).message
    for reply_to in (foreign.id, "m-absent", ""):
        with refused(Code.NOT_FOUND, "replyTo"):
            one.engine.send(BOB, draft(reply_to=reply_to, body=""))


def test_3_participation_comes_before_a_fault_of_the_json(one: World) -> None:
    raw: JsonValue = {"to": 5, "kind": 5, "body": 5, "replyTo": "m-absent"}
    with refused(Code.NOT_FOUND, "replyTo"):
        one.engine.send(BOB, SendInput.from_json(raw))


def test_4_validation_comes_before_one_answer(one: World) -> None:
    question = one.engine.send(BOB, draft("human:ada", kind="question")).message
    one.engine.reply(ADA, question.id, ReplyInput("yes"))
    with refused(Code.INVALID, "body"):
        one.engine.reply(ADA, question.id, ReplyInput(" "))
    with refused(Code.CONFLICT, "replyTo"):
        one.engine.reply(ADA, question.id, ReplyInput("no"))


def test_6_one_answer_comes_before_resolution(one: World) -> None:
    question = one.engine.send(BOB, draft("human:ada", kind="question")).message
    one.engine.reply(ADA, question.id, ReplyInput("yes"))
    for lost in ("channel:nowhere", "run:r-0000aa"):
        with refused(Code.CONFLICT, "replyTo"):
            one.engine.send(ADA, draft(lost, kind="answer", reply_to=question.id))


def test_7_resolution_comes_last_and_stores_nothing(one: World) -> None:
    for lost, code in (("channel:nowhere", Code.NOT_FOUND), ("run:r-0000aa", Code.INVALID)):
        with refused(code, "to[1]"):
            one.engine.send(ADA, draft("human:bob", lost))
    assert one.engine.inbox("human:bob") == []
    assert one.host.calls == []


def test_m7_absent_and_foreign_messages_get_one_answer_to_the_letter(one: World) -> None:
    """M7: a sender who takes no part in a message cannot tell that it exists."""
    foreign = one.engine.send(ADA, draft("human:ada")).message
    told = set()
    for reply_to in (foreign.id, "m-absent"):
        with pytest.raises(DmpError) as sent:
            one.engine.send(BOB, draft(reply_to=reply_to))
        with pytest.raises(DmpError) as replied:
            one.engine.reply(BOB, reply_to, ReplyInput("hi"))
        told |= {str(sent.value), str(replied.value)}
    assert len(told) == 1
