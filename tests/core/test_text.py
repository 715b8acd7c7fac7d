"""Text is counted and trimmed as section 1.4 says."""

from hypothesis import given
from hypothesis import strategies as st

from core.text import first_line, is_blank, is_one_line, lines, shown, utf8_len

BREAKS = ["\r\n", "\n", "\r", "\x0b", "\x0c", "\x85", "\u2028", "\u2029"]
SPACES = "\t\n\x0b\x0c\r \xa0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff" + "".join(
    map(chr, range(0x2000, 0x200B))
)
plain = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\n\x0b\x0c\x85\u2028\u2029"))


@given(plain, st.sampled_from(BREAKS), plain)
def test_a_value_is_one_line_when_it_holds_no_line_break_of_any_kind(
    head: str, line_break: str, tail: str
) -> None:
    assert is_one_line(head + tail)
    assert not is_one_line(head + line_break + tail)


@given(st.lists(plain, min_size=1), st.sampled_from(BREAKS))
def test_text_is_split_at_every_line_break_and_nowhere_else(parts: list[str], line_break: str) -> None:
    assert lines(line_break.join(parts)) == parts
    assert first_line(line_break.join(parts)) == parts[0]


def test_a_carriage_return_and_a_line_feed_are_one_line_break_in_that_order_alone() -> None:
    assert lines("a\r\nb\n\rc") == ["a", "b", "", "c"]


@given(st.text(SPACES), st.text(st.characters(exclude_categories=["Cs"]), max_size=3))
def test_blank_is_what_ecmascript_trims_to_nothing(space: str, text: str) -> None:
    assert is_blank(space)
    assert is_blank(space + text + space) == all(character in SPACES for character in text)


def test_characters_other_languages_trim_are_not_blank() -> None:
    for character in "\x85\x1c\x1f\u180e\u200b\u2060":
        assert not is_blank(character)


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_length_is_in_bytes_of_utf_8(text: str) -> None:
    assert utf8_len(text) == len(text.encode())


@given(st.text())
def test_m6_shown_text_is_one_bounded_line_of_printable_ascii(text: str) -> None:
    assert shown(text).isascii()
    assert shown(text).isprintable()
    assert len(shown(text)) <= 80 * 12 + 2
