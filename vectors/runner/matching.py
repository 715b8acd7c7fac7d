"""How what a vector expects is compared with what was observed (section 12.4.5).

Matched as a subset, an object checks only the members it lists, each in the same way; any other value is
compared exactly, so an object inside a list has the same members, in any order.
"""

import json
from collections.abc import Iterator
from typing import Final

from crypto.canonical import JsonValue

_SHOWN: Final = 200
"""Characters of a value in a reason; bodies of vectors reach 64 KiB."""


def same(one: JsonValue, other: JsonValue) -> bool:
    """Whether two values are the same JSON value. Python's own `==` takes true for 1."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, dict):
        return (
            isinstance(other, dict)
            and one.keys() == other.keys()
            and all(same(member, other[name]) for name, member in one.items())
        )
    if isinstance(one, list):
        return (
            isinstance(other, list)
            and len(one) == len(other)
            and all(same(item, its) for item, its in zip(one, other, strict=True))
        )
    return one == other


def differences(expected: JsonValue, actual: JsonValue, place: str) -> Iterator[str]:
    """Yield a reason for each value of a subset that the actual value lacks or has otherwise."""
    if isinstance(expected, dict):
        if not isinstance(actual, dict):
            yield f"{place}: expected an object, got {shown(actual)}"
            return
        for name, member in expected.items():
            if name in actual:
                yield from differences(member, actual[name], f"{place}.{name}")
            else:
                yield f"{place}.{name}: expected {shown(member)}, got nothing"
    elif not same(expected, actual):
        yield f"{place}: expected {shown(expected)}, got {shown(actual)}"


def shown(value: JsonValue) -> str:
    """Write a value for a reason, cut where it is long."""
    written = json.dumps(value, ensure_ascii=True)
    return written if len(written) <= _SHOWN else f"{written[: _SHOWN - 1]}…"
