"""The seam a replica fills: when it is called, inside which transaction, and what a refusal undoes."""

from typing import Any

import pytest

from core.errors import Code, forbidden
from core.federation import Placement, Target
from core.inputs import ReplyInput
from core.message import Message, Via
from tests.core.support import ADA, BOB, TASK, Recorder, draft, refused, world


def test_a_send_is_stamped_placed_and_reported_in_one_transaction() -> None:
    federation = Recorder(elsewhere=["human:bob"])
    one = world(federation=federation)
    inside: list[bool] = []
    stored = federation.stored

    def watched(message: Message, placements: Any) -> None:
        inside.append(one.store.db.in_transaction)
        assert one.engine.message(message.id) == message
        stored(message, placements)

    federation.stored = watched  # type: ignore[method-assign]
    sent = one.engine.send(ADA, draft("human:bob", "human:eve"))
    assert inside == [True]
    assert sent.message.hlc == federation.stamp()
    assert [d.recipient for d in sent.deliveries] == ["human:eve"]
    assert federation.seen == [("moved", "human:eve", "notified"), ("stored", sent.message.id, "human:bob")]


def test_a_target_may_be_delivered_here_and_elsewhere() -> None:
    federation = Recorder()
    federation.place = lambda message, target: Placement(True, ("ada-2-00000002",))  # type: ignore[method-assign]
    one = world(federation=federation)
    sent = one.engine.send(BOB, draft("human:ada"))
    assert [d.recipient for d in sent.deliveries] == ["human:ada"]
    assert federation.seen[-1] == ("stored", sent.message.id, "human:ada")


def test_a_target_elsewhere_is_not_judged_by_who_is_live_here() -> None:
    one = world(federation=Recorder(elsewhere=["run:r-far"]))
    assert one.engine.send(ADA, draft("run:r-far")).deliveries == ()


def test_place_is_told_the_senders_own_slot_and_may_refuse_on_it() -> None:
    federation = Recorder()
    targets: list[Target] = []

    def place(message: Message, target: Target) -> Placement:
        targets.append(target)
        if target.recipient == "human:eve":
            raise forbidden(target.field, "this thread must not leave this host")
        return Placement(True)

    federation.place = place  # type: ignore[method-assign]
    one = world(federation=federation)
    with refused(Code.FORBIDDEN, "to[3]"):
        one.engine.send(ADA, draft("human:ada", "human:bob", "human:bob", "human:eve"))
    assert targets == [
        Target("human:bob", Via.DIRECT, "to[1]"),
        Target("human:eve", Via.DIRECT, "to[3]"),
    ]
    assert one.engine.inbox("human:bob") == []


@pytest.mark.parametrize("method", ["stamp", "place", "stored", "moved", "settles", "answered"])
def test_a_refusal_anywhere_in_the_seam_undoes_the_whole_send(method: str) -> None:
    federation = Recorder()
    one = world(federation=federation)
    question = one.engine.send(ADA, draft("human:bob", TASK, kind="question")).message
    before = list(one.store.db.iterdump())

    def refuses(*_: object) -> None:
        raise forbidden("to[0]", "not while this test runs")

    setattr(federation, method, refuses)
    with refused(Code.FORBIDDEN, "to[0]"):
        one.engine.reply(BOB, question.id, ReplyInput("yes"))
    assert list(one.store.db.iterdump()) == before


def test_a_local_answer_and_a_close_are_told_to_the_federation() -> None:
    federation = Recorder()
    one = world(federation=federation)
    asked = [one.engine.send(BOB, draft("human:ada", kind="question")).message for _ in range(2)]
    federation.seen.clear()
    answer = one.engine.reply(ADA, asked[0].id, ReplyInput("yes")).message
    assert federation.seen == [
        ("moved", "human:ada", "answered"),
        ("moved", "human:bob", "notified"),
        ("stored", answer.id),
        ("answered", asked[0].id, answer.id),
    ]
    federation.seen.clear()
    close = one.engine.close(asked[1].id, "over")
    assert close.hlc is not None
    assert federation.seen == [("moved", "human:ada", "answered"), ("answered", asked[1].id, close.id)]


def test_marking_read_is_told_and_marking_again_is_not() -> None:
    federation = Recorder()
    one = world(federation=federation)
    (delivery,) = one.engine.send(BOB, draft("human:ada")).deliveries
    federation.seen.clear()
    one.engine.mark_read(delivery.id)
    one.engine.mark_read(delivery.id)
    assert federation.seen == [("moved", "human:ada", "read")]
