"""Team memory: every write of every entry that counts, as their publishers made them (F.7; federation wire 8.D).

An entry is what its writes come to in the order of their clocks (`entries`). They are kept apart and not merged
as they arrive, since a replica may leave some of them out: those that nobody stands behind wait for its person.
"""

import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from core.errors import damaged
from crypto.canonical import JsonError, JsonValue, canonical, parse
from crypto.clock import Reading
from crypto.op import Op
from crypto.roster.view import View
from replica.chain.outcome import Outcome
from replica.shared.memory.bodies import CONTENT, Trust, is_memory, parse_memory

TABLE: Final = "memory_writes"

_COLUMNS: Final = "memory, ms, counter, replica, seq, claim, author, fields_json"
_IN_ORDER: Final = "ORDER BY memory, ms, counter, replica"


@dataclass(frozen=True, slots=True)
class Write:
    """Fields of an entry written at once. `seq` is None, and `at` too, for what was not published yet.

    `claim` is the trust its publisher asserts, `by` who wrote it, where that is told.
    """

    memory: str
    replica: str
    seq: int | None
    at: Reading | None
    claim: Trust
    by: str | None
    fields: Mapping[str, JsonValue]

    @property
    def is_content(self) -> bool:
        """Whether it changes what the entry says."""
        return not CONTENT.isdisjoint(self.fields)

    @property
    def place(self) -> tuple[str, int | None]:
        """The replica and the seq of its op."""
        return self.replica, self.seq


def fold(db: sqlite3.Connection, _view: View, op: Op) -> Outcome:
    """Fold a memory op in. Raises DmpError `invalid`."""
    said = parse_memory(op.body)
    if said is None or not said.fields:
        return Outcome.NOTHING
    added = db.execute(
        f"INSERT OR IGNORE INTO {TABLE} ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (
            said.memory,
            op.hlc.ms,
            op.hlc.counter,
            op.replica,
            op.seq,
            said.claim,
            said.by,
            canonical(dict(said.fields)).decode(),
        ),
    )
    db.execute("INSERT OR IGNORE INTO memory_unjudged (memory) VALUES (?)", (said.memory,))
    return Outcome.APPLIED if added.rowcount else Outcome.NOTHING


def is_new(db: sqlite3.Connection, op: Op) -> bool:
    """Whether an op is about an entry nobody has written to yet."""
    memory = op.body.get("memory") if isinstance(op.body, dict) else None
    if not is_memory(memory):
        return False
    return db.execute(f"SELECT 1 FROM {TABLE} WHERE memory = ? LIMIT 1", (memory,)).fetchone() is None


def writes_of(db: sqlite3.Connection, memory: str) -> list[Write]:
    """The published writes of an entry, in the order of their clocks."""
    rows = db.execute(f"SELECT {_COLUMNS} FROM {TABLE} WHERE memory = ? {_IN_ORDER}", (memory,))
    return [_write(row) for row in rows]


def all_writes(db: sqlite3.Connection) -> Iterator[tuple[str, list[Write]]]:
    """The published writes of every entry, each in the order of their clocks."""
    rows = (_write(row) for row in db.execute(f"SELECT {_COLUMNS} FROM {TABLE} {_IN_ORDER}"))
    for memory, found in groupby(rows, lambda write: write.memory):
        yield memory, list(found)


def read_fields(text: str, of: str) -> dict[str, JsonValue]:
    """Read fields as they are stored; `of` says whose they are.

    Raises DmpError `unavailable` where the store is damaged.
    """
    try:
        value = parse(text).value
    except JsonError:
        value = None
    if not isinstance(value, dict):
        raise damaged(of)
    return value


def _write(row: tuple[str, int, int, str, int, str, str | None, str]) -> Write:
    memory, ms, counter, replica, seq, claim, by, fields = row
    return Write(
        memory,
        replica,
        seq,
        Reading(ms, counter, replica),
        Trust(claim),
        by,
        read_fields(fields, f"the memory {memory}"),
    )
