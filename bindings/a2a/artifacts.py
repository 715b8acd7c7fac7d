"""What a task came to, as A2A artifacts of at most 64 KiB (sections 8.6, 8.8)."""

from dataclasses import replace
from typing import Final, Literal, cast

from bindings.a2a import presenting, records
from bindings.a2a.extensions import WORK
from bindings.a2a.presenting import JsonObject, View
from core.address import DISPATCH, parse_address
from core.errors import invalid, not_found
from core.message import ABSENT, Absent, Message
from core.text import is_one_line, utf8_len
from crypto.canonical import JsonValue, canonical_size
from replica.host import items
from replica.node import Node

MAX_ARTIFACT_BYTES: Final = 64 * 1024
MAX_FILES: Final = 200
MAX_ITEMS: Final = 50

Kind = Literal["pr", "diffstat", "evidence"]

_LISTS: Final = {"diffstat": ("perFile", MAX_FILES), "evidence": ("items", MAX_ITEMS)}
"""The member of a kind that is cut to fit, and how many entries it has at most."""


def answer(view: View, message: Message) -> JsonObject:
    """The answer to an ask. What does not fit is cut: first its data, then the end of its text."""
    value: JsonObject = {"kind": "answer", "messageId": message.id}
    if message.choice is not None:
        value["choice"] = message.choice
    whole = _answer(view, message, value)
    if _fits(whole):
        return whole
    bare = replace(message, data=ABSENT)
    low, high = 0, len(bare.body)
    while low < high:
        middle = (low + high + 1) // 2
        if _fits(_truncated(_answer(view, replace(bare, body=bare.body[:middle]), value))):
            low = middle
        else:
            high = middle - 1
    return _truncated(_answer(view, replace(bare, body=bare.body[:low]), value))


def results(view: View, node: Node, work_item: str) -> list[JsonObject]:
    """What is kept of the work on a work item."""
    return [result(view, value) for _, value, _ in records.results(node.store.db, work_item)]


def result(view: View, value: JsonValue) -> JsonObject:
    """A result as an artifact, whose list is cut to what fits."""
    assert isinstance(value, dict)
    kind = str(value["kind"])
    whole = _result(view, value)
    if kind not in _LISTS:
        return whole
    name, most = _LISTS[kind]
    entries = cast("list[JsonValue]", value[name])
    if len(entries) <= most and _fits(whole):
        return whole
    low, high = 0, min(len(entries), most)
    while low < high:
        middle = (low + high + 1) // 2
        if _fits(_truncated(_result(view, {**value, name: entries[:middle]}))):
            low = middle
        else:
            high = middle - 1
    return _truncated(_result(view, {**value, name: entries[:low]}))


def keep_result(node: Node, work_item: str, value: JsonValue) -> None:
    """Keep what work on a work item came to, for the client that handed it off, in the place of an earlier one.

    Inside an open transaction. `value` is one of the objects of work/v1. Nothing else of it is kept than what that
    names: paths and counts, commands and what a session says of them. Raises DmpError `not-found` on `task`,
    `invalid` on the member at fault.
    """
    db = node.store.db
    item = items.need(db, parse_address(work_item, "task", DISPATCH).text)
    if not records.is_handed_off(db, item.address):
        raise not_found(
            "task", f"no client handed off {item.address}; `dmp a2a task list` shows what clients did"
        )
    checked = _checked(value)
    records.put_result(db, item.address, str(checked["kind"]), checked, node.now())


def _answer(view: View, message: Message, value: JsonObject) -> JsonObject:
    parts = [view.part(message.body or message.choice or "")]
    if not isinstance(message.data, Absent):
        parts.append({"data": presenting.unwrapped(message, view.client), "mediaType": presenting.JSON})
    return view.extended({"artifactId": "answer", "name": "answer", "parts": [*parts]}, {WORK: value})


def _result(view: View, value: JsonObject) -> JsonObject:
    kind = str(value["kind"])
    text = "\n".join(_lines(value, brief=WORK in view.active))
    return view.extended({"artifactId": kind, "name": kind, "parts": [view.part(text)]}, {WORK: value})


