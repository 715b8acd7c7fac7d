"""What a person should know: one row for a subject, the latest text (federation wire 12).

`subjects` says which kinds there are. Texts quote nothing of a message's body or data.
"""

import sqlite3
from dataclasses import dataclass

from core.errors import Code, DmpError
from replica.records import subjects
from replica.records.subjects import Kind

MAX_TEXT = 600
"""Characters of a problem's text: others' names and reasons may be in it."""

MAX_PER_REPLICA = 50
"""Rows of one kind (the part before the colon) about one replica: a hostile publisher cannot crowd out others."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Something a person should know, and where it was met when it was met in an op.

    `seen` tells that a person has said so of this very text.
    """

    subject: str
    text: str
    replica: str | None = None
    seq: int | None = None
    at: str = ""
    seen: bool = False

    @property
    def kind(self) -> Kind:
        """What it is about, and what to do about it."""
        return subjects.kind_of(self.subject)


def note(db: sqlite3.Connection, problem: Problem) -> None:
    """Add or replace the problem of its subject; a new text is shown although the last one was seen."""
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


def clear_all(db: sqlite3.Connection, kind: Kind) -> None:
    """Forget every problem of a kind."""
    db.execute(
        "DELETE FROM problems WHERE subject = ? OR subject >= ? AND subject < ?",
        (kind.prefix, f"{kind.prefix}:", f"{kind.prefix};"),
    )


def acknowledge(db: sqlite3.Connection, subject: str) -> bool:
    """Show the problem of `subject` no more until its text changes; False where that was said before.

    Raises DmpError: `not-found` on `subject`; `conflict` for what can only be mended.
    """
    kind = subjects.kind_of(subject)
    row = db.execute("SELECT text, seen FROM problems WHERE subject = ?", (subject,)).fetchone()
    if row is None:
        raise DmpError(Code.NOT_FOUND, "there is no such problem; see `dmp problems`", "subject")
    if not kind.seen:
        raise DmpError(Code.CONFLICT, f"that goes away only when it is mended: {kind.remedy}", "subject")
    text, seen = row
    db.execute("UPDATE problems SET seen = text WHERE subject = ?", (subject,))
    return bool(text != seen)


def all_problems(db: sqlite3.Connection) -> list[Problem]:
    """Every problem, oldest first."""
    rows = db.execute(
        "SELECT subject, text, replica, seq, at, seen IS text FROM problems ORDER BY at, subject"
    )
    return [
        Problem(subject, text, replica, seq, at, bool(seen)) for subject, text, replica, seq, at, seen in rows
    ]
