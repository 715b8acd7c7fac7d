"""Subset matching, to the letter of section 12.4.5."""

import copy
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from crypto.canonical import JsonValue
from vectors.runner.matching import differences, same, shown

SCALARS = st.none() | st.booleans() | st.integers(-5, 5) | st.floats(allow_nan=False) | st.text(max_size=4)
NAMES = st.sampled_from("abcd")
VALUES: st.SearchStrategy[Any] = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=6,
)
OBJECTS = st.dictionaries(NAMES, VALUES, max_size=4)


def matches(expected: Any, actual: Any) -> bool:
    return not list(differences(expected, actual, "it"))


@given(VALUES)
def test_a_value_matches_itself(value: Any) -> None:
    assert same(value, copy.deepcopy(value))
    assert matches(value, copy.deepcopy(value))


@given(OBJECTS, st.data())
def test_an_object_checks_only_the_members_it_lists(value: dict[str, Any], data: st.DataObject) -> None:
    kept = data.draw(st.sets(st.sampled_from(sorted(value))) if value else st.just(set()))
    assert matches({name: value[name] for name in kept}, value)


@given(OBJECTS, NAMES, VALUES)
def test_a_listed_member_must_be_there(value: dict[str, Any], name: str, member: Any) -> None:
    assume(name not in value)
    assert not matches({**value, name: member}, value)


@given(OBJECTS, NAMES, VALUES)
def test_an_object_inside_a_list_has_exactly_the_same_members(
    value: dict[str, Any], name: str, member: Any
) -> None:
    assume(name not in value)
    assert not matches([value], [{**value, name: member}])
    assert not matches({"x": [value]}, {"x": [{**value, name: member}]})


@given(st.lists(VALUES, max_size=4), VALUES)
def test_a_list_is_compared_item_by_item_and_never_as_a_part(items: list[Any], more: Any) -> None:
    assert not matches(items, [*items, more])
    assert not matches([*items, more], items)


@given(VALUES, VALUES)
def test_sameness_is_symmetric_and_tells_values_apart_as_json_does(one: Any, other: Any) -> None:
    assert same(one, other) == same(other, one)
    if same(one, other):
        assert matches(one, other)


@given(OBJECTS)
def test_the_order_of_members_does_not_matter(value: dict[str, Any]) -> None:
    assert same(dict(reversed(value.items())), value)


@pytest.mark.parametrize(
    ("expected", "actual"),
    [
        (True, 1),
        (1, True),
        (False, 0),
        (0, None),
        ("1", 1),
        ([], {}),
        ({}, []),
        (None, False),
        ({"a": None}, {}),
    ],
)
def test_values_of_different_kinds_never_match(expected: Any, actual: Any) -> None:
    assert not matches(expected, actual)


def test_one_number_written_in_two_ways_matches() -> None:
    assert matches({"n": 1}, {"n": 1.0})


def test_every_difference_is_told_with_its_place() -> None:
    expected: JsonValue = {"a": {"b": 1, "c": 2}, "d": [3]}
    assert list(differences(expected, {"a": {"b": 5}, "d": []}, "steps[0].result")) == [
        "steps[0].result.a.b: expected 1, got 5",
        "steps[0].result.a.c: expected 2, got nothing",
        "steps[0].result.d: expected [3], got []",
    ]


def test_long_values_are_cut_in_a_reason() -> None:
    assert len(shown("x" * 100_000)) == 200
