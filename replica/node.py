"""An opened replica: its keys, its store, its host core, and what it knows of its team.

Every command works on one of these, whether another process has the same directory open or not. Time,
randomness and whoever watches the commits come from outside.
"""

import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from core.engine import Engine
from core.errors import Code, DmpError
from core.ids import Ulids
from core.store import Observer, Store
from core.timestamp import timestamp
from crypto.keys import Secrets, mint_replica_id
from replica.addresses import check_handle
from replica.chain.signer import Signer
from replica.home.directory import Directory
from replica.home.dispatchers import LockedDispatchers
from replica.home.keyfile import Identity, read_key_file, write_key_file
from replica.host.expiry import expire
from replica.host.person import PersonHost
from replica.host.place import Place, place_at
from replica.mail.teammates import Teammates
from replica.records.commits import CommitPoint
from replica.records.meta import Meta, get, put
from replica.records.schema import MIGRATIONS
from replica.team.roster import Team, TeamReader


def wall_clock() -> int:
    """Milliseconds since 1970 by this machine's clock."""
    return time.time_ns() // 1_000_000


@dataclass(slots=True)
class Node:
    """A replica, open: put together from its keys, its store and its place, and from time and randomness.

    Close it when done; a crash instead of a close loses nothing.
    """

    identity: Identity
    store: Store
    place: Place
    wall: Callable[[], int]
    random: Callable[[int], bytes]
    reader: TeamReader = field(init=False)
    host: PersonHost = field(init=False)
    engine: Engine = field(init=False)
    signer: Signer = field(init=False)

    def __post_init__(self) -> None:
        self.reader = TeamReader()
        self.host = PersonHost(self.store, self.place, self.me, self.reader)
        teammates = Teammates(self.store, self.me, self.reader, self.wall)
        self.engine = Engine(
            self.store, self.host, self.wall, Ulids(self.random), teammates, self.place.dispatchers
        )
        self.signer = Signer(self.identity, self.wall, self.random)

    @property
    def me(self) -> str:
        """This replica's id."""
        return self.identity.replica

    @property
    def handle(self) -> str:
        """The person this replica is a machine of."""
        return get(self.store.db, Meta.HANDLE) or ""

    @property
    def address(self) -> str:
        """The address of the person at this replica."""
        return f"human:{self.handle}"

    @property
    def team(self) -> Team | None:
        """The team as it is known now; None while no founding is followed."""
        return self.reader.read(self.store.db)

    def now(self) -> str:
        """The wall clock as a timestamp of section 1.4."""
        return timestamp(self.wall())

    def take_up(self) -> None:
        """Take up what a process that is gone left undone, and what is due (sections 6.3, C.3).

        To be called before a command sends or answers anything, and now and then by whoever runs for long. It
        only looks, and writes nothing, where everything is done.
        """
        if self.host.sessions_here.lost():
            with self.store.transaction(CommitPoint.SESSION):
                for session in self.host.sessions_here.lost():
                    self.host.sessions_here.end(session, now=self.now())
            self.place.sessions.remove_stale()
        self.engine.recover()
        expire(self.engine, self.wall())

    def close(self) -> None:
        """Let go of the store."""
        self.store.close()


@dataclass(slots=True)
class DirectoryNode(Node):
    """A replica that has a directory, open."""

    directory: Directory


def create(
    root: Path,
    handle: str,
    device: str | None = None,
    *,
    wall: Callable[[], int] = wall_clock,
    random: Callable[[int], bytes] = os.urandom,
    observer: Observer | None = None,
) -> str:
    """Make a replica of `handle` at `root`: fresh keys, an id, an empty store. Return the id.

    Raises DmpError: `invalid` on `handle` or `device`, `conflict` when a replica is there already.
    """
    device = device or os.uname().nodename.partition(".")[0] or "machine"
    identity = make_identity(handle, device, wall=wall, random=random)
    directory = Directory(root)
    directory.create()
    store = Store.open(directory.database, MIGRATIONS, observer=observer)
    try:
        with store.transaction(CommitPoint.CREATED) as db:
            if db.execute("SELECT 1 FROM ops LIMIT 1").fetchone() is not None:
                raise DmpError(
                    Code.CONFLICT,
                    f"{directory.database} belongs to a replica whose key file is gone; put the file back, or "
                    "make the new replica in another directory",
                )
            belong_to(db, identity, handle, device)
    finally:
        store.close()
    # The key file comes last: a directory without one is no replica yet, and `init` may be run again.
    write_key_file(directory.key_file, identity)
    return identity.replica


def make_identity(
    handle: str, device: str, *, wall: Callable[[], int], random: Callable[[int], bytes]
) -> Identity:
    """Mint the id and the keys of a replica.

    Raises DmpError `invalid` on `handle` or `device`.
    """
    check_handle(handle)
    if not 1 <= len(device) <= 128 or not device.isprintable():
        raise DmpError(Code.INVALID, "a device name is 1 to 128 printable characters", "device")
    return Identity(mint_replica_id(handle, random), Secrets.generate(random), timestamp(wall()))


def belong_to(db: sqlite3.Connection, identity: Identity, handle: str, device: str) -> None:
    """Make a store that of a new replica, inside an open transaction."""
    put(db, Meta.HANDLE, handle)
    put(db, Meta.DEVICE, device)
    put(db, Meta.REPLICA, identity.replica)


@contextmanager
def opened(
    root: Path,
    *,
    wall: Callable[[], int] = wall_clock,
    random: Callable[[int], bytes] = os.urandom,
    observer: Observer | None = None,
) -> Iterator[DirectoryNode]:
    """Open the replica at `root` for the length of a `with` block.

    Raises DmpError: `not-found` when there is none, or its keys or its store are gone; `forbidden` when others
    can read its keys; `invalid` when its keys and its store do not belong together.
    """
    directory = Directory(root)
    _check_files(directory)
    identity = read_key_file(directory.key_file)
    store = Store.open(directory.database, MIGRATIONS, observer=observer)
    dispatchers = LockedDispatchers(directory.dispatchers)
    try:
        if get(store.db, Meta.REPLICA) != identity.replica:
            raise DmpError(
                Code.INVALID,
                f"{directory.key_file} holds the keys of {identity.replica}, but the store beside it belongs to "
                "another replica; put back the files that belong together",
            )
        place = place_at(directory, dispatchers)
        yield DirectoryNode(identity, store, place, wall, random, directory)
    finally:
        dispatchers.close()
        store.close()


def _check_files(directory: Directory) -> None:
    """Raise DmpError `not-found` where only one of the key file and the store is there."""
    keys, store = directory.key_file.exists(), directory.database.exists()
    if store and not keys:
        raise DmpError(
            Code.NOT_FOUND,
            f"the key file {directory.key_file} is gone: put it back from a backup. Without it this replica says "
            "nothing any more; make a new one in another directory, join with it, and have this one revoked",
        )
    if keys and not store:
        raise DmpError(
            Code.NOT_FOUND,
            f"the store {directory.database} is gone: put it back from a backup. Without it this replica must "
            "sign nothing; make a new one in another directory, join with it, and have this one revoked",
        )
