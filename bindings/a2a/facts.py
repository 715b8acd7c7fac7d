"""What this host's store holds of a task: the facts that decide its state, and what of it is shown (section 8.7)."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from bindings.a2a import ending, projection, records
from bindings.a2a.commits import CommitPoint
from bindings.a2a.projection import DELETED, RECIPIENT_DROPPED, Facts, OpenGate, Projected, TaskState
from bindings.a2a.records import Observed
from bindings.a2a.scope import Proposal, gates_in_scope, in_scope, open_gates, proposal
from bindings.a2a.tasks import Task
from core.gate_data import data_type, is_deciding
from core.message import Message
from core.store import registers
from core.timestamp import timestamp
from replica.host import items
from replica.host.items import WorkItem
from replica.node import Node
from replica.shared.kinds import TASK

_ENDS: Final = {
    TaskState.COMPLETED: projection.LANDED,
    TaskState.REJECTED: projection.DROPPED,
    TaskState.FAILED: projection.GONE,
    TaskState.CANCELED: projection.CANCELED,
}
"""What is said of a handoff that has ended, where its work item tells otherwise by now."""


@dataclass(frozen=True, slots=True)
class Known:
    """A task, what its client is shown of it, its state, and since when it may have that.

    `item` is a handoff's work item, None where it is gone and for an ask.
    """

    task: Task
    shown: list[Message]
    item: WorkItem | None
    answer: Message | None
    state: Projected
    at: str
    observed: Observed | None

    @property
    def how(self) -> str:
        """All of how a handoff stands, in a word, to tell whether that changed."""
        status = "" if self.item is None else self.item.status
        return f"{self.state.state}:{status}"


def note(node: Node, found: Sequence[Known]) -> list[Known]:
    """Keep how handoffs stand that changed since their client looked, and date that as of now.

    Outside any transaction. What decides the state of a handoff has not always a time of its own; and a client that
    asks for what changed since a time is to be told of it. An ask of a dropped work item is closed, so that whoever is
    told that it failed is never told otherwise. So is the draft of a handoff dropped whose message was declined.
    """
    for each in found:
        if each.task.handoff is None and each.state.state is TaskState.FAILED and each.answer is None:
            ending.fail(node, each.task, RECIPIENT_DROPPED)
        if _is_refused_only(each):
            ending.refuse(node, each.task)
    new = [each for each in found if each.task.handoff is not None and not _is_noted(each)]
    if not new:
        return [*found]
    now = node.now()
    dated = {
        each.task.id: replace(each, at=each.at if each.observed is None else max(each.at, now))
        for each in new
    }
    with node.store.transaction(CommitPoint.OBSERVED) as db:
        for task, each in dated.items():
            records.observe(db, task, each.how, each.at)
    return [dated.get(each.task.id, each) for each in found]


def _is_refused_only(known: Known) -> bool:
    """Whether a handoff is declined by an answer to its message alone: its draft and its gate wait still."""
    is_draft = known.item is not None and known.item.status == "draft"
    return known.state.state is TaskState.REJECTED and known.task.ended is None and is_draft


def _is_noted(known: Known) -> bool:
    return known.observed is not None and known.observed.how == known.how


def know(node: Node, task: Task, opened: Collection[Message] | None = None) -> Known:
    """Look at a task; `opened` are this host's open gates, where the caller has them already."""
    proposed = proposal(node, task)
    shown = in_scope(node, task, approved=proposed.approved)
    gates = gates_in_scope(node, task, open_gates(node) if opened is None else opened)
    item = None if task.handoff is None else items.find(node.store.db, task.handoff.work_item)
    answer = _answer(node, task, proposed)
    facts = Facts(
        root=task.root,
        skill="ask" if task.handoff is None else "handoff",
        canceled_at=_ended_at(task, "canceled"),
        declined_at=_ended_at(task, "declined"),
        answer=answer,
        open_questions=ending.open_questions(node, task, shown),
        open_gates=[OpenGate(each.id, data_type(each.data) or "", each.created_at) for each in gates],
        work_item=_work_item(task, item, proposed),
        # An answer that was there before the drop stays the answer.
        recipient_dropped=task.handoff is None and answer is None and _is_dropped(node, task.root),
        root_deliveries=[each.state for each in node.engine.deliveries(task.id)],
        scope=shown,
        note="" if task.ended is None else task.ended.note,
    )
    seen = None if task.handoff is None else records.observed(node.store.db, task.id)
    state = _still(projection.project(facts, node.host.system_address), seen)
    at = _changed_at(node, task, [*shown, *gates], answer)
    return Known(task, shown, item, answer, state, at if seen is None else max(at, seen.at), seen)


def _still(state: Projected, seen: Observed | None) -> Projected:
    """A handoff's state; one that its client was told has ended stays so, whatever becomes of its work item later."""
    told = None if seen is None else TaskState(seen.how.partition(":")[0])
    if told is None or not told.is_terminal or state.state is told:
        return state
    return Projected(told, _ENDS[told])


def _answer(node: Node, task: Task, proposed: Proposal) -> Message | None:
    """The answer that decides a task: to an ask its own, to a handoff the decline of its proposal."""
    if task.handoff is None:
        return node.engine.answer_of(task.id)
    if proposed.answer is not None and (proposed.declined or proposed.approved):
        return proposed.answer
    answer = node.engine.answer_of(task.id)
    return answer if answer is not None and is_deciding(answer, node.host.system_address) else None


def _ended_at(task: Task, how: str) -> str | None:
    return task.ended.at if task.ended is not None and task.ended.how == how else None


def _work_item(
    task: Task, item: WorkItem | None, proposed: Proposal
) -> projection.WorkItem | Literal["deleted"] | None:
    if task.handoff is None:
        return None
    if item is None:
        return DELETED
    return projection.WorkItem(item.id, item.title, item.status, proposed.approved)


def _is_dropped(node: Node, root: Message) -> bool:
    """Whether whoever an ask was put to is a work item that was dropped, and nobody else is left to answer it."""
    found = [items.find(node.store.db, each) for each in root.to if each.startswith("task:")]
    return len(found) == len(root.to) and all(each is not None and each.status == "dropped" for each in found)


def _changed_at(node: Node, task: Task, messages: list[Message], answer: Message | None) -> str:
    """When the last thing happened that may have changed a task's state, as far as it has a time of its own."""
    times = [task.root.created_at, *(each.created_at for each in messages)]
    if answer is not None:
        times.append(answer.created_at)
    if task.ended is not None:
        times.append(task.ended.at)
    if task.handoff is not None:
        written = registers.reading_of(node.store.db, TASK, task.handoff.work_item, "status")
        if written is not None:
            times.append(timestamp(written.ms))
    return max(times)
