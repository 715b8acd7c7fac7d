"""Two implementations must read one line alike: threats P1 to P7."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crypto.canonical import MAX_DEPTH, JsonError, canonical, decode, parse

LINE_BREAKS = "\r\n \n \r \v \f \x85 \u2028 \u2029"


def test_p1_a_line_holds_every_line_break_and_no_line_feed() -> None:
    line = canonical({"body": LINE_BREAKS})
    assert b"\n" not in line
    assert (line + b"\n" + line).split(b"\n") == [line, line]
    assert parse(decode(line)).value == {"body": LINE_BREAKS}


# What `Buffer.toString('utf8')` of Node gives, an implementation of the WHATWG decoder.
REPLACED = {
    b"a\xffb": "a\ufffdb",
    b"\xc3": "\ufffd",
    b"\xc3(": "\ufffd(",
    b"\xc0\xaf": "\ufffd\ufffd",
    b"\xe2\x82": "\ufffd",
    b"\xe2\x82a": "\ufffda",
    b"\xe0\x80\xaf": "\ufffd\ufffd\ufffd",
    b"\xed\xa0\x80": "\ufffd\ufffd\ufffd",
    b"\xf0\x9f\x98": "\ufffd",
    b"\xf0\x80\x80\x80": "\ufffd\ufffd\ufffd\ufffd",
    b"\xf4\x90\x80\x80": "\ufffd\ufffd\ufffd\ufffd",
    b"\xf8\x88\x80\x80\x80": "\ufffd\ufffd\ufffd\ufffd\ufffd",
    b"\x80\xbf": "\ufffd\ufffd",
    b"\xef\xbb\xbfa": "\ufeffa",
}


@pytest.mark.parametrize(("raw", "text"), REPLACED.items(), ids=[raw.hex() for raw in REPLACED])
def test_p2_invalid_bytes_are_replaced_as_whatwg_decoders_replace_them(raw: bytes, text: str) -> None:
    assert decode(raw) == text


@pytest.mark.parametrize("bom", [b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff"])
def test_p2_a_byte_order_mark_is_refused(bom: bytes) -> None:
    with pytest.raises(JsonError):
        parse(decode(bom + b"{}"))


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le"])
def test_p2_no_other_encoding_is_guessed(encoding: str) -> None:
    with pytest.raises(JsonError):
        parse(decode('{"a":1}'.encode(encoding)))


@pytest.mark.parametrize(
    ("literal", "written"),
    [
        ("5.0", "5"),
        ("-0", "0"),
        ("-0.0", "0"),
        ("1e2", "100"),
        ("1E+2", "100"),
        ("123456789012345", "123456789012345"),
        ("-123456789012345", "-123456789012345"),
        ("1234567890123456", "1234567890123456"),
        ("9007199254740992", "9007199254740992"),
        ("9007199254740993", "9007199254740992"),
        ("-9007199254740993", "-9007199254740992"),
        ("9007199254740995", "9007199254740996"),
        ("10000000000000000", "10000000000000000"),
        ("1e16", "10000000000000000"),
        ("123456789012345678901234567890", "1.2345678901234568e+29"),
        ("0.1e-6", "1e-7"),
        ("1e-400", "0"),
        ("4.9406564584124654e-324", "5e-324"),
        ("1.7976931348623157e308", "1.7976931348623157e+308"),
    ],
)
def test_p3_a_number_is_the_double_its_literal_names(literal: str, written: str) -> None:
    assert canonical(parse(literal).value).decode() == written


@pytest.mark.parametrize(("literal", "number"), [("5.0", 5), ("1e3", 1000), ("9007199254740992", 2**53)])
def test_p3_an_integral_number_is_an_int(literal: str, number: int) -> None:
    value = parse(literal).value
    assert type(value) is int
    assert value == number


def test_p3_an_integer_past_2_to_53_stays_a_double() -> None:
    assert type(parse("9007199254740994").value) is float


@pytest.mark.parametrize("literal", ["1e400", "-1e400", "1.7976931348623159e308", "9" * 400, "9" * 5_000])
def test_p3_p7_a_number_beyond_the_doubles_is_refused(literal: str) -> None:
    with pytest.raises(JsonError, match="beyond the doubles"):
        parse(f'{{"n":{literal}}}')


def test_p3_p4_a_number_beyond_the_doubles_is_no_matter_when_a_repeated_key_hides_it() -> None:
    assert parse('{"n":1e400,"n":1}').value == {"n": 1}


@pytest.mark.parametrize(
    "literal", ["NaN", "Infinity", "-Infinity", "01", "1.", ".5", "+1", "0x1", "1_000", "１"]
)
def test_p3_what_ecmascript_calls_no_number_is_refused(literal: str) -> None:
    with pytest.raises(JsonError):
        parse(literal)


@pytest.mark.parametrize("text", ['{"a":1,"a":2}', '{"a":1,"\\u0061":2}', '[{"x":{"a":1,"b":0,"a":2}}]'])
def test_p4_the_last_of_a_repeated_key_is_kept_and_the_text_flagged(text: str) -> None:
    parsed = parse(text)
    assert parsed.duplicates
    assert not parsed.plain
    assert parsed.value == json.loads(text)


def test_p4_one_key_in_two_objects_is_no_repetition() -> None:
    assert not parse('[{"a":1},{"a":2},{"b":{"a":1}}]').duplicates


def test_p5_true_is_not_the_number_1() -> None:
    parsed = parse("[true,1]").value
    assert isinstance(parsed, list)
    assert [type(item) for item in parsed] == [bool, int]


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "{",
        '{"a":1,}',
        "[1,]",
        "{'a':1}",
        '"\n"',
        '"\x00"',
        '"\\x41"',
        '"\\u00"',
        "[1] 2",
        "\u00a0[]",
        "[\x0b]",
    ],
)
def test_what_is_no_json_is_refused(text: str) -> None:
    with pytest.raises(JsonError):
        parse(text)


def test_escaped_surrogates_pair_up_and_a_lone_one_is_left_for_the_writer_to_refuse() -> None:
    assert parse(r'"\ud83d\ude00"').value == "😀"
    lone = parse(r'"\ud83d\ud83d\ude00"').value
    assert lone == "\ud83d😀"
    with pytest.raises(JsonError):
        canonical(lone)


def deep(containers: int) -> str:
    return (
        '[{"x":' * (containers // 2)
        + "[" * (containers % 2)
        + "]" * (containers % 2)
        + "}]" * (containers // 2)
    )


def test_p7_a_text_is_read_down_to_the_deepest_level() -> None:
    text = deep(MAX_DEPTH).replace('"x":}', '"x":1}')
    assert canonical(parse(text).value).decode() == text


@pytest.mark.parametrize(
    "text",
    ["[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1), deep(MAX_DEPTH + 1), "[" * 1_000_000, '{"a":' * 100_000],
    ids=["one too many", "mixed", "a million open", "objects"],
)
def test_p7_deeper_nesting_is_refused_before_recursion(text: str) -> None:
    with pytest.raises(JsonError, match="256"):
        parse(text)


@pytest.mark.parametrize(
    "text", ["[" + ",".join(["[]"] * 500) + "]", '["' + "[{" * 500 + '\\"' + "[" * 300 + '"]']
)
def test_p7_many_brackets_that_do_not_nest_are_no_depth(text: str) -> None:
    assert canonical(parse(text).value).decode() == text


json_texts = st.recursive(
    st.sampled_from(["null", "true", "1", "-0", "5.0", "1e16", "1E-7", "12345678901234567890"])
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=4).map(json.dumps),
    lambda inner: (
        st.lists(inner, max_size=3).map(lambda items: "[" + ", ".join(items) + "]")
        | st.lists(st.tuples(st.sampled_from(['"a"', '"\\u0061"', '"b"']), inner), max_size=3).map(
            lambda pairs: "{" + " ,".join(f"{key} : {value}" for key, value in pairs) + "}"
        )
    ),
    max_leaves=8,
)


@given(json_texts)
def test_a_plain_text_is_no_shorter_than_its_canonical_form(text: str) -> None:
    parsed = parse(text)
    if parsed.plain:
        assert len(canonical(parsed.value)) <= len(text.encode())


def ecmascript(value: Any) -> Any:
    """What `json` reads, with its numbers taken for doubles."""
    if isinstance(value, dict):
        return {key: ecmascript(item) for key, item in value.items()}
    if isinstance(value, list):
        return [ecmascript(item) for item in value]
    return float(value) if type(value) is int else value


@given(json_texts)
def test_a_text_is_read_as_json_reads_it_but_for_numbers(text: str) -> None:
    assert ecmascript(parse(text).value) == ecmascript(json.loads(text))
