"""A transport that does its part badly: what a network and a careless or hostile far side may do to lines.

It promises no less than `transports.base` does, which promises little: lines may be missing, changed, pruned,
repeated and in any order, calls may fail, and a publish may have happened although its answer was lost. What was
hidden is not gone: a tip handed out under a fault is like no other, so whoever reads again finds more.

It has no keys, so it can forge nothing: a fork is shown from lines that somebody with the key has signed.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from random import Random
from typing import Final

from crypto.op import STUB_TYPES, Op, OpError, read_entry, to_line
from transports.base import PASS_BYTES, Behind, Line, Pull, Refused, Transport, Unreachable
from transports.lines import JunkError, seq_of


class Fault(StrEnum):
    """What may go wrong, each by itself or with others."""

    # On the way here
    DROP = "drop"  # some lines are missing
    DELAY = "delay"  # the newest lines of some lanes have not arrived
    WITHHOLD = "withhold"  # a whole lane is not shown
    DUPLICATE = "duplicate"  # some lines come again
    REORDER = "reorder"  # lines come in any order
    CORRUPT = "corrupt"  # some lines have been damaged
    PRUNE = "prune"  # some ops are stubs
    STALE = "stale"  # the far side shows what it held a while ago, once

    # The call itself
    UNREACHABLE = "unreachable"  # nobody answers
    LOSE_PUBLISH = "lose-publish"  # nobody answers a publish, and nothing of it arrived
    LOSE_ANSWER = "lose-answer"  # nobody answers a publish, and all of it arrived
    OVERTAKE = "overtake"  # somebody else publishes first
    REFUSE = "refuse"  # the far side says no

    # The far side
    TRUNCATE = "truncate"  # some lines end early
    ROLL_BACK = "roll-back"  # the far side is what it was some time ago, and stays so
    PARTITION = "partition"  # nothing new of other lanes arrives
    FORK = "fork"  # a lane goes on in another version of it


CALLS: Final = frozenset((Fault.LOSE_PUBLISH, Fault.LOSE_ANSWER, Fault.OVERTAKE, Fault.REFUSE, Fault.STALE))
"""Faults of a whole call, which strike every one they may."""

HIDING: Final = frozenset(Fault) - (CALLS - {Fault.STALE}) - {Fault.UNREACHABLE, Fault.DUPLICATE}
"""Faults under which what a pull showed is not what the far side holds."""


@dataclass(frozen=True, slots=True)
class Step:
    """Faults that strike from the pass `first` to the pass `last`, both included; a pass begins with `refresh`.

    Each strikes at most `count` times, in these `lanes` or in all, and each line or lane there with the chance
    `share`. To a roll-back that is the part of all ops that is gone. `versions` are the lines, by lane, with
    which a fork goes on.
    """

    faults: frozenset[Fault]
    first: int = 1
    last: int | None = None
    count: int | None = None
    lanes: frozenset[str] = frozenset()
    share: float = 0.3
    versions: Mapping[str, Sequence[bytes]] = field(default_factory=dict)

    def is_on(self, at: int) -> bool:
        return self.first <= at and (self.last is None or at <= self.last)

    def means(self, lane: str) -> bool:
        return not self.lanes or lane in self.lanes


def drawn_steps(seed: int, passes: int) -> list[Step]:
    """Draw up to three faults for each of so many passes, and none for what follows."""
    random = Random(f"steps-{seed}")
    kinds = sorted(frozenset(Fault) - {Fault.FORK})
    return [
        Step(frozenset(random.sample(kinds, random.choice((0, 1, 1, 2, 3)))), first=at, last=at)
        for at in range(1, passes + 1)
    ]


class FaultyTransport:
    """Any transport, with faults (transports.base.Transport).

    `random` decides what they strike. `own` is the lane of whoever reads here, which is on this side of any
    partition. `happened` is told of each fault that struck.
    """

    def __init__(
        self,
        inner: Transport,
        steps: Sequence[Step],
        random: Random,
        *,
        own: str = "",
        happened: Callable[[Fault], None] = lambda _: None,
    ) -> None:
        self.url = inner.url
        self._inner = inner
        self._steps = steps
        self._struck: dict[tuple[int, Fault], int] = {}
        self._random = random
        self._own = own
        self._happened = happened
        self._pass = 0
        self._tip: str | None = None
        self._moments: dict[int, int] = {}
        """The clock of the newest op that is there, by the place of the step that rolls back."""
        self._tops: dict[int, dict[str, int]] = {}
        """The newest seq of each lane that is there, by the place of the step that partitions."""

    def refresh(self) -> str:
        self._pass += 1
        if self._on(Fault.UNREACHABLE):
            self._strike(Fault.UNREACHABLE)
            raise self._unreachable()
        if self._tip is None or not self._strike(Fault.STALE):
            self._tip = self._inner.refresh()
        self._look()
        hides = any(step.is_on(self._pass) and step.faults & HIDING for step in self._steps)
        return f"{self._tip} ({self._random.randbytes(8).hex()})" if hides else self._tip

    def pull(self, since: Mapping[str, int], *, budget: int | None = PASS_BYTES) -> Pull:
        pull = self._inner.pull(since, budget=budget)
        return Pull(self._handed_over(self._forked(pull, since)), pull.report)

    def lane(self, replica: str, since: int = 0) -> Iterator[Line]:
        lines = self._forked(self._inner.lane(replica, since), {replica: since})
        return self._handed_over(line for line in lines if line.replica == replica)

    def acks(self, replicas: Collection[str] | None = None) -> Iterator[Line]:
        return self._handed_over(self._inner.acks(replicas))

    def publish(self, replica: str, lines: Sequence[bytes], *, acks: bytes | None = None) -> None:
        if self._strike(Fault.OVERTAKE):
            raise Behind("somebody else published first")
        if self._strike(Fault.REFUSE):
            raise Refused("the far side refused the lines", "try again")
        if self._strike(Fault.LOSE_PUBLISH):
            raise self._unreachable()
        self._inner.publish(replica, lines, acks=acks)
        if self._strike(Fault.LOSE_ANSWER):
            raise self._unreachable()

    def watch(self, timeout: float) -> bool:
        return self._inner.watch(timeout)

    def close(self) -> None:
        self._inner.close()

    def _handed_over(self, lines: Iterable[Line]) -> Iterator[Line]:
        """What arrives of some lines, and how."""
        found = self._arrived(list(lines))
        if len(found) > 1 and self._strike(Fault.REORDER):
            self._random.shuffle(found)
        return iter(found)

    def _arrived(self, lines: list[Line]) -> list[Line]:
        hidden = self._hidden(lines)
        found: list[Line] = []
        for at, line in enumerate(lines):
            if at in hidden or self._is_away(line) or self._hits(Fault.DROP, line.replica):
                continue
            found.append(self._changed(line))
            if self._hits(Fault.DUPLICATE, line.replica):
                found.append(line)
        return found

    def _hidden(self, lines: Sequence[Line]) -> set[int]:
        """The places of lines that have not arrived, or that are kept back."""
        places: dict[str, list[int]] = {}
        for at, line in enumerate(lines):
            places.setdefault(line.replica, []).append(at)
        found: set[int] = set()
        for lane, at_lane in places.items():
            if self._hits(Fault.WITHHOLD, lane):
                found.update(at_lane)
            if self._hits(Fault.DELAY, lane):
                found.update(at_lane[-self._random.randrange(1, len(at_lane) + 1) :])
        return found

    def _changed(self, line: Line) -> Line:
        raw = line.raw
        if self._hits(Fault.PRUNE, line.replica):
            raw = _stub_of(raw)
        if raw and self._hits(Fault.CORRUPT, line.replica):
            at = self._random.randrange(len(raw))
            raw = (
                raw[:at] + bytes((raw[at] ^ 1,)) + raw[at + 1 :] if self._random.random() < 0.5 else raw[:at]
            )
        if raw and self._hits(Fault.TRUNCATE, line.replica):
            raw = raw[: self._random.randrange(len(raw))]
        return Line(line.replica, raw)

    # The far side as it was, or as it is to others

    def _look(self) -> None:
        """See where a roll-back leads to and a partition begins, once for each step."""
        for at, step in self._on(Fault.ROLL_BACK):
            if at not in self._moments:
                clocks = sorted(_clock(line.raw) for line in self._everything() if step.means(line.replica))
                if clocks:
                    self._moments[at] = clocks[int((len(clocks) - 1) * (1 - step.share))]
        for at, _ in self._on(Fault.PARTITION):
            if at not in self._tops:
                tops = self._tops[at] = {}
                for line in self._everything():
                    tops[line.replica] = max(tops.get(line.replica, 0), _seq(line))

    def _everything(self) -> Iterator[Line]:
        return self._inner.pull({}, budget=None)

    def _is_away(self, line: Line) -> bool:
        for at, step in self._on(Fault.ROLL_BACK):
            if at in self._moments and step.means(line.replica) and _clock(line.raw) > self._moments[at]:
                return self._counts(at, Fault.ROLL_BACK)
        for at, step in self._on(Fault.PARTITION):
            there = self._tops[at].get(line.replica, 0)
            if line.replica != self._own and step.means(line.replica) and _seq(line) > there:
                return self._counts(at, Fault.PARTITION)
        return False

    def _forked(self, lines: Iterable[Line], since: Mapping[str, int]) -> Iterator[Line]:
        """Let each lane that forks go on in its other version."""
        others: dict[str, list[bytes]] = {}
        for at, step in self._on(Fault.FORK):
            for lane, version in step.versions.items():
                if lane not in others and step.means(lane) and self._counts(at, Fault.FORK):
                    others[lane] = list(version)
        starts = {
            lane: min(_seq(Line(lane, raw)) for raw in version) for lane, version in others.items() if version
        }
        for line in lines:
            if line.replica not in starts or _seq(line) < starts[line.replica]:
                yield line
        for lane in starts:
            for raw in others[lane]:
                if _seq(Line(lane, raw)) >= since.get(lane, 0):
                    yield Line(lane, raw)

    # Which faults strike

    def _on(self, fault: Fault) -> list[tuple[int, Step]]:
        """The steps of this pass in which a fault may strike still, with their places."""
        return [
            (at, step)
            for at, step in enumerate(self._steps)
            if fault in step.faults
            and step.is_on(self._pass)
            and (step.count is None or self._struck.get((at, fault), 0) < step.count)
        ]

    def _hits(self, fault: Fault, lane: str) -> bool:
        """Whether a fault strikes this line, or lane."""
        for at, step in self._on(fault):
            if step.means(lane) and self._random.random() < step.share:
                return self._counts(at, fault)
        return False

    def _strike(self, fault: Fault) -> bool:
        """Whether a fault strikes this call."""
        return any(self._counts(at, fault) for at, _ in self._on(fault)[:1])

    def _counts(self, at: int, fault: Fault) -> bool:
        self._struck[at, fault] = self._struck.get((at, fault), 0) + 1
        self._happened(fault)
        return True

    def _unreachable(self) -> Unreachable:
        return Unreachable(f"{self.url} does not answer", "mail waits here until it does")


def _seq(line: Line) -> int:
    try:
        return seq_of(line.replica, line.raw)
    except JunkError:
        return 0


def _clock(raw: bytes) -> int:
    """Milliseconds; 0 for what is no entry, which is as old as anything."""
    try:
        return read_entry(raw).hlc.ms
    except (OpError, ValueError):
        return 0


def _stub_of(raw: bytes) -> bytes:
    """What is left of an op that was pruned; anything else stays."""
    try:
        entry = read_entry(raw)
        return to_line(entry.stub()) if isinstance(entry, Op) and entry.type in STUB_TYPES else raw
    except (OpError, ValueError):
        return raw
