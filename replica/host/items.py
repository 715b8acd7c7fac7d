"""Work items: the registers of kind `task`, by their addresses (section 2.2; federation wire 8.9).

A field's value is what a task op will carry: bare ids for `parent`, addresses for `assignee`.
"""

import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from core.address import DISPATCH, parse_address
from core.errors import conflict, invalid, not_found
from core.store import registers
from core.text import is_blank, is_one_line, utf8_len
from crypto.canonical import JsonValue
from replica.shared import tasks
from replica.shared.kinds import TASK

STATUSES: Final = ("draft", "ready", "working", "review", "landing", "landed", "dropped")
"""How far a work item is. One that has landed or was dropped is woken no more (section C.8)."""

KINDS: Final = ("task", "epic")
PRIORITIES: Final = ("none", "low", "medium", "high", "urgent")

MAX_TITLE_BYTES: Final = 200
MAX_LABELS: Final = 20
MAX_LABEL_BYTES: Final = 64

_ID_BYTES: Final = 5
"""Random bytes of an id: a team's work items meet by their ids, whoever made them."""


@dataclass(frozen=True, slots=True)
class WorkItem:
    """A work item as this host has it. `parent` is the id of an epic, `assignee` a human or an agent."""

    id: str
    title: str
    status: str
    kind: str
    parent: str | None = None
    assignee: str | None = None
    priority: str | None = None
    labels: tuple[str, ...] = ()
    created: str | None = None

    @property
    def address(self) -> str:
        """Its address."""
        return f"task:{self.id}"

    def to_json(self) -> dict[str, JsonValue]:
        """The work item for programs."""
        return {
            "id": self.id,
            "title": self.title,
            "status": self.status,
            "kind": self.kind,
            "parent": self.parent,
            "assignee": self.assignee,
            "priority": self.priority,
            "labels": [*self.labels],
            "created": self.created,
        }


def add(
    db: sqlite3.Connection,
    random: Callable[[int], bytes],
    fields: Mapping[str, JsonValue],
    *,
    now: str,
) -> WorkItem:
    """Make a work item, inside an open transaction: `ready`, and a task, unless the fields say otherwise.

    Raises DmpError: `invalid` on the field at fault, `not-found` on `parent`.
    """
    known: dict[str, JsonValue] = {"status": "ready", "kind": "task", **fields, "created": now}
    if "title" not in known:
        raise invalid("title", "say what the work item is about")
    known |= _checked(db, known)
    prefix = "e" if known["kind"] == "epic" else "t"
    while registers.fields_of(db, TASK, address := f"task:{prefix}-{random(_ID_BYTES).hex()}"):
        continue
    registers.edit(db, TASK, address, known)
    return _read(address, known)


def edit(db: sqlite3.Connection, address: str, fields: Mapping[str, JsonValue]) -> WorkItem:
    """Change fields of a work item, inside an open transaction.

    Raises DmpError: `not-found` on `task` or `parent`, `invalid` on the field at fault.
    """
    item = need(db, address)
    registers.edit(db, TASK, address, _checked(db, fields, item))
    return need(db, address)


def remove(db: sqlite3.Connection, address: str) -> WorkItem:
    """Remove a work item, inside an open transaction, and return what it was. What belonged to an epic is nobody's.

    Raises DmpError `not-found` on `task`.
    """
    item = need(db, address)
    for child in under(db, item.id):
        registers.edit(db, TASK, child.address, {"parent": None})
    tasks.remove(db, address)
    return item


def promote(db: sqlite3.Connection, address: str, status: str) -> bool:
    """Move a draft to a status; False, and nothing done, for what is no draft (any more)."""
    item = find(db, address)
    if item is None or item.status != "draft":
        return False
    registers.edit(db, TASK, address, {"status": status})
    return True


def find(db: sqlite3.Connection, address: str) -> WorkItem | None:
    """The work item of an address, or None."""
    fields = registers.fields_of(db, TASK, address)
    return _read(address, fields) if fields and not tasks.is_removed(db, address) else None


def need(db: sqlite3.Connection, address: str) -> WorkItem:
    """The work item of an address. Raises DmpError `not-found` on `task`."""
    item = find(db, address)
    if item is None:
        raise not_found("task", f"there is no work item {address}; `dmp task list` shows those there are")
    return item


def every(db: sqlite3.Connection) -> list[WorkItem]:
    """All work items, in the order of their ids."""
    return _present(db, registers.subjects(db, TASK))


def under(db: sqlite3.Connection, epic: str) -> list[WorkItem]:
    """The work items whose parent is the epic of an id."""
    return _present(db, registers.subjects_with(db, TASK, "parent", epic))


