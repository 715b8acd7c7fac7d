"""Folding a doc op in: who may say what of a document, judged by the roster alone (F.7; wire 8.17, 8.20)."""

import sqlite3
from dataclasses import replace
from typing import Final

from core.errors import forbidden, invalid
from core.timestamp import milliseconds, timestamp
from crypto.op import Op
from crypto.roster.view import View
from replica.chain.outcome import Outcome
from replica.shared.docs import rows
from replica.shared.docs.bodies import DocPut, DocRemove, Revision, parse_doc

MAX_AHEAD_MS: Final = 10 * 60_000
"""How far a revision may be dated past the clock of its op; one that is further is dated by the op (8.20)."""

MERGES: Final = "sync"
"""The cause of a merge that no person made."""


def fold(db: sqlite3.Connection, view: View, op: Op) -> Outcome:
    """Fold a doc op in.

    Raises DmpError: `invalid`; `forbidden` on `by` or `revision.author` for whom the publisher does not speak for,
    on `kind` for a removal by who is no person.
    """
    said = parse_doc(op.body)
    _check_speaks_for(view, op, said.by, "by")
    if isinstance(said, DocRemove):
        if not said.by.startswith("human:"):
            raise forbidden("kind", "only a person removes a document")
    elif said.revision is not None:
        said = replace(said, revision=_judged(view, op, said, said.revision))
    rows.fold(db, op, said)
    return Outcome.APPLIED


def begins(db: sqlite3.Connection, op: Op) -> bool:
    """Whether an op is the first to speak of a document."""
    doc = op.body.get("doc") if isinstance(op.body, dict) else None
    return isinstance(doc, str) and not rows.knows(db, doc)


def _judged(view: View, op: Op, said: DocPut, revision: Revision) -> Revision:
    """The revision as it counts here: without an approval that its publisher cannot give, and dated believably."""
    if revision.cause == MERGES:
        # This replica makes none, so it cannot tell a true one from a made-up one.
        raise invalid("revision.cause", "merges that no person made are not taken")
    if revision.author != said.by:
        _check_speaks_for(view, op, revision.author, "revision.author")
    if milliseconds(revision.created_at) > op.hlc.ms + MAX_AHEAD_MS:
        revision = replace(revision, created_at=timestamp(op.hlc.ms))
    approval = revision.approval
    if approval is not None and not (approval.by.startswith("human:") and _speaks_for(view, op, approval.by)):
        revision = replace(revision, approval=None)
    return revision


def _check_speaks_for(view: View, op: Op, address: str, field: str) -> None:
    if not _speaks_for(view, op, address):
        raise forbidden(field, "the replica that published it does not speak for that author")


def _speaks_for(view: View, op: Op, address: str) -> bool:
    """Whether an op's publisher speaks for an author, as far as the roster tells.

    A session's is its publisher's if that claims it, which is looked up when the document is read: the claim may
    come later.
    """
    scheme, _, rest = address.partition(":")
    if scheme == "run":
        return True
    handle, slash, _ = rest.partition("/")
    if (scheme == "agent") != bool(slash):
        return False
    return view.speaks_for_handle(op.replica, handle, op.seq)
