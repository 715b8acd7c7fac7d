"""What a person is told of a chain: where it halts, stalls, lacks an op or waits for time to come."""

import sqlite3

from crypto.chain import Head
from crypto.lane import LaneResult
from replica.records import ops, problems, subjects
from replica.team.roster import Team


def note_faults(
    db: sqlite3.Connection, team: Team, replica: str, head: Head | None, found: LaneResult, now: str
) -> None:
    """Note what is wrong with a replica's chain, applied up to `head`, and forget what is over."""
    fault = _other_end(db, team, replica)
    if found.cursor.halted is not None:
        fault = found.cursor.halted.seq, found.cursor.halted.text
    elif found.stall is not None:
        seq = found.stall.seq
        fault = seq, f"the log of {replica} stalls at seq {seq}: {found.stall.reason}"
    elif found.gap is not None:
        seq = found.gap.seq
        fault = seq, f"an op of {replica} before seq {seq} is missing from the transport"
    _keep_or_clear(db, subjects.HALT.of(replica), replica, fault, now)
    after, ahead = 0 if head is None else head.seq, None
    if found.held is not None:
        text = f"the clock of {team.describe(replica)} is ahead; its ops wait until that time comes"
        ahead = after + 1, text
    _keep_or_clear(db, subjects.CLOCK.of(replica), replica, ahead, now)
    # What waits behind an op that is held links to that op.
    passed_over = found.skipped + (found.waiting if found.held is None else 0)
    if passed_over or found.entries:
        text = f"{passed_over} line(s) in the lane of {replica} link to nothing in its log after op {after}"
        stray = (after + 1, text) if passed_over else None
        _keep_or_clear(db, subjects.LINES.of(replica), replica, stray, now)
    for seq in found.flagged:
        text = "a line repeats a key; the last value counts"
        _keep_or_clear(db, subjects.FLAGGED.of(replica), replica, (seq, text), now)


def _keep_or_clear(
    db: sqlite3.Connection, subject: str, replica: str, fault: tuple[int, str] | None, now: str
) -> None:
    if fault is None:
        problems.clear(db, subject)
    else:
        seq, text = fault
        problems.note(db, problems.Problem(subject, text, replica, seq, now))


def _other_end(db: sqlite3.Connection, team: Team, replica: str) -> tuple[int, str] | None:
    """Where the op that a revocation names as a replica's last is not the one that its log has here (2.3)."""
    cut = team.view.revoked.get(replica)
    known = None if cut is None else ops.hash_at(db, replica, cut.point.after_seq)
    if cut is None or known is None or known == cut.point.after_hash:
        return None
    return cut.point.after_seq, (
        f"{cut.by} revoked {replica} after another op {cut.point.after_seq} than the one in its log here: either "
        f"{replica} showed {cut.by} another history, or {cut.by} did not tell the truth"
    )
