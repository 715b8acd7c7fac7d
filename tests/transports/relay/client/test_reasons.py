"""Every word a relay says no with is a sentence and a hint here."""

import re
from pathlib import Path

import pytest

from transports.base import Behind, Refused, Unreachable
from transports.relay.client.reasons import MEANINGS, Verdict, refusal, shown, turned_away
from transports.relay.frames import Why


@pytest.mark.parametrize("word", list(Why))
def test_every_word_has_a_sentence_and_a_hint_of_its_own(word: Why) -> None:
    meaning = MEANINGS[word]
    error = refusal(word.reason("because"))
    assert meaning.sentence in error.message
    assert "because" in error.message
    assert error.hint == meaning.hint != ""
    kinds = {Verdict.BEHIND: Behind, Verdict.LATER: Unreachable, Verdict.NEVER: Refused}
    assert type(error) is kinds[meaning.verdict]
    assert type(turned_away(word.reason(""))) is Unreachable
    assert sum(each.hint == meaning.hint for each in MEANINGS.values()) == 1


@pytest.mark.parametrize("reason", ["", "tired", "tired: of you", "Behind: x", "behind"])
def test_words_nobody_knows_may_be_better_later(reason: str) -> None:
    error = refusal(reason)
    assert type(error) is Unreachable
    assert error.hint


def test_a_relay_s_text_is_shown_on_one_line_and_cut_short() -> None:
    assert shown("a\x1b[2J\nb\u202ec") == "a [2J b c"
    assert len(shown("x" * 9_000)) < 400


def test_the_page_of_the_relay_and_the_client_know_the_same_words() -> None:
    page = (Path(__file__).parents[4] / "docs" / "relay.md").read_text()
    table = page.split("### Reasons", 1)[1]
    words = re.findall(r"^\| `([a-z]+)` \|", table, re.MULTILINE)
    assert sorted(words) == sorted(Why)
    assert set(MEANINGS) == set(Why)
