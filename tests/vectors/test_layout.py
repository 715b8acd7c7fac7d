"""The layout of the kit's JSON files changes no value, and hides no character."""

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vectors.authoring.layout import WIDTH, write_json

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=12,
)


@given(VALUES)
def test_a_value_is_read_back_as_it_was(value: object) -> None:
    assert json.loads(write_json(value)) == value


@given(VALUES)
def test_nothing_unseen_stands_in_a_file(value: object) -> None:
    unseen = {character for character in write_json(value) if unicodedata.category(character)[0] in "CZ"}
    assert unseen <= {" ", "\n"}


@given(VALUES)
def test_a_value_is_written_one_way(value: object) -> None:
    text = write_json(value)
    assert write_json(json.loads(text)) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({}, "{}\n"),
        ([], "[]\n"),
        (
            {"a": [1, 2.0, None, True], "b": {"c": "d\u2028\u00e9"}},
            '{ "a": [1, 2.0, null, true], "b": { "c": "d\\u2028é" } }\n',
        ),
        (["x" * WIDTH, {"a": 1}], f'[\n  "{"x" * WIDTH}",\n  {{ "a": 1 }}\n]\n'),
        ({"a": ["x" * WIDTH]}, f'{{\n  "a": [\n    "{"x" * WIDTH}"\n  ]\n}}\n'),
    ],
)
def test_what_fits_stands_on_one_line(value: object, text: str) -> None:
    assert write_json(value) == text
