"""A wake that a client asks for: this host's wake policy decides, and the owner where it asks (sections 6.5, C.8).

A client wakes nobody. Its message is in the mailbox by then, and a wake is for the work item that the owner named for
the instance; without one, waking it is denied. What became of it is kept, and told in the task's status.
"""

import logging
from typing import Final

from bindings.instance_routing import instances, records, tasks
from bindings.instance_routing.commits import CommitPoint
from bindings.instance_routing.records import Sent, Wake
from bindings.instance_routing.tasks import Task
from core.errors import Code, DmpError
from core.gate_types import GATE_TYPES
from core.message import Message
from core.presentation import opening
from core.store.messages import message_by_id
from replica.host.raising import raise_gate
from replica.node import Node

_log = logging.getLogger(__name__)

GATE: Final = GATE_TYPES["wake"]


def look(node: Node) -> bool:
    """Look at the oldest wake that is due, outside any transaction; whether there was one."""
    found = records.due(node.store.db)
    if found is None:
        return False
    message_id, sent = found
    message = message_by_id(node.store.db, message_id)
    became = "none" if message is None else _decide(node, message, sent)
    with node.store.transaction(CommitPoint.WAKE) as db:
        records.woken(db, sent, became)
    return True


def _decide(node: Node, message: Message, sent: Sent) -> Wake:
    if tasks.stand(node, Task(message, sent)).is_final:
        return "none"
    instance = instances.find(node.store.db, node.me, sent.instance)
    if instance is None or instance.wakes is None:
        return "denied"
    target = instance.wakes
    if node.host.live_session(target) is not None:
        return "woken"
    match node.host.rule_wake(target, message):
        case "allow":
            return _wake(node, target, message)
        case "ask":
            return _ask(node, target, message)
    return "denied"


def _wake(node: Node, target: str, message: Message) -> Wake:
    try:
        node.host.wake(target, message)
    except Exception as error:  # noqa: BLE001 - whatever fails, the message is in the mailbox
        _log.warning("target of message %s not woken: %s", message.id, type(error).__name__)
        return "failed"
    return "woken"


def _ask(node: Node, target: str, message: Message) -> Wake:
    try:
        raise_gate(
            node,
            GATE,
            {"target": target, "message": message.id},
            body=f"{message.sender} wants to wake {target}:\n\n> {opening(message.body)}",
            key=tasks.wake_key(message.id),
        )
    except DmpError as error:
        if error.code is Code.UNAVAILABLE:  # the store's, which may be there again soon
            raise
        _log.warning("no wake gate for message %s: %s", message.id, type(error).__name__)
        return "failed"
    return "asked"
