"""Every rule and every limit of section 4.5, at its edge."""

from dataclasses import replace
from typing import Any

import pytest

from core.address import CORE
from core.errors import Code, DmpError
from core.inputs import Sender, SendInput
from core.message import Message, Ref
from core.text import utf8_len
from core.validate import validate
from crypto.canonical import JsonValue, canonical_size
from tests.core.support import ADA, BOB, HOST, draft, refused
from vectors.adapter.host import SYSTEM

OPEN_QUESTION = Message("m-q", "m-q", None, "human:ada", ("human:bob",), "question", "?", "")
QUESTION = replace(OPEN_QUESTION, choices=("yes", "no"))
HANDOFF = replace(QUESTION, kind="handoff", choices=("accept", "decline"))
GATE = replace(QUESTION, data={"type": "future"})
NOTICE = replace(QUESTION, kind="notice")


def check(
    given: SendInput, target: Message | None = None, sender: Sender = BOB, *, received: bool = False
) -> None:
    validate(
        sender,
        given,
        target,
        grammar=CORE,
        system_address=SYSTEM,
        gate_types=("wake", "scope"),
        received=received,
    )


def answer(**rest: Any) -> SendInput:
    return draft("human:ada", kind="answer", reply_to="m-q", **rest)


PASSING = [
    draft(*["human:bob"] * 50),
    draft(kind="x-0-ping"),
    draft(body="a" * 65_536),
    draft(body="é" * 32_768),
    draft(data="a" * (65_536 - 2)),
    draft(data={"n": 1e21, "": None}),
    draft(data=None),
    draft(data={"type": "x-mine"}),
    draft(data={"type": 3}),
    draft(data=[{"type": "wake"}]),
    draft(session="s" * 200),
    draft(session=""),
    draft(idempotency_key="k" * 200),
    draft(refs=(Ref("task", "t"),) * 50),
    draft(refs=(Ref("doc", "i" * 512, "a" * 512),)),
    draft(refs=(Ref("file", "é" * 256, ""),)),
    draft(kind="question", blocking=True),
    draft(kind="question", choices=tuple(f"c{n}" for n in range(20))),
    draft(kind="question", choices=("one",)),
    draft(kind="handoff", choices=("c" * 200, "é" * 100)),
    draft(urgent=True, wake="request"),
]

FAILING = [
    (draft(*["human:bob"] * 51), "to"),
    (SendInput((), "message", "hi"), "to"),
    (draft("human:bob", "human:Bob"), "to[1]"),
    (draft("human:bob", "robot:x", "nope"), "to[1]"),
    (draft(kind="shout"), "kind"),
    (draft(kind=""), "kind"),
    (draft(kind="x-"), "kind"),
    (draft(kind="x--a"), "kind"),
    (draft(kind="x-Ping"), "kind"),
    (draft(kind="message\n"), "kind"),
    (draft(kind="x-ping\n"), "kind"),
    (draft(body=""), "body"),
    (draft(body="\ufeff \u3000"), "body"),
    (draft(body="a" * 65_537), "body"),
    (draft(body="é" * 32_768 + "a"), "body"),
    (draft(body="\ud800"), "body"),
    (draft(data="a" * (65_537 - 2)), "data"),
    (draft(data="\u2028" * 21_845), "data"),
    (draft(data="\ud800"), "data"),
    (draft(data={"n": float("nan")}), "data"),
    (draft(session="s" * 201), "session"),
    (draft(session="é" * 100 + "s"), "session"),
    (draft(session="a\x0bb"), "session"),
    (draft(session="\udfff"), "session"),
    (draft(idempotency_key="k" * 201), "idempotencyKey"),
    (draft(idempotency_key="a\u2028b"), "idempotencyKey"),
    (draft(refs=(Ref("task", "t"),) * 51), "refs"),
    (draft(refs=(Ref("task", "t"), Ref("wiki", "w"))), "refs[1].type"),
    (draft(refs=(Ref("", "w"),)), "refs[0].type"),
    (draft(refs=(Ref("task", ""),)), "refs[0].id"),
    (draft(refs=(Ref("task", "i" * 513),)), "refs[0].id"),
    (draft(refs=(Ref("task", "a\nb"),)), "refs[0].id"),
    (draft(refs=(Ref("task", "t", "a" * 513),)), "refs[0].at"),
    (draft(refs=(Ref("task", "t", "a\x85b"),)), "refs[0].at"),
    (draft(blocking=True), "blocking"),
    (draft(kind="notice", choices=("a",)), "choices"),
    (draft(kind="question", choices=()), "choices"),
    (draft(kind="question", choices=tuple(f"c{n}" for n in range(21))), "choices"),
    (draft(kind="question", choices=("a", "b", "a")), "choices"),
    (draft(kind="question", choices=("a", " ")), "choices"),
    (draft(kind="question", choices=("a", "c" * 201)), "choices[1]"),
    (draft(kind="question", choices=("a\rb", "c")), "choices[0]"),
    (draft(choice="yes"), "choice"),
    (draft(kind="question", choices=("yes",), choice="yes"), "choice"),
    (draft(kind="answer"), "replyTo"),
]


@pytest.mark.parametrize("given", PASSING, ids=str)
def test_an_input_at_a_limit_is_valid(given: SendInput) -> None:
    check(given)


@pytest.mark.parametrize(("given", "field"), FAILING, ids=str)
def test_an_input_past_a_limit_is_invalid_on_its_field(given: SendInput, field: str) -> None:
    with refused(Code.INVALID, field):
        check(given)


