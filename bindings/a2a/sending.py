"""What a client's message starts: an exchange, an answer, a handoff, or a word on how its handoffs stand (8.2-8.6).

Whatever is stored is stored by a send of the host core, under the client's address and the id that the client gave
the message. So a request that comes again finds what it did, and is answered as it was.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from bindings.a2a import external, fields, handoffs, inbound, metadata, tasks
from bindings.a2a.allowed import Allowed, Caller, no_such_context
from bindings.a2a.envelope import Envelope, read_envelope
from bindings.a2a.extensions import ENVELOPE, WORK
from bindings.a2a.external import Content
from bindings.a2a.facts import know
from bindings.a2a.parts import read_parts
from bindings.a2a.projection import TaskState
from bindings.a2a.tasks import Task
from bindings.a2a.work import HandoffRequest, StatusRequest, WorkRequest, read_work
from core.errors import conflict, invalid, not_found
from core.inputs import Sender, SendInput
from core.message import Message
from core.store.messages import message_by_key
from core.validate import MAX_LINE_BYTES
from crypto.canonical import JsonValue
from replica.node import Node

MAX_ID_BYTES: Final = 512
"""The most that an id of a task or a context takes: none of this host's is near that long."""


@dataclass(frozen=True, slots=True)
class Incoming:
    """A client's message, read. `task` and `context` are ids that it names, None for none."""

    key: str
    task: str | None
    context: str | None
    envelope: Envelope
    work: WorkRequest | None
    content: Content


def read_message(raw: JsonValue, active: frozenset[str]) -> Incoming:
    """Read a client's message; metadata of extensions that are not active counts for nothing (section 8.3).

    Raises DmpError on the field at fault, of the envelope before any other.
    """
    if not isinstance(raw, dict):
        raise invalid("message", "a request has a message, which is an object")
    metadata.check_size(raw)
    envelope = read_envelope(_extension(raw, ENVELOPE, active))
    work = read_work(_extension(raw, WORK, active))
    key = fields.line(raw.get("messageId"), "messageId", MAX_LINE_BYTES)
    if not key:
        raise invalid("messageId", "a message has an id of its client's own, by which it is known again")
    if raw.get("role", "ROLE_USER") != "ROLE_USER":
        raise invalid("message.role", "a client's message has the role ROLE_USER")
    parts = read_parts(raw.get("parts"))
    task, context = _id(raw, "taskId"), _id(raw, "contextId")
    if isinstance(work, StatusRequest):
        return Incoming(key, task, context, envelope, work, Content("", external.wrap(())))
    return Incoming(key, task, context, envelope, work, external.from_client(parts.text, parts.data))


def deliver(node: Node, caller: Caller, incoming: Incoming) -> Task | Message:
    """Do what a client's message asks for. Return the task it opened or continues, or the message it left.

    Outside any transaction. Raises DmpError, and nothing is stored: on the field at fault; `not-found` on `taskId` or
    `contextId` for what is not the client's; `conflict` on `taskId` for a task that has ended.
    """
    before = message_by_key(node.store.db, caller.address, incoming.key)
    if before is not None:
        return _again(node, caller, incoming, before)
    allowed = Allowed(node, caller)
    if incoming.task is not None:
        return _go_on(node, caller, allowed, incoming, incoming.task)
    if isinstance(incoming.work, HandoffRequest):
        given = inbound.handing_off(allowed, incoming.envelope, incoming.content, key=incoming.key)
        sent = handoffs.hand_off(
            node, caller.address, incoming.key, incoming.work, _in_context(allowed, incoming, given)
        )
        return tasks.need(node.store.db, caller.address, sent.id)
    given = inbound.opening(allowed, incoming.envelope, incoming.content, key=incoming.key)
    message = _send(node, caller, _in_context(allowed, incoming, given))
    if not message.takes_answer:
        return message
    return tasks.need(node.store.db, caller.address, message.id)


def _go_on(node: Node, caller: Caller, allowed: Allowed, incoming: Incoming, task_id: str) -> Task:
    """Continue a task: answer the question it puts to the client, or else say more to whom it was put."""
    task = tasks.need(node.store.db, caller.address, task_id)
    if incoming.context not in (None, task.root.thread):
        raise no_such_context()
    known = know(node, task)
    if known.state.state.is_terminal:
        raise conflict("taskId", "that task has ended; start another one")
    envelope, content = incoming.envelope, incoming.content
    question = known.state.says
    if known.state.state is TaskState.INPUT_REQUIRED and isinstance(question, Message):
        given = inbound.answering(allowed, envelope, content, question, key=incoming.key)
    else:
        more = Envelope(
            to=_heard_by(allowed, task),
            kind="message",
            reply_to=task.id,
            choice=envelope.choice,
            refs=envelope.refs,
        )
        given = inbound.opening(allowed, more, content, key=incoming.key)
    _send(node, caller, given)
    return tasks.need(node.store.db, caller.address, task.id)


def _heard_by(allowed: Allowed, task: Task) -> tuple[str, ...]:
    """Whom more on a task goes to: an ask's recipients; of a handoff its work item, and before approval the owner."""
    if task.handoff is None:
        return task.root.to
    is_approved = task.handoff.work_item in allowed.work_items()
    return (task.handoff.work_item,) if is_approved else (allowed.owner,)


def _in_context(allowed: Allowed, incoming: Incoming, given: SendInput) -> SendInput:
    """An opening in the context it names: as a reply there, since a thread is what replies make.

    What it replies to itself is a message that its client sent or received at this card.
    """
    replied = None
    if given.reply_to is not None:
        replied = allowed.takes_part(given.reply_to)
        if replied is None:
            raise not_found("replyTo", "unknown message")
    if incoming.context is None:
        return given
    first = allowed.thread(incoming.context)
    if replied is None:
        return replace(given, reply_to=first.id)
    if replied.thread != incoming.context:
        raise invalid("replyTo", "the message replied to is in another context")
    return given


def _again(node: Node, caller: Caller, incoming: Incoming, before: Message) -> Task | Message:
    """What a message that came before did, and what a crash left undone of it."""
    own = tasks.find(node.store.db, caller.address, before.id)
    if own is not None:
        handoffs.propose(node, own)
        return own
    if incoming.task is None:
        return before
    return tasks.need(node.store.db, caller.address, incoming.task)


def _send(node: Node, caller: Caller, given: SendInput) -> Message:
    return node.engine.send(Sender(caller.address), given).message


def _extension(raw: Mapping[str, JsonValue], uri: str, active: frozenset[str]) -> JsonValue:
    return metadata.extension_of(raw, uri) if uri in active else None


def _id(raw: Mapping[str, JsonValue], name: str) -> str | None:
    """An id that a message names; an empty one is none, as A2A's JSON may have it."""
    value = raw.get(name)
    return None if value in (None, "") else fields.line(value, name, MAX_ID_BYTES)
