"""The effects table: which gates' effects were applied, and who is applying one (section 5.5).

Functions that write assume an open transaction.
"""

import sqlite3
from typing import Final

_CLAIM: Final = (
    "INSERT INTO effects (gate, owner) VALUES (?1, ?2)"
    " ON CONFLICT (gate) DO UPDATE SET owner = ?2 WHERE applied_at IS NULL"
)


def owner_of(db: sqlite3.Connection, gate: str) -> str | None:
    """Return who applies a gate's effect; None for nobody at the moment."""
    row = db.execute("SELECT owner FROM effects WHERE gate = ?", (gate,)).fetchone()
    return None if row is None else row[0]


def claim_effect(db: sqlite3.Connection, gate: str, me: str) -> bool:
    """Make a gate's effect this owner's to apply, whoever had it; False when it is applied already."""
    return db.execute(_CLAIM, (gate, me)).rowcount > 0


def record_applied(db: sqlite3.Connection, gate: str, now: str) -> None:
    """Record that a gate's effect was applied; nothing is left to do about it."""
    settle_gate(db, gate)
    db.execute(
        "INSERT INTO effects (gate, applied_at) VALUES (?1, ?2)"
        " ON CONFLICT (gate) DO UPDATE SET applied_at = ?2, owner = NULL",
        (gate, now),
    )


def release_effect(db: sqlite3.Connection, gate: str, me: str) -> None:
    """Leave an effect this owner could not apply to whoever recovers next."""
    db.execute(
        "UPDATE effects SET owner = NULL WHERE gate = ? AND owner = ? AND applied_at IS NULL", (gate, me)
    )


def forget_effect(db: sqlite3.Connection, gate: str) -> None:
    """Forget what was done about a gate that is open again."""
    db.execute("DELETE FROM effects WHERE gate = ?", (gate,))
    db.execute("UPDATE messages SET gate = 'waiting' WHERE id = ?", (gate,))


def settle_gate(db: sqlite3.Connection, gate: str) -> None:
    """Let recovery pass a gate by from now on: it is closed, or its effect applied."""
    db.execute("UPDATE messages SET gate = 'settled' WHERE id = ? AND gate = 'waiting'", (gate,))


def applied_gates(db: sqlite3.Connection) -> list[str]:
    """Return the ids of the gates whose effect was applied, in their order."""
    query = "SELECT gate FROM effects WHERE applied_at IS NOT NULL ORDER BY gate"
    return [row[0] for row in db.execute(query)]


def is_applied(db: sqlite3.Connection, gate: str) -> bool:
    """Return whether a gate's effect was applied."""
    query = "SELECT 1 FROM effects WHERE gate = ? AND applied_at IS NOT NULL"
    return db.execute(query, (gate,)).fetchone() is not None
