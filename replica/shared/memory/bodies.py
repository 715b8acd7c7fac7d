"""The body of a memory op, parsed once into typed values (F.7; federation wire 8.14).

It comes from teammates, who may be hostile. Fields nobody knows are dropped; one that breaks a limit makes the whole
op malformed. What is written here is held against the same limits.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from core.errors import DmpError, invalid
from core.text import utf8_len
from crypto.canonical import JsonValue
from crypto.op import Absent

MAX_TITLE_BYTES: Final = 200
MAX_BODY_BYTES: Final = 8_192
MAX_REFS: Final = 20
MAX_APPLIES_TO: Final = 50
MAX_REF_BYTES: Final = 512
"""Bytes of one ref, and of one path pattern an entry applies to."""

MAX_EPIC_BYTES: Final = 64
MAX_SUPERSEDES: Final = 50
MAX_CREATED_BYTES: Final = 64
MAX_RUNG: Final = 10

KINDS: Final = ("preference", "convention", "constraint", "hazard", "decision", "fact", "reference")
"""What an entry may be, in the order in which they are named."""

STATUSES: Final = ("active", "retired")
REASONS: Final = ("forgotten", "superseded", "undone")
"""Why an entry was retired."""

CONTENT: Final = frozenset(("title", "body", "kind", "refs"))
"""The fields that are an entry's content: who wrote them decides how far it is trusted (8.15)."""

ATTRIBUTION: Final = frozenset(("author", "decidedBy"))
"""The fields that say whose word an entry is."""

_ULID: Final = "[0-7](?:[0-9A-HJKMNP-TV-Z]{25}|[0-9a-hjkmnp-tv-z]{25})"
MEMORY_ID: Final = re.compile(f"mem-{_ULID}")
_AUTHOR: Final = re.compile("(?:human|agent|run):[A-Za-z0-9._/@:-]{1,128}")
_HUMAN: Final = re.compile("human:[a-z0-9][a-z0-9._-]{0,63}")


class Trust(StrEnum):
    """How far an entry is trusted, from the least to the most."""

    AGENT = "agent"
    """Nobody stands behind it but a program."""
    CONFIRMED = "confirmed"
    """A human decided that it holds."""
    HUMAN = "human"
    """A human wrote it."""


TRUSTS: Final = tuple(Trust)


@dataclass(frozen=True, slots=True)
class MemoryPut:
    """Fields of an entry written: what its publisher says of their trust, and who wrote them, where that is told."""

    memory: str
    fields: Mapping[str, JsonValue]
    claim: Trust
    by: str | None


def parse_memory(body: JsonValue | Absent) -> MemoryPut | None:
    """Read a memory op's body; None for a `remove`, which does nothing: entries retire.

    Raises DmpError `invalid` naming the member at fault.
    """
    if not isinstance(body, dict):
        raise invalid("body", "must be an object")
    memory = body.get("memory")
    if not is_memory(memory):
        raise invalid("memory", "must be mem- and a ULID")
    assert isinstance(memory, str)
    match body.get("kind"):
        case "remove":
            return None
        case "put":
            return MemoryPut(memory, _fields(body.get("fields", {})), _claim(body.get("trust")), _by(body))
    raise invalid("kind", "must be put or remove")


def is_memory(value: object) -> bool:
    """Whether a value is the id of an entry."""
    return isinstance(value, str) and MEMORY_ID.fullmatch(value) is not None


def check_field(name: str, value: JsonValue) -> None:
    """Check the value of a field. Raises DmpError `invalid` on the field."""
    wrong = _CHECKS[name](value)
    if wrong is not None:
        raise invalid(name, f"{name} {wrong}")


def superseded(value: JsonValue) -> tuple[str, ...]:
    """The entries that a `supersedes` or `supersededBy` field names."""
    if isinstance(value, str):
        return (value,)
    return tuple(each for each in value if isinstance(each, str)) if isinstance(value, list) else ()


