"""The stage: a team of machines, one network and one time, on which a script is performed and then healed."""

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from random import Random
from typing import Final

from core.errors import Code, DmpError
from crypto.canonical import JsonValue
from crypto.op import Op, read_entry
from crypto.roster.bodies import Dismiss, Role
from crypto.roster.ops import RosterOp
from replica.chain.clock import accept_wall_clock
from replica.chain.guard import resume
from replica.home.keyfile import Identity
from replica.home.marker import Marker
from replica.home.memory import MemoryMarkers
from replica.host import agents, items
from replica.records.commits import CommitPoint
from replica.records.meta import Meta, get, put
from replica.sync import Report, SyncPass
from replica.team import commands
from replica.team.changes import sign_change
from tests.replica.memory import image_of, store_of
from tests.replica.world import START, no_sleep
from tests.simulation.acts import FEWEST, MOST, Act, Script
from tests.simulation.machine import DiedError, Fuse, OwnClock, SimMachine, Time, new_machine
from tests.simulation.network import Network, lanes_of
from tests.simulation.registry import DEEDS, NothingError
from transports.base import TransportError
from transports.faults import CALLS, Fault, FaultyTransport, Step

HANDLES: Final = ("ada", "bob", "cy", "ada", "dee", "eve", "bob", "fay")
"""Whose the machines of a team are, in the order in which they joined; the last two are not in it at the start."""

ROUNDS: Final = 25
"""Rounds of syncing within which a healed team has said everything."""


class FoundError(Exception):
    """A promise was broken: the text says which, and where."""


class Watched:
    """A machine's way to the far side, which looks at what the machine publishes (transports.base.Transport)."""

    def __init__(self, stage: "Stage", machine: SimMachine) -> None:
        self._inner = stage.network.transport_of(machine)
        self.url = self._inner.url
        self.refresh, self.pull, self.lane = self._inner.refresh, self._inner.pull, self._inner.lane
        self.acks, self.watch, self.close = self._inner.acks, self._inner.watch, self._inner.close
        self._stage = stage
        self._machine = machine

    def publish(self, replica: str, lines: Sequence[bytes], *, acks: bytes | None = None) -> None:
        team = self._machine.node.team
        for raw in lines:
            entry = read_entry(raw)
            if isinstance(entry, Op) and entry.hash not in self._stage.published and team is not None:
                left = set(entry.to or ()) - team.view.members.keys()
                if left:
                    raise FoundError(
                        f"{replica} sealed op {entry.seq} to {left}, which it knew to be in the team no more"
                    )
        if team is not None:
            self._stage.untold |= {(replica, other) for other in team.view.revoked}
        self._inner.publish(replica, lines, acks=acks)
        self._stage.published.update(read_entry(raw).hash for raw in lines)


