"""Reading a request: what activates the extension, what its members may be, and what a message becomes."""

import base64
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bindings.a2a.extensions import ENVELOPE
from bindings.instance_routing.errors import Reason, Refused
from bindings.instance_routing.extension import (
    MAX_SUBJECT,
    URI,
    context_id,
    message_of,
    task_id,
    thread_of,
)
from bindings.instance_routing.request import (
    ASKS_FOR_BACKLOG,
    MAX_RAW_BYTES,
    Request,
    extensions_of,
    key_of,
    read,
)
from core.message import ABSENT
from core.text import is_one_line
from core.validate import MAX_BODY_BYTES, MAX_LINE_BYTES
from tests.bindings.instance_routing.gateway import Json, a_request

HEADER = frozenset((URI,))


def reading(request: Any) -> Request:
    return read(request, HEADER)


def with_parts(*parts: Json, **routing: Any) -> Json:
    request = a_request("i-1", **routing)
    request["message"]["parts"] = list(parts)
    return request


def refusal(request: Any, header: frozenset[str] = HEADER) -> Refused:
    with pytest.raises(Refused) as caught:
        read(request, header)
    return caught.value


def test_a_request_says_to_whom_about_what_and_how() -> None:
    found = reading(a_request("i-1", "Ship it?", subject="Release", deliveryMode="wake"))
    assert (found.id, found.instance, found.subject, found.mode) == ("m1", "i-1", "Release", "wake")
    assert found.body == "Subject: Release\n\nShip it?"
    assert found.data is ABSENT


def test_without_more_a_message_goes_to_the_inbox_under_no_subject() -> None:
    found = reading(a_request("i-1", "Ship it?"))
    assert (found.subject, found.mode, found.body) == ("", "inbox", "Ship it?")


def test_the_extension_is_active_only_where_all_three_places_name_it() -> None:
    unnamed, bare = a_request("i-1"), a_request("i-1")
    del unnamed["message"]["extensions"]
    del bare["metadata"]
    for request, header in ((a_request("i-1"), frozenset[str]()), (unnamed, HEADER), (bare, HEADER)):
        assert refusal(request, header).reason is Reason.EXTENSION_SUPPORT_REQUIRED
    assert reading(a_request("i-1")).instance == "i-1"


def test_a_header_names_extensions_with_commas_between() -> None:
    assert extensions_of(f" a , {URI},") == {"a", URI}
    assert extensions_of("") == frozenset()


@pytest.mark.parametrize(
    ("routing", "path"),
    [
        ({"recipientInstanceId": ""}, "metadata.recipientInstanceId"),
        ({"recipientInstanceId": 7}, "metadata.recipientInstanceId"),
        ({"recipientInstanceId": "i" * 201}, "metadata.recipientInstanceId"),
        ({"subject": "s" * (MAX_SUBJECT + 1)}, "metadata.subject"),
        ({"subject": "two\nlines"}, "metadata.subject"),
        ({"subject": None}, "metadata.subject"),
        ({"deliveryMode": "push"}, "metadata.deliveryMode"),
        ({"wakeBacklog": "true"}, "metadata.wakeBacklog"),
    ],
)
def test_a_member_that_is_mistyped_or_too_long_is_named(routing: Json, path: str) -> None:
    request = a_request("i-1")
    request["metadata"][URI].update(routing)
    assert refusal(request).path == path


def test_a_subject_may_have_180_characters_however_many_bytes_they_take() -> None:
    assert reading(a_request("i-1", subject="é" * MAX_SUBJECT)).subject == "é" * MAX_SUBJECT


def test_a_backlog_is_asked_for_in_the_message_and_only_with_a_wake() -> None:
    woken = reading(a_request("i-1", deliveryMode="wake", wakeBacklog=True))
    assert woken.body == f"Hello\n\n{ASKS_FOR_BACKLOG}"
    assert reading(a_request("i-1", wakeBacklog=True)).body == "Hello"


def test_texts_are_joined_and_data_and_files_are_wrapped() -> None:
    found = reading(
        with_parts(
            {"text": "One"},
            {"data": {"type": "wake", "target": "task:t-1"}},
            {"text": "Two"},
            {"raw": base64.b64encode(b"\xff\x00").decode(), "filename": "a.bin", "mediaType": "image/png"},
        )
    )
    assert found.body == "One\n\nTwo"
    assert found.data == {
        ENVELOPE: [
            {"type": "wake", "target": "task:t-1"},
            {"raw": "/wA=", "filename": "a.bin", "mediaType": "image/png"},
        ]
    }


def test_data_alone_is_a_message_and_nothing_at_all_is_none() -> None:
    assert reading(with_parts({"data": None})).body == "(no text)"
    assert refusal(with_parts({"text": " \n"})).path == "message.parts"
    assert refusal(with_parts()).path == "message.parts"


def test_a_url_is_refused_as_a_part_of_another_kind() -> None:
    found = refusal(with_parts({"text": "see"}, {"url": "https://example.org/x", "mediaType": "image/png"}))
    assert (found.reason, found.path) == (Reason.CONTENT_TYPE_NOT_SUPPORTED, "message.parts[1].url")


