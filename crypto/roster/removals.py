"""Which removals are accepted and which are void, decided up front (federation wire 5.16, 5.22-5.25).

Removals take each other's rights away, so they cannot be judged one by one in fold order: backdating a clock
would win every quarrel. Here those are decided that no undecided one can affect. What is left cuts each other
in circles and is settled in `contested`.

Work is bounded whatever a hostile admin publishes: a walk for each removal, and MAX_EVALUATIONS, MAX_RISKY and
MAX_PASSES.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from crypto.roster.cases import Cases
from crypto.roster.contested import MAX_CONTESTED, Contest, Outcome, by_rank, first_stable
from crypto.roster.ops import RosterOp
from crypto.roster.reach import Reach
from crypto.roster.rights import Removal
from crypto.roster.walk import Charter, Walk

MAX_EVALUATIONS: Final = 256
"""Walks spent on finding removals that surely leave an admin, and again on each contest that rank alone decides. Only
a pile that its authors aimed at each other by the hundred takes as many; past it the rest is contested, or void.
"""

MAX_PASSES: Final = 8
"""Times all is decided anew since accepted removals gave others their right; who gains it after that is void."""

MAX_RISKY: Final = 16
"""Removals that each might leave no admin, tried one by one when they cannot all be accepted."""


@dataclass(frozen=True, slots=True)
class Decisions:
    """What became of the removals; those in neither `accepted` nor `spared` are void."""

    accepted: tuple[Removal, ...]
    spared: tuple[Removal, ...]
    """Void only because they would leave no admin."""
    contested: tuple[Removal, ...] = ()
    """Those that could not be decided up front."""
    sure_admin: str | None = None
    """An admin whom no removal can touch, be it accepted or not."""
    passes: int = 1
    evaluations: int = 0

    @property
    def exhausted(self) -> bool:
        """Whether MAX_PASSES were needed, so that a removal that holds its right may be void."""
        return self.passes >= MAX_PASSES


def decide(charter: Charter, reach: Reach, possible: Sequence[Removal]) -> Decisions:
    """Decide the removals that could ever hold their right, in fold order."""
    founder = charter.founding.replica
    if not possible:
        return Decisions((), (), sure_admin=founder)
    touched = reach.touched_by(possible)
    sure = None if touched & reach.bit(founder) else founder
    judge = Judge(charter, reach.grants if sure is None else reach.grants_behind(possible))
    bare = judge.evaluate(())
    if sure is None:
        sure = next((each for each in bare.admins() if not touched & reach.bit(each)), None)
    candidates = _could_hold(judge, reach, possible, bare)
    passes = 0
    while True:
        passes += 1
        up_front = _UpFront(judge, reach, candidates, bare, admin_is_sure=sure is not None)
        outcome = _settle(charter, judge, reach, up_front) if up_front.open else Outcome((), ())
        accepted = (*up_front.accepted, *outcome.accepted)
        rest = _without(possible, candidates)
        result = judge.evaluate(accepted) if rest else bare
        gained = [each for each in rest if result.holds(each)]
        if not gained or passes == MAX_PASSES:
            contested = tuple(up_front.open)
            return Decisions(accepted, outcome.spared, contested, sure, passes, judge.evaluations)
        candidates = _in_order([*candidates, *gained])


def _settle(charter: Charter, judge: "Judge", reach: Reach, up_front: "_UpFront") -> Outcome:
    """End every contest among the removals that could not be decided up front."""
    base = judge.evaluate(up_front.accepted)
    admin_is_sure = up_front.admin_is_sure or bool(
        reach.mask(base.admins()) & ~reach.touched_by(up_front.open)
    )
    contests = reach.components(up_front.open) if admin_is_sure else [list(up_front.open)]
    accepted: list[Removal] = []
    spared: list[Removal] = []
    for contested in contests:
        ranked = sorted(contested, key=lambda removal: (base.rank(removal.op), removal.position))
        grants = reach.grants_behind(contested) if admin_is_sure else reach.grants
        outcome = None
        if len(ranked) <= MAX_CONTESTED:
            worst_first = ranked[::-1]
            cases = Cases(charter, up_front.accepted, worst_first, grants)
            outcome = first_stable(cases, worst_first, admin_is_sure=admin_is_sure)
        if outcome is None:
            contest = Contest(up_front.accepted, ranked, admin_is_sure)
            outcome = by_rank(contest, partial(judge.evaluate, grants=grants), MAX_EVALUATIONS)
        accepted += outcome.accepted
        spared += outcome.spared
    return Outcome(tuple(accepted), tuple(spared))


def _could_hold(judge: "Judge", reach: Reach, removals: Sequence[Removal], bare: Walk) -> list[Removal]:
    """Return those that hold their right with no removal accepted, or with one that could hold its own (5.23).

    What gains its right only from several at once is seen when these are decided.
    """
    held = [each for each in removals if bare.holds(each)]
    rest = _without(removals, held)
    for cut in held:  # which grows as it is walked
        if reach.extent(cut).holders and any(reach.may_give(cut, each) for each in rest):
            under = judge.evaluate((cut,))
            held += [each for each in rest if under.holds(each)]
            rest = _without(rest, held)
    return _in_order(held)


class Judge:
    """Walks over the ops that grant rights, and counts the walks."""

    def __init__(self, charter: Charter, grants: Sequence[RosterOp]) -> None:
        self._charter = charter
        self._grants = grants
        self.evaluations = 0

    def evaluate(self, accepted: Iterable[Removal], grants: Sequence[RosterOp] | None = None) -> Walk:
        """Who holds which rights when these removals are accepted, going by all grants or only by these."""
        self.evaluations += 1
        walk = Walk(self._charter, accepted)
        for op in self._grants if grants is None else grants:
            walk.step(op)
        return walk


class _UpFront:
    """The decisions that do not depend on how any contest ends."""

    def __init__(
        self,
        judge: Judge,
        reach: Reach,
        removals: Sequence[Removal],
        bare: Walk,
        *,
        admin_is_sure: bool,
    ) -> None:
        self.admin_is_sure = admin_is_sure
        self._tries = 0
        self._judge = judge
        self._reach = reach
        self.accepted: list[Removal] = []
        self.open = list(removals)
        """Those not decided (yet), in fold order."""
        self._decide(bare)

    def _decide(self, walk: Walk) -> None:
        while self.open:
            free = self._reach.unaffected(self.open)
            lost = [each for each in self.open if _is_cut_below(walk, each)]
            lost += [each for each in free if not walk.holds(each)]
            if lost:
                self.open = _without(self.open, lost)
                continue
            ready = self._safe(free, walk)
            if not ready:
                return
            self.accepted += ready
            self.open = _without(self.open, ready)
            walk = self._judge.evaluate(self.accepted)

    def _safe(self, ready: Sequence[Removal], walk: Walk) -> list[Removal]:
        """Those whose acceptance surely leaves an admin; the others wait for the contest."""
        if self.admin_is_sure:
            return list(ready)
        admins = self._reach.mask(walk.admins())
        safe = [each for each in ready if not self._reach.extent(each).touches & admins]
        risky = [each for each in ready if self._reach.extent(each).touches & admins]
        if not risky or self._leaves_an_admin([*safe, *risky]):
            return [*safe, *risky]
        if len(risky) <= MAX_RISKY and self._tries < MAX_EVALUATIONS:
            for each in risky:
                if self._leaves_an_admin([*safe, each]):
                    safe.append(each)
        return safe

    def _leaves_an_admin(self, chosen: Sequence[Removal]) -> bool:
        """Whether someone stays an admin when these are accepted too, however the others end."""
        self._tries += 1
        walk = self._judge.evaluate([*self.accepted, *chosen])
        others = _without(self.open, chosen)
        harmless = [each for each in others if _is_cut_below(walk, each)]
        harmless += [each for each in self._reach.unaffected(others) if not walk.holds(each)]
        threatened = self._reach.touched_by(_without(others, harmless))
        return bool(self._reach.mask(walk.admins()) & ~threatened)


def _in_order(removals: Sequence[Removal]) -> list[Removal]:
    return sorted(removals, key=lambda each: each.position)


def _without(removals: Sequence[Removal], taken: Sequence[Removal]) -> list[Removal]:
    hashes = {each.hash for each in taken}
    return [each for each in removals if each.hash not in hashes]


def _is_cut_below(walk: Walk, removal: Removal) -> bool:
    """Whether an accepted revocation of its publisher leaves a removal void, whatever else happens."""
    return walk.cuts(removal.publisher).revokes(removal.op.seq)
