"""Presence: which replicas are there, and which sessions run where (federation wire 8.A)."""

import json
import sqlite3

from core.errors import forbidden
from core.store import registers
from crypto.clock import Reading
from crypto.op import Op
from crypto.roster.view import View
from replica.chain.outcome import Outcome, Verdict
from replica.records import problems, subjects
from replica.shared import runs
from replica.shared.bodies import DevicePresence, RunPresence, RunResolve, parse_presence
from replica.shared.kinds import RESOLVED_RUN


def fold(db: sqlite3.Connection, view: View, op: Op) -> Outcome:
    """Fold a presence op in.

    Raises DmpError: `invalid`; `forbidden` for a decision by who is no admin, and for a session of an observer, whose
    word could only take it away from whom it belongs to.
    """
    match parse_presence(op.body):
        case DevicePresence() as said:
            return Outcome.APPLIED if _keep_device(db, op, said) else Outcome.NOTHING
        case RunResolve() as said:
            if not view.is_admin(op.replica):
                raise forbidden("kind", "only an admin says whose a session is")
            moved = registers.merge(db, RESOLVED_RUN, said.run, "replica", said.replica, op.hlc)
            if not runs.binding(db, said.run).contested:
                problems.clear(db, _conflict(said.run))
            return Outcome.APPLIED if moved else Outcome.NOTHING
        case RunPresence() as said:
            if (view.members.get(op.replica) or view.revoked[op.replica]).observer:
                raise forbidden("kind", "an observer runs no sessions for the team")
            moved = _keep_claim(db, op, said, member=view.is_member(op.replica))
            if moved and runs.binding(db, said.run).contested:
                return Outcome(
                    Verdict.APPLIED,
                    _conflict(said.run),
                    f"more than one replica says that {said.run} is its own; it counts as nobody's",
                )
            return Outcome.APPLIED if moved else Outcome.NOTHING


def _conflict(run: str) -> str:
    return subjects.RUN_CONFLICT.of(run.partition(":")[2])


def _keep_device(db: sqlite3.Connection, op: Op, said: DevicePresence) -> bool:
    row = db.execute("SELECT hlc FROM devices WHERE replica = ?", (op.replica,)).fetchone()
    if row is not None and Reading.parse(row[0]).key >= op.hlc.key:
        return False
    db.execute(
        "INSERT OR REPLACE INTO devices (replica, hlc, build, device, wall, caps_json) VALUES (?, ?, ?, ?, ?, ?)",
        (op.replica, str(op.hlc), said.build, said.device, float(said.wall), json.dumps(said.caps)),
    )
    return True


def _keep_claim(db: sqlite3.Connection, op: Op, said: RunPresence, *, member: bool) -> bool:
    """Keep what a replica says of a session: its first claim by its clock, and its latest word."""
    row = db.execute(
        "SELECT first_hlc, hlc FROM run_claims WHERE run = ? AND replica = ?", (said.run, op.replica)
    ).fetchone()
    if row is None:
        db.execute(
            "INSERT INTO run_claims (run, replica, first_hlc, hlc, task, run_kind, live, waiting_on, member) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                said.run,
                op.replica,
                str(op.hlc),
                str(op.hlc),
                said.task,
                said.run_kind,
                said.live,
                said.waiting_on,
                member,
            ),
        )
        return True
    place = said.run, op.replica
    if op.hlc.key < Reading.parse(row[0]).key:
        db.execute("UPDATE run_claims SET first_hlc = ? WHERE run = ? AND replica = ?", (str(op.hlc), *place))
        return True
    if op.hlc.key <= Reading.parse(row[1]).key:
        return False
    db.execute(
        "UPDATE run_claims SET hlc = ?, task = ?, run_kind = ?, live = ?, waiting_on = ? "
        "WHERE run = ? AND replica = ?",
        (str(op.hlc), said.task, said.run_kind, said.live, said.waiting_on, *place),
    )
    return True
