"""A source, read: its chains, its team, and whose key is whose. What an audit reports is asked of this."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from crypto.clock import MAX_CLOCK_LEAD_MS
from crypto.judge import SignatureMemory
from crypto.keys import KeyBody
from replica.audit.chains import Chains, Walked
from replica.audit.evidence import Evidence, evidence_at
from replica.audit.faults import fault_of
from replica.audit.progress import Progress, Silent
from replica.audit.report import Fault, Status
from replica.audit.scratch import Scratch
from replica.audit.source import Source, SourceError
from replica.audit.survey import Survey
from replica.audit.team import Team, choose_founding, read_team


@dataclass(frozen=True, slots=True)
class Reading:
    """What one reading of a source found. `team` is None where no team was founded there."""

    source: Source
    survey: Survey
    chains: Chains
    team: Team | None
    now_ms: int

    def asked_for(self, replica: str | None) -> list[str]:
        """The replicas of the source by id: all, or the one that `replica` names, or begins.

        Raises SourceError where there is no such one, or several.
        """
        lanes = self.survey.lanes
        if replica is None:
            return sorted(lanes)
        if replica in lanes:
            return [replica]
        found = sorted(each for each in lanes if replica and each.startswith(replica))
        if len(found) == 1:
            return found
        if found:
            raise SourceError(
                f"{len(found)} replicas begin with that; the first are {', '.join(found[:8])}",
                "name more of the id",
            )
        raise SourceError(
            f"there are no ops of such a replica in {self.source.shown}",
            "`dmp audit`, of the same source, lists the replicas that there are",
        )

    def key(self, replica: str) -> KeyBody | None:
        """The key decided for a replica: by the roster, or because nobody announced another."""
        if self.team is not None and replica in self.team.keys:
            return self.team.keys[replica]
        announced = self.survey.announced(replica)
        return announced[0].key if len(announced) == 1 else None

    def cut(self, replica: str) -> int | None:
        """The last seq that a revocation leaves standing, None where there is none."""
        cut = None if self.team is None else self.team.view.revoked.get(replica)
        return None if cut is None else cut.point.after_seq

    def walk(self, replica: str, key: KeyBody) -> Walked:
        """Walk the chain of a replica as far as it goes."""
        cut = None if self.team is None else self.team.view.revoked.get(replica)
        if cut is not None:
            along = None if self.team is None else self.team.along.get(replica)
            point = (cut.point.after_seq, cut.point.after_hash)
            return self.chains.walk(replica, key, cut=point, along=along)
        known = None if self.team is None else self.team.walked.get(replica)
        return known or self.chains.walk(replica, key)

    def fault(self, replica: str, key: KeyBody, walked: Walked) -> Fault | None:
        """Why a chain does not verify to its end. What the owner of a store noted when its chain halted counts."""
        outcome = walked.outcome
        fingerprint, halted = self.source.record.halts.get(replica, ("", None))
        if outcome.halt is None and halted is not None and fingerprint == key.fingerprint:
            outcome = replace(outcome, halt=halted)
        return fault_of(replica, outcome, self.cut(replica), self.now_ms)

    def status(self, replica: str) -> Status:
        """What a replica is in the team."""
        if self.team is None:
            return Status.ANNOUNCED
        view = self.team.view
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

    def handle(self, replica: str) -> str | None:
        """Whose a replica is, as the roster says it; None where it does not."""
        if self.team is None:
            return None
        view = self.team.view
        held = view.members.get(replica) or view.revoked.get(replica)
        return None if held is None else held.handle

    def is_in_roster(self, replica: str) -> bool:
        """Whether a replica is in the team, or was."""
        return self.team is not None and (
            replica in self.team.view.members or replica in self.team.view.revoked
        )

    def evidence(self, replica: str, seq: int) -> list[Evidence]:
        """The lines that claim a place in a chain, and those that follow the same op as one of them that is signed."""
        key = self.key(replica)
        found = evidence_at(replica, self.lines(replica), key, seq)
        prevs = {each.read.prev for each in found if each.authentic and each.read.prev is not None}
        return evidence_at(replica, self.lines(replica), key, seq, prevs) if prevs else found

    def lines(self, replica: str) -> Iterator[bytes]:
        """Every line of a replica that the source has."""
        yield from self.source.lane(replica)
        yield from self.source.ahead(replica)


def read_source(
    source: Source,
    scratch: Scratch,
    now_ms: int,
    *,
    team: str | None = None,
    progress: Progress | None = None,
    keep_marks: bool = False,
    memory: SignatureMemory | None = None,
) -> Reading:
    """Read a source: every line once, and the chains of all who are or were in its team.

    `team` chooses among several teams, by id, the beginning of one, or name. `now_ms` is what clocks are judged by.
    With `keep_marks` each walk keeps its ops as they are drawn; `memory` is of earlier readings. Raises SourceError
    where the source cannot be read, or it is not clear which team is meant.
    """
    progress = progress or Silent()
    survey = Survey(source, scratch, progress)
    if not survey.lanes:
        raise SourceError(f"there are no ops in {source.shown}")
    progress.begin("verifying", sum(survey.lanes.values()))
    chains = Chains(
        source, scratch, now_ms + MAX_CLOCK_LEAD_MS, progress, keep_marks=keep_marks, memory=memory
    )
    founding = choose_founding(survey, chains, wanted=team, followed=source.record.founding)
    roster = None if founding is None else read_team(founding, survey, chains, source)
    return Reading(source, survey, chains, roster, now_ms)
