"""Text of others on a terminal: shown, never acting, never the program's own voice (M6)."""

import json
import time
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from replica.cli.screen import Screen
from replica.cli.text import body_lines, counted, escaped, folded, in_own_zone, listing, moment, quoted

LINE_BREAKS = ["\n", "\r\n", "\r", "\x0b", "\x0c", "\x85", "\u2028", "\u2029"]

FORGERY = "hi\x1b[2K\x1b[1Adone\u202egpj.exe\x07\u2066x\u200b\x9b31m"


def acts(char: str) -> bool:
    return unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp") and char not in "\u200c\u200d"


def test_m6_escape_sequences_and_turned_text_are_shown_as_escapes() -> None:
    assert escaped(FORGERY) == ("hi\\x1b[2K\\x1b[1Adone\\u202egpj.exe\\x07\\u2066x\\u200b\\x9b31m")


@given(st.text(st.characters()))
def test_m6_nothing_that_acts_on_a_terminal_is_left(text: str) -> None:
    shown = escaped(text)
    assert not any(acts(char) for char in shown)
    assert escaped(shown) == shown


def test_words_of_any_language_are_left_alone() -> None:
    text = "日本語 ありがとう, café, שלום, 👩\u200d💻, नमस्ते"
    assert escaped(text) == text


@pytest.mark.parametrize("break_", LINE_BREAKS)
def test_m6_every_line_break_of_a_body_starts_a_quoted_line(
    break_: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Screen(as_json=False).quote(f"first{break_}dmp: all is well")
    assert capsys.readouterr().out == "  | first\n  | dmp: all is well\n"


def test_m6_quotation_marks_inside_a_quotation_do_not_close_it() -> None:
    assert quoted("no” and then “yes") == '“no" and then "yes”'


def test_m6_a_quotation_is_bounded() -> None:
    assert len(quoted("x" * 10_000)) < 250


def test_m6_a_line_of_the_program_stays_one_line_whatever_is_in_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    screen = Screen(as_json=False)
    screen.say("device \n[bold]x[/bold]\r\x1b[2J")
    screen.table(("device",), [["a\nb \x1b[31m [red]c[/red]"]])
    assert [line.rstrip() for line in capsys.readouterr().out.splitlines()] == [
        "device \\x0a[bold]x[/bold]\\x0d\\x1b[2J",
        "device",
        "a\\x0ab \\x1b[31m [red]c[/red]",
    ]


@pytest.mark.parametrize("break_", LINE_BREAKS)
def test_m6_json_escapes_every_line_break(break_: str, capsys: pytest.CaptureFixture[str]) -> None:
    Screen(as_json=True).document({"body": f"a{break_}b\u202e"})
    out = capsys.readouterr().out
    assert out.isascii()
    assert out.count("\n") == 1
    assert json.loads(out) == {"body": f"a{break_}b\u202e"}


@given(st.text(st.characters(exclude_categories=["C", "Zl", "Zp", "M"]), max_size=200), st.integers(4, 40))
@example("\U0001f3fb", 4)  # the tone of a skin, and nobody's
def test_a_folded_line_fits_and_loses_nothing(text: str, width: int) -> None:
    from rich.cells import cell_len

    parts = folded(text, width)
    assert "".join(parts) == text
    assert all(cell_len(part) <= width for part in parts)


def test_words_are_kept_whole_where_they_fit() -> None:
    assert folded("one two three", 9) == ["one two ", "three"]


def test_tabs_of_a_body_become_spaces() -> None:
    assert body_lines("a\tb") == ["a    b"]


def test_small_words() -> None:
    assert [listing(names) for names in ([], ["a"], ["a", "b"], ["a", "b", "c"])] == [
        "nobody",
        "a",
        "a and b",
        "a, b and c",
    ]
    assert counted(1, "op") == "1 op"
    assert counted(0, "op") == "0 ops"
    assert moment("not a time\x1b") == "not a time\\x1b"


def test_times_in_a_sentence_are_the_readers_but_for_what_somebody_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    at = "2026-03-01T23:30:00.000Z"
    monkeypatch.setenv("TZ", "Asia/Kolkata")
    time.tzset()
    try:
        told = in_own_zone(f"ada invited bob, until {at}, and said “until {at}”; since {at}")
    finally:
        monkeypatch.undo()
        time.tzset()
    assert told == f"ada invited bob, until 2026-03-02 05:00, and said “until {at}”; since 2026-03-02 05:00"


ROSTER = (("handle", "replica", "fingerprint"), [["ada", "ada-9a4bca9c", "NPR7-W885-F3ZK-ATMZ-3BBH-5XQK"]])


def on_a_terminal(monkeypatch: pytest.MonkeyPatch, columns: int) -> None:
    monkeypatch.setattr("replica.cli.screen._width", lambda _: columns)


def test_a_table_that_fits_no_terminal_keeps_ids_and_fingerprints_whole(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    on_a_terminal(monkeypatch, 50)
    Screen(as_json=False).table(*ROSTER)
    assert capsys.readouterr().out.splitlines() == [
        "handle       ada",
        "replica      ada-9a4bca9c",
        "fingerprint  NPR7-W885-F3ZK-ATMZ-3BBH-5XQK",
    ]


def test_a_piped_table_has_a_line_for_each_row_and_no_spaces_at_their_ends(
    capsys: pytest.CaptureFixture[str],
) -> None:
    header, rows = ROSTER
    Screen(as_json=False).table((*header, "what"), [[*rows[0], ""], [*rows[0], "word " * 100]])
    told = capsys.readouterr().out.splitlines()
    assert len(told) == 3
    assert told == [line.rstrip() for line in told]
