"""A client's envelope and request become a send, within what the client may name (sections 8.3, 8.4, 8.6)."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Final, TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bindings.a2a.envelope import Envelope, read_envelope
from bindings.a2a.extensions import ENVELOPE, WORK
from bindings.a2a.external import Content
from bindings.a2a.inbound import answering, handing_off, opening
from bindings.a2a.metadata import MAX_METADATA_BYTES, check_size, extension_of
from bindings.a2a.work import PRIORITIES, HandoffRequest, StatusRequest, read_work, work_state
from core.errors import Code, DmpError
from core.inputs import SendInput
from core.message import ABSENT, Message, Ref
from core.text import is_one_line, utf8_len
from crypto.canonical import JsonValue, canonical_size

T = TypeVar("T")

NORA = "human:nora"
LEE = "human:lee"
ITEM = "task:t-c0c0c0"
SAID: Final = Content("Is it final?", {ENVELOPE: 1})
QUESTION = Message(
    "m-asked",
    "m-root",
    "m-root",
    LEE,
    ("agent:nora/a2a.survey",),
    "question",
    "Which?",
    "2026-09-23T12:00:00.000Z",
)


@dataclass(frozen=True)
class Named:
    """A client that may write to Lee and to one work item, and is shown one message."""

    owner: str = NORA
    humans: Collection[str] = (LEE,)

    def work_items(self) -> Collection[str]:
        return (ITEM,)

    def may_see(self, message_id: str) -> bool:
        return message_id == "m-root"


def refusal(attempt: Callable[[], object]) -> tuple[Code, str | None]:
    with pytest.raises(DmpError) as error:
        attempt()
    return error.value.code, error.value.field


def read_or_refused(read: Callable[[JsonValue], T], raw: dict[str, JsonValue]) -> T | DmpError:
    try:
        return read(raw)
    except DmpError as refused:
        return refused


def to(*entries: str) -> tuple[str, ...]:
    return opening(Named(), Envelope(to=entries), SAID).to


# Whom it reaches, and what it names


def test_the_recipient_list_may_hold_others_than_the_owner() -> None:
    assert opening(Named(), Envelope(), SAID).to == (NORA,)
    assert to(LEE, ITEM) == (LEE, ITEM)
    assert refusal(lambda: to(LEE, NORA)) == (Code.FORBIDDEN, "to[1]")
    assert refusal(lambda: to("task:t-000000")) == (Code.FORBIDDEN, "to[0]")


def test_another_hosts_name_for_this_one_is_the_owner_once() -> None:
    assert to("a2a:orchard", LEE, "a2a:meadow") == (NORA, LEE)


def test_refs_name_what_is_shown_and_approved_work() -> None:
    named = (Ref("message", "m-root"), Ref("task", "m-root"), Ref("task", "t-c0c0c0"))
    assert opening(Named(), Envelope(refs=named), SAID).refs == named
    for ref in (Ref("message", "t-c0c0c0"), Ref("message", "m-other"), Ref("task", "t-000000")):
        wanted = Envelope(refs=(*named, ref))
        for attempt in (
            lambda wanted=wanted: opening(Named(), wanted, SAID),
            lambda wanted=wanted: handing_off(Named(), wanted, SAID),
            lambda wanted=wanted: answering(Named(), wanted, SAID, QUESTION),
        ):
            assert refusal(attempt) == (Code.NOT_FOUND, "refs[3]")


def test_a_handoff_goes_to_the_owner_whatever_its_envelope_says() -> None:
    envelope = Envelope(
        to=(LEE,), kind="notice", blocking=True, choices=("a",), choice="a", reply_to="m-root"
    )
    assert handing_off(Named(), envelope, SAID, key="k-1") == SendInput(
        (NORA,), "handoff", SAID.body, reply_to="m-root", data=SAID.data, idempotency_key="k-1"
    )


def test_an_answer_takes_its_choice_and_its_refs_from_the_envelope() -> None:
    refs = (Ref("message", "m-root"),)
    envelope = Envelope(to=(NORA,), kind="notice", blocking=True, choices=("a",), choice="a", refs=refs)
    assert answering(Named(), envelope, SAID, QUESTION, key="k-1") == SendInput(
        (LEE,),
        "answer",
        SAID.body,
        reply_to="m-asked",
        refs=refs,
        data=SAID.data,
        choice="a",
        idempotency_key="k-1",
    )


def test_a_question_blocks_and_keeps_the_clients_own_id() -> None:
    found = opening(Named(), Envelope(), Content("Well?", ABSENT), key="k-1")
    assert (found.kind, found.blocking, found.idempotency_key) == ("question", True, "k-1")


# What is read

MEMBERS = (
    "to",
    "kind",
    "replyTo",
    "blocking",
    "choices",
    "choice",
    "refs",
    "urgent",
    "wake",
    "skill",
    "title",
    "acceptance",
    "writes",
    "priority",
    "labels",
    "task",
)
WORDS = st.sampled_from(
    ["handoff", "status", "question", "low", "x-a", "none", "a\nb", "../a", "m-1", "", "\ud800"]
)
VALUE = st.recursive(
    st.none() | st.booleans() | st.integers() | WORDS | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(["type", "id", "at"]), inner),
    max_leaves=6,
)
RAW: st.SearchStrategy[Mapping[str, JsonValue]] = st.dictionaries(st.sampled_from(MEMBERS), VALUE, max_size=5)


@given(RAW)
def test_an_envelope_is_read_within_its_limits_or_refused_on_a_member(raw: dict[str, JsonValue]) -> None:
    found = read_or_refused(read_envelope, raw)
    if isinstance(found, DmpError):
        assert found.field is not None
        assert found.field.partition("[")[0] in MEMBERS
        return
    for line in (*(found.to or ()), *(found.choices or ()), *(each.id for each in found.refs)):
        assert is_one_line(line)
        assert utf8_len(line) <= 512


@given(RAW)
def test_a_request_is_read_within_its_limits_or_refused_under_work(raw: dict[str, JsonValue]) -> None:
    found = read_or_refused(read_work, raw)
    if isinstance(found, DmpError):
        assert found.code is Code.INVALID
        assert found.field is not None
        assert found.field.startswith("work.")
    elif isinstance(found, HandoffRequest):
        assert read_work(found.to_json()) == found
        assert found.priority in (None, *PRIORITIES)
    else:
        assert isinstance(found, StatusRequest)


def test_what_is_no_object_is_refused() -> None:
    assert refusal(lambda: read_envelope(["to"])) == (Code.INVALID, "message.metadata")
    assert refusal(lambda: read_work("status")) == (Code.INVALID, "work")
    assert refusal(lambda: extension_of({"metadata": [1]}, WORK)) == (Code.INVALID, "message.metadata")


def test_an_extension_is_found_by_its_uri() -> None:
    assert extension_of({"metadata": {WORK: {"skill": "status"}}}, WORK) == {"skill": "status"}
    assert extension_of({"metadata": {WORK: {"skill": "status"}}}, ENVELOPE) is None
    assert extension_of({}, WORK) is None


def test_the_metadata_of_a_message_and_of_its_parts_is_measured_together() -> None:
    around = canonical_size({"n": ""})
    half: JsonValue = {"n": "x" * (MAX_METADATA_BYTES // 2 - around)}
    parts: JsonValue = [{"text": "a", "metadata": half}, {"text": "b"}, 7]
    check_size({"metadata": half, "parts": parts})
    assert refusal(lambda: check_size({"metadata": {"n": f"{half}"}, "parts": parts})) == (
        Code.INVALID,
        "message.metadata",
    )
    assert refusal(lambda: check_size({"metadata": {"n": "\ud800"}})) == (Code.INVALID, "message.metadata")


def test_a_work_items_state_is_told_with_its_stage() -> None:
    assert work_state("t-c0c0c0", "Map it", "working") == {
        "task": "t-c0c0c0",
        "title": "Map it",
        "status": "working",
    }
    assert work_state("t-c0c0c0", "Map it", "review", "review")["stage"] == "review"
