"""A page of a client's tasks: which, in what order, and where the next one begins (A2A 1.0, ListTasks).

Tasks come with the one whose status is the newest first. A token names the last task of a page by what it is ordered
by, so that a page follows it whatever was added or moved meanwhile.
"""

import base64
import binascii
import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, TypeVar

from bindings.a2a.presenting import JsonObject
from bindings.a2a.projection import TaskState
from core.errors import invalid
from crypto.canonical import JsonValue

DEFAULT_PAGE_SIZE: Final = 50
MAX_PAGE_SIZE: Final = 100

_UNSPECIFIED: Final = "TASK_STATE_UNSPECIFIED"
_MOST: Final = 2**31 - 1
_TOKEN: Final = re.compile(r"[A-Za-z0-9_-]{1,400}")

T = TypeVar("T")

Place = tuple[str, str]
"""What tasks are ordered by: the time of the status, and the id."""


@dataclass(frozen=True, slots=True)
class Query:
    """What was asked for. `since` is a time in UTC with microseconds."""

    context: str | None
    state: TaskState | None
    since: str | None
    size: int
    after: Place | None
    history: int
    artifacts: bool


def read_query(given: Mapping[str, JsonValue]) -> Query:
    """Read the members of a ListTasks request, which may be texts, as those of a URL are.

    Raises DmpError `invalid` on the member at fault.
    """
    size = read_count(given, "pageSize")
    if size is not None and not 1 <= size <= MAX_PAGE_SIZE:
        raise invalid("pageSize", f"a page holds 1 to {MAX_PAGE_SIZE} tasks")
    context, token = _text(given, "contextId"), _text(given, "pageToken")
    return Query(
        context=context,
        state=_state(_text(given, "status")),
        since=_since(_text(given, "statusTimestampAfter")),
        size=size or DEFAULT_PAGE_SIZE,
        after=None if token is None else _place(token),
        history=read_count(given, "historyLength") or 0,
        artifacts=_flag(given, "includeArtifacts"),
    )


def read_count(given: Mapping[str, JsonValue], name: str) -> int | None:
    """A whole number from 0 on; None where it is not given. Raises DmpError `invalid` on it."""
    value = given.get(name)
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= 10:
        value = int(value)
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= _MOST:
        raise invalid(name, f"{name} is a whole number from 0 on")
    return value


def page(places: Sequence[tuple[Place, T]], query: Query) -> tuple[list[T], str]:
    """The tasks of one page of those that were asked for, and the token of the next; empty where there is none."""
    ordered = sorted(places, key=lambda each: each[0], reverse=True)
    rest = ordered if query.after is None else [each for each in ordered if each[0] < query.after]
    here = rest[: query.size]
    token = _token(here[-1][0]) if len(rest) > len(here) else ""
    return [each for _, each in here], token


def answer(tasks: list[JsonObject], token: str, size: int, total: int) -> JsonObject:
    """The response: every member stands in it, also where it is empty."""
    return {"tasks": [*tasks], "nextPageToken": token, "pageSize": size, "totalSize": total}


def _state(text: str | None) -> TaskState | None:
    if text in (None, _UNSPECIFIED):
        return None
    for state in TaskState:
        if state.wire == text:
            return state
    raise invalid("status", f"status is one of {', '.join(each.wire for each in TaskState)}")


def _since(text: str | None) -> str | None:
    if text is None:
        return None
    try:
        given = datetime.fromisoformat(text)
        moment = None if given.tzinfo is None else given.astimezone(UTC)
    except (ValueError, OverflowError):
        moment = None
    if moment is None:
        raise invalid("statusTimestampAfter", "a time is written as 2026-09-23T11:00:00.000Z")
    return f"{moment.replace(tzinfo=None).isoformat(timespec='microseconds')}Z"


def is_since(at: str, since: str) -> bool:
    """Whether a time of the store, which has milliseconds, is not before one that was asked for."""
    return f"{at.removesuffix('Z')}000Z" >= since


def _token(place: Place) -> str:
    return base64.urlsafe_b64encode(json.dumps(place).encode()).decode().rstrip("=")


def _place(token: str) -> Place:
    found: object = None
    if _TOKEN.fullmatch(token) is not None:
        with suppress(ValueError, binascii.Error, RecursionError):
            found = json.loads(
                base64.b64decode(token + "=" * (-len(token) % 4), altchars=b"-_", validate=True)
            )
    match found:
        case [str(at), str(id_)] if _token((at, id_)) == token:
            return at, id_
    raise invalid("pageToken", "no page has that token; begin again without one")


def _text(given: Mapping[str, JsonValue], name: str) -> str | None:
    value = given.get(name)
    if value is not None and not isinstance(value, str):
        raise invalid(name, f"{name} is text")
    return value or None


def _flag(given: Mapping[str, JsonValue], name: str) -> bool:
    value = given.get(name)
    if value in (None, False, "false", ""):
        return False
    if value is True or value == "true":
        return True
    raise invalid(name, f"{name} is true or false")
