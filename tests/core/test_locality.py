"""Gate data never leaves the host through a binding (section 5.8)."""

from dataclasses import replace
from typing import Any

import pytest

from core.errors import Code
from core.inputs import ReplyInput, Sender, SendInput
from core.message import Message
from core.store.messages import insert_message
from tests.core.support import ADA, HOST, RUN, TASK, World, draft, refused, world

CLIENT, PEER = "agent:ada/a2a.acme", "agent:ada/a2a.zeta"
WAKE = {"type": "wake", "target": TASK, "message": "m-1"}


def bound(**given: Any) -> World:
    """Return a host that reaches a client and a peer through a binding."""
    agents = [{"address": address, "status": "approved"} for address in (CLIENT, PEER)]
    return world(external={CLIENT: "client", PEER: "peer"}, agents=agents, owner="human:ada", **given)


def gate(*to: str) -> SendInput:
    return draft(*to, kind="question", data=WAKE, blocking=True, choices=("approve", "deny"))


def stored(one: World) -> int:
    (count,) = one.store.db.execute("SELECT count(*) FROM messages").fetchone()
    return int(count)


@pytest.mark.parametrize("to", [(CLIENT,), (PEER,), ("human:ada", CLIENT), (CLIENT, "human:ada")])
def test_a_gate_to_an_external_recipient_is_refused_whole(to: tuple[str, ...]) -> None:
    one = bound()
    with refused(Code.FORBIDDEN, "data"):
        one.engine.send(HOST, gate(*to))
    assert stored(one) == 0
    assert one.host.calls == []


def test_a_gate_to_a_channel_with_an_external_member_is_refused_whole() -> None:
    one = bound(implicit={"ops": [PEER]})
    one.engine.join("eng", CLIENT)
    for channel in ("channel:eng", "channel:ops"):
        with refused(Code.FORBIDDEN, "data"):
            one.engine.send(HOST, gate("human:ada", channel))
    assert stored(one) == 0


@pytest.mark.parametrize("kind", ["message", "notice", "question", "handoff"])
def test_a_reply_to_a_gate_is_refused_whatever_its_kind(kind: str) -> None:
    one = bound()
    raised = one.engine.send(HOST, gate("human:ada")).message
    with refused(Code.FORBIDDEN, "data"):
        one.engine.send(ADA, draft("human:ada", CLIENT, kind=kind, reply_to=raised.id))
    assert stored(one) == 1


def test_an_answer_to_a_gate_that_names_an_external_recipient_decides_nothing() -> None:
    one = bound()
    raised = one.engine.send(HOST, gate("human:ada")).message
    with refused(Code.FORBIDDEN, "data"):
        one.engine.send(
            ADA, draft(HOST.address, CLIENT, kind="answer", body="", choice="approve", reply_to=raised.id)
        )
    assert one.engine.answer_of(raised.id) is None
    assert one.engine.effects_applied() == []


def test_data_of_a_type_this_host_does_not_know_is_as_local() -> None:
    one = bound()
    plain = one.engine.send(Sender(RUN), draft("human:ada", kind="question")).message
    older = replace(plain, id="m-older", thread="m-older", data={"type": "of-another-build"})
    with one.store.transaction("older") as db:
        insert_message(db, older)
    with refused(Code.FORBIDDEN, "data"):
        one.engine.send(ADA, draft(CLIENT, reply_to=older.id))
    assert one.engine.reply(ADA, older.id, ReplyInput("for the session alone")).message


def test_a_local_recipient_gets_gate_data_and_an_external_one_gets_plain_mail() -> None:
    one = bound()
    raised = one.engine.send(HOST, gate("human:ada"))
    assert [each.recipient for each in raised.deliveries] == ["human:ada"]
    sent = one.engine.send(ADA, draft(CLIENT, PEER, data={"type": "x-mine", "gate": "no"}))
    assert [each.recipient for each in sent.deliveries] == [CLIENT, PEER]


def test_an_external_sender_that_is_dropped_from_its_own_send_is_no_recipient() -> None:
    one = bound()
    message: Message = one.engine.send(ADA, draft(CLIENT)).message
    sent = one.engine.send(Sender(CLIENT), draft(CLIENT, "human:ada", reply_to=message.id))
    assert [each.recipient for each in sent.deliveries] == ["human:ada"]
