"""What a peer says becomes mail: one message for an event, from the peer, whatever is repeated (section 8.9).

The table is section 8.9's. A close is the system address's; its reason quotes the peer. Everything here may be done
again after a crash: a message has the key of its event, and a close finds the question closed.
"""

import logging
from dataclasses import replace
from sqlite3 import Connection
from typing import Final

from bindings.a2a.external import NO_TEXT
from bindings.a2a.peers import events, records, schedule
from bindings.a2a.peers.events import TERMINAL, Event, TaskState, Words
from bindings.a2a.peers.peer import SCHEME
from bindings.a2a.peers.records import PeerTask, Point
from core.engine import Sent
from core.errors import Code, DmpError
from core.gate_data import data_type, is_close
from core.inputs import Sender, SendInput
from core.message import Message
from core.store.messages import answer_to, message_by_key
from crypto.canonical import JsonValue
from replica.node import Node
from replica.quoting import quoted

TOOK_ON: Final = "the peer took it on"
ENDED: Final = "the peer's task has ended"
AUTHORIZATION: Final = "Waiting for its own authorization."
NO_END: Final = "the peer's task did not end within 7 days"

_DECISIVE: Final = (TaskState.WORKING, TaskState.COMPLETED, TaskState.REJECTED)
_ENDS: Final = {
    TaskState.FAILED: "the peer failed",
    TaskState.REJECTED: "the peer rejected it",
    TaskState.CANCELED: "the peer canceled it",
}

_log = logging.getLogger(__name__)


def record(node: Node, task: PeerTask, event: Event) -> PeerTask:
    """Record an event of a task, and return the task as it is followed from then on.

    Raises DmpError `limited` where the breaker lets the peer say no more for now.
    """
    origin = node.engine.message(task.message)
    if origin is None:  # nobody asked, so that nobody is told
        return replace(task, is_open=False)
    now = node.wall()
    if origin.kind == "handoff" and event.state in _DECISIVE and _is_asked(node, task, origin):
        close(node, origin, _end(event) if event.state is TaskState.REJECTED else TOOK_ON)
    match event.state:
        case TaskState.COMPLETED:
            _complete(node, task, origin, event)
        case TaskState.INPUT_REQUIRED:
            _say(node, task, origin, event.key, event.said, kind="question")
        case TaskState.AUTH_REQUIRED:
            words = event.said if not event.said.is_empty else Words(AUTHORIZATION)
            _say(node, task, origin, event.key, words, kind="notice")
        case TaskState.WORKING if not event.said.is_empty and now - task.noticed_at >= schedule.NOTICES:
            if _notice_of_work(node, task, origin, event):
                task = replace(task, noticed_at=now)
        case TaskState.FAILED | TaskState.REJECTED | TaskState.CANCELED:
            _fail(node, task, origin, event)
    if event.state not in TERMINAL:
        return task
    _close_own_questions(node, task)
    return replace(task, is_open=False)


def record_message(node: Node, task: PeerTask, words: Words, key: str) -> None:
    """Record a Message that a peer answered with at once: the answer to a question put to it, or else a reply.

    `task` tells what it answers; there is no such task at the peer. Raises DmpError as `record`.
    """
    origin = node.engine.message(task.message)
    assert origin is not None
    asked = origin.kind == "question" and _is_asked(node, task, origin)
    _say(node, task, origin, key, words, kind="answer" if asked else "message")


def give_up(node: Node, task: PeerTask, reason: str) -> PeerTask:
    """Follow a task no more: a question put to the peer is closed, and whoever else asked is told."""
    origin = node.engine.message(task.message)
    if origin is not None:
        end(node, origin, task.direct, reason, f"a2a-task:{events.digest(task.alias, task.task)}")
    _close_own_questions(node, task)
    return replace(task, is_open=False)


def end(node: Node, origin: Message, direct: bool, reason: str, key: str) -> None:
    """Tell whoever sent a message that nothing comes of it: by closing a question put to a peer, or by a notice.

    With the same key it is done once.
    """
    if origin.takes_answer and direct:
        close(node, origin, reason)
    else:
        tell(node, origin.sender, f"{reason[:1].upper()}{reason[1:]}.", key, reply_to=origin.id)


