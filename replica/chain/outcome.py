"""What became of a received op."""

from dataclasses import dataclass
from enum import Enum, auto
from typing import ClassVar


class Verdict(Enum):
    """Whether the cursor moves past an op, and what is left to do about it."""

    APPLIED = auto()  # done, and something changed
    NOTHING = auto()  # done, and nothing had to change
    DROPPED = auto()  # done: not to be applied, for a reason that is recorded
    REFUSED = auto()  # done: the protocol refuses it; its origin is told
    PARKED = auto()  # kept, to be tried again
    KEPT = auto()  # kept for a build that knows its type
    WAIT = auto()  # the chain waits at this op


@dataclass(frozen=True, slots=True)
class Outcome:
    """A verdict, and what a person is told: `subject` names the problem, "" for none.

    `message` is the id of the message a refusal is about, for its `origin`, and `told` what that hears where it is not
    the reason noted here. `again` tells of something parked that
    this replica may be able to judge later by itself, without news from anybody.
    """

    verdict: Verdict
    subject: str = ""
    reason: str = ""
    message: str | None = None
    again: bool = False
    origin: str | None = None
    told: str | None = None

    APPLIED: ClassVar["Outcome"]
    NOTHING: ClassVar["Outcome"]
    KEPT: ClassVar["Outcome"]

    @classmethod
    def dropped(cls, subject: str, reason: str) -> "Outcome":
        """Not to be applied."""
        return cls(Verdict.DROPPED, subject, reason)

    @classmethod
    def refused(
        cls, subject: str, reason: str, message: str, origin: str, *, told: str | None = None
    ) -> "Outcome":
        """Refused by the protocol."""
        return cls(Verdict.REFUSED, subject, reason, message, origin=origin, told=told)

    @classmethod
    def parked(cls, subject: str, reason: str, *, again: bool = True) -> "Outcome":
        """Kept, to be tried again."""
        return cls(Verdict.PARKED, subject, reason, again=again)

    @classmethod
    def wait(cls, subject: str = "", reason: str = "") -> "Outcome":
        """The chain waits here."""
        return cls(Verdict.WAIT, subject, reason)


Outcome.APPLIED = Outcome(Verdict.APPLIED)
Outcome.NOTHING = Outcome(Verdict.NOTHING)
Outcome.KEPT = Outcome(Verdict.KEPT)
