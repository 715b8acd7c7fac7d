"""Settling the removals that cut each other in circles (federation wire 5.26, 5.27).

`settle` is the one place where a contest is ended. It goes by rank: the best-ranked removal that holds its
right is accepted and stands, then the next is looked for. Where that leaves no admin, the worst-ranked
accepted one is held void, so that the team keeps an admin, and the rest is fought again.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from crypto.roster.rights import Removal
from crypto.roster.walk import Walk


@dataclass(frozen=True, slots=True)
class Contest:
    """The removals that were accepted before the contest, and those that are in it."""

    accepted: Sequence[Removal]
    contested: Sequence[Removal]


@dataclass(frozen=True, slots=True)
class Outcome:
    """All accepted removals, and those void only because they would leave no admin."""

    accepted: tuple[Removal, ...]
    spared: tuple[Removal, ...]


def settle(contest: Contest, evaluate: Callable[[Sequence[Removal]], Walk], max_evaluations: int) -> Outcome:
    """End a contest with at most `max_evaluations` walks and one more.

    What has not been accepted when they are used up is void.
    """
    if not contest.contested:
        return Outcome(tuple(contest.accepted), ())
    base = evaluate(contest.accepted)
    ranked = sorted(contest.contested, key=lambda removal: (base.rank(removal.op), removal.position))
    taken: list[Removal] = []
    walks = [base]  # walks[n] is the one under the first n of `taken`
    spared: list[Removal] = []
    spent = 0
    while True:
        standing = _best(ranked, taken, spared, walks[-1]) if spent < max_evaluations else None
        if standing is not None:
            taken.append(standing)
            walks.append(evaluate([*contest.accepted, *taken]))
            spent += 1
        elif taken and not walks[-1].admins():
            worst = max(taken, key=ranked.index)
            spared.append(worst)
            kept = taken.index(worst)
            del taken[kept:], walks[kept + 1 :]
        else:
            return Outcome((*contest.accepted, *taken), tuple(spared))


def _best(
    ranked: Sequence[Removal], taken: Sequence[Removal], spared: Sequence[Removal], walk: Walk
) -> Removal | None:
    """The best-ranked removal that holds its right and is neither accepted nor spared."""
    out = {removal.hash for removal in (*taken, *spared)}
    return next((each for each in ranked if each.hash not in out and walk.holds(each)), None)
