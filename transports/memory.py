"""A far side in this process's memory, which tests and the simulator bend at will.

`MemoryRemote` is what replicas share; each opens a `MemoryTransport` on it. The remote can be told to lose
races, to be away, to withhold the end of a lane, to hold lines nobody published, and to go back to an
earlier state.
"""

from bisect import bisect_left
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from transports.base import PASS_BYTES, Behind, Line, Pull, PullReport, Skipped, Unreachable
from transports.lines import JunkError, is_blank, seq_of
from transports.opening import Kind, Opening
from transports.remotes import RemoteError, Source

_NO_SEQ: Final = -1


@dataclass(slots=True)
class _Lane:
    """Lines in the order they came. `tops[i]` is the highest seq among the first i + 1 of them."""

    raws: list[bytes] = field(default_factory=list)
    seqs: list[int] = field(default_factory=list)
    tops: list[int] = field(default_factory=list)
    junk: dict[int, str] = field(default_factory=dict)

    def add(self, replica: str, raw: bytes) -> None:
        seq = _NO_SEQ
        if not is_blank(raw):
            try:
                seq = seq_of(replica, raw)
            except JunkError as error:
                self.junk[len(self.raws)] = str(error)
        self.raws.append(raw)
        self.seqs.append(seq)
        self.tops.append(max(seq, self.tops[-1] if self.tops else _NO_SEQ))

    def first(self, count: int) -> "_Lane":
        return _Lane(
            self.raws[:count],
            self.seqs[:count],
            self.tops[:count],
            {at: reason for at, reason in self.junk.items() if at < count},
        )


@dataclass(frozen=True, slots=True)
class _State:
    """What the far side holds at one moment: of each lane its first so many lines."""

    tip: str
    lanes: Mapping[str, tuple[_Lane, int]]
    acks: Mapping[str, bytes]


class MemoryRemote:
    """A far side that any number of transports share.

    `unreachable` makes every call of every transport fail; `reject_next` lets the next publishes lose their
    race; `hidden[replica]` withholds that lane's lines from that seq on.
    """

    def __init__(self, name: str = "memory") -> None:
        self.name = name
        self.unreachable = False
        self.hidden: dict[str, int] = {}
        self._rejects = 0
        self._count = 0
        self._states = [_State("", {}, {})]

    @property
    def tip(self) -> str:
        return self._states[-1].tip

    def reject_next(self, count: int) -> None:
        """Let the next `count` publishes fail as if somebody had been faster."""
        self._rejects = count

    def put(self, replica: str, *raws: bytes) -> None:
        """Add lines to a lane as anybody with write access could."""
        self._append(replica, raws, None)

    def roll_back(self, states: int = 1) -> None:
        """Go back to what was held that many changes ago, under the tip of that time."""
        del self._states[max(1, len(self._states) - states) :]

    def state(self) -> _State:
        return self._states[-1]

    def publish(self, seen: str, replica: str, lines: Sequence[bytes], acks: bytes | None) -> None:
        """Take lines from a transport that saw the tip `seen`. Raises Behind."""
        if self._rejects:
            self._rejects -= 1
            raise Behind("somebody else published first")
        if seen != self.tip:
            raise Behind("somebody else published first")
        self._append(replica, lines, acks)

    def _append(self, replica: str, lines: Sequence[bytes], acks: bytes | None) -> None:
        last = self._states[-1]
        lane, length = last.lanes.get(replica, (_Lane(), 0))
        if len(lane.raws) != length:  # a rolled-back future shares this list
            lane = lane.first(length)
        for raw in lines:
            lane.add(replica, raw)
        self._count += 1
        self._states.append(
            _State(
                f"{self.name}-{self._count}",
                {**last.lanes, replica: (lane, len(lane.raws))},
                last.acks if acks is None else {**last.acks, replica: acks},
            )
        )


class MemoryTransport:
    """One replica's way to a `MemoryRemote`. `cut_off` makes this one's calls fail, and no other's."""

    def __init__(self, remote: MemoryRemote) -> None:
        self.url = f"memory:{remote.name}"
        self.cut_off = False
        self._remote = remote
        self._seen = remote.state()
        self._ended_in = ""

    def refresh(self) -> str:
        self._reach()
        self._seen = self._remote.state()
        return self._seen.tip

    def pull(self, since: Mapping[str, int], *, budget: int | None = PASS_BYTES) -> Pull:
        report = PullReport()
        return Pull(self._pull(since, budget, report), report)

    def lane(self, replica: str, since: int = 0) -> Iterator[Line]:
        return self._lane(replica, since, PullReport())

    def acks(self, replicas: Collection[str] | None = None) -> Iterator[Line]:
        for replica, raw in sorted(self._seen.acks.items()):
            if replicas is None or replica in replicas:
                yield Line(replica, raw)

    def publish(self, replica: str, lines: Sequence[bytes], *, acks: bytes | None = None) -> None:
        if not lines and (acks is None or self._seen.acks.get(replica) == acks):
            return
        self._reach()
        self._remote.publish(self._seen.tip, replica, lines, acks)
        self._seen = self._remote.state()

    def watch(self, timeout: float) -> bool:  # noqa: ARG002 - there is nothing to wait for
        """Tell at once whether something changed."""
        return self._remote.tip != self._seen.tip

    def close(self) -> None:
        pass

    def _reach(self) -> None:
        if self.cut_off or self._remote.unreachable:
            raise Unreachable(f"{self.url} does not answer", "mail waits here until it does")

    def _pull(self, since: Mapping[str, int], budget: int | None, report: PullReport) -> Iterator[Line]:
        lanes = sorted(self._seen.lanes)
        if budget is not None:
            # Lanes that are named come first: a stranger's may be as long as it likes. Among equals begins the
            # one after that in which the last pull ended, which may not be taken from at all.
            lanes.sort(key=lambda name: (name not in since, name <= self._ended_in, name))
            self._ended_in = ""
        for replica in lanes:
            for line in self._lane(replica, since.get(replica, 0), report):
                if budget is not None:
                    if budget <= 0:
                        report.more, self._ended_in = True, replica
                        return
                    budget -= len(line.raw)
                yield line

    def _lane(self, replica: str, since: int, report: PullReport) -> Iterator[Line]:
        lane, length = self._seen.lanes.get(replica, (_Lane(), 0))
        end = self._remote.hidden.get(replica)
        for at in range(bisect_left(lane.tops, since, 0, length), length):
            seq = lane.seqs[at]
            if seq >= since and (end is None or seq < end):
                yield Line(replica, lane.raws[at])
        for at, reason in lane.junk.items():
            if at < length:
                report.skipped.append(Skipped(replica, replica, at + 1, 1, reason))


_SHARED: Final[dict[str, MemoryRemote]] = {}


def shared(name: str) -> MemoryRemote:
    """Return the remote of this process at the address `memory:name`."""
    return _SHARED.setdefault(name, MemoryRemote(name))


def _read(text: str, source: Source) -> str:  # noqa: ARG001 - only what was typed comes here
    scheme, _, name = text.partition(":")
    if scheme.lower() != "memory" or not name or name.startswith("/"):
        raise RemoteError(f"an address in memory is memory:NAME, not {text}")
    return f"memory:{name}"


def _open(opening: Opening) -> MemoryTransport:
    return MemoryTransport(shared(opening.address.partition(":")[2]))


KIND: Final = Kind(_read, _open, lasts=False)