@dataclass
class Stage:
    """Where a script is performed."""

    script: Script
    time: Time
    network: Network
    machines: list[SimMachine]
    recovery: str
    happened: Counter[str] = field(default_factory=Counter)
    published: set[str] = field(default_factory=set)
    codes: list[str] = field(default_factory=list)
    """Invite codes that were handed out, and the recovery codes that people wrote down, the last one first."""
    dishonest: set[str] = field(default_factory=set)
    """Replicas that broke the rules: nothing is promised about what they say, nor to them."""
    thieves: dict[str, Identity] = field(default_factory=dict)
    """Who joined by an invite that was somebody else's, by replica."""
    turned_away: set[str] = field(default_factory=set)
    """Replicas that the far side would not have in the end, since they are in the team no more, or never were."""
    restored: set[str] = field(default_factory=set)
    """Replicas that an old copy was put back of: what their own stores lost, only the far side may have."""
    untold: set[tuple[str, str]] = field(default_factory=set)
    """Each (replica, other) of which the one published something while it took the other for revoked."""
    left: dict[str, str] = field(default_factory=dict)
    """Messages that must never be anywhere but here, and where that is."""
    faults: Collection[Fault] = ()

    @property
    def standing(self) -> list[SimMachine]:
        """The machines whose owners have not given them up."""
        return [each for each in self.machines if not each.gone]

    def perform(self, act: Act) -> None:
        """Let one act happen, or find that it cannot."""
        self.time.now += act.after
        machine = self.standing[act.who % len(self.standing)]
        if act.crash is not None:
            machine.fuse.at.add(act.crash)
        self.faults = act.faults
        random = Random(act.seed)
        if act.pull:
            self._try("pull", machine, lambda: self.sync(machine, random))
        if not machine.gone:
            self._try(act.what, machine, lambda: DEEDS[act.what](self, machine, random))
        if act.push and not machine.gone:
            self._try("push", machine, lambda: self.sync(machine, random))
        self.faults = ()

    def _try(self, what: str, machine: SimMachine, deed: Callable[[], object]) -> None:
        """Do something, of which the machine may die, and which may be refused."""
        try:
            deed()
        except DiedError:
            self.revive(machine)
        except NothingError:
            self.happened[f"nothing to {what}"] += 1
        except DmpError as error:
            self.happened[f"refused {what}"] += 1
            if error.code is Code.UNAVAILABLE:
                self.happened[f"unavailable {what}"] += 1
        except TransportError:
            self.happened[f"failed {what}"] += 1
        else:
            self.happened[what] += 1
        self._give_up(machine)

    def revive(self, machine: SimMachine) -> None:
        """Start a process after the last one died; it may die of taking up what that one left."""
        for _ in range(3):
            machine.start()
            with suppress(DiedError):
                machine.node.take_up()
                return

    def pass_of(self, machine: SimMachine, random: Random, faults: Collection[Fault] = ()) -> SyncPass:
        """A pass of a machine over the network as it is, with these faults and those of the act."""
        struck = frozenset((*self.faults, *faults))
        transport = FaultyTransport(
            Watched(self, machine),
            [Step(struck - CALLS), Step(struck & CALLS, count=1)],
            random,
            own=machine.me,
            happened=lambda fault: self.happened.update((f"fault {fault}",)),
        )
        return SyncPass(
            machine.node, transport, sleep=no_sleep, monotonic=lambda: 0.0, jitter=random, running=True
        )

    def sync(self, machine: SimMachine, random: Random) -> Report:
        """Run one pass."""
        sync = self.pass_of(machine, random)
        sync.running = None
        return sync.run()

    def _give_up(self, machine: SimMachine) -> None:
        """A machine that stopped for good is used no more."""
        if not machine.gone and get(machine.store.db, Meta.STOPPED) is not None:
            self.happened["stopped for good"] += 1
            machine.gone = True

    # Healing

    def heal(self) -> None:
        """Mend everything that can be mended, and let everyone sync until nobody has anything left to say."""
        self.network.give_back({each.me for each in self.standing} - self.restored)
        self.network.join()
        for machine in self.machines:
            machine.fuse.at.clear()
            machine.clock.skew = 0
        self.time.now = max(self.time.now, self._latest()) + 1_000
        for machine in self.standing:
            machine.node.take_up()
            with machine.store.transaction(CommitPoint.SYNCED) as db:
                put(db, Meta.READ_ALL_AT, None)  # a day went by, and each reads every lane whole once more
        for _ in range(ROUNDS):
            before = self.network.main.tip
            for machine in self.standing:
                self._mended_pass(machine)
            self.time.now += 1_000
            if self.network.main.tip == before and not self._dismiss_what_nobody_reads():
                return
        raise FoundError(f"the team never comes to rest within {ROUNDS} rounds")

    def _dismiss_what_nobody_reads(self) -> bool:
        """Let the first admin who may take out the roster op that holds everybody up; False where none does."""
        for machine in self.standing:
            team = machine.node.team
            unknown = None if team is None else team.view.unknown
            if unknown is not None:
                with suppress(DmpError, TransportError):
                    dismiss(self.pass_of(machine, Random(0)), unknown)
                    return True
        return False

    def _latest(self) -> int:
        """The latest moment that any op names."""
        lanes = lanes_of(self.network.main)
        found = [_ms(raw) for raws in lanes.values() for raw in raws]
        for machine in self.machines:
            clock = get(machine.store.db, Meta.CLOCK)
            found.append(0 if clock is None else int(clock.partition(".")[0]))
        return max(found, default=0)

    def _mended_pass(self, machine: SimMachine) -> None:
        """One pass, with what a person would say to go on."""
        random = Random(self.time.now)
        try:
            report = self.sync(machine, random)
            if report.paused is not None:
                resume(machine.node)
                self.happened["resumed"] += 1
                self.sync(machine, random)
        except DmpError as error:
            if error.code is Code.UNAVAILABLE:
                with machine.store.transaction(CommitPoint.RESUMED) as db:
                    accept_wall_clock(db, machine.clock())
        except TransportError:
            self.happened["turned away"] += 1
            self.turned_away.add(machine.me)
        self._give_up(machine)


