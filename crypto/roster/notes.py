"""Why a roster op has no effect, and the bounded list of those that people should hear of."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Final

from crypto.roster.ops import RosterOp

MAX_NOTES: Final = 32
"""Notes kept about one replica's ops, and about those of all replicas that were never let in together.

Anyone who can write to the branch can publish ops without rights, so their notes may not grow with them.
"""


class Ignored(Enum):
    """Why an op has no effect. The values are sentences about the op, and hold no text of others."""

    MALFORMED = "its body cannot be read"
    OTHER_FOUNDING = "it founds another team"
    BEFORE_FOUNDING = "its clock is before the founding"
    OTHER_KEY = "it was signed with another key than the one that was admitted"
    OBSERVER = "observers do not change the roster"
    NO_RIGHT = "its publisher had no right to it"
    NO_KEY = "the replica it admits has announced no key"
    OTHER_FINGERPRINT = "the replica it admits has announced another key"
    REVOKED = "the replica it names was revoked before"
    NOT_ADMITTED = "the replica it names was not admitted before"
    OBSERVING_ADMIN = "an observer cannot be an admin"
    CUT_MISSING = "it takes rights away without saying from which op on"
    HOSTS_CUT_MISSING = "it takes handles away without saying from which op on"
    NO_OWN_KEY = "its publisher has announced no key"
    REVOKED_ITSELF = "its publisher was revoked"
    NOT_FIRST = "it is not the first roster op of its publisher"
    RECOVERY_USED = "the recovery code was used before"
    OTHER_RECOVERY = "it does not prove that the team's recovery code is held"
    NOT_HELD = "the op it names is not here"
    READABLE = "the op it names is one that this build can read"
    NOT_OUTRANKED = "the publisher of the op it names ranks no lower"
    DISMISSED = "an admin dismissed it"
    OTHER_INVITE_ID = "its invite id is not that of its key"
    OUTRANKED = "contested removals that rank before it stand"
    LAST_ADMIN = "it would leave the team without an admin"
    ALREADY_ADMITTED = "the replica was admitted before"
    ALREADY_CLOSED = "the legacy window was closed before"
    ALREADY_INVITED = "an invite of this id was published before"


_REPEATS: Final = frozenset(
    (
        Ignored.OTHER_KEY,
        Ignored.ALREADY_ADMITTED,
        Ignored.ALREADY_CLOSED,
        Ignored.ALREADY_INVITED,
        Ignored.NOT_HELD,
    )
)
"""Reasons that are nobody's problem."""


@dataclass(frozen=True, slots=True)
class Note:
    """Something about the roster that people should hear of; `subject` is `op:<replica>:<seq>` for an op.

    `replica` is whose op it is about, or which machine.
    """

    subject: str
    text: str
    replica: str | None = None
    seq: int | None = None


def op_subject(op: RosterOp) -> str:
    """How a note names an op."""
    return f"op:{op.replica}:{op.seq}"


class Notes:
    """The notes on ops that were ignored, in the order of the ops, and how many more there are than may be noted.

    `let_in` are the replicas that were ever let in: each has room of its own.
    """

    def __init__(self, let_in: Collection[str]) -> None:
        self._let_in = let_in
        self._counts: dict[str | None, int] = {}
        self._notes: list[Note] = []
        self._publishers: set[str] = set()
        self._shown: tuple[Note, ...] | None = None

    def add(self, op: RosterOp, reason: Ignored | None) -> None:
        """Take in the next op, and why it was ignored if it was."""
        if reason is None or reason in _REPEATS:
            return
        self._shown = None
        self._publishers.add(op.replica)
        group = op.replica if op.replica in self._let_in else None
        self._counts[group] = self._counts.get(group, 0) + 1
        if self._counts[group] <= MAX_NOTES:
            text = f"The roster op of {op.replica} at seq {op.seq} has no effect: {reason.value}."
            self._notes.append(Note(op_subject(op), text, op.replica, op.seq))

    def has_any(self, replica: str) -> bool:
        """Whether any op of a replica was noted, or counted."""
        return replica in self._publishers

    def shown(self) -> tuple[Note, ...]:
        """All of them as they are now."""
        if self._shown is None:
            self._shown = (*self._notes, *self._more())
        return self._shown

    def _more(self) -> Iterator[Note]:
        for group, count in self._counts.items():
            if count > MAX_NOTES:
                whose = group or "replicas that were never admitted"
                text = f"{count - MAX_NOTES} more roster ops of {whose} have no effect."
                yield Note(f"roster:{group}" if group else "roster", text, group)
