"""What others send is wrapped, measured and cut by one set of rules (section 8.8)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bindings.a2a.extensions import ENVELOPE
from bindings.a2a.external import (
    NO_TEXT,
    OMITTED,
    TRUNCATED,
    Content,
    from_client,
    from_peer,
    peer_choices,
    unwrap,
    wrap,
)
from core.errors import Code, DmpError
from core.gate_data import data_type, has_gate_data, is_marker
from core.message import ABSENT
from core.text import is_blank, is_one_line, trimmed, utf8_len
from crypto.canonical import JsonValue, canonical_size

KIB_64 = 64 * 1024
LARGEST = "x" * (KIB_64 - canonical_size({ENVELOPE: ""}))

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.text(st.characters(codec="utf-8"), max_size=9),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["type", "reason", "a", ENVELOPE]), inner, max_size=3)
    ),
    max_leaves=8,
)
TEXT = st.text(st.characters(codec="utf-8"), max_size=40)
ANY_TEXT = st.text(max_size=40)


def refusal(text: str, *parts: JsonValue) -> tuple[Code, str | None]:
    with pytest.raises(DmpError) as error:
        from_client(text, parts)
    return error.value.code, error.value.field


@given(st.lists(JSON, max_size=4))
def test_wrapped_data_means_nothing_to_the_host_and_comes_back_as_it_was(parts: list[JsonValue]) -> None:
    data = wrap(parts)
    assert data_type(data) is None
    assert not has_gate_data(data)
    assert not is_marker(data)
    assert unwrap(data) == (ABSENT if not parts else parts[0] if len(parts) == 1 else parts)


@pytest.mark.parametrize("data", [{"a": 1}, {ENVELOPE: 1, "a": 2}, [1], None, ABSENT])
def test_what_was_not_wrapped_is_not_unwrapped(data: JsonValue) -> None:
    assert unwrap(data) == data


def test_data_of_64_kib_is_kept_and_a_byte_more_is_left_out_with_a_word() -> None:
    assert from_client("See.", [LARGEST]) == Content("See.", {ENVELOPE: LARGEST})
    assert from_client("See.", [LARGEST + "x"]) == Content(f"See.\n\n{OMITTED}", ABSENT)
    assert from_client("", [LARGEST + "x"]).body.endswith(OMITTED)


def test_data_without_a_canonical_form_is_left_out() -> None:
    assert from_client("See.", ["\ud800"]) == Content(f"See.\n\n{OMITTED}", ABSENT)


@pytest.mark.parametrize("text", ["", " \n", "\ufeff\u3000"])
def test_blank_text_reads_no_text_beside_data_alone(text: str) -> None:
    assert from_client(text, [1]).body == NO_TEXT == from_peer(text, [1]).body
    assert refusal(text) == (Code.INVALID, "body")


def test_a_clients_body_is_refused_where_it_is_too_long() -> None:
    assert from_client("x" * KIB_64, []).body == "x" * KIB_64
    assert refusal("x" * (KIB_64 + 1)) == (Code.INVALID, "body")
    assert refusal("x" * KIB_64, LARGEST + "x") == (Code.INVALID, "body")
    assert refusal("\ud800") == (Code.INVALID, "body")


@given(st.integers(KIB_64 - 8, KIB_64 + 8), st.sampled_from(["x", "\u20ac", "\U0001f600"]), st.booleans())
def test_a_peers_body_is_cut_to_fit_and_says_so(size: int, letter: str, too_much: bool) -> None:
    text = letter * (size // utf8_len(letter) + 1)
    found = from_peer(text, [LARGEST + "x"] if too_much else [])
    assert utf8_len(found.body) <= KIB_64
    if utf8_len(text) <= KIB_64 and not too_much:
        assert found.body == text
    else:
        assert utf8_len(found.body) > KIB_64 - 4
        assert TRUNCATED in found.body[-80:]
        assert found.body.endswith(OMITTED if too_much else TRUNCATED)


@given(ANY_TEXT, st.lists(JSON, max_size=2))
def test_whatever_a_peer_says_can_be_stored(text: str, parts: list[JsonValue]) -> None:
    found = from_peer(text, parts)
    assert utf8_len(found.body) <= KIB_64
    assert bool(found.body) or not (text or parts)


@given(st.lists(ANY_TEXT | st.none() | st.integers(), max_size=30))
def test_a_peers_choices_are_such_as_a_question_may_have(offered: list[JsonValue]) -> None:
    found = peer_choices(offered)
    if found is None:
        return
    assert 1 <= len(found) <= 20
    assert len(set(found)) == len(found)
    for choice in found:
        assert is_one_line(choice)
        assert not is_blank(choice)
        assert utf8_len(choice) <= 200
        assert trimmed(choice) == choice


def test_a_peers_choices_keep_their_order_and_lose_what_does_not_fit() -> None:
    assert peer_choices([" west ", "a\nb", "west", 3, "", "\u20ac" * 67]) == ("west", "a b", "\u20ac" * 66)
    assert peer_choices([f"c{number}" for number in range(25)]) == tuple(f"c{number}" for number in range(20))
    assert peer_choices(["", " ", None]) is None
