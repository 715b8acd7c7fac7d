"""Chains as they are drawn: the place, time, type and links of each verified op, without what it says.

A chain may have 100,000 ops, so they are read by pages, and the op of a time is found by halving: clocks rise along
a chain.
"""

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from crypto.canonical import JsonValue, parse
from crypto.clock import Reading

_LINE: Final = "SELECT seq, line FROM ops WHERE replica = ? AND seq >= ? ORDER BY seq LIMIT 1"


@dataclass(frozen=True, slots=True)
class Extent:
    """A chain as far as it was verified here: the seqs of its first and last op, and how many there are."""

    replica: str
    first: int
    last: int
    count: int


@dataclass(frozen=True, slots=True)
class DrawnOp:
    """An op: `ms` by its clock, `stub` where its content was pruned, `to` whom it is sealed to; `body` is in the clear.

    It was verified before it was stored. What it holds is text of its publisher.
    """

    seq: int
    ms: int
    type: str
    stub: bool
    to: tuple[str, ...]
    body: JsonValue


def extents(db: sqlite3.Connection) -> list[Extent]:
    """Every chain, by its replica."""
    rows = db.execute(
        "SELECT replica, min(seq), max(seq), count(*) FROM ops GROUP BY replica ORDER BY replica"
    )
    return [Extent(*row) for row in rows]


def ops_from(db: sqlite3.Connection, replica: str, seq: int, limit: int) -> Iterator[DrawnOp]:
    """The first `limit` ops of a chain from a seq on."""
    rows = db.execute(
        "SELECT seq, line FROM ops WHERE replica = ? AND seq >= ? ORDER BY seq LIMIT ?", (replica, seq, limit)
    )
    for at, line in rows:
        yield _drawn(at, line)


def op_at(db: sqlite3.Connection, replica: str, seq: int) -> DrawnOp | None:
    """The first op of a chain from a seq on."""
    row = db.execute(_LINE, (replica, seq)).fetchone()
    return None if row is None else _drawn(*row)


def seq_at(db: sqlite3.Connection, extent: Extent, ms: int) -> int:
    """The seq from which on a chain's ops are of a time or later; one past the last where there are none."""
    low, high = extent.first, extent.last + 1
    while low < high:
        middle = (low + high) // 2
        found = op_at(db, extent.replica, middle)
        if found is None or found.ms >= ms:
            high = middle
        else:
            low = found.seq + 1
    return low


def _drawn(seq: int, line: bytes) -> DrawnOp:
    entry = parse(bytes(line).decode()).value
    assert isinstance(entry, dict)
    to = entry.get("to")
    return DrawnOp(
        seq,
        Reading.parse(str(entry["hlc"])).ms,
        str(entry["type"]),
        entry.get("pruned") is True,
        tuple(str(each) for each in to) if isinstance(to, list) else (),
        entry.get("body"),
    )