def dismiss(sync: SyncPass, unknown: RosterOp) -> None:
    """Take out of the roster what this build cannot read. Raises as any change of the roster."""

    def say() -> None:
        with sync.node.store.transaction(CommitPoint.ROSTER_SIGNED) as db:
            body = Dismiss(unknown.replica, unknown.seq, unknown.hash)
            sign_change(sync.node, db, body)

    sync.publish(say)


def _ms(raw: bytes) -> int:
    try:
        return read_entry(raw).hlc.ms
    except ValueError:
        return 0


@dataclass(frozen=True)
class _Still:
    """A machine as it was at one moment."""

    handle: str
    identity: Identity
    image: bytes
    markers: dict[str, Marker]


@dataclass(frozen=True)
class _Team:
    machines: tuple[_Still, ...]
    lanes: dict[str, list[bytes]]
    recovery: str


Making = Callable[[str, Time], Network]
"""Makes a network by a name, in which it is this time."""


def over_memory(name: str, _time: Time) -> Network:
    """A network whose far side keeps whatever it is given."""
    return Network(name)


def stage_of(script: Script, over: Making = over_memory) -> Stage:
    """A stage for a script, with its team in place and two more machines that may join."""
    team = _teams()[script.size]
    time = Time(START + 3_600_000)
    network = over(f"seed-{script.seed}", time)
    network.fill(team.lanes)
    stage = Stage(script, time, network, [], team.recovery)
    for at, still in enumerate(team.machines):
        fuse = Fuse(happened=lambda what: stage.happened.update((what,)))
        random = Random(f"machine-{script.seed}-{at}").randbytes
        stage.machines.append(
            SimMachine(
                still.handle,
                still.identity,
                store_of(still.image),
                OwnClock(time=time),
                random,
                network,
                fuse,
                MemoryMarkers(kept=dict(still.markers)),
                backup=still.image,
            )
        )
    stage.published.update(read_entry(raw).hash for raws in team.lanes.values() for raw in raws)
    return stage


def _furnish(machines: Sequence[SimMachine]) -> None:
    """Give a team what work goes on with: work items, a channel with people in it, and agents."""
    for machine in machines:
        node = machine.node
        address = f"agent:{machine.handle}/claude"
        with machine.store.transaction(CommitPoint.AGENT) as db:
            agents.register(db, node.random, address, "cli", node.me)
            agents.decide(db, address, "approved")
        with machine.store.transaction(CommitPoint.WORK_ITEM) as db:
            for other in machines:
                fields: dict[str, JsonValue] = {"title": "Prune", "assignee": other.address}
                items.add(db, node.random, fields, now=node.now())
        node.engine.join("eng", machine.address)


@cache
def _teams() -> dict[int, _Team]:
    """Teams of every size, built once: each joined by one machine more than the last."""
    time, network = Time(START), Network("teams")
    names = [f"{handle}-{at}" for at, handle in enumerate(HANDLES)]
    machines = [
        new_machine(handle, name, f"key-{name}", time, network)
        for handle, name in zip(HANDLES, names, strict=True)
    ]
    founder = machines[0]
    recovery = commands.found_team(founder.machine().pass_(), "Orchard").recovery_code
    assert recovery is not None
    found: dict[int, _Team] = {}
    for count in range(2, MOST - 1):
        time.now += 600_000
        joining = machines[count - 1]
        code = commands.invite(founder.machine().pass_(), joining.handle).encode()
        commands.join(joining.machine().pass_(), code)
        founder.machine().sync()
        if count == 2:
            commands.set_role(founder.machine().pass_(), joining.me, Role.ADMIN)
        for _ in range(3):
            for machine in machines[:count]:
                machine.machine().sync()
        if count == 2:
            _furnish(machines[:2])
        if count >= FEWEST:
            there = machines[:count] + machines[-2:]
            stills = tuple(
                _Still(each.handle, each.identity, image_of(each.store), dict(each.markers.kept))
                for each in there
            )
            found[count] = _Team(stills, lanes_of(network.main), recovery)
    return found
