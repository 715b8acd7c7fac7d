"""Who dispatches a `sending` delivery or applies an effect, so that two processes never do (sections 5.5, 6.3).

A delivery is stored without an owner. A process claims it by compare-and-set under its own name before it
runs the hook, and may take over what is unowned or whose owner is gone. An effect has an owner from its answer on.
"""

from typing import Protocol


class Dispatchers(Protocol):
    """The processes that dispatch from one store."""

    def me(self, /) -> str:
        """Return this process's name, which no other process has or gets."""

    def lives(self, name: str, /) -> bool:
        """Return whether a process of that name still runs."""


class Lone:
    """The only process there is: whatever another name holds was left by one that is gone."""

    def me(self) -> str:
        return "here"

    def lives(self, name: str) -> bool:
        return name == self.me()
