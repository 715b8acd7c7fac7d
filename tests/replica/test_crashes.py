"""A crash before or after any commit: nothing is lost, nothing is doubled, every chain still verifies.

One story is told again and again; in each telling the machine in hand dies at one commit, is opened again, and
its person repeats the command that was cut short.
"""

from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from random import Random
from zlib import crc32

import pytest

from core.commits import CommitPoint as CorePoint
from core.errors import DmpError
from core.inputs import Sender, SendInput
from core.message import Standing
from core.store import registers
from crypto.canonical import JsonValue
from crypto.chain import Cursor
from crypto.key_claims import key_claims
from crypto.lane import read_lane
from replica.chain.guard import resume
from replica.node import create, opened
from replica.records.commits import CommitPoint
from replica.shared.docs import rows
from replica.shared.docs.bodies import parse_doc
from replica.shared.docs.reading import read as read_documents
from replica.team import commands
from tests.replica.forge import Forger
from tests.replica.killer import OF_A_HOST, OF_PRUNING, OF_TRANSPORTS, KilledError, Killer, When
from tests.replica.shared.docs import said
from tests.replica.world import Clock, Machine
from transports.base import Unreachable
from transports.memory import MemoryRemote, MemoryTransport

TASK = "task:t-0000aa"

OF_A_TEAM = sorted({*CommitPoint, *CorePoint} - OF_A_HOST - OF_PRUNING - OF_TRANSPORTS)


@dataclass
class Story:
    """Ada, bob and cy, whose machines can die."""

    folder: Path
    killer: Killer
    stack: ExitStack
    remote: MemoryRemote = field(default_factory=MemoryRemote)
    seed: int = 0

    def surely(self, act: Callable[[], object]) -> None:
        """Do something, and again if the machine died of it."""
        try:
            act()
        except KilledError:
            act()

    def machine(self, handle: str) -> Machine:
        root = self.folder / handle
        clock = Clock()

        def make() -> None:
            if not (root / "keys" / "replica.json").exists():
                create(root, handle, "laptop", wall=clock, random=self._random(), observer=self.killer)

        self.surely(make)
        return self.open(root, clock)

    def open(self, root: Path, clock: Clock) -> Machine:
        node = self.stack.enter_context(opened(root, wall=clock, random=self._random(), observer=self.killer))
        return Machine(node, MemoryTransport(self.remote), clock)

    def _random(self) -> Callable[[int], bytes]:
        self.seed += 1
        return Random(self.seed).randbytes

    def do(self, machine: Machine, act: Callable[[], object]) -> None:
        """Do something on a machine; if it dies of it, open it again and repeat."""
        try:
            act()
        except KilledError:
            reopened = self.open(machine.directory.root, machine.clock)
            machine.node.close()
            machine.node, machine.transport = reopened.node, reopened.transport
            act()

    def send(self, machine: Machine, key: str, *to: str, **members: JsonValue) -> None:
        """Send under an idempotency key, as a client that may have to repeat itself does."""
        given = SendInput.from_json(
            {"to": list(to), "kind": "message", "body": key, "idempotencyKey": key, **members}
        )
        self.do(machine, lambda: machine.node.engine.send(Sender(machine.node.address, True), given))


