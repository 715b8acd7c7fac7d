"""What the gateway does for a client in the store, one thing each: send, show, list, cancel. Without HTTP."""

import hashlib
from collections.abc import Callable, Mapping
from typing import TypeVar

from bindings.a2a import ending, paging
from bindings.a2a import tasks as a2a_tasks
from bindings.instance_routing import errors, instances, records, tasks
from bindings.instance_routing.commits import CommitPoint
from bindings.instance_routing.errors import Reason, Refused
from bindings.instance_routing.extension import thread_of
from bindings.instance_routing.instances import Instance
from bindings.instance_routing.records import Sent
from bindings.instance_routing.request import Request, key_of
from bindings.instance_routing.tasks import JsonObject, Standing, Task
from core.errors import DmpError
from core.inputs import Sender, SendInput
from core.store.messages import message_by_key
from crypto.canonical import JsonValue
from replica.node import Node

T = TypeVar("T")


def directory(node: Node, client: str) -> JsonObject:
    """The instances that a client may address, and the id by which it is known itself."""
    found: list[JsonValue] = [
        {
            "instanceId": each.id,
            "name": each.name,
            "deliveryModes": ["inbox"] if each.wakes is None else ["inbox", "wake"],
        }
        for each in instances.listed(node.store.db, node.me)
    ]
    return {"instances": found, "self": caller_id(client)}


def caller_id(client: str) -> str:
    """The instance that a client is itself, by an id that says nothing of its address but stays the same."""
    return f"c-{hashlib.sha256(client.encode()).hexdigest()[:32]}"


def send(node: Node, client: str, request: Request) -> Task:
    """Put a message into an instance's mailbox, once, however often it is asked for; outside any transaction.

    Raises Refused, and DmpError as a send does.
    """
    key = key_of(request.id)
    known = records.claimed(node.store.db, client, key)
    instance = instances.find(node.store.db, node.me, request.instance)
    if known is None:
        if instance is None:
            raise errors.no_such_instance()
        _continued(node, client, request, instance)  # before the id stands for anything
        sent = Sent(
            client=client,
            key=key,
            digest=request.digest,
            id=request.id,
            instance=instance.id,
            subject=request.subject,
            wake="due" if request.mode == "wake" else "none",
        )
        with node.store.transaction(CommitPoint.ASKED) as db:
            known = records.claim(db, sent)
    if known.digest != request.digest:
        raise _conflict()
    stored = message_by_key(node.store.db, client, key)
    if stored is None:
        if instance is None:
            raise errors.no_such_instance()
        reply_to = _continued(node, client, request, instance)
        stored = node.engine.send(Sender(client), _input(request, key, instance, reply_to)).message
    target = instances.named(node.store.db, known.instance)
    if target is None or stored.to != (target.address,):  # a message that came another way has the key
        raise _conflict()
    return Task(stored, known)


def show(node: Node, client: str, task: str, query: Mapping[str, JsonValue]) -> JsonObject:
    """A client's task. Raises Refused."""
    history = _read(lambda: paging.read_count(query, "historyLength"))
    return tasks.shown(node, need(node, client, task), history=history)


def listing(node: Node, client: str, query: Mapping[str, JsonValue]) -> JsonObject:
    """A page of a client's tasks, the one whose status is the newest first. Raises Refused."""
    asked = _read(lambda: paging.read_query(query))
    found: list[tuple[tuple[str, str], tuple[Task, Standing]]] = []
    for each in records.sent_by(node.store.db, client):
        task = tasks.of_message(node, client, each)
        if task is None or (asked.context is not None and asked.context != task.context):
            continue
        standing = tasks.stand(node, task)
        if asked.state is not None and asked.state != standing.state:
            continue
        if asked.since is None or paging.is_since(standing.at, asked.since):
            found.append(((standing.at, task.id), (task, standing)))
    here, token = paging.page(found, asked)
    page = [tasks.shown(node, task, history=asked.history, artifacts=asked.artifacts) for task, _ in here]
    return paging.answer(page, token, asked.size, len(found))


def cancel(node: Node, client: str, text: str) -> JsonObject:
    """End a client's task that has no answer yet, as well as that can be done: who reads it already goes on.

    Outside any transaction. Raises Refused.
    """
    task = need(node, client, text)
    shared = a2a_tasks.opened(node.store.db, client, task.root.id)
    assert shared is not None, "a task here is a question of the client's"
    with node.store.transaction(CommitPoint.CANCELED):
        standing = tasks.stand(node, task)
        if not standing.is_final:
            ending.keep_canceled(node, shared)
        elif standing.state != "CANCELED":
            raise Refused(Reason.TASK_NOT_CANCELABLE, "the task has ended already")
    ending.settle(node, shared)
    return tasks.shown(node, task)


def need(node: Node, client: str, text: str) -> Task:
    """A client's task by its id. Raises Refused, with one answer for an absent task and another's."""
    found = tasks.find(node, client, text)
    if found is None:
        raise errors.no_such_task()
    return found


def is_final(node: Node, client: str, text: str) -> bool:
    """Whether a client's task stays as it is, so that nobody needs to wait for it."""
    return tasks.stand(node, need(node, client, text)).is_final


def _input(request: Request, key: str, instance: Instance, reply_to: str | None) -> SendInput:
    return SendInput(
        to=(instance.address,),
        kind="question",
        body=request.body,
        reply_to=reply_to,
        data=request.data,
        blocking=True,
        idempotency_key=key,
    )


def _continued(node: Node, client: str, request: Request, instance: Instance) -> str | None:
    """The message that a request goes on from: the first of a context of the client's own with the same instance."""
    if request.context is None:
        return None
    first = tasks.of_message(node, client, thread_of(request.context))
    if first is None or first.root.to != (instance.address,):
        raise errors.no_such_context()
    return first.root.id


def _conflict() -> Refused:
    return Refused(
        Reason.IDEMPOTENCY_CONFLICT,
        "another message was sent with that messageId; give each message one of its own",
        "message.messageId",
    )


def _read(reading: Callable[[], T]) -> T:
    try:
        return reading()
    except DmpError as error:
        raise errors.refused(error) from None
