"""The state of a client's task, decided from what the host knows of it (section 8.7), pure.

`ROWS` is the document's table: the first row that applies decides. The same decision stands behind every read of a
task and every event of a stream.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Literal

from bindings.a2a.work import STAGES, Stage
from core.gate_data import has_gate_data, is_close
from core.message import Message, State
from crypto.canonical import JsonValue

Skill = Literal["ask", "handoff"]
By = Literal["client", "other"]


class TaskState(StrEnum):
    """A2A's states of a task that are ever reported; `wire` is the name A2A has for one."""

    SUBMITTED = "SUBMITTED"
    WORKING = "WORKING"
    INPUT_REQUIRED = "INPUT_REQUIRED"
    AUTH_REQUIRED = "AUTH_REQUIRED"
    COMPLETED = "COMPLETED"
    FAILED = "FAILED"
    CANCELED = "CANCELED"
    REJECTED = "REJECTED"

    @property
    def wire(self) -> str:
        """Its name in A2A's JSON."""
        return f"TASK_STATE_{self.value}"

    @property
    def is_terminal(self) -> bool:
        """Whether the task has ended."""
        return self in _TERMINAL

    @property
    def waits(self) -> bool:
        """Whether a blocking send returns now: the task has ended, or waits for somebody."""
        return self.is_terminal or self in (TaskState.INPUT_REQUIRED, TaskState.AUTH_REQUIRED)


_TERMINAL: Final = frozenset((TaskState.COMPLETED, TaskState.FAILED, TaskState.CANCELED, TaskState.REJECTED))


@dataclass(frozen=True, slots=True)
class OpenGate:
    """All of an open gate that leaves this host."""

    id: str
    type: str
    opened_at: str

    def to_json(self) -> dict[str, JsonValue]:
        """Its entry in gate/v1 (section 8.5)."""
        return {"id": self.id, "type": self.type, "openedAt": self.opened_at, "waitingOn": "owner"}


@dataclass(frozen=True, slots=True)
class WorkItem:
    """A handoff's work item. `approved` once its proposal was."""

    id: str
    title: str
    status: str
    approved: bool


Deleted = Literal["deleted"]
DELETED: Final[Deleted] = "deleted"
"""Stands for a handoff's work item that is no longer there."""


@dataclass(frozen=True, slots=True)
class Facts:
    """What a host knows of a task. Messages and gates stand in their order, the oldest first.

    `root` is the message that opened it, `answer` the one that has. `open_questions` are those in scope that are put
    to the client and not answered; `gated` holds the ids of messages with gate data, so far as a question replies to
    one. `scope` is what the client is shown. `note` is what was said of a decline or a drop; it must be for the client
    to read.
    """

    root: Message
    skill: Skill = "ask"
    canceled_at: str | None = None
    declined_at: str | None = None
    answer: Message | None = None
    open_questions: Sequence[Message] = ()
    open_gates: Sequence[OpenGate] = ()
    work_item: WorkItem | Deleted | None = None
    dropped: By | None = None
    recipient_dropped: bool = False
    root_deliveries: Sequence[State] = ()
    scope: Sequence[Message] = ()
    gated: frozenset[str] = frozenset()
    note: str = ""

    @property
    def is_handoff(self) -> bool:
        """Whether it is a handoff, and else an ask."""
        return self.skill == "handoff"

    @property
    def item(self) -> WorkItem | None:
        """The handoff's work item, where there is one."""
        return self.work_item if self.is_handoff and isinstance(self.work_item, WorkItem) else None

    @property
    def status(self) -> str | None:
        """The status of the handoff's work item."""
        return None if self.item is None else self.item.status


@dataclass(frozen=True, slots=True)
class Projected:
    """A task's state, and what its status message says: a message in scope, or a sentence of the host's own.

    `gates` are the open gates that hold it up, and empty in every state but AUTH_REQUIRED.
    """

    state: TaskState
    says: Message | str
    stage: Stage | None = None
    gates: tuple[OpenGate, ...] = ()


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the table: when it applies, and what it then says. The system address is the host's."""

    number: int
    applies: Callable[[Facts, str], bool]
    result: Callable[[Facts], Projected]


def project(facts: Facts, system_address: str) -> Projected:
    """Decide a task's state: as the first row says that applies."""
    return next(row.result(facts) for row in ROWS if row.applies(facts, system_address))


# Sentences (the Dispatch profile's)

CANCELED: Final = "Canceled by the client."
DECLINED: Final = "Declined by the project owner."
DROPPED: Final = "The task was dropped."
CLOSED: Final = "The question was closed."
RECIPIENT_DROPPED: Final = "The task this was asked of was dropped."
GONE: Final = "The task was deleted."
LANDED: Final = "Landed."
WORKING: Final = "Working."
APPROVED: Final = "Approved; waiting to be scheduled."

