"""Settling the removals that cut each other in circles (federation wire 5.26, 5.27).

A contest is won by its first *stable* outcome. An outcome, the set of removals that are accepted, is stable if

- an admin stands under it;
- every accepted removal holds its right under the other accepted ones;
- it is *grounded*: the accepted ones can be accepted one after another, each while it holds its right;
- every void one that holds its right all the same is *excused*: accepting it too, and dropping whatever thereby
  loses its right, would leave no admin or end in its own loss.

Outcomes are tried in the order of rank: the one that accepts the best-ranked removal comes before any that does
not, and so on down. With at most MAX_CONTESTED removals all outcomes are looked at, as tables (`cases`). Where
more contest each other, or no outcome is stable, rank alone decides: the best-ranked removal that holds its
right is accepted and stands, then the next is looked for. Where that leaves no admin, the worst-ranked accepted
one is held void, and the rest is fought again.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from crypto.roster.cases import Cases, Table
from crypto.roster.rights import Removal
from crypto.roster.walk import Walk

MAX_CONTESTED: Final = 16
"""Removals of one contest whose outcomes are all looked at."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The accepted removals of a contest, and those void only because they would leave no admin."""

    accepted: tuple[Removal, ...]
    spared: tuple[Removal, ...]


def first_stable(cases: Cases, ranked: Sequence[Removal], *, admin_is_sure: bool) -> Outcome | None:
    """Return the first stable outcome of a contest, None if there is none.

    `ranked` are the contested removals, the worst-ranked first, as `cases` has them. `admin_is_sure` tells
    that an admin stands whatever is accepted.
    """
    search = _Search(cases, cases.always if admin_is_sure else cases.some_admin())
    for outcome in search.candidates():
        spared = search.excused(outcome)
        if spared is not None:
            return Outcome(
                tuple(ranked[bit] for bit in _bits(outcome)), tuple(ranked[bit] for bit in sorted(spared))
            )
    return None


class _Search:
    """The tables by which outcomes are judged. The better a removal ranks, the higher is its bit."""

    def __init__(self, cases: Cases, some_admin: Table) -> None:
        self._cases = cases
        self._admin = some_admin
        self._accepting = [cases.accepting(bit) for bit in range(cases.count)]
        self._holds = [
            self._whether_or_not(bit, held & ~self._accepting[bit]) for bit, held in enumerate(cases.holds)
        ]
        """Each removal's right under the others."""

    def _whether_or_not(self, bit: int, without: Table) -> Table:
        """What is true without a removal, made true with it too."""
        return without | (without << (1 << bit))

    def candidates(self) -> Iterator[int]:
        """The outcomes that are stable if every void removal is excused, in the order they are tried."""
        sound = self._admin
        for accepting, holds in zip(self._accepting, self._holds, strict=True):
            sound &= ~accepting | holds
        found = sound & self._grounded()
        for bit, (accepting, holds) in enumerate(zip(self._accepting, self._holds, strict=True)):
            could_be_added = (sound & accepting) >> (1 << bit)  # nothing would lose its right by it
            found &= ~(~accepting & holds & could_be_added)
        while found:
            outcome = found.bit_length() - 1
            found ^= 1 << outcome
            yield outcome

    def _grounded(self) -> Table:
        """The outcomes that can be reached by accepting one removal after another, each by right."""
        reached: Table = 1
        while True:
            before = reached
            for bit, (accepting, holds) in enumerate(zip(self._accepting, self._holds, strict=True)):
                reached |= (reached & holds & ~accepting) << (1 << bit)
            if reached == before:
                return reached

    def excused(self, outcome: int) -> set[int] | None:
        """Those void only for the sake of an admin, or None if some void removal has no excuse."""
        spared: set[int] = set()
        for bit, holds in enumerate(self._holds):
            if outcome >> bit & 1 or not holds >> outcome & 1:
                continue
            left = self._cascade(outcome | 1 << bit)
            if left >> bit & 1:
                if self._admin >> left & 1:
                    return None
                spared.add(bit)
        return spared

    def _cascade(self, accepted: int) -> int:
        """What is left of a set of removals when those that lose their right are dropped, again and again."""
        while True:
            lost = sum(1 << bit for bit in _bits(accepted) if not self._holds[bit] >> accepted & 1)
            if not lost:
                return accepted
            accepted ^= lost


def _bits(mask: int) -> Iterator[int]:
    return (bit for bit in range(mask.bit_length()) if mask >> bit & 1)


@dataclass(frozen=True, slots=True)
class Contest:
    """The removals that were accepted before a contest, and those that are in it, the best-ranked first."""

    accepted: Sequence[Removal]
    ranked: Sequence[Removal]
    admin_is_sure: bool


def by_rank(contest: Contest, evaluate: Callable[[Sequence[Removal]], Walk], max_evaluations: int) -> Outcome:
    """End a contest by rank alone, with at most `max_evaluations` walks and one more.

    What has not been accepted when they are used up is void.
    """
    taken: list[Removal] = []
    walks = [evaluate(contest.accepted)]  # walks[n] is the one under the first n of `taken`
    spared: list[Removal] = []
    spent = 0
    while True:
        standing = _best(contest.ranked, taken, spared, walks[-1]) if spent < max_evaluations else None
        if standing is not None:
            taken.append(standing)
            walks.append(evaluate([*contest.accepted, *taken]))
            spent += 1
        elif taken and not contest.admin_is_sure and not walks[-1].admins():
            worst = max(taken, key=contest.ranked.index)
            spared.append(worst)
            kept = taken.index(worst)
            del taken[kept:], walks[kept + 1 :]
        else:
            return Outcome(tuple(taken), tuple(spared))


def _best(
    ranked: Sequence[Removal], taken: Sequence[Removal], spared: Sequence[Removal], walk: Walk
) -> Removal | None:
    """The best-ranked removal that holds its right and is neither accepted nor spared."""
    out = {removal.hash for removal in (*taken, *spared)}
    return next((each for each in ranked if each.hash not in out and walk.holds(each)), None)
