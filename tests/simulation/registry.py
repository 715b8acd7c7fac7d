"""The acts there are, by name: what each does to the stage, and how often it is drawn."""

from collections.abc import Callable
from random import Random
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from tests.simulation.machine import SimMachine
    from tests.simulation.stage import Stage

Deed: TypeAlias = "Callable[[Stage, SimMachine, Random], None]"
"""Does an act on a machine, choosing with the given randomness.

What it raises is a refusal that its person sees (DmpError, TransportError), or that there is nothing to do it
to (NothingError); then it did not happen.
"""

DEEDS: dict[str, Deed] = {}
WEIGHTS: dict[str, float] = {}


class NothingError(Exception):
    """There is nothing here to do that with."""


def act(name: str, weight: float) -> Callable[[Deed], Deed]:
    """Add an act under a name, which the counters and the scripts use too."""

    def add(deed: Deed) -> Deed:
        assert name not in DEEDS, name
        DEEDS[name], WEIGHTS[name] = deed, weight
        return deed

    return add
