"""Payloads are refused where they do not parse, before anything is made of them (F.4)."""

import pytest

from core.errors import Code, DmpError
from crypto.canonical import JsonValue
from replica.mail.payloads import parse_mail, parse_state

AT = "2026-09-21T14:13:20.000Z"


@pytest.mark.parametrize(
    ("entry", "field"),
    [
        ({"t": "settle", "question": "\ud800", "answer": "m-1", "at": AT}, "question"),
        ({"t": "settle", "question": "m-1", "answer": "\x1b[2J", "closed": "x", "at": AT}, "answer"),
        ({"t": "settle", "question": "m-1", "answer": "m-2", "closed": "\udfff", "at": AT}, "closed"),
        ({"t": "delivery", "message": "M 1", "recipient": "human:b", "state": "read", "at": AT}, "message"),
        ({"t": "delivery", "message": "m-1", "recipient": "human:b", "state": "read", "at": "\ud800"}, "at"),
        ({"t": "refused", "message": "m-1", "reason": "\ud800", "at": AT}, "reason"),
        ({"t": "refused", "message": "m-1", "reason": "", "at": AT}, "reason"),
    ],
)
def test_a_state_entry_holds_ids_and_whole_texts(entry: dict[str, JsonValue], field: str) -> None:
    with pytest.raises(DmpError) as refused:
        parse_state({"entries": [entry]})
    assert (refused.value.code, refused.value.field) == (Code.INVALID, f"entries[0].{field}")


def test_a_recipient_is_a_target_once() -> None:
    target: JsonValue = {"recipient": "human:bob", "via": "direct", "homes": []}
    message: JsonValue = {
        "id": "m-1",
        "thread": "m-1",
        "replyTo": None,
        "from": "human:ada",
        "to": ["human:bob"],
        "kind": "message",
        "body": "hello",
        "refs": [],
        "urgent": False,
        "blocking": False,
        "wake": "none",
        "createdAt": AT,
        "hlc": "1790000000000.0000.ada-0000000a",
    }
    assert len(parse_mail({"message": message, "targets": [target]}).targets) == 1
    with pytest.raises(DmpError) as refused:
        parse_mail({"message": message, "targets": [target, target]})
    assert refused.value.field == "targets"
