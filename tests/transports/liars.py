"""Transports that do not do what they say, each with the contract it must fail: `test_liars` runs them.

Not a test module: every class here has tests that fail.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from random import Random

import pytest

from crypto.op import Op, read_entry, to_line
from tests.transports.far_sides import Memory
from transports.base import PASS_BYTES, Line, Pull
from transports.contract import Author, FarSide, TransportContract
from transports.faults import Fault, FaultyTransport, Step
from transports.lines import seq_of
from transports.memory import MemoryRemote, MemoryTransport


class Drops(MemoryTransport):
    """Says that lines are stored, and stores all but the last."""

    def publish(self, replica: str, lines: Sequence[bytes], *, acks: bytes | None = None) -> None:
        super().publish(replica, lines[:-1], acks=acks)


class StoresLater(MemoryTransport):
    """Says that lines are stored, and stores them with the next ones."""

    waiting: Sequence[bytes] = ()

    def publish(self, replica: str, lines: Sequence[bytes], *, acks: bytes | None = None) -> None:
        super().publish(replica, self.waiting, acks=acks)
        self.waiting = lines


class RollsBack(MemoryTransport):
    """Every third time it is asked, answers as if the last change had not been."""

    asked = 0

    def refresh(self) -> str:
        tip = super().refresh()
        self.asked += 1
        if self.asked % 3 == 0 and len(self._remote._states) > 1:
            self._seen = self._remote._states[-2]
        return tip


class BeginsFromNow(MemoryTransport):
    """Shows only what was published after it was opened, or after it was last out of reach."""

    def __init__(self, remote: MemoryRemote) -> None:
        super().__init__(remote)
        self.begun = {lane: length for lane, (_, length) in self._seen.lanes.items()}

    def pull(self, since: Mapping[str, int], *, budget: int | None = PASS_BYTES) -> Pull:
        pull = super().pull(since, budget=budget)
        kept = (line for line in pull if seq_of(line.replica, line.raw) > self.begun.get(line.replica, 0))
        return Pull(kept, pull.report)


class MissesWhatCameInACut(MemoryTransport):
    """After a cut goes on from what the far side holds by then."""

    cuts = 0
    skipped: Mapping[str, tuple[int, int]] = {}

    def refresh(self) -> str:
        before = {lane: length for lane, (_, length) in self._seen.lanes.items()}
        tip = super().refresh()
        if self._remote.name != f"{self.cuts} cuts":
            self.cuts = int(self._remote.name.partition(" ")[0])
            now = {lane: length for lane, (_, length) in self._seen.lanes.items()}
            self.skipped = {lane: (before.get(lane, 0), length) for lane, length in now.items()}
        return tip

    def pull(self, since: Mapping[str, int], *, budget: int | None = PASS_BYTES) -> Pull:
        pull = super().pull(since, budget=budget)
        return Pull((line for line in pull if not self._is_missed(line)), pull.report)

    def _is_missed(self, line: Line) -> bool:
        low, high = self.skipped.get(line.replica, (0, 0))
        return low < seq_of(line.replica, line.raw) <= high


class Reorders(MemoryTransport):
    """Hands lines over in any order."""

    def pull(self, since: Mapping[str, int], *, budget: int | None = PASS_BYTES) -> Pull:
        pull = super().pull(since, budget=budget)
        lines = list(pull)
        Random(1).shuffle(lines)
        return Pull(iter(lines), pull.report)


class ServesStubs(MemoryTransport):
    """Keeps no sealed content."""

    def pull(self, since: Mapping[str, int], *, budget: int | None = PASS_BYTES) -> Pull:
        pull = super().pull(since, budget=budget)
        return Pull((_stub(line) for line in pull), pull.report)


class AcknowledgesEarly(MemoryTransport):
    """Takes what it has handed over for what was stored, and says so."""

    def __init__(self, remote: MemoryRemote, author: Author) -> None:
        super().__init__(remote)
        self.author = author

    def pull(self, since: Mapping[str, int], *, budget: int | None = PASS_BYTES) -> Pull:
        pull = super().pull(since, budget=budget)
        lines = list(pull)
        through = {line.replica: seq_of(line.replica, line.raw) for line in lines}
        through.pop(self.author.replica, None)
        if through:
            self.publish(self.author.replica, [], acks=self.author.acknowledges(through))
        return Pull(iter(lines), pull.report)


class PrunesEarly(MemoryTransport):
    """Keeps sealed content until it was handed over once."""

    handed_over: set[tuple[MemoryRemote, bytes]] = set()  # noqa: RUF012 - the far side's, which all share

    def pull(self, since: Mapping[str, int], *, budget: int | None = PASS_BYTES) -> Pull:
        pull = super().pull(since, budget=budget)
        return Pull((self._once(line) for line in pull), pull.report)

    def _once(self, line: Line) -> Line:
        key = (self._remote, line.raw)
        if key in self.handed_over:
            return _stub(line)
        self.handed_over.add(key)
        return line


class TakesFromTwins(MemoryTransport):
    """Adds whatever it is given to whatever there is."""

    def publish(self, replica: str, lines: Sequence[bytes], *, acks: bytes | None = None) -> None:
        self._seen = self._remote.state()
        super().publish(replica, lines, acks=acks)


class Starves(MemoryTransport):
    """Reads one lane after the other, from the first one every time."""

    def pull(self, since: Mapping[str, int], *, budget: int | None = PASS_BYTES) -> Pull:
        self._ended_in = ""
        return super().pull(since, budget=budget)


class SaysNothing(MemoryTransport):
    """Takes a far side that does not answer for one that has nothing new."""

    def _reach(self) -> None:
        pass


class ShowsOldAcks(MemoryTransport):
    """Shows the acknowledgements it was given first."""

    first: Mapping[str, bytes] = {}

    def acks(self, replicas: Collection[str] | None = None) -> Iterator[Line]:
        states = self._remote._states
        for replica in self._seen.acks:
            yield Line(replica, next(each.acks[replica] for each in states if replica in each.acks))


def _stub(line: Line) -> Line:
    entry = read_entry(line.raw)
    return Line(line.replica, to_line(entry.stub())) if isinstance(entry, Op) and entry.sealed else line


class _Lying(Memory):
    def __init__(self, liar: type[MemoryTransport]) -> None:
        super().__init__()
        self.remote.name = "0 cuts"
        self.cuts = 0
        self._liar = liar

    def open(self, author: Author, machine: str) -> MemoryTransport:
        return (
            AcknowledgesEarly(self.remote, author)
            if self._liar is AcknowledgesEarly
            else self._liar(self.remote)
        )

    def mend(self) -> None:
        super().mend()
        self.cuts += 1
        self.remote.name = f"{self.cuts} cuts"


class _UnderFaults(_Lying):
    """What passes at first goes wrong as well: a lie is none the better for it."""

    def open(self, author: Author, machine: str) -> FaultyTransport:  # type: ignore[override]
        return FaultyTransport(
            super().open(author, machine), [Step(frozenset((Fault.DROP,)), last=2)], Random(1)
        )


def _contract(liar: type[MemoryTransport], far_side: type[_Lying], passes: int) -> type[TransportContract]:
    class Contract(TransportContract):
        tries = passes

        @pytest.fixture
        def far(self) -> FarSide:
            return far_side(liar)

    return Contract


LIARS = (
    *(
        Drops,
        StoresLater,
        RollsBack,
        BeginsFromNow,
        MissesWhatCameInACut,
        Reorders,
        ServesStubs,
        AcknowledgesEarly,
    ),
    *(PrunesEarly, TakesFromTwins, Starves, SaysNothing, ShowsOldAcks),
)

for _liar in LIARS:
    globals()[f"Test{_liar.__name__}"] = _contract(_liar, _Lying, 1)
for _liar in (Drops, BeginsFromNow, Reorders, ServesStubs, AcknowledgesEarly):
    globals()[f"Test{_liar.__name__}UnderFaults"] = _contract(_liar, _UnderFaults, 5)
