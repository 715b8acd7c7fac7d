"""A network with a relay in its middle, which verifies and answers as the real one does, by function calls.

What only somebody who can write to a branch could do cannot happen here: that is nothing to do. A relay may keep news
back, and may be put back to what it was.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from random import Random
from typing import Final, Protocol

from core.store import Store
from crypto.canonical import decode, parse
from crypto.keys import team_id
from crypto.op import Op, Unverified, read_entry, read_line
from crypto.roster.bodies import Found
from crypto.roster.ops import RosterOp
from replica.home.keyfile import Identity
from replica.records import ops
from replica.records.meta import Meta, get
from tests.simulation.machine import SimMachine, Time
from tests.simulation.network import Network
from tests.simulation.registry import NothingError
from tests.simulation.relay_store import RelayStore
from tests.transports.relay.client.direct import DirectLink, SessionPipe
from transports.base import PASS_BYTES, Line, Pull, PullReport, Transport, Unreachable
from transports.lines import seq_of
from transports.memory import MemoryRemote
from transports.relay.address import RelayAddress
from transports.relay.client.conversation import Login
from transports.relay.client.transport import RelayTransport
from transports.relay.frames import Auth, Carried
from transports.relay.server.registration import Registrar
from transports.relay.server.relay import Relay, UnknownTeamError
from transports.relay.server.session import _key_in
from transports.relay.server.settings import Settings
from transports.relay.server.store import Row

URL: Final = "wss://relay.example"

_MANY: Final = 10**9


class RelaySide(MemoryRemote):
    """A relay; what it was given, whole, is what this far side holds (transports.memory.MemoryRemote)."""

    def __init__(self, name: str, now: Callable[[], int]) -> None:
        super().__init__(name)
        self._now = now
        self._settings = Settings(
            URL,
            difficulty=0,
            ops_per_minute=_MANY,
            pending_per_team=_MANY,
            pending_per_source=_MANY,
            registrations_per_source=_MANY,
        )
        self._begin()

    def _begin(self) -> None:
        self._store = RelayStore(self._keep)
        self._relay = Relay(self._settings, self._store, now=self._now, random=Random(0).randbytes)

    def _keep(self, replica: str, rows: Sequence[Row]) -> None:
        super()._append(replica, [(row.line or row.stub or "").encode() for row in rows], None)

    def fill(self, lanes: Mapping[str, Sequence[bytes]]) -> None:
        """Hold these lanes, the founder's first."""
        founder = next((lane for lane, raws in lanes.items() if any(map(_founds, raws))), None)
        if founder is None:
            return
        at = next(at for at, raw in enumerate(lanes[founder]) if _founds(raw))
        key, *more = lanes[founder][: at + 1]
        body = b'{"key":%s,"found":%s,"ops":[%s]}' % (key, more[-1], b",".join(more[:-1]))
        answer = Registrar(self._settings, self._store, self._now).register(body, None)
        assert answer.team, answer.error
        self.team = answer.team
        for lane, raws in lanes.items():
            self.put(lane, *(raws[at + 1 :] if lane == founder else raws))

    def reach(self, login: Login) -> SessionPipe:
        """Connect."""
        try:
            return SessionPipe(self._relay, self._relay.connect(login.team, login.replica))
        except UnknownTeamError:
            raise Unreachable(f"{URL} knows no such team") from None

    def _append(self, replica: str, lines: Sequence[bytes], acks: bytes | None) -> None:
        """Publish as whoever has the key. What the relay does not take is not there."""
        for raw in lines:
            read = read_line(raw)
            if isinstance(read, Unverified) and read.replica == replica and self._store.team is not None:
                self._publish(replica, raw)

    def _publish(self, replica: str, raw: bytes) -> None:
        session = self._relay.connect(self.team, replica)
        lane = session.team.lanes.get(replica)
        carried = Carried(decode(raw), parse(decode(raw)))
        key = lane.key if lane is not None else _key_in(Auth(replica, "", carried))
        if key is not None:
            session.replica, session._key = replica, key
            self._relay.publish(session, 1, [carried], len(raw))
            self._relay.work()
        session.closed()

    def roll_back(self, states: int = 1) -> None:
        """Put back what was held that many changes ago, into a relay that is started again."""
        for session in list(self._relay.sessions):
            session.closed()
        super().roll_back(states)
        kept = {lane: found[0].raws[: found[1]] for lane, found in self.state().lanes.items()}
        self._states = self._states[:1]
        self._begin()
        self.fill(kept)


