"""Inputs are read from JSON once, strictly, and a fault waits for the step that validates (section 4.5)."""

from typing import Any

import pytest

from core.errors import Code
from core.inputs import ReplyInput, SendInput
from core.message import ABSENT
from crypto.canonical import JsonValue
from tests.core.support import ADA, refused, world

PLAIN: dict[str, Any] = {"to": ["human:bob"], "kind": "message", "body": "hi"}


def test_what_an_input_leaves_out_takes_its_default() -> None:
    assert SendInput.from_json(PLAIN) == SendInput(("human:bob",), "message", "hi")
    given = SendInput.from_json({**PLAIN, "replyTo": None})
    assert (given.reply_to, given.data, given.refs, given.wake) == (None, ABSENT, (), "none")


def test_null_data_is_data() -> None:
    assert SendInput.from_json({**PLAIN, "data": None}).data is None


@pytest.mark.parametrize(
    ("member", "value", "field"),
    [
        ("to", "human:bob", "to"),
        ("to", [1], "to[0]"),
        ("to", ["human:bob", None], "to[1]"),
        ("to", {"0": "human:bob"}, "to"),
        ("kind", None, "kind"),
        ("kind", 1, "kind"),
        ("body", 42, "body"),
        ("body", None, "body"),
        ("session", 1, "session"),
        ("session", None, "session"),
        ("refs", {}, "refs"),
        ("refs", ["t-1"], "refs[0]"),
        ("refs", [{"id": "t-1"}], "refs[0].type"),
        ("refs", [{"type": "task"}], "refs[0].id"),
        ("refs", [{"type": "task", "id": "t-1", "at": None}], "refs[0].at"),
        ("urgent", 1, "urgent"),
        ("urgent", "true", "urgent"),
        ("blocking", 0, "blocking"),
        ("choices", "ab", "choices"),
        ("choices", [True], "choices[0]"),
        ("choice", ["a"], "choice"),
        ("wake", True, "wake"),
        ("wake", "always", "wake"),
        ("idempotencyKey", 7, "idempotencyKey"),
    ],
)
def test_p5_a_member_of_another_type_is_invalid_on_its_field(member: str, value: Any, field: str) -> None:
    """P5: `True` is an int and equals 1 in Python; null is not absence."""
    with refused(Code.INVALID, field):
        world().engine.send(ADA, SendInput.from_json({**PLAIN, member: value}))


@pytest.mark.parametrize("member", ["to", "kind", "body"])
def test_a_required_member_that_is_missing_is_invalid_on_its_field(member: str) -> None:
    rest = {name: value for name, value in PLAIN.items() if name != member}
    with refused(Code.INVALID, member):
        world().engine.send(ADA, SendInput.from_json(rest))


@pytest.mark.parametrize("raw", [None, [], "to", 1])
def test_an_input_that_is_no_object_is_invalid(raw: Any) -> None:
    one = world()
    with refused(Code.INVALID, None):
        one.engine.send(ADA, SendInput.from_json(raw))
    question = one.engine.send(ADA, SendInput.from_json({**PLAIN, "to": ["human:bob"]})).message
    with refused(Code.INVALID, None):
        one.engine.reply(ADA, question.id, ReplyInput.from_json(raw))


def test_members_that_are_none_of_its_own_are_ignored() -> None:
    """Section F.4: `origin` and `hlc` are no part of a send input, and neither is what a host sets."""
    more = {"origin": "x", "hlc": "y", "id": "m-1", "from": "human:eve", "thread": "m-1", "createdAt": "now"}
    message = world().engine.send(ADA, SendInput.from_json({**PLAIN, **more})).message
    assert (message.sender, message.origin, message.hlc) == ("human:ada", None, None)


def test_a_reply_to_that_is_no_string_names_no_message() -> None:
    odd: list[JsonValue] = [5, False, [], ""]
    for reply_to in odd:
        with refused(Code.NOT_FOUND, "replyTo"):
            world().engine.send(ADA, SendInput.from_json({**PLAIN, "replyTo": reply_to}))


def test_texts_that_are_no_unicode_name_nothing_and_are_refused_where_they_would_be_stored() -> None:
    """A command line or a JSON escape can carry half of a surrogate pair."""
    one = world()
    with refused(Code.NOT_FOUND, "replyTo"):
        one.engine.send(ADA, SendInput.from_json({**PLAIN, "replyTo": "\ud800"}))
    with refused(Code.INVALID, "idempotencyKey"):
        one.engine.send(ADA, SendInput.from_json({**PLAIN, "idempotencyKey": "\ud800"}))
    with refused(Code.NOT_FOUND, None):
        one.engine.mark_read("\ud800")
    assert one.engine.message("\ud800") is None
    assert one.engine.thread("\ud800") == []
    assert not one.engine.can_read(ADA, "\ud800")
    with refused(Code.INVALID, "recipient"):
        one.engine.inbox("human:\ud800")
