"""What every transport is: a place where the replicas of a team leave lines for one another.

A transport carries **lines**: one JSON text each, an op or a stub of one replica. Lines live in **lanes**,
one a replica, and a replica only ever adds to its own. A transport need not check a signature, a chain or who may
say what, and nothing it hands over is believed: lines may come more than once, from whoever could write to the far
side, and some may be missing. The reader's chain rules decide what they are worth (federation wire 2.3).

A pass is: `refresh` (the far side is asked once), `pull` and `acks` (what it holds), `publish` (refused as `Behind`
when the own lane has moved on). One call at a time, from any thread.

What is promised, and tested by `transports.contract`:

- **Publish.** When it returns, the far side has the lines and shows them to whoever asks from then on, in other
  processes and after it was restarted. Lines that do not follow what its lane holds are not added, and `Behind` says
  so; that is what keeps two machines with one key from both being believed. Publishing again what is there is
  allowed and adds no other op. After any error, some or all of it may have been published, a beginning of it: the
  caller refreshes, looks at its own lane and publishes what is missing.
- **Pull.** What was published is shown, whole to those it is for, and goes on being shown; whoever was away is shown
  what it missed, since the caller says where it begins. What one replica published comes in the order in which it
  did. An op of which a stub is left is one that all its recipients acknowledged, or that the far side says it keeps
  no longer; a stub is told from the op by anybody.
- **Acknowledge.** A replica's acknowledgements go there with its publish, the last ones in place of those before.
  Nothing is ever acknowledged in its name for having been handed over: only the replica knows what it has stored.
- **Watch** may be wrong either way: it only tells when to look. A pass finds everything without it.
- **Presence.** A far side may know who is connected at the moment; nothing is built on that here. Who is there, and
  since when, replicas tell one another by ops, like everything else.

What need not be: that lines are unique, that all that was published yesterday is there today (a far side may be put
back to what it was; replicas notice, and publish again), that what nobody with a key wrote is kept out, that two
calls see the same state, that anything arrives within a time.
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
    """How lines travel between the replicas of a team. The module says what is promised.

    No method raises anything but TransportError for what the far side or the way to it does. ValueError is for
    callers that break the rules: lines that are no ops of the lane, an id that is no replica's.
    """

    url: str
    """The far side, as it may be shown to people: no credentials in it."""

    def refresh(self) -> str:
        """Ask the far side what it holds, for the calls that follow.

        Returns an opaque tip. Where it equals an earlier one, nothing changed in between that a pull would show;
        another tip may mean nothing. Raises Unreachable.
        """

    def pull(self, since: Mapping[str, int], *, budget: int | None = PASS_BYTES) -> Pull:
        """Read every lane as it was at refresh, or later: the lines whose seq is at least `since[lane]`.

        A lane that is not named is read from its start. Of each lane, what was published first comes first; the
        lanes themselves come in any order. What is no line of its lane is skipped and reported. About `budget`
        bytes are read, those of lanes that are named first, and spread over the pulls so that no lane keeps others
        waiting for ever, also when its reader takes nothing from it; None reads everything, lane after lane.

        Raises Unreachable where what refresh saw can no longer be read, while it is being read too.
        """

    def lane(self, replica: str, since: int = 0) -> Iterator[Line]:
        """Read one lane as `pull` does, all of it. Raises as `pull`."""

    def acks(self, replicas: Collection[str] | None = None) -> Iterator[Line]:
        """Read the acknowledgements of these replicas, or of all, unverified: of each its last, at most.

        A far side that tells nobody's shows none; what arrived is then known by reading it back.
        """

    def publish(self, replica: str, lines: Sequence[bytes], *, acks: bytes | None = None) -> None:
        """Add these lines to the own lane, in the order of their seqs, and replace its acknowledgements.

        The own lane must still be as refresh saw it; a transport may ask that of the whole far side. Or it may put
        the lines after what others published since, though not after a line that it sees to change who is in the
        team: what was made for those who were there has to be made anew. With nothing to change nothing happens.
        Raises Behind, Refused (nothing was published) and Unreachable (it may have been published all the same).
        """

    def watch(self, timeout: float) -> bool:
        """Wait until something may have changed since refresh: True, or False after `timeout` seconds.

        What others published before the own publish counts, and the own lines do not.

        Raises nothing of its own: a far side that does not answer has nothing new.
        """

    def close(self) -> None:
        """Give back processes, files and connections. The transport is not used afterwards; closing again is fine."""