GATES: Final = {
    "task-proposal": "Waiting for the project owner to approve this handoff.",
    "tool-approval": "Waiting for the project owner to approve a tool call.",
    "scope": "Waiting for the project owner to approve a change of scope.",
    "wake": "Waiting for the project owner to approve waking the task.",
}
OTHER_GATE: Final = "Waiting for a decision of the project owner."


# When each row applies


def _canceled(facts: Facts, _system: str) -> bool:
    return facts.canceled_at is not None or (facts.is_handoff and facts.dropped == "client")


def _declined(facts: Facts) -> bool:
    """Whether what a task asks for was declined: an ask itself, a handoff by its proposal."""
    if facts.declined_at is not None:
        return True
    item, answer = facts.item, facts.answer
    if not facts.is_handoff or answer is None or (item is not None and item.approved):
        return False
    return answer.choice == "decline"


def _rejected(facts: Facts, _system: str) -> bool:
    return _declined(facts) or (
        facts.is_handoff
        and (facts.dropped == "other" or (facts.status == "dropped" and facts.dropped is None))
    )


def _failed(facts: Facts, system: str) -> bool:
    if facts.is_handoff:
        return False
    closed = facts.answer is not None and is_close(facts.answer, system)
    return closed or facts.recipient_dropped


def _answerable(facts: Facts) -> list[Message]:
    """The open questions that the client can answer: none that is a gate, or about one (section 5.8)."""
    seen = (facts.root, *facts.scope, *facts.open_questions)
    gated = facts.gated.union(each.id for each in seen if has_gate_data(each.data))
    return [
        each
        for each in facts.open_questions
        if each.kind == "question" and each.blocking and each.id not in gated and each.reply_to not in gated
    ]


# What each row says


def _rejection(facts: Facts) -> Projected:
    sentence = DECLINED if _declined(facts) else DROPPED
    return Projected(TaskState.REJECTED, f"{sentence}\n\n{facts.note}" if facts.note else sentence)


def _failure(facts: Facts) -> Projected:
    data = None if facts.answer is None else facts.answer.data
    reason = data.get("reason") if isinstance(data, dict) else None
    if isinstance(reason, str) and reason:
        return Projected(TaskState.FAILED, reason)
    return Projected(TaskState.FAILED, RECIPIENT_DROPPED if facts.recipient_dropped else CLOSED)


def _completion(facts: Facts) -> Projected:
    return Projected(TaskState.COMPLETED, CLOSED if facts.answer is None else facts.answer)


def _waiting(facts: Facts) -> Projected:
    sentences = dict.fromkeys(GATES.get(each.type, OTHER_GATE) for each in facts.open_gates)
    return Projected(TaskState.AUTH_REQUIRED, " ".join(sentences), gates=tuple(facts.open_gates))


def _working(facts: Facts) -> Projected:
    heard = [each for each in facts.scope if each.sender != facts.root.sender]
    stage = next((each for each in STAGES if each == facts.status), None)
    return Projected(TaskState.WORKING, heard[-1] if heard else WORKING, stage)


def _in_mailbox(facts: Facts) -> Projected:
    return Projected(TaskState.SUBMITTED, f"Waiting in the mailbox of {', '.join(facts.root.to)}.")


_NOT_UNDER_WAY: Final = ("draft", "ready", "landed", "dropped")
"""The statuses of a work item in which nobody works on it; a status of a host's own is none of them."""

ROWS: Final = (
    Row(1, _canceled, lambda _: Projected(TaskState.CANCELED, CANCELED)),
    Row(2, _rejected, _rejection),
    Row(3, _failed, _failure),
    Row(
        4,
        lambda facts, _: facts.is_handoff and facts.work_item == DELETED,
        lambda _: Projected(TaskState.FAILED, GONE),
    ),
    Row(5, lambda facts, _: not facts.is_handoff and facts.answer is not None, _completion),
    Row(6, lambda facts, _: facts.status == "landed", lambda _: Projected(TaskState.COMPLETED, LANDED)),
    Row(
        7,
        lambda facts, _: bool(_answerable(facts)),
        lambda facts: Projected(TaskState.INPUT_REQUIRED, _answerable(facts)[0]),
    ),
    Row(8, lambda facts, _: bool(facts.open_gates), _waiting),
    Row(9, lambda facts, _: facts.item is not None and facts.status not in _NOT_UNDER_WAY, _working),
    Row(
        10,
        lambda facts, _: (
            facts.item is not None and facts.item.approved and facts.status in ("draft", "ready")
        ),
        lambda _: Projected(TaskState.SUBMITTED, APPROVED),
    ),
    Row(
        11,
        lambda facts, _: (
            not facts.is_handoff
            and bool(facts.root_deliveries)
            and all(state is State.HELD for state in facts.root_deliveries)
        ),
        _in_mailbox,
    ),
    Row(12, lambda _facts, _system: True, _working),
)
"""The table of section 8.7. The last row always applies."""
