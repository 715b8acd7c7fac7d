"""Ada's host with A2A clients at its desk, in one process, and no socket between."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import count
from random import Random
from typing import Any

from a2a.types import a2a_pb2
from google.protobuf.json_format import ParseDict

from bindings.a2a import exchange
from bindings.a2a.extensions import ENVELOPE, EXTENSIONS, WORK
from core.inputs import ReplyInput, Sender, SendInput
from core.message import Message
from core.store import Store
from core.store.messages import answer_to, messages_of_thread, questions_with_gate_data
from replica.host import agents, items
from replica.host.attach import living
from replica.host.place import place_in_memory
from replica.node import Node, belong_to, make_identity
from replica.records.commits import CommitPoint
from replica.records.schema import MIGRATIONS
from tests.replica.world import Clock

ADA = Sender("human:ada", can_decide=True)
ACME = "agent:ada/a2a.acme"
OTHER = "agent:ada/a2a.other"
THIRD = "agent:ada/a2a.third"

NONE: frozenset[str] = frozenset()
ALL: frozenset[str] = frozenset(EXTENSIONS)


@dataclass(frozen=True)
class Caller:
    """A client that its bearer made known."""

    address: str
    recipients: tuple[str, ...] = ("human:ada",)


def texts(message: dict[str, Any]) -> list[str]:
    return [part["text"] for part in message["parts"] if "text" in part]


@dataclass
class Desk:
    """A client at the desk, and those behind it. Every answer is read as the official types read it."""

    node: Node
    caller: Caller = field(default_factory=lambda: Caller(ACME))
    clock: Clock = field(default_factory=Clock)
    active: frozenset[str] = ALL
    answers: list[Any] = field(default_factory=list)
    ids: Callable[[], int] = field(default_factory=lambda: count(1).__next__)

    def as_(self, address: str) -> "Desk":
        return replace(self, caller=Caller(address))

    def plain(self) -> "Desk":
        """The same client, which activates no extension."""
        return replace(self, active=NONE)

    # What the client does

    def send(
        self,
        text: str | None = "Is it final?",
        *,
        envelope: Any = None,
        work: Any = None,
        data: Iterable[Any] = (),
        configuration: Any = None,
        **members: Any,
    ) -> dict[str, Any]:
        parts = ([] if text is None else [{"text": text}]) + [{"data": each} for each in data]
        metadata = {ENVELOPE: envelope, WORK: work}
        message = {
            "messageId": f"own-{self.ids()}",
            "role": "ROLE_USER",
            "parts": parts,
            "metadata": {uri: value for uri, value in metadata.items() if value is not None},
            **members,
        }
        request = {"message": message, "configuration": configuration or {}}
        return self._kept(
            exchange.send_message(self.node, self.caller, request, self.active), a2a_pb2.SendMessageResponse
        )

    def ask(self, text: str = "Is it final?", **members: Any) -> Any:
        return self.send(text, **members)["task"]

    def hand_off(self, title: str = "Rate-limit uploads", text: str = "Please do it.", **request: Any) -> Any:
        members = {name: request.pop(name) for name in ("messageId", "contextId") if name in request}
        return self.send(text, work={"skill": "handoff", "title": title, **request}, **members)["task"]

    def get(self, task: Any, history: int | None = None) -> dict[str, Any]:
        id_ = task if isinstance(task, str) else task["id"]
        return self._kept(exchange.get_task(self.node, self.caller, id_, history, self.active), a2a_pb2.Task)

    def listed(self, **query: Any) -> dict[str, Any]:
        return self._kept(
            exchange.list_tasks(self.node, self.caller, query, self.active), a2a_pb2.ListTasksResponse
        )

    def cancel(self, task: Any) -> dict[str, Any]:
        return self._kept(exchange.cancel_task(self.node, self.caller, task["id"], self.active), a2a_pb2.Task)

    def state(self, task: Any) -> str:
        return str(self.get(task)["status"]["state"]).removeprefix("TASK_STATE_")

    def says(self, task: Any) -> str:
        return "\n".join(texts(self.get(task)["status"]["message"]))

    def _kept(self, found: Any, type_: Any) -> dict[str, Any]:
        ParseDict(found, type_())
        self.answers.append((self.caller.address, found))
        return dict(found)

    def answers_to(self, client: str) -> Any:
        """All that a client was answered."""
        return [found for address, found in self.answers if address == client]

    # What happens behind it

    def say(self, *to: str, body: str = "Hello", by: Sender = ADA, **members: Any) -> Message:
        given = SendInput.from_json({"to": list(to), "kind": "message", "body": body, **members})
        return self.node.engine.send(by, given).message

    def answer(self, task: Any, body: str = "Yes.", choice: str | None = None, by: Sender = ADA) -> Message:
        id_ = task if isinstance(task, str) else task["id"]
        return self.node.engine.reply(by, id_, ReplyInput(body, choice=choice)).message

    def question(self, task: Any, body: str = "Which region?", by: Sender = ADA, **members: Any) -> Message:
        return self.say(
            self.caller.address,
            body=body,
            by=by,
            kind="question",
            blocking=True,
            replyTo=task["id"],
            **members,
        )

    def root(self, task: Any) -> Message:
        found = self.node.engine.message(task["id"])
        assert found is not None
        return found

    def item(self, task: Any) -> str:
        """The address of a handoff's work item."""
        (found,) = (each for each in self.root(task).to if each.startswith("task:"))
        return found

    def gate(self, task: Any) -> Message:
        """The gate that proposes a handoff."""
        (found,) = (
            each for each in questions_with_gate_data(self.node.store.db) if each.reply_to == task["id"]
        )
        return found

    def decide(self, gate: Message, choice: str = "approve") -> Message:
        return self.answer(gate.id, "As you like.", choice)

    def approved(self, **request: Any) -> Any:
        """A handoff that was approved."""
        task = self.hand_off(**request)
        self.decide(self.gate(task))
        return task

    def set(self, task: Any, status: str) -> None:
        self.edit(self.item(task), status)

    def edit(self, item: str, status: str) -> None:
        with self.node.store.transaction(CommitPoint.WORK_ITEM) as db:
            items.edit(db, item, {"status": status})

    def remove(self, task: Any) -> None:
        with self.node.store.transaction(CommitPoint.WORK_ITEM) as db:
            items.remove(db, self.item(task))

    @contextmanager
    def session(self, task: Any) -> Iterator[Sender]:
        """A live session of a handoff's work item, for the length of a block."""
        here, item = self.node.host.sessions_here, self.item(task)
        with living(self.node, lambda: here.make(self.node.random, item, None, now=self.node.now())) as made:
            yield Sender(made.address)

    def is_answered(self, message: str) -> bool:
        return answer_to(self.node.store.db, message) is not None

    def thread(self, task: Any) -> list[Message]:
        return messages_of_thread(self.node.store.db, task["contextId"])


def make() -> Desk:
    """A host in memory that three clients are approved at, and the desk with the first of them."""
    clock = Clock()
    random = Random(7).randbytes
    identity = make_identity("ada", "laptop", wall=clock, random=random)
    store = Store.open(":memory:", MIGRATIONS)
    with store.transaction(CommitPoint.CREATED) as db:
        belong_to(db, identity, "ada", "laptop")
    node = Node(identity, store, place_in_memory(), clock, random)
    register(node, ACME, OTHER, THIRD)
    return Desk(node, clock=clock)


def register(node: Node, *addresses: str) -> None:
    """Let clients be registered and approved."""
    with node.store.transaction(CommitPoint.AGENT) as db:
        for address in addresses:
            agents.register(db, node.random, address, "a test", node.me)
            agents.decide(db, address, "approved")
