"""JSON as every implementation must read it, and its one canonical form.

Two replicas agree on an op only when they read its line alike and hash the same bytes, so reading is
ECMAScript's in every corner (`parse`): numbers are the doubles their literals name, a repeated key keeps
its last value, and what `JSON.parse` refuses is refused. Writing is RFC 8785 (section F.2): the C encoder of
the standard library where its output cannot differ, the `rfc8785` package for everything else.
"""

import json
import math
import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple, NoReturn, TypeAlias

import rfc8785

JsonValue: TypeAlias = "bool | int | float | str | list[JsonValue] | dict[str, JsonValue] | None"

MAX_DEPTH: Final = 256
"""Containers that may enclose one another; a deeper one is refused before anything recurses into it."""

_EXACT_INTEGER: Final = 2**53
"""The largest magnitude up to which every integer is a double of its own."""

_SHORT_LITERAL: Final = 15
"""Integer literals of up to this many characters name a double exactly."""


class JsonError(ValueError):
    """Text that is not JSON as this protocol reads it, or a value that has no canonical form."""


class Parsed(NamedTuple):
    """What a text says.

    `plain` promises that there is a canonical form, and that it takes no more bytes than the text does in UTF-8: no
    number in it is written longer than it was read, and it has no lone surrogate. `duplicates` tells that some object
    repeated a key; the last value was kept.
    """

    value: JsonValue
    plain: bool
    duplicates: bool


def decode(raw: bytes) -> str:
    """Read bytes as UTF-8 with each invalid sequence replaced by U+FFFD, as WHATWG decoders do."""
    return raw.decode("utf-8", "replace")


def parse(text: str) -> Parsed:
    """Read one JSON text.

    Numbers are doubles; an integral one up to 2**53 in magnitude becomes an `int`, so `5.0` is 5.
    Lone surrogates that were written as escapes are kept, and refused by `canonical`.

    Raises JsonError for what `JSON.parse` refuses, a number beyond the doubles, and nesting past MAX_DEPTH.
    """
    _refuse_deep(text)
    try:
        try:
            return Parsed(_read_plain(text), plain=_is_whole(text), duplicates=False)
        except _Unusual:
            return _CarefulReader().read(text)
    except json.JSONDecodeError as error:
        raise JsonError(f"not JSON: {error.msg} at character {error.pos}") from None


def parse_at(text: str, start: int) -> tuple[Parsed, int]:
    """Read the one JSON value that begins at `start`, without space before it, and return where it ends.

    For a value that stands inside a longer text and is read as `parse` would read it alone; raises as `parse`.
    """
    try:
        try:
            value, end = _plain_decoder.raw_decode(text, start)
            parsed = Parsed(value, plain=_is_whole(text), duplicates=False)
        except _Unusual:
            parsed, end = _CarefulReader().read_at(text, start)
    except json.JSONDecodeError as error:
        raise JsonError(f"not JSON: {error.msg} at character {error.pos}") from None
    except RecursionError:
        raise JsonError(f"nested more than {MAX_DEPTH} containers deep") from None
    _refuse_deep(text, start, end)
    return parsed, end


def canonical(value: JsonValue, *, plain: bool = False) -> bytes:
    """Write a value as RFC 8785 canonical JSON, in UTF-8.

    `plain` says that the value is part of what `parse` called plain, which saves looking through it.

    Raises JsonError for a lone surrogate, a number that is not finite, nesting past MAX_DEPTH, and any
    Python value that JSON has no form for.
    """
    try:
        if not plain and not _is_simple(value):
            return _exact(value)
        text = "".join(_encode(value, 0))
        written = text.encode()
        if not text.isascii() and _holds_astral(written) and _has_astral_key(value):
            return _exact(value)
        if not plain:
            _refuse_deep(text)
        return written
    except UnicodeEncodeError:
        raise JsonError("a lone surrogate has no canonical form") from None
    except RecursionError:
        raise JsonError(f"nested more than {MAX_DEPTH} containers deep") from None


def canonical_size(value: JsonValue) -> int:
    """Return the length of a value's canonical form in bytes (section 1.4). Raises as `canonical`."""
    return len(canonical(value))


# Reading


class _Unusual(Exception):  # noqa: N818 - a signal, not an error
    """The text has something the quick reader does not judge: a double, a long integer, a repeated key."""


def _unusual(_: object) -> NoReturn:
    raise _Unusual


def _short_integer(literal: str) -> int:
    if len(literal) > _SHORT_LITERAL:
        raise _Unusual
    return int(literal)


