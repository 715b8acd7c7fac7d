"""Changes of accepted documents that agents and sessions of this machine propose, until its person decides.

A proposal stays here. Approved, it becomes a revision of its author's that the person stands behind, and leaves with
the next sync; rejected, it is gone (section C.3, the gate type `doc`).
"""

import sqlite3
from dataclasses import replace

from crypto.canonical import canonical, parse
from replica.shared.docs import rows
from replica.shared.docs.bodies import REVISION_ID, Approval, DocPut, Revision, parse_doc


def add(db: sqlite3.Connection, revision: Revision, doc: str) -> None:
    """Keep a proposal, inside an open transaction. Raises DmpError `invalid` for what teammates would drop."""
    said = DocPut(doc, revision.author, revision)
    parse_doc(said.to_json())
    db.execute(
        "INSERT OR IGNORE INTO doc_proposals (rev, body_json) VALUES (?, ?)",
        (revision.id, canonical(said.to_json()).decode()),
    )


def every(db: sqlite3.Connection) -> list[tuple[str, Revision]]:
    """The proposals that nobody decided, as (document, revision), the earliest first."""
    found = db.execute("SELECT body_json FROM doc_proposals ORDER BY rev").fetchall()
    return [_read(body) for (body,) in found]


def find(db: sqlite3.Connection, revision: str) -> tuple[str, Revision] | None:
    """A proposal, as (document, revision)."""
    if REVISION_ID.fullmatch(revision) is None:
        return None
    found = db.execute("SELECT body_json FROM doc_proposals WHERE rev = ?", (revision,)).fetchone()
    return None if found is None else _read(found[0])


def decide(db: sqlite3.Connection, revision: str, doc: str, by: str, *, approved: bool) -> None:
    """Apply a proposal of a document in a person's name, or drop it, inside an open transaction.

    Nothing happens for one that was decided already.
    """
    found = find(db, revision)
    if found is None or found[0] != doc:
        return
    db.execute("DELETE FROM doc_proposals WHERE rev = ?", (revision,))
    if approved:
        rows.write(db, DocPut(doc, by, replace(found[1], approval=Approval(by))))


def gate_key(revision: str) -> str:
    """The idempotency key of a proposal's gate: however often it is raised, it is one gate."""
    return f"doc:{revision}"


def _read(body: str) -> tuple[str, Revision]:
    said = parse_doc(parse(body).value)
    assert isinstance(said, DocPut)
    assert said.revision is not None
    return said.doc, said.revision
