"""One audit: from a source to a report."""

import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from crypto.roster.view import View
from replica.audit.drawing import Drawing
from replica.audit.faults import undecided, without_key
from replica.audit.marks import Marks
from replica.audit.progress import Progress
from replica.audit.proofs import proof_in
from replica.audit.reading import Reading, read_source
from replica.audit.report import ReplicaReport, Report, Status, TeamReport, Trouble, Unlisted
from replica.audit.scratch import Scratch
from replica.audit.source import Source, SourceError
from transports.base import Skipped

SHOWN_PLACES: Final = 100
"""Places with junk, and seqs of lines with repeated keys, that are named one by one."""

LISTED_STRANGERS: Final = 1000
"""Replicas outside the roster that have a row of their own. Anyone can make up ids, by the thousand."""


def audit(
    source: Source,
    scratch: Scratch,
    now_ms: int,
    *,
    team: str | None = None,
    replica: str | None = None,
    progress: Progress | None = None,
) -> Report:
    """Verify every chain of a source, or only that of `replica`: its id, or a beginning that no other has.

    `team` chooses among several teams, by id, the beginning of one, or name. `now_ms` is what clocks are
    judged by. Raises SourceError where the source cannot be read, or it is not clear what to read there.
    """
    try:
        reading = read_source(source, scratch, now_ms, team=team, progress=progress)
        return report_on(reading, replica)
    except sqlite3.Error as error:
        raise no_scratch(error) from error


def no_scratch(error: sqlite3.Error) -> SourceError:
    """What is said where a temporary file cannot be written."""
    return SourceError(
        f"cannot write a temporary file: {error}", "free some disk space, or name another place in TMPDIR"
    )


def report_on(reading: Reading, replica: str | None = None, drawing: Drawing | None = None) -> Report:
    """Report on every chain of a reading, or only on that of `replica`, and add what is listed to a drawing.

    Raises SourceError and sqlite3.Error.
    """
    rows, unlisted = _report_all(reading, reading.asked_for(replica), drawing)
    skipped = _in_order(reading.survey.skipped)
    return Report(
        reading.source.shown,
        None if reading.team is None else _team_report(reading.team.view),
        rows,
        unlisted,
        skipped[:SHOWN_PLACES],
        sum(each.count for each in skipped),
    )


def _in_order(skipped: Sequence[Skipped]) -> tuple[Skipped, ...]:
    return tuple(sorted(skipped, key=lambda each: (each.place, each.line, each.reason)))


def _team_report(view: View) -> TeamReport:
    notes = [note.text for note in view.problems]
    if view.unknown is not None:
        notes.append(
            f"The roster op of {view.unknown.replica} at seq {view.unknown.seq} is from a newer build, which may "
            "read the roster differently."
        )
    return TeamReport(view.team_id, view.name, view.founder, tuple(notes))


def _report_all(
    reading: Reading, replicas: Iterable[str], drawing: Drawing | None
) -> tuple[tuple[ReplicaReport, ...], Unlisted]:
    """Report on these chains, in this order."""
    rows, drawn = list[ReplicaReport](), dict[str, Marks | None]()
    unlisted, strangers = Unlisted(), 0
    for replica in replicas:
        row, marks = _report(reading, replica)
        strangers += not reading.is_in_roster(replica)
        if reading.is_in_roster(replica) or strangers <= LISTED_STRANGERS:
            rows.append(_with_evidence(reading, row))
            drawn[replica] = marks
        else:
            unlisted = unlisted.plus(row)
    for row in sorted(rows, key=lambda each: not reading.is_in_roster(each.replica)):
        if drawing is not None:
            drawing.add(row, drawn[row.replica])
    return tuple(rows), unlisted


def _with_evidence(reading: Reading, row: ReplicaReport) -> ReplicaReport:
    """Add what is there at the place of a fault, and what proves a fork."""
    fault = row.fault
    if fault is not None and fault.seq is not None and fault.trouble is not Trouble.CLOCK:
        row = replace(row, evidence=tuple(reading.evidence(row.replica, fault.seq)))
    proof = proof_in(reading, row.replica, fault)
    return row if proof is None else replace(row, proof=proof)


def _report(reading: Reading, replica: str) -> tuple[ReplicaReport, Marks | None]:
    key = reading.key(replica)
    if key is None:
        return _unread(reading, replica), None
    walked = reading.walk(replica, key)
    tally, outcome = walked.tally, walked.outcome
    row = ReplicaReport(
        replica,
        reading.status(replica),
        reading.handle(replica) or key.handle,
        key.device,
        key.fingerprint,
        cut=reading.cut(replica),
        ops=tally.ops,
        past_cut=tally.past_cut,
        stubs=tally.stubs,
        types=tally.types,
        first=tally.first,
        last=tally.last,
        head=outcome.head,
        repeated_count=len(tally.flagged),
        repeated=tuple(tally.flagged[:SHOWN_PLACES]),
        unlinked=outcome.waiting,
        junk=outcome.skipped,
        rival_keys=reading.survey.count_announced(replica) - 1,
        fault=reading.fault(replica, key, walked),
    )
    return row, tally.marks


def _unread(reading: Reading, replica: str) -> ReplicaReport:
    """Report on a chain that no decided key stands for."""
    announced, cut = reading.survey.announced(replica), reading.cut(replica)
    count = reading.survey.count_announced(replica)
    if not announced:
        fault, status = without_key(replica, reading.survey.bad_key(replica)), Status.UNKNOWN
    else:
        fingerprints = tuple(each.key.fingerprint for each in announced)
        fault, status = undecided(replica, fingerprints, count), Status.DISPUTED
    return ReplicaReport(
        replica,
        Status.REVOKED if cut is not None else status,
        cut=cut,
        rival_keys=max(0, count - 1),
        fault=fault,
    )
