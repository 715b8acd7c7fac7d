"""Who dispatches a `sending` delivery, so that two processes never dispatch one (section 6.3).

A delivery is stored without an owner. A process claims it by compare-and-set under its own name before it
runs the hook, and may take over what is unowned or whose owner is gone.
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

    def __init__(self, name: str = "here") -> None:
        self._name = name

    def me(self) -> str:
        return self._name

    def lives(self, name: str) -> bool:
        return name == self._name
