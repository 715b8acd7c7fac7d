"""Taking turns on a branch that many publish to.

A push is taken only on top of what was fetched before it, so of those who race, one wins and the others have
worked for nothing. Waiting longer after each loss, as one does with a network that is busy, lets whoever has
just won go on winning. Here, while there is a crowd, who has won keeps out of the others' way for about as long as a
round of all of them takes, and what is sent meanwhile goes out together; so few are left to race, and who has lost
waits for a few pushes only. Nobody has to be asked: the branch shows who else publishes, and one's own pushes how
long one takes. Where nobody is met nothing waits.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Final

MEMORY_SECONDS: Final = 60.0
"""How long somebody who published counts as a rival, and a lost race as a sign of a crowd."""

ABREAST: Final = 1.1
"""How much shorter than a round a winner rests: otherwise the branch would stand idle now and then."""

RACING: Final = 3
"""How many pushes of others somebody waits for who has lost, at most: that many race at a time."""

LONGEST_SECONDS: Final = 20.0
"""The longest wait in the mean, however many lanes somebody makes up."""


@dataclass(slots=True)
class Turns:
    """When to begin the next try. `clock` counts seconds; `random` is between 0 and 1."""

    clock: Callable[[], float]
    random: Callable[[], float]
    _rivals: dict[str, float] = field(default_factory=dict)
    _began: float = 0.0
    _spent: float = 0.0
    _lost_at: float | None = None
    _next: float = 0.0

    @property
    def is_crowded(self) -> bool:
        """Whether somebody else was faster not long ago, and may be again."""
        return self._lost_at is not None and self.clock() - self._lost_at <= MEMORY_SECONDS

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
        self._lost_at = self.clock()
        self._rest(min(len(self._rivals), RACING))

    def won(self) -> None:
        """The push was taken."""
        self._took()
        if self.is_crowded:
            self._rest(len(self._rivals) / ABREAST)

    def _took(self) -> None:
        spent = self.clock() - self._began
        self._spent = spent if not self._spent else (self._spent + spent) / 2

    def _rest(self, pushes: float) -> None:
        """Wait for about as long as so many pushes take."""
        mean = min(LONGEST_SECONDS, pushes * self._spent)
        self._next = self.clock() + mean * (0.5 + self.random())
