"""A task here: a question that a client asked an instance, and what was replied to it, as A2A shows it.

A task shows its client what the client sent, and the replies that were delivered to it; nothing else of the thread.
"""

from dataclasses import dataclass
from typing import Final

from bindings.a2a import records as a2a
from bindings.a2a.external import unwrap
from bindings.a2a.scope import is_about_gate
from bindings.instance_routing import instances, records
from bindings.instance_routing.extension import RECIPIENT, SUBJECT, URI, context_id, message_of, task_id
from bindings.instance_routing.records import Sent
from core.gate_data import is_close
from core.message import Absent, Message, State, in_thread_order
from core.store.messages import answer_to, message_by_id, message_by_key, messages_of_thread
from crypto.canonical import JsonValue
from replica.node import Node

JsonObject = dict[str, JsonValue]

CANCELED: Final = "Canceled by the client."
DECLINED: Final = "The owner declined to answer."
READ: Final = "The instance has the message."
_WAITS: Final = "The message waits in the mailbox of the instance."
_WAITING: Final = {
    "none": _WAITS,
    "due": _WAITS,
    "asked": f"{_WAITS} Its owner is asked whether to wake it.",
    "woken": f"{_WAITS} It was woken.",
    "denied": f"{_WAITS} Waking it is not allowed.",
    "failed": f"{_WAITS} It could not be woken.",
}

FINAL: Final = ("COMPLETED", "FAILED", "CANCELED", "REJECTED")
"""The states that a task stays in."""


@dataclass(frozen=True, slots=True)
class Task:
    """A task: its first message, and what its client asked for with it."""

    root: Message
    sent: Sent

    @property
    def id(self) -> str:
        """Its id."""
        return task_id(self.root.id)

    @property
    def context(self) -> str:
        """The id of its context."""
        return context_id(self.root.thread)


@dataclass(frozen=True, slots=True)
class Standing:
    """How a task stands: its state without A2A's prefix, since when, and the host's sentence or the answer."""

    state: str
    at: str
    said: str
    answer: Message | None = None

    @property
    def is_final(self) -> bool:
        """Whether it stays so."""
        return self.state in FINAL


def find(node: Node, client: str, text: str) -> Task | None:
    """A client's task by its id; None for another's, for what is no task here, and for any other text."""
    return of_message(node, client, message_of(text))


def of_message(node: Node, client: str, message_id: str) -> Task | None:
    """A client's task by the message that opened it."""
    root = message_by_id(node.store.db, message_id)
    sent = None if root is None else records.of_message(node.store.db, client, message_id)
    return None if root is None or sent is None else Task(root, sent)


def stand(node: Node, task: Task) -> Standing:
    """How a task stands: the first of these that holds."""
    db, root = node.store.db, task.root
    ended = a2a.ended(db, root.id)
    if ended is not None:
        if ended.how == "canceled":
            return Standing("CANCELED", ended.at, CANCELED)
        return Standing("REJECTED", ended.at, f"{DECLINED} {ended.note}".strip())
    answer = answer_to(db, root.id)
    if answer is not None and is_close(answer, node.host.system_address):
        return Standing("FAILED", answer.created_at, answer.body)
    if answer is not None and node.engine.is_published(answer):
        return Standing("COMPLETED", answer.created_at, "", answer)
    if all(each.state is State.HELD for each in node.engine.deliveries(root.id)):
        return Standing("SUBMITTED", root.created_at, _waiting(node, task))
    return Standing("WORKING", root.created_at, READ)


def replies(node: Node, task: Task) -> list[Message]:
    """What was replied to a task and delivered to its client, in the thread's order. None of it is a host's own."""
    client = task.sent.client
    thread = {each.id: each for each in messages_of_thread(node.store.db, task.root.thread)}
    delivered = a2a.delivered_in(node.store.db, client, task.root.thread)
    found = [
        each
        for each in thread.values()
        if each.id in delivered
        and each.sender not in (client, node.host.system_address)
        and _opened_by(each, thread, client) == task.root.id
        and node.engine.is_published(each)
        and not is_about_gate(node, each)
    ]
    return in_thread_order(found)


def shown(node: Node, task: Task, *, history: int | None = None, artifacts: bool = True) -> JsonObject:
    """A task as A2A has it. `history` is how many messages at most it has, None for all."""
    standing = stand(node, task)
    found: JsonObject = {
        "id": task.id,
        "contextId": task.context,
        "status": _status(task, standing),
        "metadata": {URI: {RECIPIENT: task.sent.instance, SUBJECT: task.sent.subject}},
    }
    if history != 0:
        found["history"] = [_message(task)]
    if artifacts:
        found["artifacts"] = [_artifact(node, task.sent.client, each) for each in replies(node, task)]
    return found


def _opened_by(message: Message, thread: dict[str, Message], client: str) -> str | None:
    """The nearest message of the client's own among what a message replies to, one after the other."""
    seen: set[str] = set()
    at: Message | None = message
    while at is not None and at.id not in seen:
        if at.sender == client:
            return at.id
        seen.add(at.id)
        at = None if at.reply_to is None else thread.get(at.reply_to)
    return None


def wake_key(message: str) -> str:
    """The idempotency key of the gate that asks whether to wake for a message: it is one gate, however often raised."""
    return f"instance-wake:{message}"


def _waiting(node: Node, task: Task) -> str:
    became = task.sent.wake
    if became == "asked":
        gate = message_by_key(node.store.db, node.host.system_address, wake_key(task.root.id))
        answer = None if gate is None else answer_to(node.store.db, gate.id)
        if answer is not None:
            became = "woken" if answer.choice == "approve" else "denied"
    return _WAITING[became]


def _status(task: Task, standing: Standing) -> JsonObject:
    answer = standing.answer
    parts = [_text(standing.said)] if answer is None else _parts(answer, task.sent.client)
    said: JsonObject = {
        "messageId": f"{task.root.id}-{standing.state.lower()}" if answer is None else answer.id,
        "contextId": task.context,
        "taskId": task.id,
        "role": "ROLE_AGENT",
        "parts": [*parts],
    }
    return {"state": f"TASK_STATE_{standing.state}", "timestamp": standing.at, "message": said}


def _message(task: Task) -> JsonObject:
    """What the client sent, under the id that it gave it."""
    return {
        "messageId": task.sent.id,
        "contextId": task.context,
        "taskId": task.id,
        "role": "ROLE_USER",
        "parts": [*_parts(task.root, task.sent.client)],
    }


def _artifact(node: Node, client: str, reply: Message) -> JsonObject:
    found: JsonObject = {"artifactId": reply.id, "name": "reply", "parts": [*_parts(reply, client)]}
    sender = instances.of_address(node.store.db, reply.sender)
    if sender is not None:
        found |= {"metadata": {URI: {"instanceId": sender.id}}, "extensions": [URI]}
    return found


def _parts(message: Message, client: str) -> list[JsonObject]:
    parts = [_text(message.body or message.choice or "")]
    data = unwrap(message.data) if message.sender == client else message.data
    if not isinstance(data, Absent):
        parts.append({"data": data, "mediaType": "application/json"})
    return parts


def _text(text: str) -> JsonObject:
    return {"text": text, "mediaType": "text/markdown"}