def _lines(value: JsonObject, *, brief: bool) -> list[str]:
    """A result in words; `brief` where a program is given the rest of it."""
    match value["kind"]:
        case "pr":
            state = f" ({value['state']})" if "state" in value else ""
            return [f"Pull request #{value['number']}{state}: {value['url']}"]
        case "diffstat":
            first = f"{value['files']} files changed, +{value['insertions']} -{value['deletions']}"
            rest = [
                f"- {each['path']}: +{each['insertions']} -{each['deletions']}"
                for each in _objects(value["perFile"])
            ]
        case _:
            given = _objects(value["items"])
            first = f"{len(given)} checks"
            rest = [f"- {each['command']} (exit {each['exitCode']}): {each['summary']}" for each in given]
    return [first] if brief else [first, *rest]


def _objects(value: JsonValue) -> list[JsonObject]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _truncated(artifact: JsonObject) -> JsonObject:
    metadata = artifact.get("metadata")
    return {**artifact, "metadata": {**(metadata if isinstance(metadata, dict) else {}), "truncated": True}}


def _fits(artifact: JsonObject) -> bool:
    return canonical_size(artifact) <= MAX_ARTIFACT_BYTES


# What may be kept


def _checked(value: JsonValue) -> JsonObject:
    given = value if isinstance(value, dict) else {}
    match given.get("kind"):
        case "pr":
            found: JsonObject = {"kind": "pr", "url": _url(given), "number": _count(given, "number")}
            if "state" in given:
                if given["state"] not in ("open", "merged"):
                    raise invalid("state", "state is open or merged")
                found["state"] = given["state"]
            return found
        case "diffstat":
            counts = {name: _count(given, name) for name in ("files", "insertions", "deletions")}
            per_file: list[JsonValue] = [
                {
                    "path": _line(each, "path", at),
                    "insertions": _count(each, "insertions", at),
                    "deletions": _count(each, "deletions", at),
                }
                for at, each in _each(given, "perFile")
            ]
            return {"kind": "diffstat", **counts, "perFile": per_file}
        case "evidence":
            shown: list[JsonValue] = [
                {
                    "command": _line(each, "command", at),
                    "exitCode": _number(each, "exitCode", at),
                    "durationMs": _count(each, "durationMs", at),
                    "summary": _text(each, "summary", at),
                }
                for at, each in _each(given, "items")
            ]
            return {"kind": "evidence", "items": shown}
    raise invalid("kind", "a result is of the kind pr, diffstat or evidence")


def _each(given: JsonObject, name: str) -> list[tuple[str, JsonObject]]:
    entries = given.get(name)
    if not isinstance(entries, list):
        raise invalid(name, f"{name} is a list")
    found = []
    for index, each in enumerate(entries):
        if not isinstance(each, dict):
            raise invalid(f"{name}[{index}]", "each entry is an object")
        found.append((f"{name}[{index}].", each))
    return found


def _number(given: JsonObject, name: str, at: str = "") -> int:
    value = given.get(name)
    if not isinstance(value, int) or isinstance(value, bool) or not -(2**31) <= value < 2**31:
        raise invalid(f"{at}{name}", f"{name} is a whole number")
    return value


def _count(given: JsonObject, name: str, at: str = "") -> int:
    value = _number(given, name, at)
    if value < 0:
        raise invalid(f"{at}{name}", f"{name} is a whole number from 0 on")
    return value


def _text(given: JsonObject, name: str, at: str = "") -> str:
    value = given.get(name)
    if not isinstance(value, str) or not value or utf8_len(value) > 4096:
        raise invalid(f"{at}{name}", f"{name} is text of at most 4096 bytes")
    return value


def _line(given: JsonObject, name: str, at: str = "") -> str:
    value = _text(given, name, at)
    if not is_one_line(value):
        raise invalid(f"{at}{name}", f"{name} is one line")
    return value


def _url(given: JsonObject) -> str:
    value = _line(given, "url")
    if not value.startswith(("https://", "http://")) or " " in value:
        raise invalid("url", "url is an address that starts with https://")
    return value
