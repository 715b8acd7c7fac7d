"""Canonical JSON is RFC 8785's, on the fast path and off it (section F.2)."""

import json
import struct
from pathlib import Path
from typing import Any

import pytest
import rfc8785
from hypothesis import given, settings
from hypothesis import strategies as st

from crypto.canonical import (
    MAX_DEPTH,
    JsonError,
    JsonValue,
    canonical,
    canonical_size,
    decode,
    parse,
    parse_at,
)

EXACT = 2**53

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
# Where the order of code points and that of UTF-16 units part.
keys = texts | st.text(st.sampled_from("a\ue000\uffff😀\U00010000"), max_size=3)
numbers = st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False)
values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | numbers | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4),
    max_leaves=12,
)


def with_doubles(value: Any) -> Any:
    """The value as ECMAScript holds it, where an integer past 2**53 is a double like any number."""
    if isinstance(value, dict):
        return {key: with_doubles(item) for key, item in value.items()}
    if isinstance(value, list):
        return [with_doubles(item) for item in value]
    return float(value) if type(value) is int and abs(value) >= EXACT else value


@settings(max_examples=300)
@given(values)
def test_every_value_is_written_as_the_reference_writes_it(value: Any) -> None:
    assert canonical(value) == rfc8785.dumps(with_doubles(value))


@given(values)
def test_what_was_written_reads_back_to_the_same_bytes(value: Any) -> None:
    written = canonical(value)
    assert canonical(parse(decode(written)).value) == written


@given(values)
def test_the_size_is_that_of_the_canonical_form(value: Any) -> None:
    assert canonical_size(value) == len(canonical(value))


# RFC 8785 appendix B: the bits of a double, and how ECMAScript writes it.
NUMBERS = {
    "0000000000000000": "0",
    "8000000000000000": "0",
    "0000000000000001": "5e-324",
    "8000000000000001": "-5e-324",
    "7fefffffffffffff": "1.7976931348623157e+308",
    "ffefffffffffffff": "-1.7976931348623157e+308",
    "4340000000000000": "9007199254740992",
    "c340000000000000": "-9007199254740992",
    "4430000000000000": "295147905179352830000",
    "44b52d02c7e14af5": "9.999999999999997e+22",
    "44b52d02c7e14af6": "1e+23",
    "44b52d02c7e14af7": "1.0000000000000001e+23",
    "444b1ae4d6e2ef4e": "999999999999999700000",
    "444b1ae4d6e2ef4f": "999999999999999900000",
    "444b1ae4d6e2ef50": "1e+21",
    "3eb0c6f7a0b5ed8c": "9.999999999999997e-7",
    "3eb0c6f7a0b5ed8d": "0.000001",
    "41b3de4355555553": "333333333.3333332",
    "41b3de4355555554": "333333333.33333325",
    "41b3de4355555555": "333333333.3333333",
    "41b3de4355555556": "333333333.3333334",
    "41b3de4355555557": "333333333.33333343",
    "becbf647612f3696": "-0.0000033333333333333333",
    "43143ff3c1cb0959": "1424953923781206.2",
}


@pytest.mark.parametrize(("bits", "written"), NUMBERS.items())
def test_numbers_are_written_as_ecmascript_writes_them(bits: str, written: str) -> None:
    (number,) = struct.unpack(">d", bytes.fromhex(bits))
    assert canonical(number).decode() == written


