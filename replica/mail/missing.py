"""Content that never arrived: a stub where mail was addressed to this replica (K2).

The two sides speak of it in `refused` entries of state ops, about no message: `op-<seq>` tells a publisher that
the content of its op is missing, `gone-<seq>` answers that the publisher has it no more. No message has such an
id here, and another implementation passes over a refusal of a message it does not know.
"""

import sqlite3
from typing import Final

from crypto.op import Stub
from replica.mail.payloads import Refusal
from replica.node import Node
from replica.records import ops, outbox, problems, subjects

MISSING: Final = "op-"
GONE: Final = "gone-"

TIMES_AGAIN: Final = 3
"""How often a publisher acts on reports that the content of one op is missing."""


def content_missing(db: sqlite3.Connection, node: Node, stub: Stub) -> None:
    """Remember a stub met in place of content addressed to this replica, and tell its publisher."""
    remember_missing(db, stub)
    reason = "unavailable: the content of this op never arrived here; publish it again"
    _say(db, node, f"{MISSING}{stub.seq}", reason, stub.replica)


def remember_missing(db: sqlite3.Connection, stub: Stub) -> None:
    """Remember a stub whose content may come later, by any line that brings it."""
    db.execute(
        "INSERT OR IGNORE INTO missing (replica, seq, hash) VALUES (?, ?, ?)",
        (stub.replica, stub.seq, stub.hash),
    )


def reported_missing(db: sqlite3.Connection, node: Node, publisher: str, entry: Refusal) -> bool:
    """Publish an own op again whose content a recipient never got, or say that this replica has it no more."""
    seq = _seq(entry, MISSING)
    op = None if seq is None else ops.entry_at(db, node.me, seq)
    if op is None or publisher not in (op.to or ()):
        return False
    db.execute("INSERT INTO again (seq, times) VALUES (?, 0) ON CONFLICT DO NOTHING", (op.seq,))
    allowed = db.execute(
        "UPDATE again SET times = times + 1 WHERE seq = ? AND times < ?", (op.seq, TIMES_AGAIN)
    ).rowcount
    if not allowed:
        return False
    if isinstance(op, Stub):
        reason = "unavailable: the content of this op is gone; who may still read it got it in another op"
        _say(db, node, f"{GONE}{op.seq}", reason, publisher)
    else:
        db.execute("INSERT OR IGNORE INTO unpublished (seq, rows_json) VALUES (?, NULL)", (op.seq,))
    return True


def reported_gone(db: sqlite3.Connection, publisher: str, entry: Refusal) -> bool:
    """Stop waiting for content that its publisher has no more."""
    seq = _seq(entry, GONE)
    if seq is None:
        return False
    dropped = db.execute("DELETE FROM missing WHERE replica = ? AND seq = ?", (publisher, seq)).rowcount
    problems.clear(db, subjects.MISSING.of(publisher, seq))
    return bool(dropped)


def is_about_content(entry: Refusal) -> bool:
    """Whether a refusal speaks of an op's content, not of a message."""
    return _seq(entry, MISSING) is not None or _seq(entry, GONE) is not None


def _seq(entry: Refusal, prefix: str) -> int | None:
    digits = entry.message.removeprefix(prefix)
    fits = entry.message.startswith(prefix) and digits.isascii() and digits.isdigit() and len(digits) <= 16
    return int(digits) if fits else None


def _say(db: sqlite3.Connection, node: Node, subject: str, reason: str, to: str) -> None:
    entry = {"t": "refused", "message": subject, "reason": reason, "at": node.now()}
    outbox.add(db, outbox.Kind.STATE, entry, [to])
