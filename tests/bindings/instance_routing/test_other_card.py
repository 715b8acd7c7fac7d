"""One client at two listeners: what it asks an instance is nothing at the card for people, and the other way round."""

from collections.abc import Callable

import pytest

from bindings.a2a import clients, exchange
from bindings.a2a.clients import Client
from bindings.a2a.extensions import ENVELOPE
from bindings.a2a.presenting import JsonObject
from bindings.instance_routing import desk
from bindings.instance_routing.errors import Refused
from bindings.instance_routing.extension import URI, context_id, task_id
from bindings.instance_routing.request import read
from bindings.instance_routing.tasks import Task
from core.errors import DmpError
from tests.bindings.instance_routing.gateway import ACME, Machine, a_request

ACTIVE = frozenset((ENVELOPE,))


def client(ada: Machine) -> Client:
    return clients.need(ada.node, ACME)


def asked(ada: Machine) -> Task:
    return desk.send(ada.node, ACME, read(a_request(ada.scribe.id), {URI}))


def say(ada: Machine, *, envelope: JsonObject | None = None, **members: str) -> JsonObject:
    metadata: JsonObject = {} if envelope is None else {ENVELOPE: envelope}
    message: JsonObject = {
        "messageId": "other-1",
        "role": "ROLE_USER",
        "parts": [{"text": "Go on."}],
        "metadata": metadata,
        **members,
    }
    found: JsonObject = exchange.send_message(ada.node, client(ada), {"message": message}, ACTIVE)
    return found


NAMING: dict[str, Callable[[Machine, Task], object]] = {
    "get": lambda ada, task: exchange.get_task(ada.node, client(ada), task.root.id, None, ACTIVE),
    "cancel": lambda ada, task: exchange.cancel_task(ada.node, client(ada), task.root.id, ACTIVE),
    "go on": lambda ada, task: say(ada, taskId=task.root.id),
    "context": lambda ada, task: say(ada, contextId=task.root.thread),
    "reply": lambda ada, task: say(ada, envelope={"kind": "message", "replyTo": task.root.id}),
    "reply to the answer": lambda ada, task: say(
        ada, envelope={"kind": "message", "replyTo": ada.answer(task.root, "Yes.").id}
    ),
}


@pytest.mark.parametrize("how", [*NAMING])
def test_what_an_instance_is_asked_cannot_be_named_at_the_other_card(ada: Machine, how: str) -> None:
    task = asked(ada)
    with pytest.raises(DmpError):
        NAMING[how](ada, task)
    assert [each.id for each in ada.inbox()] == [task.root.id]
    assert desk.show(ada.node, ACME, task.id, {})["status"] is not None
    assert not any(each.sender == ACME for each in ada.inbox("human:ada"))


def test_each_card_lists_its_own_tasks_alone(ada: Machine) -> None:
    task = asked(ada)
    other = say(ada)["task"]
    assert isinstance(other, dict)
    listed = exchange.list_tasks(ada.node, client(ada), {}, ACTIVE)["tasks"]
    assert isinstance(listed, list)
    assert [each["id"] for each in listed if isinstance(each, dict)] == [other["id"]]
    routed = desk.listing(ada.node, ACME, {})["tasks"]
    assert isinstance(routed, list)
    assert [each["id"] for each in routed if isinstance(each, dict)] == [task.id]


def test_what_people_are_asked_cannot_be_named_at_the_gateway(ada: Machine) -> None:
    other = say(ada)["task"]
    assert isinstance(other, dict)
    for id_ in (str(other["id"]), task_id(str(other["id"]))):
        with pytest.raises(Refused):
            desk.show(ada.node, ACME, id_, {})
        with pytest.raises(Refused):
            desk.cancel(ada.node, ACME, id_)
    request = a_request(ada.scribe.id)
    request["message"]["contextId"] = context_id(str(other["contextId"]))
    with pytest.raises(Refused):
        desk.send(ada.node, ACME, read(request, {URI}))
    assert ada.inbox() == []


def test_a_task_of_an_instance_is_still_canceled_where_it_was_asked(ada: Machine) -> None:
    task = asked(ada)
    shown = desk.cancel(ada.node, ACME, task.id)
    assert isinstance(shown["status"], dict)
    assert shown["status"]["state"] == "TASK_STATE_CANCELED"
    assert ada.node.engine.answer_of(task.root.id) is not None
