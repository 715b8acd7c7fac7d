"""A team of replicas in one process: real stores and keys, one far side in memory, clocks a test sets."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from core.inputs import ReplyInput, Sender, SendInput
from core.message import Message
from crypto.canonical import JsonValue
from crypto.op import Entry, read_entry
from replica.home.directory import Directory
from replica.node import DirectoryNode, Node, create, opened
from replica.records import ops, problems, remote
from replica.sync import Report, SyncPass
from replica.team import commands
from transports.base import Transport
from transports.memory import MemoryRemote, MemoryTransport

START = 1_790_000_000_000


@dataclass
class Clock:
    """A wall clock in milliseconds that a test moves."""

    ms: int = START

    def __call__(self) -> int:
        return self.ms


def no_sleep(_seconds: float) -> None:
    """Pauses cost a test nothing."""


@dataclass
class Machine:
    """One replica on its own machine."""

    node: Node
    transport: Transport
    clock: Clock

    @property
    def me(self) -> str:
        return self.node.me

    @property
    def directory(self) -> Directory:
        """Where the files of a replica that has any are."""
        assert isinstance(self.node, DirectoryNode)
        return self.node.directory

    def pass_(self, **changes: object) -> SyncPass:
        return SyncPass(self.node, self.transport, sleep=no_sleep, jitter=Random(1), **changes)  # type: ignore[arg-type]

    def sync(self) -> Report:
        return self.pass_().run()

    def send(self, to: str | tuple[str, ...], body: str, **members: JsonValue) -> Message:
        recipients: list[JsonValue] = [to] if isinstance(to, str) else list(to)
        given = SendInput.from_json({"to": recipients, "kind": "message", "body": body, **members})
        return self.node.engine.send(Sender(self.node.address, True), given).message

    def ask(self, *to: str, body: str = "Ship it?") -> Message:
        return self.send(to, body, kind="question", choices=["yes", "no"], blocking=True)

    def answer(self, question: Message, choice: str) -> Message:
        given = ReplyInput(body=f"I say {choice}", choice=choice)
        return self.node.engine.reply(Sender(self.node.address, True), question.id, given).message

    def message(self, message_id: str) -> Message:
        found = self.node.engine.message(message_id)
        assert found is not None
        return found

    def inbox(self) -> list[Message]:
        return [message for _, message in self.node.engine.inbox(self.node.address)]

    def bodies(self) -> list[str]:
        return [message.body for message in self.inbox()]

    def row(self, message: Message) -> remote.RemoteRow:
        """The one remote row of a message."""
        (row,) = remote.rows_of(self.node.store.db, message.id)
        return row

    def problems(self) -> dict[str, str]:
        return {each.subject: each.text for each in problems.all_problems(self.node.store.db)}

    def lane(self) -> list[bytes]:
        """This machine's lines on the far side."""
        self.transport.refresh()
        return [line.raw for line in self.transport.lane(self.me)]

    def chain(self) -> list[Entry]:
        """This machine's own chain, as its store has it."""
        return [read_entry(line) for _, line in ops.lines_of(self.node.store.db, self.me)]

    def count(self, table: str) -> int:
        (count,) = self.node.store.db.execute(f"SELECT count(*) FROM {table}").fetchone()
        return int(count)


def exchange(*machines: Machine, rounds: int = 4) -> None:
    """Let everyone sync until nothing is left to say."""
    for _ in range(rounds):
        for machine in machines:
            machine.sync()


@dataclass
class World:
    """Replicas that share one far side. Each machine has a clock of its own."""

    folder: Path
    remote: MemoryRemote = field(default_factory=MemoryRemote)
    stack: ExitStack = field(default_factory=ExitStack)
    seed: int = 7

    def machine(self, handle: str, name: str | None = None) -> Machine:
        """Make a replica and open it."""
        clock = Clock()
        root = self.folder / (name or handle)
        create(root, handle, f"{name or handle}-laptop", wall=clock, random=self._random())
        return self.open(root, clock)

    def open(self, root: Path, clock: Clock | None = None) -> Machine:
        clock = clock or Clock()
        node = self.stack.enter_context(opened(root, wall=clock, random=self._random()))
        return Machine(node, MemoryTransport(self.remote), clock)

    def _random(self) -> Callable[[int], bytes]:
        self.seed += 1
        return Random(self.seed).randbytes

    def team(self, *handles: str) -> list[Machine]:
        """Found a team with the first machine, and invite and admit the others."""
        first, *others = [self.machine(handle) for handle in handles]
        commands.found_team(first.pass_(), "Orchard")
        for other in others:
            self.admit(first, other)
        return [first, *others]

    def admit(self, admin: Machine, other: Machine) -> None:
        """Let one more machine join the team, by an invite of an admin's."""
        code = commands.invite(admin.pass_(), other.node.handle)
        commands.join(other.pass_(), code.encode())
        admin.sync()
        other.sync()


@contextmanager
def world(folder: Path) -> Iterator[World]:
    """A world whose stores are closed at the end."""
    made = World(folder)
    with made.stack:
        yield made