def _fields(value: JsonValue) -> Mapping[str, JsonValue]:
    if not isinstance(value, dict):
        raise invalid("fields", "must be an object")
    known = {name: each for name, each in value.items() if name in _CHECKS}
    for name, each in known.items():
        try:
            check_field(name, each)
        except DmpError as error:
            raise invalid(f"fields.{name}", error.message) from None
    policy = known.get("decidedByPolicy")
    if isinstance(policy, dict):  # what else is in it has no bound
        known["decidedByPolicy"] = {name: policy[name] for name in ("rung", "authorizedBy")}
    return known


def _claim(value: JsonValue) -> Trust:
    if value not in TRUSTS:
        raise invalid("trust", f"must be one of {', '.join(TRUSTS)}")
    return Trust(str(value))


def _by(body: Mapping[str, JsonValue]) -> str | None:
    by = body.get("by")
    if "by" in body and _author(by) is not None:
        raise invalid("by", "must be the address of a human, an agent or a session")
    return by if isinstance(by, str) else None


# What fields hold: each check says what is wrong, None when nothing is.

_Check = Callable[[JsonValue], str | None]


def _text(limit: int) -> _Check:
    def check(value: JsonValue) -> str | None:
        return None if _fits(value, limit) else f"must be a text of at most {limit} bytes"

    return check


def _text_or_null(limit: int) -> _Check:
    def check(value: JsonValue) -> str | None:
        return None if value is None or _fits(value, limit) else f"must be a text of at most {limit} bytes"

    return check


def _texts(count: int, limit: int) -> _Check:
    def check(value: JsonValue) -> str | None:
        fits = isinstance(value, list) and len(value) <= count and all(_fits(each, limit) for each in value)
        return None if fits else f"must be at most {count} texts of at most {limit} bytes each"

    return check


def _one_of(*values: str | None) -> _Check:
    names = ", ".join(str(value) for value in values if value is not None)
    return lambda value: None if value in values else f"must be one of {names}"


def _flag(value: JsonValue) -> str | None:
    return None if isinstance(value, bool) else "must be true or false"


def _author(value: JsonValue) -> str | None:
    fits = isinstance(value, str) and _AUTHOR.fullmatch(value) is not None
    return None if fits else "must be the address of a human, an agent or a session"


def _human(value: JsonValue) -> str | None:
    fits = value is None or (isinstance(value, str) and _HUMAN.fullmatch(value) is not None)
    return None if fits else "must be the address of a human, or null"


def _entries(value: JsonValue) -> str | None:
    """Check which entries are superseded: none, one, or a list of them."""
    if isinstance(value, list):
        fits = len(value) <= MAX_SUPERSEDES and all(is_memory(each) for each in value)
    else:
        fits = value is None or is_memory(value)
    return (
        None if fits else f"must be the id of an entry, a list of at most {MAX_SUPERSEDES} of them, or null"
    )


def _policy(value: JsonValue) -> str | None:
    if value is None:
        return None
    if isinstance(value, dict):
        rung = value.get("rung")
        if (
            isinstance(rung, int)
            and not isinstance(rung, bool)
            and 0 <= rung <= MAX_RUNG
            and value.get("authorizedBy") in ("rung", "override")
        ):
            return None
    return "must hold a rung and by what it was authorized, rung or override, or be null"


def _fits(value: JsonValue, limit: int) -> bool:
    try:
        return isinstance(value, str) and utf8_len(value) <= limit
    except UnicodeEncodeError:  # half a character
        return False


_CHECKS: Final[Mapping[str, _Check]] = {
    "title": _text(MAX_TITLE_BYTES),
    "body": _text(MAX_BODY_BYTES),
    "kind": _one_of(*KINDS),
    "refs": _texts(MAX_REFS, MAX_REF_BYTES),
    "epic": _text_or_null(MAX_EPIC_BYTES),
    "appliesTo": _texts(MAX_APPLIES_TO, MAX_REF_BYTES),
    "pinned": _flag,
    "status": _one_of(*STATUSES),
    "statusReason": _one_of(None, *REASONS),
    "supersedes": _entries,
    "supersededBy": _entries,
    "author": _author,
    "createdAt": _text(MAX_CREATED_BYTES),
    "decidedBy": _human,
    "decidedByPolicy": _policy,
}

FIELDS: Final = tuple(_CHECKS)
"""The names of an entry's fields."""
