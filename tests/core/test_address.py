"""Addresses parse exactly where section 3 says."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.address import CORE, DISPATCH, is_identifier, parse_address
from core.errors import Code, DmpError
from tests.core.support import refused

identifiers = st.from_regex(
    r"[a-z0-9][a-z0-9._-]{0,63}", fullmatch=True, alphabet=st.characters(codec="ascii")
)
addresses = st.one_of(
    identifiers.map(lambda part: f"human:{part}"),
    identifiers.map(lambda part: f"agent:{part}"),
    st.tuples(identifiers, identifiers).map(lambda parts: f"agent:{parts[0]}/{parts[1]}"),
    identifiers.map(lambda part: f"task:{part}"),
    identifiers.map(lambda part: f"run:{part}"),
    st.lists(identifiers, min_size=1, max_size=3).map(lambda parts: "channel:" + "/".join(parts)),
)


@given(addresses)
@settings(max_examples=100)
def test_every_address_of_the_grammar_parses_into_parts_that_spell_it(text: str) -> None:
    parsed = parse_address(text, None)
    parts = [part for part in (parsed.operator, parsed.handle, parsed.id, parsed.name) if part is not None]
    assert f"{parsed.kind}:{'/'.join(parts)}" == parsed.text == text
    assert parsed.to_json()["address"] == text


@given(addresses, st.integers(0, 80), st.sampled_from("@A \n\x00é٣߀K\u2028:"))
@settings(max_examples=100)
def test_one_foreign_character_anywhere_is_refused(text: str, place: int, foreign: str) -> None:
    place = min(place, len(text))
    broken = text[:place] + foreign + text[place:]
    with pytest.raises(DmpError):
        parse_address(broken, "to[0]")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "human",
        ":ada",
        "robot:x",
        "human:",
        "human:ada/x",
        "agent:a/b/c",
        "agent:a/",
        "task:a/b",
        "channel:",
        "channel:a//b",
        "channel:/a",
        "a2a:",
        "a2a:Acme",
        "a2a:.acme",
        "a2a:acme/lab",
        "a2a:" + "a" * 41,
        "HUMAN:ada",
    ],
)
def test_what_is_no_address_is_invalid_on_the_field_that_carried_it(text: str) -> None:
    with refused(Code.INVALID, "to[3]"):
        parse_address(text, "to[3]")


@pytest.mark.parametrize("tail", ["\n", "\r", "\u2028", "\u0660", "\uff11", "\u212a"])
def test_p5_a_match_is_of_the_whole_text_and_of_ascii(tail: str) -> None:
    """P5: `$` accepts a trailing newline and `\\d` other scripts' digits."""
    for grammar in (CORE, DISPATCH):
        with refused(Code.INVALID, "from"):
            parse_address(f"run:r-9f2c01{tail}", "from", grammar)
    assert not is_identifier(f"a{tail}")


def test_a_part_has_at_most_64_bytes() -> None:
    assert parse_address("human:" + "a" * 64, None).handle == "a" * 64
    with refused(Code.INVALID, "to[0]"):
        parse_address("human:" + "a" * 65, "to[0]")


def test_an_address_has_at_most_256_bytes() -> None:
    segments = ["a" * 64] * 3
    name = "/".join([*segments, "b" * (256 - len("channel:") - 3 * 65)])
    assert len(f"channel:{name}") == 256
    assert parse_address(f"channel:{name}", None).name == name
    with refused(Code.INVALID, "to[0]"):
        parse_address(f"channel:{name}b", "to[0]")


@pytest.mark.parametrize(
    ("text", "narrow"),
    [
        ("task:t-4a8cce", True),
        ("task:e-c25f9c", True),
        ("run:r-9f2c01", True),
        ("task:t-4a8cc", False),
        ("task:t-4a8cce4a8cce4", False),
        ("task:x-4a8cce", False),
        ("run:9f2c01", False),
        ("run:t-9f2c01", False),
    ],
)
def test_a_host_may_narrow_its_ids(text: str, narrow: bool) -> None:
    assert parse_address(text, None, CORE)
    if narrow:
        assert parse_address(text, None, DISPATCH)
    else:
        with refused(Code.INVALID, "to[0]"):
            parse_address(text, "to[0]", DISPATCH)


def test_m6_an_error_quotes_an_address_escaped_and_cut() -> None:
    """M6: what others wrote reaches terminals and logs only escaped, quoted and bounded."""
    with pytest.raises(DmpError) as refusal:
        parse_address("\x1b[2J\u202e" + "x" * 5000, "to[0]")
    text = str(refusal.value)
    assert "\x1b" not in text
    assert text.isascii()
    assert len(text) < 250
