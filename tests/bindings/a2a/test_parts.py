"""An A2A message's parts become a body and data (section 8.2)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bindings.a2a.parts import ContentTypeNotSupportedError, Parts, read_parts
from core.errors import Code, DmpError
from core.text import lines
from crypto.canonical import JsonValue

URL = "https://orchard.example/rows.csv"


def refused(*parts: JsonValue) -> str | None:
    with pytest.raises(DmpError) as error:
        read_parts([*parts])
    assert error.value.code is Code.INVALID
    return error.value.field


def test_texts_are_joined_with_a_blank_line_and_links_follow_one_a_line() -> None:
    found = read_parts(
        [
            {"url": URL, "filename": "rows.csv", "mediaType": "text/csv"},
            {"text": "First."},
            {"data": {"a": 1}},
            {"url": URL},
            {"text": "Second.", "mediaType": "text/plain"},
            {"data": None},
        ]
    )
    assert found == Parts(f"First.\n\nSecond.\n\n[rows.csv]({URL})\n[{URL}]({URL})", ({"a": 1}, None))


def test_blank_texts_are_left_out() -> None:
    assert read_parts([{"text": ""}, {"text": "Only."}, {"text": " \n"}]).text == "Only."
    assert read_parts([{"text": " "}]).text == ""


def test_a_part_of_bytes_is_not_supported() -> None:
    with pytest.raises(ContentTypeNotSupportedError):
        read_parts([{"text": "See."}, {"raw": "AA==", "filename": "a.bin"}])


def test_urls_are_at_most_20_of_2_kib() -> None:
    longest = "https://orchard.example/".ljust(2048, "a")
    assert read_parts([{"url": longest}] * 20).text.count(longest) == 40
    assert refused(*[dict[str, JsonValue](url=URL)] * 21) == "message.parts"
    assert refused({"text": "See."}, {"url": longest + "a"}) == "message.parts[1].url"


@pytest.mark.parametrize(
    "url", ["", " ", "https://a\nb", "https://a b", "https://a\u2028b", "https://a\x00", 5, "\ud800"]
)
def test_a_url_is_one_word(url: JsonValue) -> None:
    assert refused({"url": url}) == "message.parts[0].url"


@pytest.mark.parametrize("part", [5, "text", None, {}, {"text": "a", "data": 1}, {"filename": "a"}])
def test_a_part_has_exactly_one_content(part: JsonValue) -> None:
    assert refused({"text": "See."}, part) == "message.parts[1]"


@pytest.mark.parametrize("parts", [None, [], {}, "text"])
def test_a_message_has_parts(parts: JsonValue) -> None:
    with pytest.raises(DmpError) as error:
        read_parts(parts)
    assert error.value.field == "message.parts"


@given(
    st.text(st.characters(codec="utf-8"), max_size=60),
    st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E), min_size=1, max_size=60),
)
def test_no_name_and_no_url_breaks_out_of_its_link(name: str, rest: str) -> None:
    (line,) = lines(read_parts([{"url": f"https://a/{rest}", "filename": name}]).text)
    assert line.startswith("[")
    assert line.endswith(")")
    assert line.count("](") == 1
    assert sum(line.count(each) for each in "[]()<>`") == 4
