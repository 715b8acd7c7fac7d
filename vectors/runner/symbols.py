"""The `$` symbols by which vectors name messages, the system address and a gate type (section 12.4.4).

Those of the class `federation` name besides what else a step made.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from crypto.canonical import JsonValue
from vectors.runner.federation_shape import MADE

SYSTEM: Final = "$system"
UNIMPLEMENTED: Final = "$unimplementedGateType"

_SYMBOL: Final = re.compile(rf"\$(s|gate|notice|{'|'.join(MADE)})([0-9]+)", re.ASCII)

_MOST_DIGITS: Final = 18
_BEYOND: Final = 10**_MOST_DIGITS
"""Stands for every number of more digits: Python reads no more than a few thousand, and no vector has so many."""


class Symbol(NamedTuple):
    """A name of a message: the role is `s` (a step's), `gate` or `notice`, numbered from 1.

    Or of what else a step made, such as `memory`.
    """

    role: str
    number: int

    def __str__(self) -> str:
        return f"${self.role}{self.number}"


def found(value: JsonValue) -> Iterator[Symbol]:
    """Yield the symbols of messages, and of what steps made, in the strings of a value, names of members included."""
    for text in strings(value):
        for match in _SYMBOL.finditer(text):
            yield _symbol(match)


def holds(value: JsonValue, symbol: str) -> bool:
    """Whether a string of a value holds `$system` or `$unimplementedGateType`."""
    return any(symbol in text for text in strings(value))


def put(value: JsonValue, known: Mapping[str, str]) -> JsonValue:
    """Return a value with `$system` and `$unimplementedGateType` replaced wherever they are known."""

    def fill(text: str) -> str:
        for symbol, meaning in known.items():
            text = text.replace(symbol, meaning)
        return text

    return _rewritten(value, fill)


class Names:
    """What the symbols of messages stand for, in one observation.

    `created` maps a step's number to the id of the message that it created; `sent_by_system` are the id and
    kind of every message from the system address, in creation order; `seeded` are the ids of seeded rows;
    `made` has the symbols of what else steps made.
    """

    def __init__(
        self,
        created: Mapping[int, str],
        sent_by_system: Iterable[tuple[str, str]],
        seeded: Collection[str],
        made: Mapping[Symbol, str] = MappingProxyType({}),
    ) -> None:
        self._ids = {Symbol("s", step): message for step, message in created.items()}
        self._ids.update(made)
        passed_over = {*created.values(), *seeded}
        counts = {"gate": 0, "notice": 0}
        for message, kind in sent_by_system:
            role = {"question": "gate", "notice": "notice"}.get(kind)
            if role is not None and message not in passed_over:
                counts[role] += 1
                self._ids[Symbol(role, counts[role])] = message

    def get(self, symbol: Symbol) -> str | None:
        """Return the id that a symbol names; None when there is none."""
        return self._ids.get(symbol)

    def resolve(self, value: JsonValue) -> JsonValue:
        """Return a value with every symbol replaced; one that names nothing stays as it is."""
        return _rewritten(value, lambda text: _SYMBOL.sub(self._named, text))

    def _named(self, match: re.Match[str]) -> str:
        return self.get(_symbol(match)) or match[0]


def _symbol(match: re.Match[str]) -> Symbol:
    digits = match[2].lstrip("0")
    return Symbol(match[1], int(digits or "0") if len(digits) <= _MOST_DIGITS else _BEYOND)


def strings(value: JsonValue) -> Iterator[str]:
    """Yield every string of a value, names of members included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from strings(item)
    elif isinstance(value, dict):
        for name, member in value.items():
            yield name
            yield from strings(member)


def _rewritten(value: JsonValue, rewrite: Callable[[str], str]) -> JsonValue:
    if isinstance(value, str):
        return rewrite(value) if "$" in value else value
    if isinstance(value, list):
        return [_rewritten(item, rewrite) for item in value]
    if isinstance(value, dict):
        return {rewrite(name): _rewritten(member, rewrite) for name, member in value.items()}
    return value