def _founds(raw: bytes) -> bool:
    entry = read_entry(raw)
    return isinstance(entry, Op) and entry.type == "roster" and isinstance(RosterOp.of(entry, "").body, Found)


class RelayNetwork(Network):
    """The way of every machine to one relay, which nothing splits in two."""

    def __init__(self, name: str, now: Callable[[], int]) -> None:
        self._now = now
        super().__init__(name)
        self.keeps_everything = False

    def _remote(self) -> RelaySide:
        return RelaySide(self._name, self._now)

    def fill(self, lanes: Mapping[str, Sequence[bytes]]) -> None:
        self._relay.fill(lanes)

    def transport_of(self, machine: SimMachine) -> Transport:
        return Reaching(self._relay, machine)

    def split(self, apart: frozenset[str]) -> None:
        raise NothingError

    @property
    def _relay(self) -> RelaySide:
        assert isinstance(self.main, RelaySide)
        return self.main


def over_relay(name: str, time: Time) -> Network:
    """A network with a relay in its middle, whose clock is right."""
    return RelayNetwork(name, lambda: time.now)


class Owner(Protocol):
    """A machine, or its node."""

    @property
    def me(self) -> str: ...

    @property
    def identity(self) -> Identity: ...

    @property
    def store(self) -> Store: ...


@dataclass(frozen=True)
class _Member:
    """A machine as a relay gets to know it (transports.opening.Member)."""

    machine: Owner
    relay: RelaySide

    @property
    def replica(self) -> str:
        return self.machine.me

    def sign(self, data: bytes) -> bytes:
        return self.machine.identity.secrets.signer.sign(data)

    def team(self) -> str | None:
        founding = get(self.machine.store.db, Meta.FOUNDING)
        return self.relay.team if founding is None else team_id(founding)

    def key_op(self) -> bytes | None:
        for _, line in ops.lines_of(self.machine.store.db, self.machine.me):
            return line
        return None


class Reaching:
    """A machine's transport to the relay, which may keep lines back.

    A machine that has said nothing yet is no machine to a relay: it reads of the team what a waiting one may, and
    connects once it has something to say.
    """

    def __init__(self, relay: RelaySide, machine: Owner) -> None:
        self.url = URL
        self._relay = relay
        self._member = _Member(machine, relay)
        self._transport = RelayTransport(
            RelayAddress.parse(URL),
            self._member,
            Path("/dev/null/nowhere"),
            DirectLink(relay.reach),
            sleep=lambda _: None,
        )

    def refresh(self) -> str:
        if self._member.key_op() is None:
            return f"before {next(_LOOKS)}"
        return self._transport.refresh()

    def pull(self, since: Mapping[str, int], *, budget: int | None = PASS_BYTES) -> Pull:
        if self._member.key_op() is None:
            return Pull(self._shown(self._founding()), PullReport())
        pull = self._transport.pull(since, budget=budget)
        return Pull(self._shown(pull), pull.report)

    def lane(self, replica: str, since: int = 0) -> Iterator[Line]:
        if self._member.key_op() is None:
            return iter(())
        return self._shown(self._transport.lane(replica, since))

    def acks(self, replicas: Collection[str] | None = None) -> Iterator[Line]:
        return self._transport.acks(replicas)

    def publish(self, replica: str, lines: Sequence[bytes], *, acks: bytes | None = None) -> None:
        if self._member.key_op() is not None:
            self._transport.publish(replica, lines, acks=acks)

    def watch(self, timeout: float) -> bool:
        return self._transport.watch(timeout)

    def close(self) -> None:
        self._transport.close()

    def _founding(self) -> Iterator[Line]:
        for lane, (held, length) in self._relay.state().lanes.items():
            raws = held.raws[:length]
            for raw in raws:
                if _founds(raw):
                    yield Line(lane, raws[0])
                    yield Line(lane, raw)

    def _shown(self, lines: Iterator[Line]) -> Iterator[Line]:
        for line in lines:
            end = self._relay.hidden.get(line.replica)
            if end is None or seq_of(line.replica, line.raw) < end:
                yield line


_LOOKS = count()
