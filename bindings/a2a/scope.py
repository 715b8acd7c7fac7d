"""Which messages and gates a task shows its client (section 8.7)."""

from collections.abc import Collection
from dataclasses import dataclass

from bindings.a2a import records
from bindings.a2a.tasks import Task
from core.gate_data import data_type, has_gate_data, is_close, is_gate
from core.message import Message, in_thread_order
from core.store.messages import (
    answer_to,
    message_by_id,
    message_by_key,
    messages_of_thread,
    open_questions_with_gate_data,
)
from replica.host.raising import proposal_key
from replica.node import Node


@dataclass(frozen=True, slots=True)
class Proposal:
    """What became of a handoff's proposal: its gate, where one was raised, and the answer, where it has one."""

    gate: Message | None
    answer: Message | None
    is_closed: bool

    @property
    def approved(self) -> bool:
        """Whether a deciding principal approved it."""
        return self.answer is not None and not self.is_closed and self.answer.choice == "approve"

    @property
    def declined(self) -> bool:
        """Whether a deciding principal declined it."""
        return self.answer is not None and not self.is_closed and self.answer.choice == "decline"


def proposal(node: Node, task: Task) -> Proposal:
    """What became of a handoff's proposal; of an ask, which has none, nothing."""
    if task.handoff is None:
        return Proposal(None, None, is_closed=False)
    db, system = node.store.db, node.host.system_address
    gate = message_by_key(db, system, proposal_key(_bare(task.handoff.work_item), task.id))
    answer = None if gate is None else answer_to(db, gate.id)
    if answer is not None and not node.engine.is_published(answer):
        answer = None
    return Proposal(gate, answer, is_closed=answer is not None and is_close(answer, system))


def in_scope(node: Node, task: Task, *, approved: bool) -> list[Message]:
    """The messages a task shows its client: those related to it and visible to the client, in their order.

    `approved` when it is a handoff that was. None of them is a gate, or an answer to one.
    """
    db, client = node.store.db, task.client
    thread = {each.id: each for each in messages_of_thread(db, task.root.thread)}
    delivered = records.delivered_in(db, client, task.root.thread)
    found = {
        each.id: each
        for each in thread.values()
        if (each.sender == client or each.id in delivered) and _reaches(each, task.id, thread)
    }
    if approved and task.handoff is not None:
        item = task.handoff.work_item
        others = records.sent_to(db, client, item)
        for speaker in (item, *node.host.sessions(item)):
            others += records.delivered_from(db, client, speaker)
        for each in others:
            if each not in found and (message := message_by_id(db, each)) is not None:
                found[each] = message
    shown = [
        each for each in found.values() if not is_about_gate(node, each) and node.engine.is_published(each)
    ]
    return in_thread_order(shown)


def is_about_gate(node: Node, message: Message) -> bool:
    """Whether a message has gate data, or replies to one that has: it never leaves the host (section 5.8)."""
    if has_gate_data(message.data):
        return True
    replied = None if message.reply_to is None else message_by_id(node.store.db, message.reply_to)
    return replied is not None and has_gate_data(replied.data)


def open_gates(node: Node) -> list[Message]:
    """The gates of this host that are open, the oldest first."""
    system, known = node.host.system_address, node.host.gate_types
    return [each for each in open_questions_with_gate_data(node.store.db) if is_gate(each, system, known)]


def gates_in_scope(node: Node, task: Task, opened: Collection[Message]) -> list[Message]:
    """Those of the open gates that concern a task: a handoff's proposal, and what its work item's sessions wait for.

    Only their ids, types and times leave (section 8.5).
    """
    if task.handoff is None or not opened:
        return []
    item = task.handoff.work_item
    sessions = node.host.sessions(item)
    return [each for each in opened if _concerns(each, task.id, item, sessions)]


def _concerns(gate: Message, task: str, item: str, sessions: Collection[str]) -> bool:
    data = gate.data if isinstance(gate.data, dict) else {}
    match data_type(gate.data):
        case "task-proposal":
            return data.get("task") == _bare(item) and data.get("message") == task
        case "tool-approval":
            return f"run:{data.get('runId')}" in sessions
        case "scope":
            return gate.sender in sessions
        case "wake":
            return data.get("target") == item
    return False


def _reaches(message: Message, root: str, thread: dict[str, Message]) -> bool:
    """Whether a message is a task's root, or its chain of replies reaches that."""
    seen: set[str] = set()
    while message.id != root:
        if message.reply_to is None or message.reply_to in seen or message.reply_to not in thread:
            return False
        seen.add(message.reply_to)
        message = thread[message.reply_to]
    return True


def _bare(address: str) -> str:
    return address.partition(":")[2]
