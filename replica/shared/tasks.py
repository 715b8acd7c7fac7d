"""Work items: registers by address and field, tombstones, and one making of each id (federation wire 8.C)."""

import sqlite3
from collections.abc import Iterator
from typing import Final

from core.errors import conflict
from core.store import registers
from crypto.canonical import JsonValue
from crypto.clock import Reading
from crypto.op import Op
from crypto.roster.view import View
from replica.chain.outcome import Outcome
from replica.records.meta import Meta, put
from replica.shared.bodies import ACTIVITY, TaskPut, TaskRemove, parse_task
from replica.shared.kinds import REMOVED_TASK, TASK, TOMBSTONE

_REMOVED: Final = "removed"


def fold(db: sqlite3.Connection, _view: View, op: Op) -> Outcome:
    """Fold a task op in. Raises DmpError: `invalid`, and `conflict` on `task` for a second making of one id."""
    said = parse_task(op.body)
    if isinstance(said, TaskRemove):
        moved = registers.merge(db, TOMBSTONE, said.task, _REMOVED, True, op.hlc)
    else:
        if said.origin is not None:
            _made(db, said.task, said.origin, op)
        kind = REMOVED_TASK if _latest(db, REMOVED_TASK, said.task) is not None else TASK
        written = [registers.merge(db, kind, said.task, *each, op.hlc) for each in _written(said, op)]
        moved = any(written)
    if moved:
        _show_or_hide(db, said.task)
    return Outcome.APPLIED if moved else Outcome.NOTHING


def _written(said: TaskPut, op: Op) -> Iterator[tuple[str, JsonValue]]:
    yield from said.fields.items()
    for index, line in enumerate(said.activity):
        yield f"{ACTIVITY} {op.hlc.ms:013d}.{op.hlc.counter:09d}.{op.hlc.replica} {index:04d}", line


def _made(db: sqlite3.Connection, task: str, origin: str, op: Op) -> None:
    """Keep when a work item was made. Of two that have one id, the one whose op is earlier is meant."""
    row = db.execute("SELECT origin, hlc FROM task_origins WHERE task = ?", (task,)).fetchone()
    if row is not None:
        known = Reading.parse(row[1])
        earlier = (*op.hlc.key, op.hlc.replica) < (*known.key, known.replica)
        if row[0] != origin:
            if not earlier:
                raise conflict("task", f"another work item has the id {task.partition(':')[2]}")
            put(db, Meta.FOLDED_TYPES, None)  # what the later one wrote goes
        if not earlier:
            return
    db.execute(
        "INSERT OR REPLACE INTO task_origins (task, origin, hlc) VALUES (?, ?, ?)",
        (task, origin, str(op.hlc)),
    )


def _show_or_hide(db: sqlite3.Connection, task: str) -> None:
    """Have a work item where it is read, unless it was removed after it was last written to."""
    removed = _latest(db, TOMBSTONE, task)
    if removed is None:
        return
    touched = [each for kind in (TASK, REMOVED_TASK) if (each := _latest(db, kind, task)) is not None]
    shown = bool(touched) and max(touched) > removed
    db.execute(
        "UPDATE registers SET kind = ? WHERE kind = ? AND subject = ?",
        (TASK, REMOVED_TASK, task) if shown else (REMOVED_TASK, TASK, task),
    )


def _latest(db: sqlite3.Connection, kind: str, task: str) -> tuple[int, int, str] | None:
    """When a register of a work item was last written."""
    rows = db.execute("SELECT DISTINCT hlc FROM registers WHERE kind = ? AND subject = ?", (kind, task))
    readings = [Reading.parse(hlc) for (hlc,) in rows]
    return max(((*reading.key, reading.replica) for reading in readings), default=None)
