"""JSON members read once, at the edge, into typed values.

Every reader raises DmpError `invalid` on the field it was given. None of them takes `True` for a number,
a number for a flag, or null for a member that is merely not there.
"""

from collections.abc import Callable, Mapping
from typing import TypeVar, cast

from core.errors import DmpError, invalid
from core.message import Ref, Wake
from crypto.canonical import JsonValue

T = TypeVar("T")
D = TypeVar("D")
Reader = Callable[[JsonValue, str], T]


def as_text(value: JsonValue, field: str) -> str:
    if not isinstance(value, str):
        raise invalid(field, f"{field} must be a string")
    return value


def as_text_or_null(value: JsonValue, field: str) -> str | None:
    return None if value is None else as_text(value, field)


def as_flag(value: JsonValue, field: str) -> bool:
    if not isinstance(value, bool):
        raise invalid(field, f"{field} must be true or false")
    return value


def as_texts(value: JsonValue, field: str) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise invalid(field, f"{field} must be a list of strings")
    return tuple(as_text(item, f"{field}[{index}]") for index, item in enumerate(value))


def as_wake(value: JsonValue, field: str) -> Wake:
    if value not in ("none", "request"):
        raise invalid(field, f'{field} must be "none" or "request"')
    return cast(Wake, value)


def as_refs(value: JsonValue, field: str) -> tuple[Ref, ...]:
    if not isinstance(value, list):
        raise invalid(field, f"{field} must be a list of objects with a type and an id")
    return tuple(_as_ref(item, f"{field}[{index}]") for index, item in enumerate(value))


def _as_ref(value: JsonValue, field: str) -> Ref:
    if not isinstance(value, dict):
        raise invalid(field, f"{field} must be an object with a type and an id")
    return Ref(
        as_text(value.get("type"), f"{field}.type"),
        as_text(value.get("id"), f"{field}.id"),
        as_text(value["at"], f"{field}.at") if "at" in value else None,
    )


def as_json(value: JsonValue, _: str) -> JsonValue:
    return value


class Lenient:
    """Reads the members of one input, and keeps the first fault instead of raising it.

    A send looks up the idempotency key and the reply target before it validates (section 4.5), so an input
    must be readable that far whatever else is wrong with it.
    """

    def __init__(self, members: Mapping[str, JsonValue]) -> None:
        self._members = members
        self.fault: DmpError | None = None

    def required(self, name: str, read: Reader[T], default: D) -> T | D:
        """Return a member, or `default` with a fault noted where it is missing or of another type."""
        return self._read(name, self._members.get(name), read, default)

    def optional(self, name: str, read: Reader[T], default: D) -> T | D:
        """Return a member, or `default` where it is missing; one of another type is a fault."""
        return self._read(name, self._members[name], read, default) if name in self._members else default

    def _read(self, name: str, value: JsonValue, read: Reader[T], default: D) -> T | D:
        try:
            return read(value, name)
        except DmpError as error:
            self.fault = self.fault or error
            return default
