"""Several far sides in memory, each under an address, and machines that find their way between them."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from replica.abreast import Asking, InTurn
from replica.elsewhere import Fault
from replica.records import transports
from replica.records.commits import CommitPoint
from replica.records.link import Link, Role, remembered
from replica.sync import Report, SyncPass
from replica.team import commands
from replica.team.transport import use_git, use_relay
from tests.replica.world import Machine, World
from transports.base import Refused, Transport, TransportError
from transports.memory import MemoryRemote, MemoryTransport

GIT = "/srv/orchard.git"
DISK = "/media/orchard"
RELAY = "wss://relay.example"
SECOND_RELAY = "wss://relay.example/second"


@dataclass
class Places:
    """What is at each address. A relay takes only teams that were registered there."""

    w: World
    remotes: dict[str, MemoryRemote] = field(default_factory=dict)
    registered: set[str] = field(default_factory=set)
    opened: dict[tuple[int, str], Transport] = field(default_factory=dict)

    def at(self, address: str) -> MemoryRemote:
        return self.remotes.setdefault(address, MemoryRemote(address))

    def open_for(self, machine: Machine) -> Callable[[Link], Transport]:
        def open_(link: Link) -> Transport:
            if link.remote.startswith("wss:") and link.remote not in self.registered:
                raise Refused(f"{link.remote} knows no such team", "an admin registers it")
            key = (id(machine.node), link.remote)
            if key not in self.opened:
                self.opened[key] = MemoryTransport(self.at(link.remote))
            return self.opened[key]

        return open_

    def register(self, url: str, key: bytes, found: bytes, ops: object) -> None:
        self.registered.add(url)

    def pass_(self, machine: Machine, asking: Asking | None = None) -> SyncPass:
        open_ = self.open_for(machine)
        link = remembered(machine.node.store.db)
        machine.transport = open_(link or Link(GIT))
        return machine.pass_(open_=open_, asking=asking or InTurn())

    def sync(self, *machines: Machine, rounds: int = 1) -> Report:
        report = Report()
        for _ in range(rounds):
            for machine in machines:
                report = self.pass_(machine).run()
        return report

    def tried(self, machine: Machine) -> TransportError | None:
        """Sync, and return what went wrong with the main transport."""
        try:
            self.sync(machine)
        except TransportError as error:
            return error
        return None

    def team(self, *handles: str) -> list[Machine]:
        """A team that meets at GIT."""
        first, *others = [self.w.machine(handle) for handle in handles]
        commands.found_team(self.pass_(first), "Orchard", Link(GIT))
        for other in others:
            code = commands.invite(self.pass_(first), other.node.handle)
            commands.join(self.pass_(other), code.encode(), Link(GIT))
            self.sync(first, other)
        self.sync(first, *others, rounds=2)
        return [first, *others]

    def add(self, machine: Machine, address: str) -> None:
        with machine.node.store.transaction(CommitPoint.VISITED) as db:
            transports.add(db, Link(address))

    def to_relay(self, admin: Machine, url: str = RELAY) -> bool:
        return use_relay(self.pass_(admin), url, self.register, confirmed=True)

    def to_git(self, admin: Machine, url: str | None = None) -> bool:
        return use_git(self.pass_(admin), url)

    def lines(self, address: str, machine: Machine) -> list[bytes]:
        """A machine's lane at a place."""
        transport = MemoryTransport(self.at(address))
        transport.refresh()
        return [line.raw for line in transport.lane(machine.me)]


def main_of(machine: Machine) -> str:
    link = remembered(machine.node.store.db)
    assert link is not None
    return link.remote


def own_lines(machine: Machine) -> list[bytes]:
    """A machine's own log, as its store has it."""
    from replica.records import ops

    return [line for _, line in ops.lines_of(machine.node.store.db, machine.me)]


def record(machine: Machine, address: str) -> transports.Record:
    found = transports.record(machine.node.store.db, Link(address))
    assert found is not None
    return found


def roles(machine: Machine) -> dict[str, Role]:
    return {each.link.remote: each.role for each in transports.records(machine.node.store.db)}


def shown(faults: Iterable[Fault]) -> list[str]:
    return [fault.link.remote for fault in faults]
