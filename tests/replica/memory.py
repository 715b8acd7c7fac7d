"""Replicas without a directory, and images of their stores: cheap to make, to kill and to restore."""

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

from core.store import Observer, Store
from core.store.database import IN_MEMORY
from replica.home.keyfile import Identity
from replica.home.memory import MemoryMarkers
from replica.host.place import place_in_memory
from replica.node import Node, belong_to, make_identity
from replica.records.commits import CommitPoint
from replica.records.schema import MIGRATIONS
from tests.replica.world import Clock

_EMPTY: list[bytes] = []


def image_of(store: Store) -> bytes:
    """All a store holds, as it was last committed."""
    return store.db.serialize()


def store_of(image: bytes) -> Store:
    """A store in memory that holds what was in an image."""
    db = sqlite3.connect(IN_MEMORY, isolation_level=None)
    db.deserialize(image)
    db.execute("PRAGMA foreign_keys = ON")
    return Store(db)


def empty_store() -> Store:
    """A store in memory with all its tables and nothing in them."""
    if not _EMPTY:
        made = Store.open(IN_MEMORY, MIGRATIONS)
        _EMPTY.append(image_of(made))
        made.close()
    return store_of(_EMPTY[0])


@dataclass
class MemoryMachine:
    """A machine whose one replica is all in memory. `start` it again after its process died."""

    identity: Identity
    store: Store
    clock: Clock
    random: Callable[[int], bytes]
    markers: MemoryMarkers = field(default_factory=MemoryMarkers)

    def start(self, observer: Observer | None = None) -> Node:
        """A process of the replica; the one before it is gone, with the sessions that it was."""
        if self.store.db.in_transaction:
            self.store.db.execute("ROLLBACK")
        self.store.observer = observer
        return Node(self.identity, self.store, place_in_memory(self.markers), self.clock, self.random)

    def restore(self, image: bytes) -> None:
        """Put back a store of earlier, as from a backup; what the machine remembers stays."""
        self.store.close()
        self.store = store_of(image)


def memory_machine(handle: str, seed: int, device: str | None = None) -> MemoryMachine:
    """A machine with a new replica, whose keys and all else that is random come from a seed."""
    clock, random = Clock(), Random(seed).randbytes
    identity = make_identity(handle, device or f"{handle}-laptop", wall=clock, random=random)
    store = empty_store()
    with store.transaction(CommitPoint.CREATED) as db:
        belong_to(db, identity, handle, device or f"{handle}-laptop")
    return MemoryMachine(identity, store, clock, random)
