"""One simulated machine: its replica, what its person configured, and the ways in which it can die."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from random import Random
from typing import Final, Literal

from core.dispatchers import Lone
from core.errors import Code, DmpError
from core.message import Message
from core.store import Store
from crypto.sealing import SEAL_KEY_BYTES
from replica.home.keyfile import Identity
from replica.home.locks import Held
from replica.home.memory import MemoryLocks, MemoryMarkers
from replica.host.attach import Attached, Given
from replica.host.config import Config
from replica.host.place import Place, Programs
from replica.node import Node, belong_to, make_identity
from replica.records.commits import CommitPoint
from tests.crypto.pyhpke_wrap import FixedEphemerals
from tests.replica.memory import empty_store, image_of, store_of
from tests.replica.world import Clock, Machine
from tests.simulation.network import Network

When = Literal["before", "after"]

HOOKS: Final = ("hook.push", "hook.notify", "hook.notify-human", "hook.wake", "hook.effect")
"""Where a machine can die besides its commits: around each hook its host runs."""

_CONFIG: Final = Config(
    notify_command="notify", wake_command="wake", wake_policy="allow", gates_command="gates"
)


class DiedError(BaseException):
    """The machine died."""


@dataclass
class Time:
    """The one time there is, in milliseconds; each machine's clock may be off it."""

    now: int


@dataclass
class OwnClock(Clock):
    """A machine's wall clock: the time there is, and how far this one is off."""

    time: Time = field(default_factory=lambda: Time(0))
    skew: int = 0

    def __call__(self) -> int:
        return self.time.now + self.skew


@dataclass
class Fuse:
    """Lets a machine die around commits and hooks: at each that is named, once, when it gets there."""

    at: set[tuple[str, When]] = field(default_factory=set)
    happened: Callable[[str], None] = lambda _: None

    def __call__(self, point: str, when: When) -> None:
        if (point, when) in self.at:
            self.at.discard((point, when))
            self.happened(f"crash {point} {when}")
            raise DiedError


@dataclass
class FakePrograms:
    """The programs a person configured, which only take note (replica.host.place.Programs)."""

    fuse: Fuse
    told: list[str]

    def wake(self, _command: str, target: str, _work_item: str | None, message: Message) -> None:
        self._run("hook.wake", f"wake {target} {message.id}")

    def tell_decision(self, _command: str, gate: Message, answer: Message) -> None:
        self._run("hook.effect", f"decided {gate.id} {answer.choice}")

    def notify(self, _command: str, message: Message, _remote: str | None = None) -> None:
        self._run("hook.notify-human", f"notify {message.id}")

    def notify_desktop(self, message: Message) -> None:
        """No desktop is configured."""

    def _run(self, point: str, what: str) -> None:
        self.fuse(point, "before")
        self.told.append(what)
        self.fuse(point, "after")


@dataclass(eq=False, repr=False)
class SimMachine:
    """A machine of one person, with one replica whose store is in memory."""

    handle: str
    identity: Identity
    store: Store
    clock: OwnClock
    random: Callable[[int], bytes]
    network: Network
    fuse: Fuse
    markers: MemoryMarkers = field(default_factory=MemoryMarkers)
    told: list[str] = field(default_factory=list)
    backup: bytes | None = None
    gone: bool = False
    """Its owner gave it up: it stopped for good, or was thrown away."""

    def __post_init__(self) -> None:
        self.lock: Held | None = None
        self.start()

    @property
    def me(self) -> str:
        return self.identity.replica

    @property
    def address(self) -> str:
        return f"human:{self.handle}"

    def start(self) -> None:
        """Begin a process of the replica; whatever process there was is gone, with the session it was."""
        if self.store.db.in_transaction:
            self.store.db.execute("ROLLBACK")
        self.store.observer = self.fuse
        self.lock = None
        self.node = Node(self.identity, self.store, self._place(), self.clock, self.random)
        # From the seed too, so that a run is the same every time; and by another library than opens them.
        wrap = FixedEphemerals(lambda: self.random(SEAL_KEY_BYTES))
        self.node.signer = replace(self.node.signer, wrap=wrap)

    def _place(self) -> Place:
        def programs(_ended: Callable[[], bool]) -> Programs:
            return FakePrograms(self.fuse, self.told)

        return Place(MemoryLocks(), Lone(), self.markers, lambda: _CONFIG, programs)

    def machine(self) -> Machine:
        """What the tests of a team call a machine, on the far side this one reaches now."""
        return Machine(self.node, self.network.transport_of(self), self.clock)

    def keep_backup(self) -> None:
        """Keep a copy of the store as it is."""
        self.backup = image_of(self.store)

    def restore(self) -> bool:
        """Put back the copy of the store that was kept; False where there is none."""
        if self.backup is None:
            return False
        self.store.close()
        self.store = store_of(self.backup)
        self.start()
        return True

    # Sessions

    def attach(self, session: str) -> None:
        """Be a session from here on, as a process that attends to it is."""
        here = self.node.host.sessions_here
        found = here.need(session)
        lock = here.hold(session)
        try:
            with self.store.transaction(CommitPoint.SESSION):
                here.begin(found)
        except DmpError:
            lock.release()
            raise
        self.lock = lock
        self.node.host.attached = Attached(session, self._given)
        self.node.engine.session_started(session, found.task or session)
        self.node.engine.dispatch_waiting()

    def detach(self) -> None:
        """End the session this process is."""
        attached = self.node.host.attached
        if attached is None or self.lock is None:
            raise DmpError(Code.NOT_FOUND, "this process is no session")
        with self.store.transaction(CommitPoint.SESSION):
            here = self.node.host.sessions_here
            here.end(here.need(attached.session), now=self.node.now())
        self.node.host.attached = None
        self.lock.release()
        self.lock = None
        self.node.take_up()

    def _given(self, given: Given) -> None:
        point = "hook.push" if given.pushed else "hook.notify"
        self.fuse(point, "before")
        self.told.append(f"{point} {given.message.id}")
        self.fuse(point, "after")


def new_machine(handle: str, name: str, seed: str, time: Time, network: Network) -> SimMachine:
    """A machine with a new replica, whose keys come from the seed."""
    random = Random(seed).randbytes
    clock = OwnClock(time=time)
    identity = make_identity(handle, name, wall=clock, random=random)
    store = empty_store()
    with store.transaction(CommitPoint.CREATED) as db:
        belong_to(db, identity, handle, name)
    return SimMachine(handle, identity, store, clock, random, network, Fuse())
