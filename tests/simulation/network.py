"""The simulated network: one far side, which a partition splits in two that go on apart until they are joined."""

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from transports.base import Transport
from transports.memory import MemoryRemote, MemoryTransport

if TYPE_CHECKING:
    from tests.simulation.machine import SimMachine


class Network:
    """Far sides in memory. Replicas that `apart` names reach the second one while there are two."""

    def __init__(self, name: str) -> None:
        self._name = name
        self.keeps_everything = True
        """Whether mail that everybody acknowledged can still be read."""
        self._count = 0
        self.main = self._remote()
        self.other: MemoryRemote | None = None
        self.apart: frozenset[str] = frozenset()
        self._taken: dict[str, list[bytes]] = {}

    def _remote(self) -> MemoryRemote:
        self._count += 1
        return MemoryRemote(f"{self._name}-{self._count}")

    def side_of(self, replica: str) -> MemoryRemote:
        """The far side a replica reaches."""
        return self.other if self.other is not None and replica in self.apart else self.main

    def transport_of(self, machine: "SimMachine") -> Transport:
        """A new way of a machine to the far side it reaches."""
        return MemoryTransport(self.side_of(machine.me))

    def fill(self, lanes: Mapping[str, Sequence[bytes]]) -> None:
        """Hold what a team has said."""
        for replica, raws in lanes.items():
            self.main.put(replica, *raws)

    def split(self, apart: frozenset[str]) -> None:
        """Let some replicas reach only one another, from where things stand."""
        self.join()
        self.other, self.apart = self._remote(), apart
        _copy(self.main, self.other)

    def remember(self, side: MemoryRemote) -> None:
        """Keep what a far side holds, some of which it is about to hold no more."""
        hidden, side.hidden = side.hidden, {}
        for replica, raws in lanes_of(side).items():
            kept = self._taken.setdefault(replica, [])
            kept.extend(raw for raw in raws if raw not in kept)
        side.hidden = hidden

    def give_back(self, kept: Collection[str]) -> None:
        """Withhold nothing any more, and hold again what was once said, save by those who put it back themselves."""
        for side in (self.main, self.other):
            if side is not None:
                side.hidden.clear()
        there = lanes_of(self.main)
        for replica in sorted(self._taken.keys() - set(kept)):
            new = [raw for raw in self._taken.get(replica, ()) if raw not in there.get(replica, ())]
            self.main.put(replica, *new)

    def join(self) -> None:
        """Bring what was published on either side together, what one of them withheld too."""
        if self.other is not None:
            self.other.hidden.clear()
            _copy(self.other, self.main)
        self.other, self.apart = None, frozenset()


def lanes_of(remote: MemoryRemote) -> dict[str, list[bytes]]:
    """The lines a far side holds, by lane."""
    transport = MemoryTransport(remote)
    transport.refresh()
    found: dict[str, list[bytes]] = {}
    for line in transport.pull({}, budget=None):
        found.setdefault(line.replica, []).append(line.raw)
    return found


def _copy(source: MemoryRemote, target: MemoryRemote) -> None:
    """Add to one far side what only another has: lanes, and the acknowledgements of those that published there."""
    there = lanes_of(target)
    reader = MemoryTransport(source)
    reader.refresh()
    acks = {line.replica: line.raw for line in reader.acks()}
    for replica, raws in lanes_of(source).items():
        known = set(there.get(replica, ()))
        new = [raw for raw in raws if raw not in known]
        if new or replica in acks:
            target.publish(target.tip, replica, new, acks.get(replica))