@pytest.mark.parametrize(
    ("number", "written"),
    [
        (0.0001, "0.0001"),
        (0.00001, "0.00001"),
        (1e15 + 0.5, "1000000000000000.5"),
        (1e16, "10000000000000000"),
        (EXACT, "9007199254740992"),
        (EXACT + 1, "9007199254740992"),
        (2**60, "1152921504606847000"),
        (10**21, "1e+21"),
        (-(10**400 // 10**100), "-1e+300"),
        (5.0, "5"),
        (-0.0, "0"),
    ],
)
def test_numbers_at_the_edge_of_the_fast_path(number: float, written: str) -> None:
    assert canonical(number).decode() == written


def test_true_is_not_1() -> None:
    assert canonical([True, 1, False, 0]) == b"[true,1,false,0]"


def test_keys_are_sorted_by_utf_16_units() -> None:
    # By code point U+E000 comes before U+1F600; its UTF-16 unit comes after the surrogates.
    assert canonical({"\ue000": 1, "😀": 2, "a": 3}).decode() == '{"a":3,"😀":2,"\ue000":1}'


def test_keys_are_sorted_by_utf_16_units_at_every_level() -> None:
    assert canonical([{"x": {"\ue000": 1, "😀": 2}}]).decode() == '[{"x":{"😀":2,"\ue000":1}}]'


def test_only_what_must_be_escaped_is() -> None:
    text = "".join(map(chr, range(0x20))) + '"\\/\x7f\x85\u2028\u2029é😀'
    assert canonical(text).decode() == (
        r'"\u0000\u0001\u0002\u0003\u0004\u0005\u0006\u0007\b\t\n\u000b\f\r\u000e\u000f'
        r"\u0010\u0011\u0012\u0013\u0014\u0015\u0016\u0017\u0018\u0019\u001a\u001b\u001c\u001d\u001e\u001f"
        '\\"\\\\/\x7f\x85\u2028\u2029é😀"'
    )


@pytest.mark.parametrize(
    "value", ["\ud800", ["\udfff"], {"\ud800": 1}, {"\ud800": 1e-9}, {"😀": 1, "\ud800": 2}]
)
def test_a_lone_surrogate_is_refused(value: JsonValue) -> None:
    with pytest.raises(JsonError, match=r"lone surrogate|codepoints"):
        canonical(value)


@pytest.mark.parametrize("number", [float("nan"), float("inf"), -float("inf"), 10**400])
def test_a_number_that_is_no_double_is_refused(number: float) -> None:
    with pytest.raises(JsonError):
        canonical([number])


@pytest.mark.parametrize("value", [{1, 2}, b"bytes", object()])
def test_a_value_json_has_no_form_for_is_refused(value: Any) -> None:
    with pytest.raises(JsonError):
        canonical({"x": value})


def nested(depth: int, innermost: JsonValue = None) -> JsonValue:
    value = innermost
    for level in range(depth):
        value = [value] if level % 2 else {"x": value}
    return value


@pytest.mark.parametrize("innermost", [None, 1e-9], ids=["fast path", "exact path"])
def test_p7_values_are_written_down_to_the_deepest_level_and_no_deeper(innermost: JsonValue) -> None:
    canonical(nested(MAX_DEPTH, innermost))
    for depth in (MAX_DEPTH + 1, 5_000):
        with pytest.raises(JsonError, match="256"):
            canonical(nested(depth, innermost))


def test_brackets_within_strings_are_no_depth() -> None:
    assert canonical(["[{" * 300]) == b'["' + b"[{" * 300 + b'"]'


def test_the_published_vectors_are_reproduced(public_vectors: Path) -> None:
    folder = public_vectors / "crypto-vectors" / "rfc8785"
    inputs = sorted(folder.glob("*.input.json"))
    assert len(inputs) == 6
    for given_file in inputs:
        expected = given_file.with_name(given_file.name.replace("input", "output")).read_bytes()
        assert canonical(parse(decode(given_file.read_bytes())).value) == expected, given_file.name


def test_fast_and_exact_paths_agree_on_a_whole_op() -> None:
    op: JsonValue = {
        "v": 2,
        "replica": "ada-0000000a",
        "seq": 7,
        "body": {"title": "Ünïcode\n", "tags": ["a", "b"], "done": False, "owner": None},
    }
    assert (
        canonical(op)
        == rfc8785.dumps(op)
        == json.dumps(op, sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode()
    )


@given(values, st.text(max_size=5), st.text(max_size=5))
def test_a_value_inside_a_text_is_read_as_it_is_alone(value: JsonValue, before: str, after: str) -> None:
    alone = json.dumps(value)
    assert parse_at(f"{before}{alone},{after}", len(before)) == (parse(alone), len(before) + len(alone))


@pytest.mark.parametrize("depth", [MAX_DEPTH, MAX_DEPTH + 1, 100_000])
def test_p7_depth_inside_a_text_is_counted_from_the_value_itself(depth: int) -> None:
    text = "[[" + "[" * depth + "]" * depth + "]]"
    if depth <= MAX_DEPTH:
        assert parse_at(text, 2)[1] == 2 + 2 * depth
    else:
        with pytest.raises(JsonError, match="256"):
            parse_at(text, 2)


@pytest.mark.parametrize("text", ["", "]", "tru", '"open', "1e400", "NaN"])
def test_what_is_no_value_inside_a_text_is_refused(text: str) -> None:
    with pytest.raises(JsonError):
        parse_at(f"[{text}", 1)
