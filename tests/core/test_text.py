"""Text is counted, split and trimmed as section 1.4 says."""

from hypothesis import given
from hypothesis import strategies as st

from core.text import is_blank, is_one_line, lines, shown, utf8_len

BREAKS = ["\r\n", "\n", "\r", "\x0b", "\x0c", "\x85", "\u2028", "\u2029"]
SPACES = "\t\n\x0b\x0c\r \xa0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff" + "".join(
    map(chr, range(0x2000, 0x200B))
)
plain = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\n\x0b\x0c\x85\u2028\u2029"))


@given(st.lists(st.tuples(plain, st.sampled_from(BREAKS)), max_size=8), plain)
def test_text_splits_at_every_line_break_and_nowhere_else(pieces: list[tuple[str, str]], last: str) -> None:
    whole = "".join(text + line_break for text, line_break in pieces) + last
    # A line that is empty between CR and LF would make them one break.
    if "\r\n" not in "".join(text + b for text, b in pieces if b != "\r\n"):
        assert lines(whole) == [text for text, _ in pieces] + [last]
    assert is_one_line(whole) == (not pieces)


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