def _distinct(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _Unusual
    return found


_plain_decoder = json.JSONDecoder(
    object_pairs_hook=_distinct, parse_int=_short_integer, parse_float=_unusual, parse_constant=_unusual
)


_scan_plain = _plain_decoder.scan_once  # type: ignore[attr-defined]


# Half of a pair, written as an escape: of text that was decoded nothing else makes a lone surrogate.
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


def _is_whole(text: str) -> bool:
    """Whether decoded text certainly has no lone surrogate."""
    return "\\" not in text or _SURROGATE.search(text) is None


def _read_plain(text: str) -> JsonValue:
    """Read as the plain decoder does, sooner where nothing stands around the value."""
    value: JsonValue
    try:
        value, end = _scan_plain(text, 0)
    except StopIteration:
        end = -1
    if end != len(text):
        value = _plain_decoder.decode(text)
    return value


class _CarefulReader:
    """One reading of a text, which notes what the text had that is out of the ordinary."""

    def __init__(self) -> None:
        self.doubles = False
        self.duplicates = False
        self.beyond = ""

    def read(self, text: str) -> Parsed:
        return self._judged(self._decoder().decode(text))

    def read_at(self, text: str, start: int) -> tuple[Parsed, int]:
        value, end = self._decoder().raw_decode(text, start)
        return self._judged(value), end

    def _decoder(self) -> json.JSONDecoder:
        return json.JSONDecoder(
            object_pairs_hook=self._object,
            parse_int=self._integer,
            parse_float=self._double,
            parse_constant=self._constant,
        )

    def _judged(self, value: JsonValue) -> Parsed:
        # One that a repeated key put out of sight is no part of the value.
        if self.beyond and any(type(item) is float and math.isinf(item) for item in _each(value)):
            raise JsonError(f"a number beyond the doubles: {self.beyond[:40]}")
        return Parsed(value, plain=not (self.doubles or self.duplicates), duplicates=self.duplicates)

    def _object(self, pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
        found = dict(pairs)
        if len(found) != len(pairs):
            self.duplicates = True
        return found

    def _integer(self, literal: str) -> int | float:
        # float() has no limit on digits, unlike int(); the value is the double either way.
        return int(literal) if len(literal) <= _SHORT_LITERAL else self._double(literal)

    def _double(self, literal: str) -> int | float:
        self.doubles = True
        number = float(literal)
        if math.isinf(number):
            self.beyond = literal
        return int(number) if number.is_integer() and abs(number) <= _EXACT_INTEGER else number

    @staticmethod
    def _constant(literal: str) -> NoReturn:
        raise JsonError(f"not JSON: {literal}")


def _each(value: JsonValue) -> Iterator[JsonValue]:
    """Give a value and every value in it, in no promised order."""
    items = [value]
    for item in items:  # which grows as it is walked
        yield item
        if isinstance(item, dict):
            items += item.values()
        elif isinstance(item, list):
            items += item


_STRING_OR_BRACKET = re.compile(r'"(?:[^"\\]|\\.)*+"?+|[\[{]|[\]}]', re.DOTALL)


def _refuse_deep(text: str, start: int = 0, end: int | None = None) -> None:
    end = len(text) if end is None else end
    if text.count("[", start, end) + text.count("{", start, end) <= MAX_DEPTH:
        return
    depth = 0
    for found in _STRING_OR_BRACKET.finditer(text, start, end):
        first = found[0][0]
        if first in "[{":
            depth += 1
            if depth > MAX_DEPTH:
                raise JsonError(f"nested more than {MAX_DEPTH} containers deep")
        elif first in "]}":
            depth -= 1


# Writing

# JSONEncoder would build this anew for every value.
_encode: Any = json.encoder.c_make_encoder(  # type: ignore[attr-defined]
    None, _unusual, json.encoder.encode_basestring, None, ":", ",", True, False, False
)

# Where Python and ECMAScript both write a double that is no integer with a point and no exponent.
_POINT_FROM: Final = 1e-4
_POINT_BELOW: Final = 1e16

_ASTRAL = re.compile("[\U00010000-\U0010ffff]")


def _is_simple(value: JsonValue) -> bool:
    """Whether the C encoder writes all of it canonically, the order of keys aside."""
    items: list[Any] = [value]
    for item in items:  # which grows as it is walked
        kind = type(item)
        if kind is str:
            continue
        if kind is dict:
            items += item.values()
        elif kind is list:
            items += item
        elif kind is int:
            if not -_EXACT_INTEGER <= item <= _EXACT_INTEGER:
                return False
        elif kind is float:
            if item.is_integer() or not _POINT_FROM <= abs(item) < _POINT_BELOW:
                return False
        elif kind is not bool and item is not None:
            return False
    return True


def _holds_astral(text: bytes) -> bool:
    """Whether UTF-8 text holds a character of four bytes; these are what such a character can begin with."""
    return 0xF0 in text or 0xF1 in text or 0xF2 in text or 0xF3 in text or 0xF4 in text


def _has_astral_key(value: JsonValue) -> bool:
    """Whether ordering keys by code point, as Python does, may differ from ordering UTF-16 units."""
    return any(_ASTRAL.search(key) for item in _each(value) if isinstance(item, dict) for key in item)


def _exact(value: JsonValue) -> bytes:
    try:
        written = rfc8785.dumps(_with_doubles(value))
    except (rfc8785.CanonicalizationError, OverflowError) as error:
        raise JsonError(f"no canonical form: {error}") from None
    _refuse_deep(written.decode())
    return written


def _with_doubles(value: JsonValue) -> Any:
    """Replace the integers that `rfc8785` refuses by the doubles ECMAScript has in their place."""
    if isinstance(value, dict):
        return {key: _with_doubles(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_with_doubles(item) for item in value]
    if type(value) is int and abs(value) >= _EXACT_INTEGER:
        return float(value)
    return value