def _present(db: sqlite3.Connection, found: Mapping[str, Mapping[str, JsonValue]]) -> list[WorkItem]:
    return [_read(each, fields) for each, fields in found.items() if not tasks.is_removed(db, each)]


def why_not_worked_on(item: WorkItem | None) -> str | None:
    """What a work item is that nobody is woken for it: `missing`, `an epic`, `landed` or `dropped` (C.8)."""
    if item is None:
        return "missing"
    if item.kind == "epic":
        return "an epic"
    return item.status if item.status in ("landed", "dropped") else None


def address_of(text: str, field: str = "task") -> str:
    """The address of a work item that is named by its address or its bare id. Raises DmpError `invalid`."""
    address = parse_address(text if ":" in text else f"task:{text}", field, DISPATCH)
    if address.kind != "task":
        raise invalid(field, f"{text} is no work item; its address is task:t-… or task:e-…")
    return address.text


def epic_id(text: str, field: str) -> str:
    """The id of an epic that is named by its address or its id, be it known here or not. Raises DmpError `invalid`."""
    id_ = address_of(text, field).partition(":")[2]
    if not id_.startswith("e-"):
        raise invalid(field, f"{text} is no epic; the id of one is e-…")
    return id_


def _read(address: str, fields: Mapping[str, JsonValue]) -> WorkItem:
    """Read what registers hold; teammates write them too, so a value of another type counts as none, and a text is read
    as one line of a title's length."""

    def text(name: str) -> str | None:
        value = fields.get(name)
        return " ".join(value[:MAX_TITLE_BYTES].split()) if isinstance(value, str) else None

    labels = fields.get("labels")
    return WorkItem(
        id=address.partition(":")[2],
        title=text("title") or "",
        status=text("status") or "draft",
        kind=text("kind") or "task",
        parent=text("parent"),
        assignee=text("assignee"),
        priority=text("priority"),
        labels=tuple(each for each in labels if isinstance(each, str)) if isinstance(labels, list) else (),
        created=text("created"),
    )


def _checked(
    db: sqlite3.Connection, fields: Mapping[str, JsonValue], item: WorkItem | None = None
) -> dict[str, JsonValue]:
    """Return the fields given for a new work item or for changes of `item` as they are stored."""
    known = dict(fields)
    for name, value in fields.items():
        match name:
            case "title":
                _check_line(name, value, MAX_TITLE_BYTES)
            case "status":
                _check_one_of(name, value, STATUSES)
            case "kind":
                _check_one_of(name, value, KINDS)
                if item is not None and value != item.kind:
                    raise conflict(name, "a work item stays a task or an epic, as its id says")
            case "parent" if value is not None:
                is_epic = (fields.get("kind") if item is None else item.kind) == "epic"
                known[name] = _parent(db, str(value), is_epic)
            case "assignee" if value is not None:
                _check_assignee(str(value))
            case "priority" if value is not None:
                _check_one_of(name, value, PRIORITIES)
            case "labels":
                _check_labels(value)
    return known


def _parent(db: sqlite3.Connection, named: str, is_epic: bool) -> str:
    """Return the id of a parent."""
    if is_epic:
        raise invalid("parent", "an epic has no parent")
    address = address_of(named, "parent")
    parent = find(db, address)
    if parent is None:
        raise not_found("parent", f"there is no epic {named}; `dmp task list` shows those there are")
    if parent.kind != "epic":
        raise invalid("parent", f"{named} is no epic; make one with `dmp task add TITLE --epic`")
    return parent.id


def _check_assignee(value: str) -> None:
    if parse_address(value, "assignee", DISPATCH).kind not in ("human", "agent"):
        raise invalid("assignee", "a work item is assigned to a human or an agent, such as human:bob")


def _check_labels(value: JsonValue) -> None:
    if not isinstance(value, list) or len(value) > MAX_LABELS or len(set(map(str, value))) < len(value):
        raise invalid("labels", f"labels are at most {MAX_LABELS} different ones")
    for index, label in enumerate(value):
        _check_line(f"labels[{index}]", label, MAX_LABEL_BYTES)


def _check_one_of(name: str, value: JsonValue, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise invalid(name, f"{name} is one of {', '.join(allowed)}")


def _check_line(name: str, value: JsonValue, limit: int) -> None:
    try:
        fits = isinstance(value, str) and utf8_len(value) <= limit and is_one_line(value)
    except UnicodeEncodeError:
        fits = False
    if not fits or is_blank(str(value)):
        raise invalid(name, f"{name} is one line of 1 to {limit} bytes that is not blank")