def tell(folder: Path, killer: Killer) -> tuple[Machine, Machine]:
    """The story; returns ada's and bob's machines at its end."""
    with ExitStack() as stack:
        story = Story(folder, killer, stack, seed=crc32(bytes(folder)))  # no two tellings share ids
        ada, bob, cy = (story.machine(handle) for handle in ("ada", "bob", "cy"))
        found(story, ada)
        invited(story, ada, bob)
        story.do(cy, lambda: commands.join(cy.pass_(), None))
        admitted(story, ada, cy)
        everyone = (ada, bob, cy)
        settle_down(story, *everyone)

        story.send(ada, "ship it?", "human:bob", kind="question", choices=["yes", "no"], blocking=True)
        settle_down(story, *everyone)
        for machine in everyone:
            story.do(machine, partial(machine_joins, machine))
        story.do(ada, partial(writes_a_document, ada))
        settle_down(story, *everyone)
        question = bob.inbox()[0]
        delivery = bob.node.engine.deliveries(question.id)[0]
        story.do(bob, lambda: bob.node.engine.mark_read(delivery.id))
        story.send(bob, "go", "human:ada", kind="answer", replyTo=question.id, choice="yes")
        settle_down(story, *everyone)

        handed_on(story, ada, bob, cy)
        settle_down(story, *everyone)

        revoked_between_signing_and_publishing(story, ada, bob, cy)
        settle_down(story, ada, bob)
        paused(story, ada, bob)
        stray_settle(story, ada, bob)
        settle_down(story, ada, bob)
        check(story, ada, bob, question.id)
        stopped(story, bob)
        return ada, bob


def machine_joins(machine: Machine) -> None:
    machine.node.engine.join("eng", machine.node.address)


def writes_a_document(machine: Machine) -> None:
    if not read_documents(machine.node.store, machine.me).documents:
        with machine.node.store.transaction(CorePoint.MEMBERSHIP) as db:
            rows.write(db, parse_doc(said.text("a", by=machine.node.address)))


def found(story: Story, ada: Machine) -> None:
    def act() -> None:
        if ada.node.team is None:
            commands.found_team(ada.pass_(), "Orchard")
        else:
            ada.sync()

    story.do(ada, act)


def invited(story: Story, ada: Machine, bob: Machine) -> None:
    codes: list[str] = []
    story.do(ada, lambda: codes.append(commands.invite(ada.pass_(), "bob").encode()))
    story.do(bob, lambda: commands.join(bob.pass_(), codes[-1]))


def admitted(story: Story, ada: Machine, cy: Machine) -> None:
    def act() -> None:
        team = ada.node.team
        if team is not None and cy.me in team.view.members:
            ada.sync()
        else:
            commands.admit(ada.pass_(), cy.me, cy.node.identity.fingerprint)

    story.do(ada, act)


def settle_down(story: Story, *machines: Machine) -> None:
    for _ in range(4):
        for machine in machines:
            story.do(machine, machine.sync)


def handed_on(story: Story, ada: Machine, bob: Machine, cy: Machine) -> None:
    """Mail waits at cy's for a work item that is assigned to cy, whose session then begins at bob's."""

    def write(machine: Machine, kind: str, subject: str, **fields: JsonValue) -> None:
        with machine.node.store.transaction(CorePoint.MEMBERSHIP) as db:
            registers.edit(db, kind, subject, fields)

    story.do(ada, partial(write, ada, "task", TASK, title="Prune", assignee="human:cy"))
    settle_down(story, ada, cy)
    story.send(ada, "mind the roses", TASK)
    settle_down(story, ada, cy)
    run: dict[str, JsonValue] = {"task": TASK.partition(":")[2], "runKind": "execute", "live": True}
    story.do(bob, partial(write, bob, "session", "run:r-0000bb", **run, replica=bob.me))


def revoked_between_signing_and_publishing(story: Story, ada: Machine, bob: Machine, cy: Machine) -> None:
    story.send(bob, "for both", "human:ada", "human:cy")

    def away(*_given: object, **_more: object) -> None:
        raise Unreachable("the network went away")

    def cut_off() -> None:
        publish, bob.transport.publish = bob.transport.publish, away  # type: ignore[method-assign]
        try:
            with pytest.raises(Unreachable):
                bob.sync()
        finally:
            bob.transport.publish = publish  # type: ignore[method-assign]

    story.do(bob, cut_off)

    def revoke() -> None:
        team = ada.node.team
        if team is not None and cy.me in team.view.revoked:
            ada.sync()
        else:
            commands.revoke(ada.pass_(), cy.me, "laptop stolen")

    story.do(ada, revoke)