def test_data_is_measured_as_canonical_json_in_bytes() -> None:
    """Not as it came: escapes, key order and number spellings do not count."""
    room = 65_536 - canonical_size({"a": 1, "b": ""})
    exact: dict[str, JsonValue] = {"b": "\u2028" * (room // 3) + "a" * (room % 3), "a": 1.0}
    assert canonical_size(exact) == 65_536
    check(draft(data=exact))
    with refused(Code.INVALID, "data"):
        check(draft(data={**exact, "a": 10}))


def test_a_blank_body_is_for_an_answer_that_chooses() -> None:
    check(answer(body="", choice="yes"), QUESTION)
    with refused(Code.INVALID, "body"):
        check(answer(body=" "), QUESTION)
    with refused(Code.INVALID, "body"):
        check(draft(body="", reply_to="m-q"), QUESTION)


ANSWERS = [
    (OPEN_QUESTION, None, True),
    (OPEN_QUESTION, "yes", False),
    (QUESTION, None, True),
    (QUESTION, "yes", True),
    (QUESTION, "maybe", False),
    (HANDOFF, None, False),
    (HANDOFF, "accept", True),
    (HANDOFF, "yes", False),
    (GATE, None, False),
    (GATE, "yes", True),
    (GATE, "maybe", False),
    (replace(GATE, choices=None), None, True),
    (replace(GATE, choices=None), "yes", False),
]


@pytest.mark.parametrize(("question", "choice", "fits"), ANSWERS)
def test_an_answer_chooses_as_its_question_lets_it(question: Message, choice: str | None, fits: bool) -> None:
    given = answer(choice=choice)
    if fits:
        check(given, question, ADA)
    else:
        with refused(Code.INVALID, "choice"):
            check(given, question, ADA)


def test_a_choice_is_one_line_of_at_most_200_bytes_even_when_it_was_offered() -> None:
    """Another build may have stored a question that offers more."""
    for bad in ("a\nb", "c" * 201):
        with refused(Code.INVALID, "choice"):
            check(answer(choice=bad), replace(QUESTION, choices=(bad,)))
    check(answer(choice="c" * 200), replace(QUESTION, choices=("c" * 200,)))


def test_only_a_question_or_a_handoff_takes_an_answer() -> None:
    with refused(Code.INVALID, "replyTo"):
        check(answer(), NOTICE)
    check(draft(reply_to="m-q"), NOTICE)


def test_a_stored_gate_of_a_type_this_host_does_not_know_is_decided_by_those_who_may() -> None:
    """Section 5.6: it fails closed."""
    for sender in (BOB, Sender("run:r-000001"), Sender("agent:bob/x", can_decide=False)):
        with refused(Code.FORBIDDEN, "replyTo"):
            check(answer(choice="yes"), GATE, sender)
    check(answer(choice="yes"), GATE, HOST)
    from_an_agent = replace(GATE, sender="agent:bob/x")
    check(answer(choice="yes"), from_an_agent, BOB)


def test_a_stored_gate_of_a_type_this_host_knows_is_one_whoever_sent_it() -> None:
    """Section 5.1: a session may have raised it."""
    gate = replace(QUESTION, sender="run:r-000001", data={"type": "scope"})
    with refused(Code.FORBIDDEN, "replyTo"):
        check(answer(choice="yes"), gate, BOB)
    check(answer(choice="yes"), gate, ADA)


@pytest.mark.parametrize("kind", ["message", "question", "handoff", "notice", "x-ping"])
@pytest.mark.parametrize("sender", [ADA, BOB, HOST, Sender("run:r-000001")])
def test_gate_data_is_never_received(kind: str, sender: Sender) -> None:
    for data_type in ("wake", "scope", "tool-approval", "poll", "", "X-poll"):
        with refused(Code.FORBIDDEN, "data"):
            check(draft(kind=kind, data={"type": data_type}), sender=sender, received=True)


@pytest.mark.parametrize("marker", ["x-closed", "x-breaker", "x-policy", "x-expired"])
def test_a_marker_is_private_data_here_and_is_never_received(marker: str) -> None:
    """Section 13.14: from anyone but the system it means nothing; section F.5: it never leaves its host."""
    given = draft(kind="notice", data={"type": marker})
    for sender in (HOST, ADA, BOB, Sender("run:r-000001")):
        check(given, sender=sender)
        with refused(Code.FORBIDDEN, "data"):
            check(given, sender=sender, received=True)


def test_a_received_ref_of_an_unknown_type_passes_when_it_is_an_identifier() -> None:
    check(draft(refs=(Ref("w" * 64, "i" * 512, "a" * 512),)), received=True)
    for bad in ("Wiki", "wiki page", "w" * 65, "", "wiki\n"):
        with refused(Code.INVALID, "refs[0].type"):
            check(draft(refs=(Ref(bad, "i"),)), received=True)
    with refused(Code.INVALID, "refs[0].id"):
        check(draft(refs=(Ref("wiki", "i" * 513),)), received=True)


def test_a_received_answer_whose_question_is_not_here_skips_what_needs_it() -> None:
    check(answer(choice="anything"), None, received=True)


def test_every_refusal_says_how_to_fix_the_input_in_bounded_text() -> None:
    for given, _ in FAILING:
        with pytest.raises(DmpError) as refusal:
            check(given)
        assert 20 < utf8_len(refusal.value.message) < 300
