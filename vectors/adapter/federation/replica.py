"""A vector of the class `federation` on a replica, whose teammates are lines on a far side."""

from collections.abc import Mapping, Sequence
from random import Random

from core.message import Standing
from core.store.messages import set_standing
from crypto.acks import read_acks
from crypto.canonical import JsonValue
from crypto.op import Op, Unreadable, read_entry, read_line
from replica.chain.signer import next_place
from replica.node import Node
from replica.records import ops, remote
from replica.records.commits import CommitPoint
from replica.sync import SyncPass
from transports.memory import MemoryRemote, MemoryTransport
from vectors.adapter.clock import Clock
from vectors.adapter.federation import entering, given, state, writing
from vectors.adapter.federation.given import GivenTeam, lanes_of
from vectors.adapter.federation.given_lines import Json
from vectors.adapter.federation.host import WatchedHost
from vectors.adapter.federation.published import told
from vectors.adapter.federation.pure import PURE, outcome
from vectors.adapter.federation.restore import restored
from vectors.adapter.members import Members
from vectors.adapter.seed import seed
from vectors.adapter.steps import Steps


def observation(vector: Members) -> dict[str, JsonValue]:
    """Run a vector that gives a replica. Raises MalformedError and Unsupported."""
    team = given.read(vector)
    clock = Clock(team.world.clock)
    node, host = restored(team, clock)
    try:
        steps = ReplicaSteps(team, node, host, clock)
        for number, step in enumerate(vector.objects("when"), 1):
            steps.step(number, step)
        return steps.observation()
    finally:
        node.close()


class ReplicaSteps(Steps):
    """The steps of a vector on a replica, whose teammates are lines on a far side."""

    def __init__(self, team: GivenTeam, node: Node, host: WatchedHost, clock: Clock) -> None:
        super().__init__(team.world, node.store, node.engine, host, clock)
        self._node = node
        self._remote = MemoryRemote()
        self._pass = SyncPass(
            node, MemoryTransport(self._remote), sleep=lambda _: None, monotonic=lambda: 0.0, jitter=Random(0)
        )
        self._seal_privates = team.seal_privates
        for replica, lines in {**team.lanes, node.me: team.replica.lane}.items():
            self._remote.put(replica, *lines)
        self._sync({})
        seed(node.store, team.world)
        with node.store.transaction(CommitPoint.APPLIED) as db:
            for answer in team.pending:
                set_standing(db, answer, Standing.PENDING)
            for row in team.remote:
                remote.insert(db, row)
                remote.set_readers(db, row.message, row.homes)
        host.register(team.world)
        for agent in team.muted:
            host.mute(agent)

    def do(self, number: int, step: Members) -> JsonValue:
        """Run a step and return its result; None for one that has none. Raises what the replica refuses."""
        op = step.text("op")
        if op == "sync":
            return self._sync(lanes_of(step))
        if op == "recover":
            done = super().do(number, step)
            self._node.take_up()
            return done
        if op in state.STEPS:
            return state.STEPS[op](self._node, step)
        if op in entering.STEPS:
            return entering.STEPS[op](self._pass, step)
        if op in writing.STEPS:
            made = writing.STEPS[op](self._node, step)
            self._symbols.made(number, made)
            return made
        return super().do(number, step)

    def step(self, number: int, step: Members) -> None:
        """Run a step. One that is refused fails only itself. Raises MalformedError and Unsupported."""
        if step.text("op") in PURE:
            self.outcomes.append(outcome(dict(step.as_mapping())))
        else:
            super().step(number, step)

    def observation(self) -> dict[str, JsonValue]:
        """Return what section 12.4.7 lists, and the rows of recipients who are homed elsewhere."""
        seen = super().observation()
        rows = [row for message in self.messages() for row in remote.rows_of(self.store.db, message.id)]
        return {**seen, "remote": [_row(row) for row in rows]}

    def _sync(self, lanes: Mapping[str, Sequence[bytes]]) -> Json:
        """Let lines appear on the far side, and have the replica do one pass."""
        for replica, lines in lanes.items():
            self._remote.put(replica, *lines)
        before, _ = next_place(self.store.db, self._node.me)
        self._pass.run()
        after = [
            entry
            for _, line in ops.lines_of(self.store.db, self._node.me, before)
            if isinstance(entry := read_entry(line), Op)
        ]
        return {
            **told(after, self._seal_privates),
            "acknowledged": self._acknowledged(),
            "left": self._left(lanes),
            "parked": self._places("SELECT replica, seq FROM parked ORDER BY replica, seq"),
            "kept": self._places(
                "SELECT replica, seq FROM ops WHERE settled = 0 AND NOT EXISTS (SELECT 1 FROM parked "
                "WHERE parked.replica = ops.replica AND parked.seq = ops.seq) ORDER BY replica, seq"
            ),
        }

    def _acknowledged(self) -> Json:
        """How far the replica's acknowledgements say that it holds each log, as they are on the far side."""
        raw = self._remote.state().acks.get(self._node.me)
        public = self._node.identity.secrets.signer.public
        return {} if raw is None else {**read_acks(raw, replica=self._node.me, public=public).through}

    def _left(self, lanes: Mapping[str, Sequence[bytes]]) -> list[Json]:
        """The entries among these lines that are in no chain here, each once."""
        entries = [
            read
            for lines in lanes.values()
            for line in lines
            if not isinstance(read := read_line(line), Unreadable)
        ]
        left = {
            (entry.replica, entry.seq)
            for entry in entries
            if ops.hash_at(self.store.db, entry.replica, entry.seq) != entry.hash
        }
        return [{"replica": replica, "seq": seq} for replica, seq in sorted(left)]

    def _places(self, query: str) -> list[Json]:
        return [{"replica": replica, "seq": seq} for replica, seq in self.store.db.execute(query)]


def _row(row: remote.RemoteRow) -> Json:
    wake_at = {} if row.wake_at is None else {"wakeAt": row.wake_at}
    return {
        "message": row.message,
        "recipient": row.recipient,
        "via": row.via,
        "homes": list(row.homes),
        "state": row.state,
        **wake_at,
    }
