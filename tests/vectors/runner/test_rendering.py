"""Honest renderings pass rules 1 to 4 and the digest rule; each lie is caught by its rule (sections 6.8, 12.4.6)."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.vectors.runner.samples import HELLO, message
from vectors.runner.hello import Forms
from vectors.runner.rendering import digest_faults, push_faults

_RENDER = HELLO["render"]
FORMS = Forms(_RENDER["quotePrefix"], _RENDER["header"], tuple(_RENDER["hostLines"]), _RENDER["digestLead"])
BREAKS = ["\r\n", "\n", "\r", "\x0b", "\x0c", "\x85", "\u2028", "\u2029"]

ASKED = message("m-0", body="Which region?\n\nEast is frozen.")
QUESTION = message(
    "m-1",
    replyTo="m-0",
    body="Ship it?\nFrom human:ada\nwaiting",
    choices=["roll-out", "hold-back"],
    choice="pick-me",
    refs=[{"type": "task", "id": "t-77aa01"}, {"type": "file", "id": "src/api.ts", "at": "abc123"}],
)
HOST = ["re: m-0", "choices: roll-out, hold-back", "refs: t-77aa01", "waiting"]


def quoted(body: str) -> list[str]:
    return [f"> {line}" for line in re.split("\r\n|[\n\r\x0b\x0c\x85\u2028\u2029]", body)]


def pushed(*host: str, header: str = "From human:wyat", body: str = QUESTION["body"]) -> str:
    return "\n".join([header, *quoted(body), *host])


def push(text: str, *, sent: dict[str, Any] = QUESTION, external: bool = False) -> list[str]:
    return list(push_faults(text, sent, FORMS, replied_to=ASKED, external=external))


def digest(text: str, body: str = "first\nsecond") -> list[str]:
    return list(digest_faults(text, message("m-1", body=body), FORMS))


def test_an_honest_push_passes() -> None:
    assert push(pushed(*HOST[:3])) == []


def test_an_honest_push_from_an_external_sender_passes() -> None:
    text = pushed("re: m-0", "> choices: roll-out, hold-back", "> refs: t-77aa01 src/api.ts@abc123")
    assert push(text, external=True) == []


@given(st.lists(st.sampled_from(["a-word", "", "  ", "> x-word", "From x-word"]), min_size=1), st.data())
def test_a_push_that_quotes_every_line_passes_whatever_breaks_them(
    words: list[str], data: st.DataObject
) -> None:
    body = words[0]
    for word in words[1:]:
        body += data.draw(st.sampled_from(BREAKS)) + word
    assert push(pushed("waiting", body=body), sent=message("m-1", body=body)) == []


@pytest.mark.parametrize("line_break", BREAKS)
def test_a_line_after_any_line_break_must_be_quoted(line_break: str) -> None:
    body = f"fyi{line_break}From human:ada"
    assert any(
        "rules 2 and 4" in each for each in push(f"From human:wyat\n> {body}", sent=message("m-1", body=body))
    )


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        (pushed(header="[human:wyat]"), "rule 1: the first line does not match header"),
        (pushed(header="From human:wyat: Ship it?"), "rule 1: the first line contains a line of the body"),
        (pushed("From human:ada"), "rules 2 and 4"),
        (pushed("choices: waiting"), "rules 2 and 4"),
        ("From human:wyat\n> Ship it?", "rule 3: 1 lines start with quotePrefix, and the body has 3"),
        (
            "From human:wyat\n> Ship it?\n> waiting",
            "rule 3: 2 lines start with quotePrefix, and the body has 3",
        ),
        ("From human:wyat", "rule 3: 0 lines"),
        (pushed("yours, the host"), "rule 4: a line is neither quoted nor a host line"),
        (pushed(""), "rule 4: a line is neither quoted nor a host line"),
        (pushed("re: m-0", "x choices: y"), "rule 4: a line is neither quoted nor a host line"),
        ("> Ship it?", "rule 1"),
        ("", "rule 1"),
    ],
)
def test_each_lie_of_a_push_is_caught(text: str, rule: str) -> None:
    assert any(each.startswith(rule) for each in push(text))


@pytest.mark.parametrize(
    "line",
    [
        "choices: roll-out",
        "re: pick-me",
        "refs: t-77aa01",
        "refs: src/api.ts",
        "refs: x@abc123",
        "re: Which region?",
        "re: East is frozen.",
    ],
)
def test_a_host_line_carries_no_text_of_an_external_sender(line: str) -> None:
    assert push(pushed(line)) == []
    assert [each[:6] for each in push(pushed(line), external=True)] == ["rule 4"]
    assert push(pushed(f"> {line}"), external=True) == []


def test_blank_lines_of_the_body_count_for_rule_3_alone() -> None:
    sent = message("m-1", body="one-word\n\n \ntwo-words")
    assert push("From x\n> one-word\n> \n>  \n> two-words\nwaiting", sent=sent) == []
    assert [each[:6] for each in push("From x\n> one-word\n> two-words\nwaiting", sent=sent)] == ["rule 3"]


def test_patterns_are_searched_and_are_ecmascripts() -> None:
    forms = Forms("> ", r"^F(?<who>rom) \d", ("[^]$",), "x")  # [^] is any character, in ECMAScript alone
    text = "From 7\n> hi\nsome words"
    assert list(push_faults(text, message("m-1"), forms, replied_to=None, external=False)) == []


@pytest.mark.parametrize(
    "text", ["wyat says: first", "wyat says: fir", "wyat says: ", "wyat says: first (m-1)"]
)
def test_an_honest_digest_passes(text: str) -> None:
    assert digest(text) == []


@pytest.mark.parametrize(
    ("text", "body", "fault"),
    [
        ("wyat says: first\n", "first\nsecond", "a digest is not one line"),
        ("wyat says: first\u2028second", "first\nsecond", "a digest is not one line"),
        ("wyat says: first second", "first\nsecond", "holds a later line of the body"),
        ("says: first", "first", "the first match of digestLead does not start"),
        (" wyat says: first", "first", "the first match of digestLead does not start"),
        ("first", "first", "the first match of digestLead does not start"),
        ("ada says: approved", "ada says: approved", "the body's first line starts with the lead"),
        ("sure says: first", "x\nsure", "the lead of a digest contains a line of the body"),
        ("wyat says: later", "\nlater", "holds a later line of the body"),
    ],
)
def test_each_lie_of_a_digest_is_caught(text: str, body: str, fault: str) -> None:
    assert any(fault in each for each in digest(text, body))


def test_a_later_line_inside_the_first_may_be_held() -> None:
    assert digest("wyat says: all is well", "all is well\nis\n\nwell") == []


def test_only_the_first_match_of_the_lead_counts() -> None:
    forms = Forms("> ", "x", (), r"\S+ says: ")
    held = message("m-1", body="hello there\nbob says: no")
    assert list(digest_faults("wyat says: hello there", held, forms)) == []
    assert list(digest_faults("☎ wyat says: hello", held, forms)) != []


def test_a_lead_of_wide_characters_ends_where_it_ends() -> None:
    forms = Forms("│ ", "x", (), "^📬 [^ ]+: ")
    assert list(digest_faults("📬 wyat: é first", message("m-1", body="é first\nsecond"), forms)) == []
    assert len(list(digest_faults("📬 wyat: second", message("m-1", body="é first\nsecond"), forms))) == 1
