"""What a person should know: one row for a subject, the latest text (federation wire 12).

A subject is `<kind>:<detail>`, such as `halt:ada-0000000a`. Most clear themselves when their cause is gone.
Texts quote nothing of a message's body or data.
"""

import sqlite3
from dataclasses import dataclass

MAX_TEXT = 600
"""Characters of a problem's text: others' names and reasons may be in it."""

MAX_PER_REPLICA = 50
"""Rows of one kind (the part before the colon) about one replica: a hostile publisher cannot crowd out others."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Something a person should know, and where it was met when it was met in an op."""

    subject: str
    text: str
    replica: str | None = None
    seq: int | None = None
    at: str = ""


def note(db: sqlite3.Connection, problem: Problem) -> None:
    """Add or replace the problem of its subject."""
    kind = problem.subject.partition(":")[0]
    known = db.execute("SELECT 1 FROM problems WHERE subject = ?", (problem.subject,)).fetchone()
    if known is None:
        (count,) = db.execute(
            "SELECT count(*) FROM problems WHERE subject >= ? AND subject < ? AND replica IS ?",
            (f"{kind}:", f"{kind};", problem.replica),
        ).fetchone()
        if count >= MAX_PER_REPLICA:
            return
    db.execute(
        "INSERT INTO problems (subject, text, replica, seq, at) VALUES (?, ?, ?, ?, ?) "
        "ON CONFLICT (subject) DO UPDATE SET text = excluded.text, replica = excluded.replica, "
        "seq = excluded.seq, at = excluded.at WHERE text IS NOT excluded.text OR seq IS NOT excluded.seq",
        (problem.subject, problem.text[:MAX_TEXT], problem.replica, problem.seq, problem.at),
    )


def clear(db: sqlite3.Connection, subject: str) -> None:
    """Forget the problem of `subject`, if there is one."""
    db.execute("DELETE FROM problems WHERE subject = ?", (subject,))


def all_problems(db: sqlite3.Connection) -> list[Problem]:
    """Every problem, oldest first."""
    rows = db.execute("SELECT subject, text, replica, seq, at FROM problems ORDER BY at, subject")
    return [Problem(*row) for row in rows]
