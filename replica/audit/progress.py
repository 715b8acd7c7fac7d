"""Telling whoever waits how far an audit is."""

from typing import Protocol


class Progress(Protocol):
    """Is told what is being done and how many lines it has come through."""

    def begin(self, what: str, total: int | None) -> None:
        """A part begins that will come through `total` lines; None where nobody knows yet."""

    def advance(self) -> None:
        """One more line."""


class Silent:
    """Shows nothing."""

    def begin(self, what: str, total: int | None) -> None: ...

    def advance(self) -> None: ...
