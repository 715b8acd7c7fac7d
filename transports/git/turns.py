"""Taking turns on a branch that many publish to.

A push is taken only on top of what was fetched before it, so of those who race, one wins and the others have
worked for nothing. Waiting longer after each loss, as one does with a network that is busy, lets whoever has
just won go on winning. Here everybody who has met a rival waits for about as long as a round of all the rivals
takes, who lost for less than who won, and what was sent meanwhile goes out together. Nobody has to be asked:
the branch shows who else publishes, and one's own pushes how long one takes. Where nobody is met nothing waits.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Final

MEMORY_SECONDS: Final = 30.0
"""How long somebody who published counts as a rival."""

ABREAST: Final = 1.5
"""How many try at one time where nobody has lost yet: with fewer the branch would stand idle between them."""

PATIENCE: Final = 6
"""Losses after which nobody goes further ahead of the others: who lost so often waits a quarter as long."""

LONGEST_SECONDS: Final = 6.0
"""The longest wait in the mean, however many lanes somebody makes up."""


@dataclass(slots=True)
class Turns:
    """When to begin the next try. `clock` counts seconds; `random` is between 0 and 1."""

    clock: Callable[[], float]
    random: Callable[[], float]
    _rivals: dict[str, float] = field(default_factory=dict)
    _began: float = 0.0
    _spent: float = 0.0
    _losses: int = 0
    _next: float = 0.0

    def wait(self) -> float:
        """How many seconds to wait before the branch is fetched."""
        return max(0.0, self._next - self.clock())

    def begin(self) -> None:
        """The branch is about to be fetched."""
        self._began = self.clock()

    def saw(self, lanes: Collection[str]) -> None:
        """These lanes have changed since the last time."""
        now = self.clock()
        self._rivals = {lane: at for lane, at in self._rivals.items() if now - at <= MEMORY_SECONDS}
        self._rivals.update(dict.fromkeys(lanes, now))

    def lost(self) -> None:
        """Somebody else published first."""
        self._took()
        self._losses += 1
        self._rest()

    def won(self) -> None:
        """The push was taken."""
        self._took()
        met_rivals = self._losses > 0
        self._losses = 0
        if met_rivals:
            self._rest()

    def _took(self) -> None:
        spent = self.clock() - self._began
        self._spent = spent if not self._spent else (self._spent + spent) / 2

    def _rest(self) -> None:
        mean = min(LONGEST_SECONDS, len(self._rivals) * self._spent / ABREAST)
        mean /= 1 + min(self._losses, PATIENCE) / 2
        self._next = self.clock() + mean * (0.5 + self.random())
