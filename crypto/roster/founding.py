"""Which team a set of ops is about: founding pins (federation wire 4.5).

The founding a replica follows is pinned by its hash. Until someone has chosen it, or the replica was admitted
under it, a pin is *provisional*: it holds only while no second founding is seen.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from crypto.keys import team_id
from crypto.roster.bodies import Found
from crypto.roster.ops import RosterOp


@dataclass(frozen=True, slots=True)
class Founding:
    """A `found` op, who published it, and the fingerprint of the key it is signed with.

    The name is text of the founder.
    """

    hash: str
    replica: str
    fingerprint: str
    name: str

    @property
    def team_id(self) -> str:
        """The id of the team it founded."""
        return team_id(self.hash)


class Pin(Enum):
    """What foundings allow, where nobody has chosen among them."""

    NONE = "none"
    PROVISIONAL = "provisional"
    AMBIGUOUS = "ambiguous"


@dataclass(frozen=True, slots=True)
class Candidates:
    """The foundings a replica might follow, in order of their hash."""

    foundings: tuple[Founding, ...]

    @property
    def pin(self) -> Pin:
        """Whether there is none, exactly one, or a choice to make by fingerprint."""
        if not self.foundings:
            return Pin.NONE
        return Pin.PROVISIONAL if len(self.foundings) == 1 else Pin.AMBIGUOUS

    @property
    def provisional(self) -> Founding | None:
        """The one to follow for now."""
        return self.foundings[0] if self.pin is Pin.PROVISIONAL else None


def foundings(ops: Iterable[RosterOp], *, invited_to: str | None = None) -> Candidates:
    """Return the foundings among verified ops.

    Whoever holds an invite follows the team it names, so `invited_to`, the team id of an invite, leaves
    only the founding whose hash begins with it.
    """
    seen = {
        op.hash: Founding(op.hash, op.replica, op.key, op.body.name)
        for op in ops
        if isinstance(op.body, Found) and (invited_to is None or team_id(op.hash) == invited_to)
    }
    return Candidates(tuple(seen[each] for each in sorted(seen)))
