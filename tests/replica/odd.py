"""Values bent out of shape: what a hostile author may put where something else belongs."""

import copy
from collections.abc import Iterator
from random import Random
from typing import Any

from crypto.canonical import JsonValue

ODD: tuple[Any, ...] = (
    None,
    True,
    -1,
    2**60,
    1.5,
    "",
    "x",
    "x" * 9_000,
    "\ud800",
    "line\nbreak",
    "\x1b[2J\x07",
    "op-0",
    "op-²",
    "op-99999999999999999999",
    "agent:dispatch",
    "human:bob",
    "human:",
    "channel:all",
    "run:r-1",
    "9999999999999.999999999.x",
    "question",
    "answer",
    [],
    [[]],
    {},
    {"type": "x-closed"},
    {"type": "tool-approval"},
    {"\ud800": 1},
)
"""Values that a member should not have, or not there."""


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every (container, key or index) in a JSON value."""
    keys = value.keys() if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in list(keys):
        yield value, key
        yield from places(value[key])


def bent(value: JsonValue, random: Random) -> Any:
    """The value with one or two things in it made odd, left out or repeated."""
    made: Any = {"": copy.deepcopy(value)}
    for _ in range(random.randint(1, 2)):
        container, key = random.choice(list(places(made)))
        if random.random() < 0.15 and isinstance(container, dict) and key:
            del container[key]
        elif random.random() < 0.1 and isinstance(container, list):
            container.append(copy.deepcopy(container[key]))
        else:
            container[key] = copy.deepcopy(random.choice(ODD))
    return made.get("")
