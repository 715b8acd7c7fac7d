"""A client's tasks: the questions and handoffs it opened (section 8.2)."""

from dataclasses import dataclass
from sqlite3 import Connection

from bindings.a2a import records
from bindings.a2a.records import Ended, Handoff
from bindings.a2a.routed import is_routed
from core.errors import DmpError, not_found
from core.message import Message
from core.store.messages import message_by_id


@dataclass(frozen=True, slots=True)
class Task:
    """A task. `root` is the message that opened it, whose id is the task's; `key` the id its client gave that."""

    root: Message
    key: str
    handoff: Handoff | None
    ended: Ended | None

    @property
    def id(self) -> str:
        """Its id."""
        return self.root.id

    @property
    def client(self) -> str:
        """The address of the client whose it is."""
        return self.root.sender


def find(db: Connection, client: str, task_id: str) -> Task | None:
    """A client's task by its id; None for another's, for any message that opened none, and for an instance's."""
    found = opened(db, client, task_id)
    return None if found is None or is_routed(db, client, found.id) else found


def opened(db: Connection, client: str, task_id: str) -> Task | None:
    """What a client opened, at this card or by asking an instance, which has ids and a card of its own."""
    root = message_by_id(db, task_id)
    if root is None or root.sender != client or not root.takes_answer:
        return None
    key = records.key_of(db, client, root.id)
    if key is None:  # an agent that shares the address sent it another way
        return None
    # A draft that a crash left has the key of a message that may yet be an ask.
    handoff = records.handoff(db, client, key) if root.kind == "handoff" else None
    return Task(root, key, handoff, records.ended(db, root.id))


def need(db: Connection, client: str, task_id: str, field: str = "taskId") -> Task:
    """A client's task by its id. Raises DmpError `not-found` on `field`."""
    task = find(db, client, task_id)
    if task is None:
        raise no_such_task(field)
    return task


def every(db: Connection, client: str) -> list[Task]:
    """A client's tasks, the oldest first."""
    return [each for each in all_opened(db, client) if not is_routed(db, client, each.id)]


def all_opened(db: Connection, client: str) -> list[Task]:
    """What a client opened at this card or by asking instances, the oldest first."""
    found = (opened(db, client, each) for each in records.tasks_of(db, client))
    return [task for task in found if task is not None]


def no_such_task(field: str = "taskId") -> DmpError:
    """The refusal of a task that is absent or another's: one text for both (section 13.5)."""
    return not_found(field, "no task of yours has that id")
