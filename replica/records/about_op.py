"""What this replica has noted of one op: why it was refused, waits, or has no effect here."""

import sqlite3

from replica.records import problems
from replica.records.problems import Problem


def problems_about(db: sqlite3.Connection, replica: str, seq: int) -> list[Problem]:
    """The problems that were met at an op, oldest first."""
    return [each for each in problems.all_problems(db) if (each.replica, each.seq) == (replica, seq)]


def waiting_because(db: sqlite3.Connection, replica: str, seq: int) -> list[str]:
    """Why an op that verifies was not applied here, in sentences."""
    found = []
    parked = db.execute("SELECT reason FROM parked WHERE replica = ? AND seq = ?", (replica, seq)).fetchone()
    if parked is not None:
        found.append(f"it waits: {parked[0] or 'it cannot be judged yet'}")
    if _is_in(db, "missing", replica, seq):
        found.append("only its stub came, and its publisher was asked for the content")
    if _is_in(db, "beyond_cut", replica, seq):
        found.append(
            "its publisher may not say it by the roster as it stands, and it is read if that turns out otherwise"
        )
    return found


def _is_in(db: sqlite3.Connection, table: str, replica: str, seq: int) -> bool:
    row = db.execute(f"SELECT 1 FROM {table} WHERE replica = ? AND seq = ?", (replica, seq)).fetchone()
    return row is not None
