"""work/v1: what a client asks of this host's work, and how its work is said to stand (section 8.6), pure."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, cast

from bindings.a2a import fields
from core.errors import invalid
from core.text import is_blank
from crypto.canonical import JsonValue

MAX_TITLE_BYTES: Final = 200
MAX_ACCEPTANCE: Final = 20
MAX_CRITERION_BYTES: Final = 500
MAX_WRITES: Final = 50
MAX_WRITE_BYTES: Final = 512
MAX_LABELS: Final = 10
MAX_LABEL_BYTES: Final = 50
MAX_TASK_BYTES: Final = 512

Priority = Literal["urgent", "high", "medium", "low", "none"]
PRIORITIES: Final[tuple[Priority, ...]] = ("urgent", "high", "medium", "low", "none")

Stage = Literal["review", "landing"]
STAGES: Final[tuple[Stage, ...]] = ("review", "landing")
"""The statuses of a work item that a client is told of as stages of work."""

_DRIVE: Final = re.compile("[A-Za-z]:")


@dataclass(frozen=True, slots=True)
class HandoffRequest:
    """Work that a client proposes. The host caps the priority, and chooses the risk itself."""

    title: str
    acceptance: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    priority: Priority | None = None
    labels: tuple[str, ...] = ()

    def to_json(self) -> dict[str, JsonValue]:
        """The request as it was sent, without what is empty."""
        found: dict[str, JsonValue] = {"skill": "handoff", "title": self.title}
        for name, entries in (
            ("acceptance", self.acceptance),
            ("writes", self.writes),
            ("labels", self.labels),
        ):
            if entries:
                found[name] = list(entries)
        if self.priority is not None:
            found["priority"] = self.priority
        return found


@dataclass(frozen=True, slots=True)
class StatusRequest:
    """A question about a client's own handoffs: about one task, by its A2A id, or about all of them."""

    task: str | None = None


WorkRequest = HandoffRequest | StatusRequest


def read_work(raw: JsonValue) -> WorkRequest | None:
    """Read a client's request; None is a message without one, which asks.

    Raises DmpError `invalid` on `work`, or on the member at fault under it (`work.title`, `work.writes[1]`).
    """
    if raw is None:
        return None
    if not isinstance(raw, dict):
        raise invalid("work", "work/v1 is an object with a skill")
    match raw.get("skill"):
        case "handoff":
            return _handoff(raw)
        case "status":
            task = raw.get("task")
            return StatusRequest(None if task is None else fields.line(task, "work.task", MAX_TASK_BYTES))
    raise invalid("work.skill", "skill is handoff or status; leave work/v1 out to ask a question")


def work_state(task: str, title: str, status: str, stage: Stage | None = None) -> dict[str, JsonValue]:
    """How a handoff's work item stands, as its client is told; `task` is the work item's id."""
    found: dict[str, JsonValue] = {"task": task, "title": title, "status": status}
    return found if stage is None else {**found, "stage": stage}


def _handoff(raw: Mapping[str, JsonValue]) -> HandoffRequest:
    title = fields.line(raw.get("title"), "work.title", MAX_TITLE_BYTES)
    if is_blank(title):
        raise invalid("work.title", "the title is blank; say in a line what is to be done")
    priority = raw.get("priority")
    if "priority" in raw and priority not in PRIORITIES:
        raise invalid("work.priority", f"priority is one of {', '.join(PRIORITIES)}")
    return HandoffRequest(
        title,
        acceptance=tuple(
            fields.line(each, field, MAX_CRITERION_BYTES)
            for field, each in _entries(raw, "acceptance", MAX_ACCEPTANCE)
        ),
        writes=tuple(_write(each, field) for field, each in _entries(raw, "writes", MAX_WRITES)),
        priority=cast("Priority | None", priority),
        labels=tuple(
            fields.text(each, field, MAX_LABEL_BYTES) for field, each in _entries(raw, "labels", MAX_LABELS)
        ),
    )


def _entries(raw: Mapping[str, JsonValue], name: str, most: int) -> list[tuple[str, JsonValue]]:
    """The entries of a list that may be left out, each with its field."""
    if name not in raw:
        return []
    entries = fields.list_of(raw[name], f"work.{name}", most)
    return [(f"work.{name}[{index}]", each) for index, each in enumerate(entries)]


def _write(value: JsonValue, field: str) -> str:
    """A path or glob within the repository."""
    path = fields.line(value, field, MAX_WRITE_BYTES)
    if is_blank(path):
        raise invalid(field, f"{field} is blank; name a path within the repository")
    if path.startswith("/") or "\\" in path or _DRIVE.match(path) or ".." in path.split("/"):
        raise invalid(field, f"{field} must be relative to the repository, with '/' alone and without '..'")
    return path
