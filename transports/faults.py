"""A transport that does its part badly: what a network and a careless or hostile far side may do to lines.

It promises no less than `transports.base` does, which promises little: lines may be missing, changed, pruned,
repeated and in any order, calls may fail, and a publish may have happened although its answer was lost. What was
hidden is not gone: a tip handed out under a fault is like no other, so whoever reads again finds more.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from random import Random
from typing import Final

from crypto.op import STUB_TYPES, Op, OpError, read_entry, to_line
from transports.base import PASS_BYTES, Behind, Line, Pull, Refused, Transport, Unreachable


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
    STALE = "stale"  # the far side shows what it held a while ago

    # The call itself
    UNREACHABLE = "unreachable"  # nobody answers
    LOSE_PUBLISH = "lose-publish"  # nobody answers a publish, and nothing of it arrived
    LOSE_ANSWER = "lose-answer"  # nobody answers a publish, and all of it arrived
    OVERTAKE = "overtake"  # somebody else publishes first, once
    REFUSE = "refuse"  # the far side says no, once


HIDING: Final = frozenset(
    (Fault.DROP, Fault.DELAY, Fault.WITHHOLD, Fault.CORRUPT, Fault.PRUNE, Fault.STALE, Fault.REORDER)
)
"""Faults under which what a pull showed is not what the far side holds."""


class FaultyTransport:
    """Any transport, with faults (transports.base.Transport).

    `random` decides which lines they strike, each with the chance `share`. `happened` is told of each fault
    that struck.
    """

    def __init__(
        self,
        inner: Transport,
        faults: Collection[Fault],
        random: Random,
        *,
        share: float = 0.3,
        happened: Callable[[Fault], None] = lambda _: None,
    ) -> None:
        self.url = inner.url
        self._inner = inner
        self._faults = frozenset(faults)
        self._once = set(self._faults)
        self._random = random
        self._share = share
        self._happened = happened
        self._tip: str | None = None

    def refresh(self) -> str:
        if Fault.UNREACHABLE in self._faults:
            self._happened(Fault.UNREACHABLE)
            raise self._unreachable()
        if self._tip is None or not self._strikes_once(Fault.STALE):
            self._tip = self._inner.refresh()
        return f"{self._tip} ({self._random.randbytes(8).hex()})" if self._faults & HIDING else self._tip

    def pull(self, since: Mapping[str, int], *, budget: int | None = PASS_BYTES) -> Pull:
        pull = self._inner.pull(since, budget=budget)
        return Pull(self._handed_over(pull), pull.report)

    def lane(self, replica: str, since: int = 0) -> Iterator[Line]:
        return self._handed_over(self._inner.lane(replica, since))

    def acks(self, replicas: Collection[str] | None = None) -> Iterator[Line]:
        return self._handed_over(self._inner.acks(replicas))

    def publish(self, replica: str, lines: Sequence[bytes], *, acks: bytes | None = None) -> None:
        if self._strikes_once(Fault.OVERTAKE):
            raise Behind("somebody else published first")
        if self._strikes_once(Fault.REFUSE):
            raise Refused("the far side refused the lines", "try again")
        if self._strikes_once(Fault.LOSE_PUBLISH):
            raise self._unreachable()
        self._inner.publish(replica, lines, acks=acks)
        if self._strikes_once(Fault.LOSE_ANSWER):
            raise self._unreachable()

    def watch(self, timeout: float) -> bool:
        return self._inner.watch(timeout)

    def close(self) -> None:
        self._inner.close()

    def _handed_over(self, lines: Iterable[Line]) -> Iterator[Line]:
        """What arrives of some lines, and how."""
        found = self._arrived(list(lines))
        if self._strikes(Fault.REORDER, found):
            self._random.shuffle(found)
        return iter(found)

    def _arrived(self, lines: list[Line]) -> list[Line]:
        hidden = self._hidden(lines)
        found: list[Line] = []
        for at, line in enumerate(lines):
            if at in hidden or self._hits(Fault.DROP):
                continue
            found.append(self._changed(line))
            if self._hits(Fault.DUPLICATE):
                found.append(line)
        return found

    def _hidden(self, lines: Sequence[Line]) -> set[int]:
        """The places of lines that have not arrived, or that are kept back."""
        places: dict[str, list[int]] = {}
        for at, line in enumerate(lines):
            places.setdefault(line.replica, []).append(at)
        found: set[int] = set()
        for at_lane in places.values():
            if self._hits(Fault.WITHHOLD):
                found.update(at_lane)
            if self._hits(Fault.DELAY):
                found.update(at_lane[-self._random.randrange(1, len(at_lane) + 1) :])
        return found

    def _changed(self, line: Line) -> Line:
        raw = line.raw
        if self._hits(Fault.PRUNE):
            raw = _stub_of(raw)
        if raw and self._hits(Fault.CORRUPT):
            at = self._random.randrange(len(raw))
            raw = (
                raw[:at] + bytes((raw[at] ^ 1,)) + raw[at + 1 :] if self._random.random() < 0.5 else raw[:at]
            )
        return Line(line.replica, raw)

    def _hits(self, fault: Fault) -> bool:
        """Whether a fault strikes this line, or lane."""
        if fault not in self._faults or self._random.random() >= self._share:
            return False
        self._happened(fault)
        return True

    def _strikes(self, fault: Fault, lines: Sequence[Line]) -> bool:
        if fault not in self._faults or len(lines) < 2:
            return False
        self._happened(fault)
        return True

    def _strikes_once(self, fault: Fault) -> bool:
        if fault not in self._once:
            return False
        self._once.discard(fault)
        self._happened(fault)
        return True

    def _unreachable(self) -> Unreachable:
        return Unreachable(f"{self.url} does not answer", "mail waits here until it does")


def _stub_of(raw: bytes) -> bytes:
    """What is left of an op that was pruned; anything else stays."""
    try:
        entry = read_entry(raw)
        return to_line(entry.stub()) if isinstance(entry, Op) and entry.type in STUB_TYPES else raw
    except (OpError, ValueError):
        return raw