def tell(node: Node, to: str, body: str, key: str, *, reply_to: str | None = None) -> None:
    """Send a notice of this host, once for a key. One that cannot be sent is left out."""
    given = SendInput(to=(to,), kind="notice", body=body, reply_to=reply_to, idempotency_key=key)
    try:
        node.engine.send(Sender(node.host.system_address), given)
    except DmpError as error:
        _log.warning("a notice about a peer cannot be sent: %s", error.code)


def close(node: Node, question: Message, reason: str) -> None:
    """Close a question or handoff; one that has its answer stays as it is."""
    try:
        node.engine.close(question.id, reason)
    except DmpError as error:
        if error.code is not Code.CONFLICT:
            raise


def _complete(node: Node, task: PeerTask, origin: Message, event: Event) -> None:
    asked = origin.kind == "question" and _is_asked(node, task, origin)
    if not asked and event.result.is_empty:
        return
    _say(node, task, origin, event.key, event.result, kind="answer" if asked else "notice")


def _fail(node: Node, task: PeerTask, origin: Message, event: Event) -> None:
    reason = _end(event)
    if origin.takes_answer and task.direct:
        answer = answer_to(node.store.db, origin.id)
        if answer is None:
            close(node, origin, reason)
            return
        if is_close(answer, node.host.system_address) and _reason(answer) == reason:
            return  # this very event closed it
    said = event.said if not event.said.is_empty else Words(f"{_ENDS[event.state]}.".capitalize())
    _say(node, task, origin, event.key, said, kind="notice")


def _notice_of_work(node: Node, task: PeerTask, origin: Message, event: Event) -> bool:
    """Say what a peer says of its work, unless it was said; whether it is news. Where agents pause, it is left out."""
    if _recorded(node.store.db, task, event.key) is not None:
        return False
    try:
        _say(node, task, origin, event.key, event.said, kind="notice")
    except DmpError as error:
        if error.code is not Code.LIMITED:
            raise
    return True


def _say(node: Node, task: PeerTask, origin: Message, key: str, words: Words, *, kind: str) -> None:
    """Record words of a peer as a reply to what it was sent. With a key that was used, nothing is recorded."""
    peer = f"{SCHEME}{task.alias}"
    sent = _send(node, peer, origin, key, words, kind)
    with node.store.transaction(Point.WORD) as db:
        records.tells_of(db, sent.message.id, task.alias, task.task)


def _send(node: Node, peer: str, origin: Message, key: str, words: Words, kind: str) -> Sent:
    chosen = words.choice if kind == "answer" and words.choice in (origin.choices or ()) else None
    given = SendInput(
        to=(origin.sender,),
        kind=kind,
        body=words.body or NO_TEXT,
        reply_to=origin.id,
        data=words.data,
        blocking=kind == "question",
        choices=words.choices if kind == "question" else None,
        choice=chosen,
        idempotency_key=key,
    )
    try:
        return node.engine.send(Sender(peer), given, received=True)
    except DmpError as error:
        if kind != "answer" or error.code is not Code.CONFLICT:
            raise
    return node.engine.send(Sender(peer), replace(given, kind="notice", choice=None), received=True)


def _close_own_questions(node: Node, task: PeerTask) -> None:
    """Close what a peer asked about a task that has ended: an answer would go nowhere."""
    for each in records.open_questions(node.store.db, task.alias, task.task):
        question = node.engine.message(each)
        if question is not None:
            close(node, question, ENDED)


def _is_asked(node: Node, task: PeerTask, origin: Message) -> bool:
    """Whether a peer is asked something that waits for its answer."""
    return task.direct and origin.takes_answer and answer_to(node.store.db, origin.id) is None


def _recorded(db: Connection, task: PeerTask, key: str) -> Message | None:
    return message_by_key(db, f"{SCHEME}{task.alias}", key)


def _end(event: Event) -> str:
    """Why a task ended without a result, with the peer's own words where it gave any."""
    said = "" if event.said.is_empty else f": {quoted(event.said.body)}"
    return f"{_ENDS[event.state]}{said}"


def _reason(answer: Message) -> JsonValue:
    assert data_type(answer.data) == "x-closed"
    assert isinstance(answer.data, dict)
    return answer.data.get("reason")
