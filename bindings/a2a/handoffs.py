"""Handoffs: a draft work item, the handoff itself, and the gate that proposes it (section 8.6).

Three commits, in this order, each of which may be made again: what the client asked for and its draft; the message,
under the id that the client gave it; the gate, under a key of its own. A crash between them is taken up by the
client's next try, or by the next look at the task.
"""

from collections.abc import Collection, Mapping
from dataclasses import replace
from sqlite3 import Connection
from typing import Final

from bindings.a2a import records
from bindings.a2a.commits import CommitPoint
from bindings.a2a.records import Handoff
from bindings.a2a.tasks import Task
from bindings.a2a.work import HandoffRequest
from core.errors import Code, DmpError
from core.inputs import Sender, SendInput
from core.message import Message
from core.store.messages import message_by_key
from core.validate import validate
from crypto.canonical import JsonValue
from replica.host import items, raising
from replica.node import Node

LABEL: Final = "a2a/"
"""What the labels that a client gives begin with."""

MOST_PRIORITY: Final = "medium"
"""The highest priority that a client's work has."""

MAX_WAITING: Final = 50
"""How many drafts of one client may wait to be decided on: work items are shared with the team."""

_CAPPED: Final = ("high", "urgent")


def hand_off(node: Node, client: str, key: str, request: HandoffRequest, given: SendInput) -> Message:
    """Hand off what a client asks for: draft it, send the handoff and propose it to the owner.

    `given` is what its message is without recipients. Outside any transaction. Raises DmpError as a send does; then no
    draft is left.
    """
    owner = node.host.person
    handoff = replace(
        given,
        to=(owner,),
        kind="handoff",
        body=given.body + appended(request.to_json()),
        blocking=False,
        choices=None,
        idempotency_key=key,
    )
    _check(node, client, handoff)
    drafted = _drafted(node, client, key, request)
    try:
        sent = node.engine.send(Sender(client), replace(handoff, to=(owner, drafted.work_item)))
    except DmpError:
        _take_back(node, client, key)
        raise
    propose(node, Task(sent.message, key, drafted, records.ended(node.store.db, sent.message.id)))
    return sent.message


def propose(node: Node, task: Task) -> None:
    """See to it that a handoff was proposed to the owner, unless it ended or its draft is gone."""
    if task.handoff is None or task.ended is not None:
        return
    item = items.find(node.store.db, task.handoff.work_item)
    if item is None or item.status != "draft":
        return
    if (
        message_by_key(node.store.db, node.host.system_address, raising.proposal_key(item.id, task.id))
        is None
    ):
        raising.propose(node, item, task.root)


def appended(request: Mapping[str, JsonValue]) -> str:
    """What stands after a handoff's text, so that who takes it up reads all that was asked for."""
    lines = ["", "", f"Title: {request.get('title')}"]
    for name, said in (("acceptance", "Accepted when:"), ("writes", "Writes:")):
        entries = request.get(name)
        if isinstance(entries, list) and entries:
            lines += ["", said, *(f"- {each}" for each in entries)]
    return "\n".join(lines)


def _check(node: Node, client: str, handoff: SendInput) -> None:
    """Raise DmpError for what would be refused when its draft is made already."""
    host = node.host
    validate(
        Sender(client),
        handoff,
        None,
        grammar=host.grammar,
        system_address=host.system_address,
        gate_types=host.gate_types,
    )


def _drafted(node: Node, client: str, key: str, request: HandoffRequest) -> Handoff:
    with node.store.transaction(CommitPoint.DRAFTED) as db:
        known = records.handoff(db, client, key)
        if known is not None and known.request == request.to_json():
            return known
        if known is not None:  # what a crash left of another request, which was never sent
            _forget(db, client, key, known)
        if _waiting(db, client) >= MAX_WAITING:
            raise DmpError(
                Code.LIMITED,
                f"{MAX_WAITING} handoffs of yours wait to be approved; wait until some are decided",
            )
        fields: dict[str, JsonValue] = {
            "title": request.title,
            "status": "draft",
            "labels": [*_labels(request.labels)],
        }
        if request.priority is not None:
            fields["priority"] = MOST_PRIORITY if request.priority in _CAPPED else request.priority
        item = items.add(db, node.random, fields, now=node.now())
        records.add_handoff(db, client, key, item.address, request.to_json(), node.now())
        return Handoff(item.address, request.to_json(), node.now())


def _take_back(node: Node, client: str, key: str) -> None:
    """Leave nothing of a handoff that was refused: work items are shared with the team, and nobody decides on this."""
    with node.store.transaction(CommitPoint.DRAFTED) as db:
        drafted = records.handoff(db, client, key)
        if (
            drafted is not None and message_by_key(db, client, key) is None
        ):  # else another try of it went through
            _forget(db, client, key, drafted)


def _forget(db: Connection, client: str, key: str, drafted: Handoff) -> None:
    item = items.find(db, drafted.work_item)
    if item is not None and item.status == "draft":
        items.remove(db, drafted.work_item)
    records.forget_handoff(db, client, key)


def _waiting(db: Connection, client: str) -> int:
    """How many of a client's drafts nobody has decided on."""
    found = (items.find(db, each) for each in records.drafts_of(db, client))
    return sum(1 for item in found if item is not None and item.status == "draft")


def _labels(given: Collection[str]) -> list[str]:
    """A client's labels as this host keeps them: on one line each, once each, and as a client's."""
    texts = (" ".join(each.split()) for each in given)
    return list(dict.fromkeys(f"{LABEL}{text}" for text in texts if text))
