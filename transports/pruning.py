"""What a transport can do besides, whose far side keeps whatever was published until somebody takes it out.

A transport that drops by itself what everybody has read, as a relay does, has no need of it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, runtime_checkable


@dataclass(frozen=True, slots=True)
class Pruned:
    """How many lines were replaced, and by how many bytes the lane is shorter."""

    lines: int
    saved: int


@runtime_checkable
class Prunes(Protocol):
    """A transport on which a replica may replace lines of its own lane by shorter ones."""

    def prune(self, replica: str, shorter: Mapping[bytes, bytes]) -> Pruned:
        """Replace each line of the own lane that is a key of `shorter`, wherever it stands; add and remove none.

        The far side must still be as refresh or publish saw it. With nothing to replace nothing happens. Raises
        as `publish` does.
        """

    def stored_bytes(self) -> int:
        """About how many bytes the far side takes, what it keeps of the past included, as far as is known here."""
