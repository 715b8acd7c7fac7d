"""What a client may name: recipients, messages and threads, by what it was shown itself (sections 8.4, 8.7)."""

from collections.abc import Collection
from typing import Protocol

from bindings.a2a import records, tasks
from bindings.a2a.routed import is_routed
from bindings.a2a.scope import in_scope, is_about_gate, proposal
from bindings.a2a.tasks import Task
from core.errors import DmpError, not_found
from core.message import Message
from core.store.messages import message_by_id, messages_of_thread
from replica.node import Node


class Caller(Protocol):
    """A client that calls, known by its bearer: its address, and the humans it may address."""

    @property
    def address(self) -> str:
        """Its address."""

    @property
    def recipients(self) -> Collection[str]:
        """The addresses of its recipient list."""


class Allowed:
    """What one client may name (`inbound.Permitted`), looked up as it is asked for.

    What it may not name, it is told of as of what is absent.
    """

    def __init__(self, node: Node, caller: Caller) -> None:
        self._node = node
        self._client = caller.address
        self._humans = tuple(caller.recipients)
        self._handoffs: list[Task] | None = None

    @property
    def owner(self) -> str:
        """Whom the client asks where it names nobody: the owner, or the first of a list without the owner."""
        owner = self._node.host.person
        return owner if owner in self._humans or not self._humans else self._humans[0]

    @property
    def humans(self) -> Collection[str]:
        """The client's recipient list."""
        return self._humans

    def work_items(self) -> set[str]:
        """The addresses of the work items of the client's approved handoffs."""
        return {task.handoff.work_item for task in self._approved() if task.handoff is not None}

    def may_see(self, message_id: str) -> bool:
        """Whether the client is shown a message in one of its tasks, which may be the message that opened one."""
        message = message_by_id(self._node.store.db, message_id)
        if message is None or not self._is_visible(message) or is_about_gate(self._node, message):
            return False
        if any(each.id == message_id for each in self._of_thread(message)):
            return True
        return any(
            each.id == message_id
            for task in self._approved()
            for each in in_scope(self._node, task, approved=True)
        )

    def takes_part(self, message_id: str) -> Message | None:
        """A message that the client sent or received; None for any other, and for what is about a gate."""
        message = message_by_id(self._node.store.db, message_id)
        if message is None or not self._is_visible(message) or is_about_gate(self._node, message):
            return None
        return message

    def thread(self, thread_id: str) -> Message:
        """The message of a thread that the client replies to when it goes on in it: its first one where the client
        sent or received that, else the latest that it did.

        Raises DmpError `not-found` on `contextId` for a thread it takes no part in.
        """
        node, db = self._node, self._node.store.db
        if self._is_elsewhere(thread_id):
            raise no_such_context()
        seen = (message_by_id(db, each) for each in records.seen_in(db, self._client, thread_id))
        found = [each for each in seen if each is not None and not is_about_gate(node, each)]
        if not found:
            raise no_such_context()
        return max(found, key=lambda each: (each.id == thread_id, each.id))

    def _of_thread(self, message: Message) -> list[Message]:
        """What the tasks that a message may belong to show of its thread."""
        found: list[Message] = []
        for each in messages_of_thread(self._node.store.db, message.thread):
            task = tasks.find(self._node.store.db, self._client, each.id)
            if task is not None:
                found += in_scope(self._node, task, approved=False)
        return found

    def _is_elsewhere(self, thread_id: str) -> bool:
        """Whether a thread began with a question to an instance: it goes on where that was asked."""
        return is_routed(self._node.store.db, self._client, thread_id)

    def _is_visible(self, message: Message) -> bool:
        if self._is_elsewhere(message.thread):
            return False
        if message.sender == self._client:
            return True
        return records.is_delivered(self._node.store.db, self._client, message.id)

    def _approved(self) -> list[Task]:
        if self._handoffs is None:
            db = self._node.store.db
            sent = (tasks.find(db, self._client, each) for each in records.sent_handoffs(db, self._client))
            self._handoffs = [
                each for each in sent if each is not None and proposal(self._node, each).approved
            ]
        return self._handoffs


def no_such_context() -> DmpError:
    """The refusal of a context that is absent or that the client takes no part in: one text for both."""
    return not_found("contextId", "unknown contextId")
