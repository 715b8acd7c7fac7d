"""Proposals: changes of memory that wait for this host's person, and what was decided on them (F.7).

A proposal is of an agent or a session here, or it is a teammate's write that no human stands behind. Neither it nor its
gate ever leaves this replica. Functions that write assume an open transaction.
"""

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Literal, TypeAlias

from crypto.canonical import JsonValue, canonical
from replica.shared.memory.entries import Decision, Decisions
from replica.shared.memory.writes import read_fields

Scope = Literal["personal", "project", "team"]
Action = Literal["add", "supersede", "retire"]
SCOPES: Final[tuple[Scope, ...]] = ("personal", "project", "team")

Changes: TypeAlias = Mapping[str, Mapping[str, JsonValue]]
"""The fields to write, by entry."""


class State(StrEnum):
    """What became of a proposal. `allowed` is a teammate's write that this host's policy accepted."""

    OPEN = "open"
    APPROVED = "approved"
    ALLOWED = "allowed"
    REJECTED = "rejected"


@dataclass(frozen=True, slots=True)
class Proposal:
    """A proposal about the entry `memory`. One of this host has `changes`; a teammate's has the place of its op."""

    id: str
    memory: str
    action: Action
    scope: Scope
    kind: str
    by: str | None
    made_at: str
    state: State
    gate: str | None = None
    changes: Changes | None = None
    place: tuple[str, int] | None = None

    @property
    def gate_key(self) -> str:
        """The idempotency key of its gate: however often it is raised, it is one gate."""
        return f"memory:{self.id}"


_DECISIONS: Final = {
    State.APPROVED: Decision.APPROVED,
    State.ALLOWED: Decision.ALLOWED,
    State.REJECTED: Decision.REFUSED,
}
_COLUMNS: Final = "id, memory, action, scope, kind, author, made_at, state, gate, changes_json, replica, seq"


def add(db: sqlite3.Connection, proposal: Proposal) -> None:
    """Keep a proposal."""
    replica, seq = proposal.place or (None, None)
    changes = proposal.changes
    db.execute(
        f"INSERT INTO memory_proposals ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            proposal.id,
            proposal.memory,
            proposal.action,
            proposal.scope,
            proposal.kind,
            proposal.by,
            proposal.made_at,
            proposal.state,
            proposal.gate,
            None
            if changes is None
            else canonical({name: dict(each) for name, each in changes.items()}).decode(),
            replica,
            seq,
        ),
    )


def remove(db: sqlite3.Connection, proposal: Proposal) -> None:
    """Forget a proposal: what it is about counts without it, or for nothing."""
    db.execute("DELETE FROM memory_proposals WHERE id = ?", (proposal.id,))


def set_state(db: sqlite3.Connection, proposal: Proposal, state: State) -> None:
    """Say what became of a proposal."""
    db.execute("UPDATE memory_proposals SET state = ? WHERE id = ?", (state, proposal.id))


def set_gate(db: sqlite3.Connection, proposal: Proposal, gate: str) -> None:
    """Note which gate asks about a proposal."""
    db.execute("UPDATE memory_proposals SET gate = ? WHERE id = ?", (gate, proposal.id))


def find(db: sqlite3.Connection, id_: str) -> Proposal | None:
    """The proposal of an id, or None."""
    return next(iter(_found(db, "WHERE id = ?", id_)), None)


def of_memory(db: sqlite3.Connection, memory: str) -> list[Proposal]:
    """The proposals about an entry, the oldest first."""
    return _found(db, "WHERE memory = ? ORDER BY made_at, id", memory)


def in_state(db: sqlite3.Connection, state: State) -> list[Proposal]:
    """The proposals of a state, the oldest first."""
    return _found(db, "WHERE state = ? ORDER BY made_at, id", state)


def without_gate(db: sqlite3.Connection) -> list[Proposal]:
    """The open proposals nobody was asked about yet."""
    return _found(db, "WHERE state = 'open' AND gate IS NULL ORDER BY made_at, id")


def outdated(db: sqlite3.Connection) -> list[Proposal]:
    """The open proposals whose op counts for nothing any more: its publisher was cut off before it."""
    return _found(
        db,
        "AS p WHERE state = 'open' AND replica IS NOT NULL AND NOT EXISTS (SELECT 1 FROM memory_writes AS w "
        "WHERE w.memory = p.memory AND w.replica = p.replica AND w.seq = p.seq)",
    )


def open_of(db: sqlite3.Connection, replica: str) -> int:
    """How many proposals of a teammate's replica are open."""
    (count,) = db.execute(
        "SELECT count(*) FROM memory_proposals WHERE state = 'open' AND replica = ?", (replica,)
    ).fetchone()
    return int(count)


def decisions(db: sqlite3.Connection, memory: str | None = None) -> Decisions:
    """What was decided on teammates' writes of an entry, or on all of them."""
    rows = db.execute(
        "SELECT replica, seq, state FROM memory_proposals WHERE replica IS NOT NULL AND state <> 'open' "
        "AND (?1 IS NULL OR memory = ?1)",
        (memory,),
    )
    return {(replica, seq): _DECISIONS[State(state)] for replica, seq, state in rows}


def _found(db: sqlite3.Connection, where: str, *given: str) -> list[Proposal]:
    return [_proposal(row) for row in db.execute(f"SELECT {_COLUMNS} FROM memory_proposals {where}", given)]


def _proposal(
    row: tuple[
        str, str, Action, Scope, str, str | None, str, str, str | None, str | None, str | None, int | None
    ],
) -> Proposal:
    id_, memory, action, scope, kind, by, made_at, state, gate, changes, replica, seq = row
    return Proposal(
        id_,
        memory,
        action,
        scope,
        kind,
        by,
        made_at,
        State(state),
        gate,
        None if changes is None else _changes(changes, id_),
        None if replica is None or seq is None else (replica, seq),
    )


def _changes(text: str, id_: str) -> Changes:
    value = read_fields(text, f"the proposal {id_}")
    return {memory: fields for memory, fields in value.items() if isinstance(fields, dict)}
