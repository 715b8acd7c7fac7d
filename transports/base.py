"""What every transport is: a place where the replicas of a team leave lines for one another.

A transport carries **lines**: one JSON text each, an op or a stub of one replica. Lines live in **lanes**,
one a replica, and a replica only ever adds to its own. A transport checks no signature and promises nothing
about what it hands over: lines come in any order, more than once, from whoever could write to the far side,
and some may be missing. The reader's chain rules decide what they are worth (federation wire 2.3).

A pass is: `refresh` (the far side is asked once), `pull` and `acks` (what that answer holds), `publish` (on
top of that answer, refused as `Behind` when the far side has moved on). One call at a time, from any
thread.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

LINE_BYTES: Final = 1024 * 1024
"""The longest line that is read, in bytes without its line feed (federation wire 6.5)."""

ACKS_BYTES: Final = 1024 * 1024
"""The longest acknowledgement file that is read, in bytes (federation wire 6.10)."""

PASS_BYTES: Final = 32 * 1024 * 1024
"""What one pull reads before it leaves the rest to later ones, in bytes (federation wire 6.14)."""


class TransportError(Exception):
    """The far side did not do what was asked. `message` says what happened, `hint` what a person can do."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class Unreachable(TransportError):  # noqa: N818 - named for what happened
    """The far side did not answer: the network, a wrong address, missing credentials. Later may be better."""


class Behind(TransportError):  # noqa: N818 - named for what happened
    """Somebody else published first. Nothing was published: refresh, look at the own lane, publish again."""


class Refused(TransportError):  # noqa: N818 - named for what happened
    """The far side answered and said no: a hook, a protected branch, a limit. Nothing was published.

    Some hooks say no only once, so another try in the same pass is fair; many are not.
    """


@dataclass(frozen=True, slots=True)
class Line:
    """One line without its line feed, and the lane it was found in."""

    replica: str
    raw: bytes


@dataclass(frozen=True, slots=True)
class Skipped:
    """Something on the far side that is no line of a lane and was passed over.

    `place` says where, as the far side names it; `line` is the number of the first such line there, from 1,
    or 0 where the whole place was passed over; `count` is how many there are for the same `reason`.
    """

    replica: str
    place: str
    line: int
    count: int
    reason: str


@dataclass(slots=True)
class PullReport:
    """What a pull did not hand over. Complete once the pull has ended.

    `more` tells that the budget left something unread, which the next pulls come to; a caller that took
    nothing from this pull gains nothing by pulling again at once.
    """

    more: bool = False
    skipped: list[Skipped] = field(default_factory=list)


class Pull(Iterator[Line]):
    """The lines of one pull, read as they are asked for, and its report."""

    def __init__(self, lines: Iterator[Line], report: PullReport) -> None:
        self._lines = lines
        self.report = report

    def __next__(self) -> Line:
        return next(self._lines)


class Transport(Protocol):
    """How lines travel between the replicas of a team."""

    url: str
    """The far side, as it may be shown to people: no credentials in it."""

    def refresh(self) -> str:
        """Ask the far side what it holds, for the calls that follow.

        Returns an opaque tip; an equal tip means that nothing changed there. Raises Unreachable.
        """

    def pull(self, since: Mapping[str, int], *, budget: int | None = PASS_BYTES) -> Pull:
        """Read every lane, as refresh saw it: the lines whose seq is at least `since[lane]`.

        A lane that is not named is read from its start. Lines come in no promised order; what is no line of
        its lane is skipped and reported. About `budget` bytes are read, spread so that no lane keeps others
        waiting for ever; None reads everything, lane after lane in the order of their names.

        Raises Unreachable where what refresh saw can no longer be read.
        """

    def lane(self, replica: str, since: int = 0) -> Iterator[Line]:
        """Read one lane as `pull` does, all of it. Raises as `pull`."""

    def acks(self, replicas: Collection[str] | None = None) -> Iterator[Line]:
        """Read the acknowledgements of these replicas, or of all, as refresh saw them, unverified."""

    def publish(self, replica: str, lines: Sequence[bytes], *, acks: bytes | None = None) -> None:
        """Add these lines to the own lane, and replace its acknowledgements, in one step.

        The far side must still be as refresh saw it. With nothing to change nothing happens. Raises Behind,
        Unreachable (it may have been published all the same), Refused.
        """

    def watch(self, timeout: float) -> bool:
        """Wait until something may have changed since refresh: True, or False after `timeout` seconds."""

    def close(self) -> None:
        """Give back processes, files and connections. The transport is not used afterwards."""