def paused(story: Story, ada: Machine, bob: Machine) -> None:
    """Bob's acks speak of an op of ada's that never was; her owner says to go on."""
    from crypto.acks import Acks, sign_acks

    acks = sign_acks(Acks(bob.me, {ada.me: 999}, "now"), bob.node.identity.secrets.signer)
    bob.transport.refresh()
    bob.transport.publish(bob.me, [], acks=acks)
    story.do(ada, ada.sync)
    story.do(ada, lambda: resume(ada.node))


def stray_settle(story: Story, ada: Machine, bob: Machine) -> None:
    """Junk on the far side, which is noted."""
    story.remote.put(bob.me, b'{"replica":"%s"}' % bob.me.encode())
    story.do(ada, ada.sync)


def stopped(story: Story, bob: Machine) -> None:
    thief = Forger(bob)
    thief.publish(thief.op("task", body={}))

    def act() -> None:
        with pytest.raises(DmpError):
            bob.sync()

    story.do(bob, act)


def check(story: Story, ada: Machine, bob: Machine, question: str) -> None:
    """Everything said arrived, once; the question is settled; every lane on the far side verifies whole."""
    assert Counter(message.kind for message in bob.inbox()) == Counter(["question", "notice"])  # cy left
    assert [message.body for _, message in bob.node.engine.inbox(TASK)] == ["mind the roses"]
    assert Counter(ada.bodies()) == Counter(["go", "for both"])
    for machine in (ada, bob):
        answer = machine.node.engine.answer_of(question)
        assert answer is not None
        assert (answer.body, answer.standing) == ("go", Standing.ACCEPTED)
        assert machine.node.engine.members("eng") == ("human:ada", "human:bob", "human:cy")
        left = machine.node.store.db.execute("SELECT DISTINCT kind FROM register_edits").fetchall()
        assert left in ([], [("session",)])  # which are one machine's own
        assert len([entry for entry in machine.chain() if entry.type == "channel"]) == 1
        assert len([entry for entry in machine.chain() if entry.type == "doc"]) == (machine is ada)
        assert machine.count("doc_unpublished") == 0
        assert len(read_documents(machine.node.store, machine.me).need(said.DOC).revisions) == 1
        assert machine.count("outbox") == 0
        assert machine.count("unpublished") == 0
        lines = machine.lane()
        (claim,) = key_claims(machine.me, lines)
        read = read_lane(machine.me, lines, Cursor(), claim.key)
        assert read.cursor.halted is None
        assert read.stall is None
        assert [entry.hash for entry in read.entries] == [entry.hash for entry in machine.chain()]
    transport = MemoryTransport(story.remote)
    transport.refresh()
    assert {line.replica for line in transport.pull({})} >= {ada.me, bob.me}


@pytest.fixture(scope="module")
def reached(tmp_path_factory: pytest.TempPathFactory) -> Counter[tuple[str, When]]:
    """How often a story without a death reaches each commit."""
    folder = tmp_path_factory.mktemp("whole")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(folder / "state"))
        killer = Killer()
        tell(folder / "story", killer)
    return killer.seen


def test_the_story_visits_every_commit_there_is(reached: Counter[tuple[str, When]]) -> None:
    assert {point for point, _ in reached} == set(OF_A_TEAM)


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("point", OF_A_TEAM)
def test_a_crash_around_any_commit_loses_and_doubles_nothing(
    tmp_path: Path, reached: Counter[tuple[str, When]], point: str, when: When
) -> None:
    count = reached[str(point), when]
    # Spread over the story: each telling takes its time, and neighbouring commits differ little.
    for occurrence in sorted({1, 2, count // 2 + 1, count} & set(range(1, count + 1))):
        killer = Killer((str(point), when, occurrence))
        tell(tmp_path / str(occurrence), killer)
        assert killer.done