def test_files_are_bounded_together() -> None:
    half = base64.b64encode(bytes(MAX_RAW_BYTES // 2)).decode()
    assert reading(with_parts({"raw": half}, {"raw": half})).data is not ABSENT
    found = refusal(with_parts({"raw": half}, {"raw": half}, {"raw": "AA=="}))
    assert found.path == "message.parts[2].raw"


def test_files_are_never_dropped_for_data_that_is_too_large_beside_them() -> None:
    assert refusal(with_parts({"raw": "AA=="}, {"data": "x" * 70_000})).path == "message.parts"
    assert reading(with_parts({"data": "x" * 70_000})).body.endswith("(data part over 64 KiB omitted)")


@pytest.mark.parametrize("raw", ["A", "====", "\u00e9", 7, None, "A A="])
def test_raw_that_is_no_base64_is_refused(raw: Any) -> None:
    assert refusal(with_parts({"raw": raw})).path == "message.parts[0].raw"


def test_raw_may_be_written_in_both_alphabets() -> None:
    assert reading(with_parts({"raw": "_w"})).data == {ENVELOPE: {"raw": "/w=="}}


@pytest.mark.parametrize("part", [{}, {"text": "a", "data": 1}, "text", {"file": "a"}])
def test_a_part_has_one_content(part: Any) -> None:
    assert refusal(with_parts(part)).path == "message.parts[0]"


def test_text_over_64_kib_is_refused_with_its_subject_counted() -> None:
    request = a_request("i-1", "x" * MAX_BODY_BYTES)
    assert len(reading(request).body) == MAX_BODY_BYTES
    request["metadata"][URI]["subject"] = "one more"
    assert refusal(request).path == "message.parts"
    assert refusal(a_request("i-1", "x" * (MAX_BODY_BYTES + 1))).path == "message.parts"


@pytest.mark.parametrize("id_", ["", None, 7, "a\nb", "x" * (MAX_LINE_BYTES + 1), "\ud800"])
def test_a_message_has_an_id_of_one_line(id_: Any) -> None:
    request = a_request("i-1")
    request["message"]["messageId"] = id_
    assert refusal(request).path == "message.messageId"


def test_a_task_is_not_continued_and_nothing_is_pushed() -> None:
    continued, pushed, spoken = a_request("i-1"), a_request("i-1"), a_request("i-1")
    continued["message"]["taskId"] = task_id("m-1")
    pushed["configuration"]["taskPushNotificationConfig"] = {"url": "https://example.org"}
    spoken["message"]["role"] = "ROLE_AGENT"
    assert refusal(continued).reason is Reason.UNSUPPORTED_OPERATION
    assert refusal(pushed).reason is Reason.PUSH_NOTIFICATION_NOT_SUPPORTED
    assert refusal(spoken).path == "message.role"


@pytest.mark.parametrize("request_", [None, [], {}, {"message": []}])
def test_what_is_no_request_is_refused(request_: Any) -> None:
    assert refusal(request_).reason in (Reason.INVALID_REQUEST, Reason.INVALID_PARAMS)


def test_contents_are_the_message_and_its_metadata_as_received_and_not_how_it_is_waited_for() -> None:
    first, waiting = a_request("i-1"), a_request("i-1")
    waiting["configuration"] = {"historyLength": 3}
    assert reading(first).digest == reading(waiting).digest
    for change in (
        {"text": "Hello!"},
        {"text": "Hello", "metadata": {"a": 1}},
        {"text": "Hello", "mediaType": "x"},
    ):
        assert reading(with_parts(change)).digest != reading(first).digest
    assert reading(a_request("i-1", deliveryMode="inbox")).digest != reading(first).digest


def test_members_in_another_order_are_the_same_contents() -> None:
    request = a_request("i-1")
    turned = {**request, "message": dict(reversed(request["message"].items()))}
    assert reading(turned).digest == reading(request).digest


@given(st.text(st.characters(exclude_categories=()), max_size=300))
def test_any_id_has_a_key_that_is_one_short_line(id_: str) -> None:
    key = key_of(id_)
    assert is_one_line(key)
    assert len(key) <= MAX_LINE_BYTES
    assert key_of(id_) == key


@given(st.text(max_size=40))
def test_ids_of_tasks_and_contexts_lead_back_and_no_other_does(text: str) -> None:
    assert message_of(task_id(text)) == text
    assert thread_of(context_id(text)) == text
    assert message_of(context_id(text)) == ""
    assert thread_of(task_id(text)) == ""


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=10), inner, max_size=3),
    max_leaves=8,
)
_MEMBERS = st.dictionaries(
    st.sampled_from(("messageId", "role", "parts", "extensions", "taskId", "contextId", "metadata")),
    _JSON | st.lists(st.dictionaries(st.sampled_from(("text", "raw", "url", "data", "filename")), _JSON)),
)


@given(
    _MEMBERS,
    st.dictionaries(st.sampled_from(("recipientInstanceId", "subject", "deliveryMode")), _JSON),
    _JSON,
)
def test_whatever_is_sent_is_read_or_refused(message: Json, routing: Json, configuration: Any) -> None:
    request = {
        "message": {"messageId": "m1", "parts": [{"text": "a"}], **message, "extensions": [URI]},
        "metadata": {URI: {"recipientInstanceId": "i-1", **routing}},
        "configuration": configuration,
    }
    try:
        found: Request | Refused = reading(request)
    except Refused as refused:
        found = refused
    assert found.status == 400 if isinstance(found, Refused) else found.body
