"""Shared state is a fold of the clear ops that count: the same ops give the same state, in any order of arrival.

An op counts by its publisher's place in the team, as the roster is now: whoever never stood there, an observer and
what comes after a cut change nothing. Each op is folded in as it is applied; where a place changes, or this build
reads more types than the one before it, all is folded anew from the ops that were kept.
"""

import json
import logging
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Final, TypeAlias

from core.errors import Code, DmpError
from core.store import Store
from crypto.op import Op
from crypto.roster.view import View
from replica.chain.outcome import Outcome, Verdict
from replica.records import ops, problems, subjects
from replica.records.commits import CommitPoint
from replica.records.meta import Meta, get, put
from replica.shared import agents, channels, presence, tasks
from replica.shared.docs import fold as docs
from replica.shared.kinds import KINDS
from replica.shared.memory import writes as memory

Handler: TypeAlias = Callable[[sqlite3.Connection, View, Op], Outcome]
"""Folds one op in, inside an open transaction. Raises DmpError where its body is malformed."""

HANDLERS: Final[dict[str, Handler]] = {
    "task": tasks.fold,
    "agent": agents.fold,
    "channel": channels.fold,
    "presence": presence.fold,
    "memory": memory.fold,
    "doc": docs.fold,
}
"""By the type of an op, what folds it in. A type that is added is applied to the ops that were kept of it."""

TABLES: Final = (
    "run_claims",
    "devices",
    "task_origins",
    "folded",
    memory.TABLE,
    "doc_revisions",
    "doc_notes",
)
"""The tables of what was folded, beside the registers; `folded` has the places that publishers had then."""

_LARGE: Final = frozenset(("doc",))
"""Types whose ops are too large to be read all at once, and need not be: each is kept by itself, in any order."""

_log = logging.getLogger(__name__)


def apply(db: sqlite3.Connection, view: View, op: Op) -> Outcome:
    """Fold one op in, inside an open transaction; one that is at fault changes nothing."""
    remember_place(db, view, op.replica)
    if not counts(view, op):
        return Outcome.NOTHING
    db.execute("SAVEPOINT fold")
    try:
        outcome = HANDLERS[op.type](db, view, op)
    except (sqlite3.OperationalError, MemoryError):
        raise  # the machine's fault, not the op's
    except DmpError as error:
        if error.code is Code.UNAVAILABLE:
            raise
        outcome = Outcome.dropped(
            subjects.of_type(op.type).of(op.replica), f"not applied, seq {op.seq}: {error}"
        )
    except Exception as error:  # noqa: BLE001
        _log.warning("op %s:%d could not be folded: %s", op.replica, op.seq, type(error).__name__)
        outcome = Outcome.dropped(
            subjects.of_type(op.type).of(op.replica),
            f"could not be applied here, seq {op.seq} ({type(error).__name__})",
        )
    if outcome.verdict is Verdict.DROPPED:
        db.execute("ROLLBACK TO fold")
    db.execute("RELEASE fold")
    return outcome


def remember_place(db: sqlite3.Connection, view: View, publisher: str) -> None:
    """Note by which place in the team a publisher's ops were judged, those that do not count too.

    Where the others of its ops were judged by another, by a process that knew more or less, all has to be folded anew.
    """
    place = _place(view, publisher)
    known = db.execute("SELECT place FROM folded WHERE replica = ?", (publisher,)).fetchone()
    if known is None:
        db.execute("INSERT INTO folded (replica, place) VALUES (?, ?)", (publisher, place))
    elif known[0] != place:
        put(db, Meta.FOLDED_TYPES, None)


def counts(view: View, op: Op) -> bool:
    """Whether an op counts, by its publisher's place: an observer says only that it is there."""
    if not view.standing(op.replica, op.seq):
        return False
    held = view.members.get(op.replica) or view.revoked[op.replica]
    return op.type == "presence" or not held.observer


def is_stale(db: sqlite3.Connection, view: View) -> bool:
    """Whether what is folded was folded for another roster, or by a build that read fewer types."""
    return get(db, Meta.FOLDED_TYPES) != _types() or any(
        place != _place(view, replica) for replica, place in db.execute("SELECT replica, place FROM folded")
    )


def refold(store: Store, view: View, at: str) -> None:
    """Fold all anew from the ops that were kept; `at` dates the problems met.

    The transport is read again afterwards, since mail may have waited for what is known now.
    """
    with store.transaction(CommitPoint.REFOLDED) as db:
        for table in TABLES:
            db.execute(f"DELETE FROM {table}")
        db.executemany("DELETE FROM registers WHERE kind = ?", [(kind,) for kind in KINDS])
        for kind in (*map(subjects.of_type, HANDLERS), subjects.RUN_CONFLICT):
            problems.clear_all(db, kind)
        put(db, Meta.FOLDED_TYPES, _types())
        by_clock = sorted(
            _kept(db, HANDLERS.keys() - _LARGE), key=lambda op: (*op.hlc.key, op.replica, op.seq)
        )
        for op in chain(by_clock, _kept(db, _LARGE)):
            outcome = apply(db, view, op)
            if outcome.subject:
                problems.note(db, problems.Problem(outcome.subject, outcome.reason, op.replica, op.seq, at))
            ops.settle(db, op.replica, op.seq)
        put(db, Meta.TIP, None)


def _kept(db: sqlite3.Connection, types: Iterable[str]) -> Iterator[Op]:
    """The ops of some types that were not put aside for later, read one at a time."""
    kept = (
        "SELECT replica, seq FROM ops WHERE type = ? AND type NOT IN ('mail', 'state') "
        "EXCEPT SELECT replica, seq FROM parked"
    )
    for type_ in sorted(types):
        for replica, seq in db.execute(kept, (type_,)).fetchall():
            entry = ops.entry_at(db, replica, seq)
            if isinstance(entry, Op):
                yield entry


def _types() -> str:
    return json.dumps(sorted(HANDLERS))


def _place(view: View, replica: str) -> str:
    """All that decides whether and how a replica's ops count."""
    member, cut = view.members.get(replica), view.revoked.get(replica)
    held = member or cut
    if held is None:
        return ""
    ends = None if cut is None or member is not None else cut.point.after_seq
    cuts = sorted((each.handle, each.after_seq) for each in held.host_cuts)
    admin = view.is_admin(replica)
    forked = view.forks.get(replica)
    return json.dumps(
        [held.fingerprint, held.handle, sorted(held.hosts), cuts, held.observer, admin, ends, forked]
    )
