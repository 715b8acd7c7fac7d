"""Messages from other replicas: read, checked and compared (sections 4.4, F.4, F.5)."""

from dataclasses import replace
from typing import Any

import pytest

from core.errors import Code, DmpError
from core.message import Message, Standing
from core.received import check_thread, message_from_json, same_message, validate_received
from crypto.canonical import canonical, parse
from tests.core.support import ADA, NOW, Recorder, draft, refused, world

WIRE: dict[str, Any] = {
    "id": "m-01k6abcdefghjkmnpqrstvwxyz",
    "thread": "m-01k6abcdefghjkmnpqrstvwxyz",
    "replyTo": None,
    "from": "human:ada",
    "session": "s-1",
    "to": ["human:bob", "human:bob"],
    "kind": "question",
    "body": "Ship it?",
    "refs": [{"type": "wiki", "id": "x", "at": "y"}],
    "data": {"type": "x-mine", "n": 1.5},
    "urgent": True,
    "blocking": True,
    "choices": ["yes", "no"],
    "wake": "request",
    "createdAt": "2026-09-23T10:00:00.000Z",
    "hlc": f"{NOW}.0000.ada-00000001",
}


def test_a_stored_message_survives_the_wire() -> None:
    message = message_from_json(WIRE)
    assert message.to_json() == WIRE
    assert message_from_json(parse(canonical(message.to_json()).decode()).value) == message


def test_a_message_sent_here_reads_back_from_its_wire_form() -> None:
    one = world(federation=Recorder())
    for given in (draft(), draft(kind="handoff", data=None), draft(kind="question", choices=("a",))):
        message = one.engine.send(ADA, given).message
        assert message_from_json(message.to_json()) == replace(message, standing=None)


@pytest.mark.parametrize(
    ("member", "value"),
    [
        ("id", "M-1"),
        ("id", "m" * 65),
        ("id", 1),
        ("thread", ""),
        ("replyTo", ""),
        ("replyTo", False),
        ("from", "task:t-1"),
        ("from", "channel:x"),
        ("from", "human:Ada"),
        ("to", "human:bob"),
        ("kind", None),
        ("body", 1),
        ("refs", None),
        ("urgent", 1),
        ("blocking", None),
        ("wake", "yes"),
        ("createdAt", "now"),
        ("createdAt", "2026-02-30T10:00:00.000Z"),
        ("hlc", "x"),
        ("hlc", None),
        ("hlc", f"{NOW}.0000.{'a' * 90}"),
        ("session", None),
        ("choices", None),
        ("choice", 1),
    ],
)
def test_p5_a_member_of_another_shape_is_invalid_on_its_name(member: str, value: Any) -> None:
    """P5: null is not absence, `True` no number, `1` no flag."""
    with refused(Code.INVALID, member):
        message_from_json({**WIRE, member: value})


@pytest.mark.parametrize("member", [m for m in WIRE if m not in ("session", "data", "choices", "hlc")])
def test_a_member_that_is_always_present_is_missed(member: str) -> None:
    with refused(Code.INVALID, member):
        message_from_json({name: value for name, value in WIRE.items() if name != member})


@pytest.mark.parametrize("value", [None, [], "x", {**WIRE, "body": "\ud800"}, {**WIRE, "more": "\udc00"}])
def test_what_has_no_canonical_form_or_is_no_object_is_invalid(value: Any) -> None:
    with refused(Code.INVALID, None):
        message_from_json(value)


def test_who_created_a_message_is_not_for_the_message_to_say() -> None:
    assert message_from_json({**WIRE, "origin": "eve-00000001"}).origin is None


def test_a_received_message_is_validated_with_nobody_deciding() -> None:
    host = world().host
    message = message_from_json(WIRE)
    validate_received(host, message, None)
    gate = replace(message, id="m-g", data={"type": "future"})
    answer = replace(
        message, kind="answer", reply_to="m-g", choices=None, blocking=False, choice="yes", data=None
    )
    with refused(Code.FORBIDDEN, "replyTo"):
        validate_received(host, answer, gate)
    validate_received(host, answer, replace(message, id="m-g"))
    validate_received(host, answer, None)


@pytest.mark.parametrize(
    ("change", "code", "field"),
    [
        ({"body": " "}, Code.INVALID, "body"),
        ({"to": ()}, Code.INVALID, "to"),
        ({"kind": "shout"}, Code.INVALID, "kind"),
        ({"data": {"type": "wake"}}, Code.FORBIDDEN, "data"),
        ({"data": {"type": "x-closed", "reason": "x"}, "sender": "agent:dispatch"}, Code.FORBIDDEN, "data"),
        ({"kind": "answer", "choices": None, "blocking": False}, Code.INVALID, "replyTo"),
    ],
)
def test_a_received_message_keeps_every_rule_of_a_send(
    change: dict[str, Any], code: Code, field: str
) -> None:
    with refused(code, field):
        validate_received(world().host, replace(message_from_json(WIRE), **change), None)


def test_a_received_message_is_in_the_thread_it_says() -> None:
    root = message_from_json(WIRE)
    reply = replace(root, id="m-r", reply_to=root.id)
    for good in ((root, None, None), (reply, root, root), (reply, None, root), (reply, None, None)):
        check_thread(*good)
    bad: list[tuple[Message, Message | None, Message | None, str]] = [
        (replace(root, reply_to=root.id), None, None, "replyTo"),
        (replace(root, thread="m-other"), None, None, "thread"),
        (replace(reply, thread="m-other"), root, None, "thread"),
        (replace(reply, reply_to="m-lost", thread="m-r2"), None, replace(reply, id="m-r2"), "thread"),
    ]
    for message, replied, named, field in bad:
        with pytest.raises(DmpError) as refusal:
            check_thread(message, replied, named)
        assert (refusal.value.code, refusal.value.field) == (Code.INVALID, field)


@pytest.mark.parametrize(
    "change",
    [
        {"body": "other"},
        {"to": ("human:bob",)},
        {"data": {"type": "x-mine", "n": 2}},
        {"hlc": f"{NOW}.0001.ada-00000001"},
        {"kind": "message"},
        {"urgent": False},
        {"choices": None},
        {"session": None},
    ],
)
def test_any_other_signed_field_makes_it_another_message(change: dict[str, Any]) -> None:
    message = message_from_json(WIRE)
    assert not same_message(message, replace(message, **change))


def test_what_a_receiver_adds_does_not_make_it_another_message() -> None:
    message = message_from_json(WIRE)
    stored = replace(message, origin="ada-00000001", received_at="2026-09-23T10:00:01.000Z")
    assert same_message(stored, message)


def test_an_answer_that_lost_is_compared_as_the_answer_it_was() -> None:
    answer = replace(message_from_json(WIRE), kind="answer", choices=None, blocking=False)
    for standing in (Standing.CANDIDATE, Standing.SUPERSEDED):
        assert same_message(replace(answer, kind="message", standing=standing), answer)
    assert same_message(replace(answer, standing=Standing.PENDING), answer)
    assert not same_message(replace(answer, kind="message"), answer)
