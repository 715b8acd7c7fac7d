"""What a seed does: a list of acts, each a plain value drawn up front.

An act says who does what and from which seed the rest is chosen, out of what there is when its turn comes. So any
act may be taken out of a list, and the others still mean something: that is how a failing list is shrunk.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Final

from core.commits import CommitPoint as CorePoint
from replica.records.commits import CommitPoint
from tests.simulation.machine import HOOKS, When
from tests.simulation.registry import WEIGHTS
from transports.faults import Fault

FEWEST_ACTS: Final = 60
FEWEST: Final = 3
MOST: Final = 8
"""Replicas of one seed."""

HOSTILE: Final = "hostile: "
"""What the names of acts that break the rules start with."""

PROLOGUE: Final = ("begin a session", "begin a session")
"""What comes first, so that there is something to go on with."""

_NEVER_REACHED: Final = frozenset(
    (
        *(CommitPoint.CREATED, CommitPoint.FOUNDED, CorePoint.MIGRATE),
        *(CommitPoint.VISITED, CommitPoint.MOVED, CommitPoint.PRUNED),
    )
)
"""Commits from before a simulation begins, and of machines with several transports, or one that takes things back."""

CRASHES: Final = tuple(sorted({*CommitPoint, *CorePoint} - _NEVER_REACHED)) + HOOKS

FAULTS: Final = tuple(fault for fault in Fault if fault not in (Fault.PARTITION, Fault.FORK))
"""What strikes passes. Networks part and lanes fork by acts of their own, for longer than a pass."""

_SETTLED: Final = 100
"""Lower seeds draw what they always drew: planted faults are known by them."""

_FIRST_FAULTS: Final = FAULTS.index(Fault.REFUSE) + 1


@dataclass(frozen=True, slots=True)
class Act:
    """One thing a machine does, or that happens to it.

    `who` is the machine's place among all, `seed` what chooses the rest, `after` the milliseconds since the act
    before. With `pull` the machine syncs first and with `push` afterwards, as people do who read and who write.
    `crash` is where it dies next, once it gets there, and `faults` strike the passes of this act.
    """

    what: str
    who: int
    seed: int
    after: int = 0
    pull: bool = False
    push: bool = False
    crash: tuple[str, When] | None = None
    faults: tuple[Fault, ...] = ()


@dataclass(frozen=True, slots=True)
class Script:
    """All that a run does: how many machines are in the team from the start, and the acts."""

    seed: int
    size: int
    acts: tuple[Act, ...]


def draw(seed: int) -> Script:
    """The script of a seed."""
    random = Random(f"acts-{seed}")
    size = random.randint(FEWEST, MOST - 2)  # two more may join
    hostile = (
        random.random() < 0.5
    )  # where nobody breaks the rules, nothing that was said is excused from them
    weights = {name: weight for name, weight in WEIGHTS.items() if hostile or not name.startswith(HOSTILE)}
    count = FEWEST_ACTS + random.randrange(10)
    drawn = [*PROLOGUE, *random.choices(list(weights), list(weights.values()), k=count)]
    kinds = FAULTS if seed >= _SETTLED else FAULTS[:_FIRST_FAULTS]
    return Script(seed, size, tuple(_act(random, what, kinds) for what in drawn))


def _act(random: Random, what: str, kinds: Sequence[Fault]) -> Act:
    crash: tuple[str, When] | None = None
    if random.random() < 0.3:
        crash = random.choice(CRASHES), random.choice(("before", "after"))
    faults: tuple[Fault, ...] = ()
    if random.random() < 0.3:
        faults = tuple(sorted(random.sample(kinds, random.choice((1, 1, 2, 3)))))
    return Act(
        what,
        random.randrange(840),
        random.randrange(2**32),
        _pause(random),
        random.random() < 0.4,
        random.random() < 0.4,
        crash,
        faults,
    )


def _pause(random: Random) -> int:
    """Milliseconds: mostly seconds, sometimes an hour in which quotas and presence begin anew."""
    if random.random() < 0.03:
        return random.randrange(3_600_000)
    return random.randrange(20_000)
