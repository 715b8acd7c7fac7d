"""One audit: from a source to a report."""

import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from crypto.clock import MAX_CLOCK_LEAD_MS
from crypto.keys import KeyBody
from crypto.roster.view import Cut, View
from replica.audit.chains import Chains, Walked
from replica.audit.faults import fault_of, undecided, without_key
from replica.audit.progress import Progress, Silent
from replica.audit.report import Fault, ReplicaReport, Report, Status, TeamReport, Unlisted
from replica.audit.scratch import Scratch
from replica.audit.source import Source, SourceError
from replica.audit.survey import Survey
from replica.audit.team import Team, choose_founding, read_team
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
    progress = progress or Silent()
    try:
        survey = Survey(source, scratch, progress)
        replicas = _asked_for(survey, source, replica)
        progress.begin("verifying", sum(survey.lanes.values()))
        chains = Chains(source, scratch, now_ms + MAX_CLOCK_LEAD_MS, progress)
        founding = choose_founding(survey, chains, wanted=team, followed=source.record.founding)
        roster = None if founding is None else read_team(founding, survey, chains, source)
        auditor = _Auditor(source, survey, chains, roster, now_ms)
        rows, unlisted = auditor.report_all(replicas)
    except sqlite3.Error as error:
        raise SourceError(
            f"cannot write a temporary file: {error}", "free some disk space, or name another place in TMPDIR"
        ) from error
    skipped = _in_order(survey.skipped)
    return Report(
        source.shown,
        None if roster is None else _team_report(roster.view),
        rows,
        unlisted,
        skipped[:SHOWN_PLACES],
        sum(each.count for each in skipped),
    )


def _asked_for(survey: Survey, source: Source, replica: str | None) -> list[str]:
    if not survey.lanes:
        raise SourceError(f"there are no ops in {source.shown}")
    if replica is None:
        return sorted(survey.lanes)
    if replica in survey.lanes:
        return [replica]
    found = sorted(each for each in survey.lanes if replica and each.startswith(replica))
    if len(found) == 1:
        return found
    if found:
        raise SourceError(f"{len(found)} replicas begin with that; the first are {', '.join(found[:8])}")
    raise SourceError(f"there are no ops of such a replica in {source.shown}")


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


class _Auditor:
    """Reports on one replica after another, once the roster is known."""

    def __init__(
        self, source: Source, survey: Survey, chains: Chains, team: Team | None, now_ms: int
    ) -> None:
        self._source = source
        self._survey = survey
        self._chains = chains
        self._team = team
        self._now_ms = now_ms

    def report_all(self, replicas: Iterable[str]) -> tuple[tuple[ReplicaReport, ...], Unlisted]:
        """Report on these chains, in this order."""
        rows, unlisted, strangers = list[ReplicaReport](), Unlisted(), 0
        for replica in replicas:
            row = self.report(replica)
            strangers += not self._is_in_roster(replica)
            if self._is_in_roster(replica) or strangers <= LISTED_STRANGERS:
                rows.append(row)
            else:
                unlisted = unlisted.plus(row)
        return tuple(rows), unlisted

    def _is_in_roster(self, replica: str) -> bool:
        return self._team is not None and (
            replica in self._team.view.members or replica in self._team.view.revoked
        )

    def report(self, replica: str) -> ReplicaReport:
        cut = None if self._team is None else self._team.view.revoked.get(replica)
        key = self._key(replica)
        if key is None:
            return self._unread(replica, cut)
        walked = self._walk(replica, key, cut)
        tally, outcome = walked.tally, walked.outcome
        cut_seq = None if cut is None else cut.point.after_seq
        return ReplicaReport(
            replica,
            self._status(replica),
            self._handle(replica) or key.handle,
            key.device,
            key.fingerprint,
            cut=cut_seq,
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
            rival_keys=self._survey.count_announced(replica) - 1,
            fault=self._fault(replica, key, walked, cut_seq),
        )

    def _key(self, replica: str) -> KeyBody | None:
        """The key decided for a replica: by the roster, or because nobody announced another."""
        if self._team is not None and replica in self._team.keys:
            return self._team.keys[replica]
        announced = self._survey.announced(replica)
        return announced[0].key if len(announced) == 1 else None

    def _walk(self, replica: str, key: KeyBody, cut: Cut | None) -> Walked:
        if cut is not None:
            along = None if self._team is None else self._team.along.get(replica)
            return self._chains.walk(
                replica, key, cut=(cut.point.after_seq, cut.point.after_hash), along=along
            )
        known = None if self._team is None else self._team.walked.get(replica)
        return known or self._chains.walk(replica, key)

    def _fault(self, replica: str, key: KeyBody, walked: Walked, cut: int | None) -> Fault | None:
        outcome = walked.outcome
        fingerprint, halted = self._source.record.halts.get(replica, ("", None))
        if outcome.halt is None and halted is not None and fingerprint == key.fingerprint:
            outcome = replace(outcome, halt=halted)
        return fault_of(replica, outcome, cut, self._now_ms)

    def _unread(self, replica: str, cut: Cut | None) -> ReplicaReport:
        """Report on a chain that no decided key stands for."""
        announced = self._survey.announced(replica)
        count = self._survey.count_announced(replica)
        if not announced:
            fault, status = without_key(replica, self._survey.bad_key(replica)), Status.UNKNOWN
        else:
            fingerprints = tuple(each.key.fingerprint for each in announced)
            fault, status = undecided(replica, fingerprints, count), Status.DISPUTED
        return ReplicaReport(
            replica,
            Status.REVOKED if cut is not None else status,
            cut=None if cut is None else cut.point.after_seq,
            rival_keys=max(0, count - 1),
            fault=fault,
        )

    def _status(self, replica: str) -> Status:
        if self._team is None:
            return Status.ANNOUNCED
        view = self._team.view
        if replica in view.revoked:
            return Status.REVOKED
        member = view.members.get(replica)
        if member is None:
            return Status.PENDING
        if member.observer:
            return Status.OBSERVER
        if replica == view.founder:
            return Status.FOUNDER
        return Status.ADMIN if view.is_admin(replica) else Status.MEMBER

    def _handle(self, replica: str) -> str | None:
        if self._team is None:
            return None
        view = self._team.view
        held = view.members.get(replica) or view.revoked.get(replica)
        return None if held is None else held.handle
