"""The shapes of JSON values from outside, written as tables, and the one error of a value that has another.

A shape is a function of a value and its place, such as `vectors[2].when[0]`; it raises `ShapeError` or
returns nothing. `record` and `listed` make shapes of shapes.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import TypeAlias

from crypto.canonical import JsonValue
from vectors.runner.text import is_blank, lines

Shape: TypeAlias = Callable[[JsonValue, str], None]


class ShapeError(ValueError):
    """A value that does not have its shape; the text is a sentence that names the place."""

    def __init__(self, place: str, fault: str) -> None:
        super().__init__(f"{place or 'the document'} {fault}")


def anything(value: JsonValue, place: str) -> None:
    """Any JSON value."""


def text(value: JsonValue, place: str) -> None:
    """A string."""
    if not isinstance(value, str):
        raise ShapeError(place, "is not a string")


def sentence(value: JsonValue, place: str) -> None:
    """A string of one line that is not blank."""
    if not isinstance(value, str) or is_blank(value) or len(lines(value)) > 1:
        raise ShapeError(place, "is not a line of text")


def boolean(value: JsonValue, place: str) -> None:
    """True or false."""
    if not isinstance(value, bool):
        raise ShapeError(place, "is neither true nor false")


def number(value: JsonValue, place: str) -> None:
    """A number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ShapeError(place, "is not a number")


def count(value: JsonValue, place: str) -> None:
    """A whole number of at least 0."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ShapeError(place, "is not a whole number of at least 0")


def nullable(shape: Shape) -> Shape:
    """Null, or that shape."""

    def check(value: JsonValue, place: str) -> None:
        if value is not None:
            shape(value, place)

    return check


def one_of(*values: str) -> Shape:
    """One of these strings."""

    def check(value: JsonValue, place: str) -> None:
        if value not in values:
            raise ShapeError(place, f"is not one of {', '.join(values)}")

    return check


def matching(pattern: str, meaning: str) -> Shape:
    """A string that a pattern matches whole."""
    compiled = re.compile(pattern)

    def check(value: JsonValue, place: str) -> None:
        if not isinstance(value, str) or compiled.fullmatch(value) is None:
            raise ShapeError(place, f"is not {meaning}")

    return check


def listed(shape: Shape, *, least: int = 0) -> Shape:
    """A list whose items have that shape."""

    def check(value: JsonValue, place: str) -> None:
        if not isinstance(value, list):
            raise ShapeError(place, "is not a list")
        if len(value) < least:
            raise ShapeError(place, "is empty")
        for index, item in enumerate(value):
            shape(item, f"{place}[{index}]")

    return check


def mapped(shape: Shape) -> Shape:
    """An object with any members, each of that shape."""

    def check(value: JsonValue, place: str) -> None:
        for name, member in _object(value, place).items():
            shape(member, f"{place}.{name}")

    return check


def record(
    required: Mapping[str, Shape],
    optional: Mapping[str, Shape] | None = None,
    *,
    open_ended: bool = False,
) -> Shape:
    """An object with these members, and no others unless it is open-ended."""
    known = {**required, **(optional or {})}

    def check(value: JsonValue, place: str) -> None:
        found = _object(value, place)
        for name in required:
            if name not in found:
                raise ShapeError(place, f"has no {name}")
        for name, member in found.items():
            if name in known:
                known[name](member, f"{place}.{name}" if place else name)
            elif not open_ended:
                raise ShapeError(place, f"has an unknown member {name!r}")

    return check


def each(names: Iterable[str], shape: Shape) -> dict[str, Shape]:
    """Members of these names that all have that shape."""
    return dict.fromkeys(names, shape)


def _object(value: JsonValue, place: str) -> dict[str, JsonValue]:
    if not isinstance(value, dict):
        raise ShapeError(place, "is not an object")
    return value
