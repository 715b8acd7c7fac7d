"""A replica's place in memory, for one that has no directory: its locks, and what its machine remembers of it.

Both are gone with the process. To let it die and start again, make its locks anew and keep its markers.
"""

from dataclasses import dataclass, field, replace

from replica.home.marker import Marker


@dataclass(eq=False, slots=True)
class MemoryLock:
    """A held name."""

    names: set[str]
    name: str | None

    def release(self) -> None:
        """Let go of it; again does nothing."""
        if self.name is not None:
            self.names.discard(self.name)
        self.name = None


@dataclass(frozen=True, slots=True)
class MemoryLocks:
    """The names the only process of a replica holds (replica.home.locks.Locks)."""

    names: set[str] = field(default_factory=set)

    def take(self, name: str) -> MemoryLock | None:
        if name in self.names:
            return None
        self.names.add(name)
        return MemoryLock(self.names, name)

    def is_held(self, name: str) -> bool:
        return name in self.names

    def remove_stale(self) -> None:
        pass


@dataclass(slots=True)
class MemoryMarkers:
    """The markers of a machine that keeps them in memory, for the replica in hand (replica.home.marker.Markers)."""

    here: Marker = field(default=Marker("memory", "memory", "0:0", 0, ""))
    kept: dict[str, Marker] = field(default_factory=dict)

    def read(self, replica: str) -> Marker | None:
        return self.kept.get(replica)

    def write(self, replica: str, marker: Marker) -> None:
        self.kept[replica] = marker

    def describe(self, seq: int, head_hash: str) -> Marker:
        return replace(self.here, seq=seq, hash=head_hash)
