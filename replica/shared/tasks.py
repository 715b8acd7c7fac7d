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
from replica.shared.kinds import TASK, TOMBSTONE, TOUCHED

_AT: Final = "at"
"""The one field of a tombstone and of a last touch: what counts of both is their reading."""


def fold(db: sqlite3.Connection, _view: View, op: Op) -> Outcome:
    """Fold a task op in. Raises DmpError: `invalid`, and `conflict` on `task` for a second making of one id."""
    said = parse_task(op.body)
    if isinstance(said, TaskRemove):
        moved = registers.merge(db, TOMBSTONE, said.task, _AT, True, op.hlc)
    else:
        if said.origin is not None:
            _made(db, said.task, said.origin, op)
        written = [registers.merge(db, TASK, said.task, *each, op.hlc) for each in _written(said, op)]
        if written:
            registers.merge(db, TOUCHED, said.task, _AT, True, op.hlc)
        moved = any(written)
    return Outcome.APPLIED if moved else Outcome.NOTHING


def remove(db: sqlite3.Connection, task: str) -> None:
    """Remove a work item, inside an open transaction; what was written to it here is not published any more."""
    registers.drop_edits(db, TASK, task, registers.fields_of(db, TASK, task))
    if registers.published_fields(db, TASK, task):
        registers.edit(db, TOMBSTONE, task, {_AT: True})


def is_removed(db: sqlite3.Connection, task: str) -> bool:
    """Whether a work item was removed after it was last written to, here or by others."""
    if registers.is_edited(db, TOMBSTONE, task):
        return True
    removed = registers.reading_of(db, TOMBSTONE, task, _AT)
    if removed is None or registers.is_edited(db, TASK, task):
        return False
    touched = registers.reading_of(db, TOUCHED, task, _AT)
    return touched is None or (*touched.key, touched.replica) < (*removed.key, removed.replica)


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
