"""Ending a task without an answer: its client cancels it, or the owner declines it (section 8.7, rows 1 and 2).

What ended it is kept first, in a row of its own, and the rest follows from that row: the question is closed, so that
nobody is asked any more, what waits for the client is closed too, and a handoff's draft or work is dropped. All of it
may be done again, as by the next look at the task after a crash in the middle.
"""

from contextlib import suppress
from typing import Final

from bindings.a2a import records, tasks
from bindings.a2a.commits import CommitPoint
from bindings.a2a.scope import in_scope, proposal
from bindings.a2a.tasks import Task
from core.errors import Code, DmpError, conflict, forbidden, invalid, not_found
from core.inputs import ReplyInput, Sender, SendInput
from core.message import Message
from core.store.messages import answer_to
from core.text import utf8_len
from replica.host import items
from replica.node import Node
from replica.records.commits import CommitPoint as Replica

MAX_NOTE_BYTES: Final = 2000

_REASONS: Final = {"canceled": "the client canceled it", "declined": "the owner declined to answer"}
_FINAL: Final = ("landed", "dropped")


def keep_canceled(node: Node, task: Task) -> None:
    """Keep that a client canceled a task, inside an open transaction; `settle` does the rest.

    Whether it may still end is for the caller to know; one that ended so already stays as it is.
    """
    records.end(node.store.db, task.id, "canceled", node.now())


def decline(node: Node, by: Sender, message_id: str, note: str = "") -> None:
    """Let a client's question or handoff end because the owner will not take it up, with a note for the client.

    It is the one way in which words of the owner's on that reach the client: an answer to a gate never does.
    Raises DmpError: `forbidden` on `from` for who does not decide; `not-found` on `message` for what opened no
    client's task, `conflict` there for one that is answered or approved; `invalid` on `note`.
    """
    if not by.can_decide:
        raise forbidden("from", "only a human who decides declines what a client asks for")
    if utf8_len(note) > MAX_NOTE_BYTES:
        raise invalid("note", f"a note has at most {MAX_NOTE_BYTES} bytes")
    asked = node.engine.message(message_id)
    task = None if asked is None else tasks.opened(node.store.db, asked.sender, message_id)
    if task is None:
        raise not_found("message", "no client asked that; `dmp inbox` lists the messages you have")
    with node.store.transaction(CommitPoint.ENDED) as db:
        if records.ended(db, task.id) is None and _is_decided(node, task):
            raise conflict("message", "that was decided already; read the thread")
        records.end(db, task.id, "declined", node.now(), note.strip())
    gate = proposal(node, task).gate
    if gate is not None and answer_to(node.store.db, gate.id) is None:
        with suppress(DmpError):  # decided meanwhile: what is kept above counts
            node.engine.reply(by, gate.id, ReplyInput("", choice="decline"))
    settle(node, task)


def refuse(node: Node, task: Task) -> None:
    """Let a handoff end whose message the owner declined while its gate waits, so that no later answer takes it on.

    Outside any transaction; nothing where the gate approved it meanwhile.
    """
    with node.store.transaction(CommitPoint.ENDED) as db:
        if proposal(node, task).approved:
            return
        records.end(db, task.id, "declined", node.now(), "")
    settle(node, task)


def _is_decided(node: Node, task: Task) -> bool:
    if task.handoff is None:
        return answer_to(node.store.db, task.id) is not None
    found = proposal(node, task)
    return found.approved or found.declined


def take_up(node: Node, task: Task) -> None:
    """Settle a task that ended where a crash kept it from being, outside any transaction."""
    if task.ended is None:
        return
    if task.handoff is None:
        is_open = answer_to(node.store.db, task.id) is None
    else:
        item = items.find(node.store.db, task.handoff.work_item)
        is_open = item is not None and item.status not in _FINAL
    if is_open:
        settle(node, task)


def settle(node: Node, task: Task) -> None:
    """Do what follows from a task's end that is not done yet, outside any transaction."""
    ended = records.ended(node.store.db, task.id)
    if ended is None:
        return
    if task.handoff is None:
        _close(node, task.root, _REASONS[ended.how])
    else:
        found = proposal(node, task)
        if found.gate is not None:
            _close(node, found.gate, _REASONS[ended.how])
        _drop(node, task, task.handoff.work_item)
    approved = task.handoff is not None and proposal(node, task).approved
    for question in open_questions(node, task, in_scope(node, task, approved=approved)):
        _close(node, question, _REASONS[ended.how])


def fail(node: Node, task: Task, reason: str) -> None:
    """Let an ask end that nobody is left to answer, for a reason that its client is told; outside any transaction."""
    _close(node, task.root, reason)


def open_questions(node: Node, task: Task, shown: list[Message]) -> list[Message]:
    """Those of the messages of a task that are blocking questions to its client without an answer, oldest first."""
    return [
        each
        for each in shown
        if each.blocking
        and each.takes_answer
        and each.sender != task.client
        and answer_to(node.store.db, each.id) is None
    ]


def _close(node: Node, question: Message, reason: str) -> None:
    try:
        node.engine.close(question.id, reason)
    except DmpError as error:
        if error.code is not Code.CONFLICT:  # else it has its answer
            raise


def _drop(node: Node, task: Task, work_item: str) -> None:
    """Drop what was handed off, and tell who works on it, once."""
    with node.store.transaction(Replica.WORK_ITEM) as db:
        item = items.find(db, work_item)
        if item is None or item.status in _FINAL:
            return
        was_begun = item.status != "draft"
        items.edit(db, work_item, {"status": "dropped"})
    if was_begun:
        try:
            _tell(node, task, work_item, (node.host.person, work_item))
        except DmpError:  # it is worked on at another machine, which no notice of this host's own reaches
            _tell(node, task, work_item, (node.host.person,))


def _tell(node: Node, task: Task, work_item: str, to: tuple[str, ...]) -> None:
    node.engine.send(
        Sender(node.host.system_address),
        SendInput(
            to=to,
            kind="notice",
            body=f"The client that handed off {work_item} canceled it; the work item is dropped.",
            idempotency_key=f"a2a-canceled:{task.id}",
        ),
    )
