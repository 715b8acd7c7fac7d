"""The desk of the A2A edge: what a client asks of this host's store, and gets as A2A's JSON (section 8).

Each function does one thing, outside any transaction, for a client that its bearer made known. `active` are the URIs
of the extensions that the request activated. They raise DmpError with the names that DMP has for fields, the same for
what is absent and for what is another's.
"""

from bindings.a2a import ending, handoffs, paging, presenting, sending, showing, tasks
from bindings.a2a.allowed import Allowed, Caller
from bindings.a2a.commits import CommitPoint
from bindings.a2a.extensions import ENVELOPE, WORK
from bindings.a2a.facts import Known, know, note
from bindings.a2a.presenting import MARKDOWN, JsonObject, View, text_type
from bindings.a2a.projection import TaskState
from bindings.a2a.scope import open_gates
from bindings.a2a.tasks import Task
from bindings.a2a.work import StatusRequest
from core.errors import conflict, invalid
from core.message import Message
from crypto.canonical import JsonValue
from replica.node import Node

RECEIVED = "Received."
NO_HANDOFFS = "You have handed off nothing."


def send_message(node: Node, client: Caller, request: JsonObject, active: frozenset[str]) -> JsonObject:
    """Take a client's message (A2A's SendMessage): `{"task": …}`, or `{"message": …}` where that opens none.

    Does not wait: the task is as it stands right after. Raises DmpError as `sending.read_message` and
    `sending.deliver`, and `invalid` on `configuration` or a member of it.
    """
    incoming = sending.read_message(request.get("message"), active)
    view = View(client.address, active, text_of(request))
    history = paging.read_count(_configuration(request), "historyLength")
    if isinstance(incoming.work, StatusRequest):
        return {"message": _status(node, client, incoming, incoming.work, view)}
    done = sending.deliver(node, client, incoming)
    if isinstance(done, Message):
        return {"message": _receipt(node, done, view)}
    return {"task": _shown(node, done, view, history)}


def text_of(request: JsonObject) -> str:
    """The media type of text in whatever answers a message, by what its client accepts (section 8.2).

    Raises DmpError `invalid` on `configuration` or a member of it.
    """
    return text_type(_modes(_configuration(request).get("acceptedOutputModes")))


def get_task(
    node: Node,
    client: Caller,
    task_id: str,
    history_length: int | None,
    active: frozenset[str],
    text: str = MARKDOWN,
) -> JsonObject:
    """A client's task as it stands (A2A's GetTask), with the last messages of its history.

    `text` is the media type of its text. Raises DmpError `not-found` on `taskId`.
    """
    task = tasks.need(node.store.db, client.address, task_id)
    handoffs.propose(node, task)
    ending.take_up(node, task)
    return _shown(node, task, View(client.address, active, text), history_length)


def list_tasks(node: Node, client: Caller, query: JsonObject, active: frozenset[str]) -> JsonObject:
    """A page of a client's tasks (A2A's ListTasks), the one whose status is the newest first.

    A context that the client takes no part in has no tasks, as an absent one. Raises DmpError `invalid` on a member.
    """
    asked = paging.read_query(query)
    view = View(client.address, active)
    with node.store.reading() as db:
        opened = open_gates(node)
        of_context = [
            task for task in tasks.every(db, client.address) if asked.context in (None, task.root.thread)
        ]
        known = [know(node, task, opened) for task in of_context]
    found = [each for each in note(node, known) if _is_asked_for(each, asked)]
    here, token = paging.page([((each.at, each.task.id), each) for each in found], asked)
    shown = [
        showing.task_json(node, each, view, history=asked.history, with_artifacts=asked.artifacts)
        for each in here
    ]
    return paging.answer(shown, token, asked.size, len(found))


def cancel_task(node: Node, client: Caller, task_id: str, active: frozenset[str]) -> JsonObject:
    """End a client's task because the client wants it to (A2A's CancelTask); one it canceled already stays so.

    Raises DmpError: `not-found` on `taskId`, `conflict` there for a task that has ended otherwise.
    """
    with node.store.transaction(CommitPoint.ENDED) as db:
        task = tasks.need(db, client.address, task_id)
        state = know(node, task).state.state
        if state.is_terminal and state is not TaskState.CANCELED:
            raise conflict("taskId", "that task has ended, and is not to be canceled any more")
        ending.keep_canceled(node, task)
    ending.settle(node, task)
    return _shown(node, task, View(client.address, active))


def _shown(node: Node, task: Task, view: View, history: int | None = None) -> JsonObject:
    """A task as it stands now, whatever became of it since it was read."""
    with node.store.reading() as db:
        known = know(node, tasks.need(db, task.client, task.id))
    (noted,) = note(node, [known])
    return showing.task_json(node, noted, view, history=history)


def _is_asked_for(known: Known, query: paging.Query) -> bool:
    if query.state is not None and known.state.state is not query.state:
        return False
    return query.since is None or paging.is_since(known.at, query.since)


def _receipt(node: Node, message: Message, view: View) -> JsonObject:
    """What answers a message that opens no task."""
    found = presenting.said(view, RECEIVED, id_=f"{message.id}-received", context=message.thread)
    said: JsonObject = {
        "thread": message.thread,
        "from": node.host.system_address,
        "kind": "notice",
        "replyTo": message.id,
    }
    return view.extended(found, {ENVELOPE: said})


def _status(
    node: Node, client: Caller, incoming: sending.Incoming, asked: StatusRequest, view: View
) -> JsonObject:
    """How a client's handoffs stand, or one of them. Nothing is stored of the question."""
    if incoming.context is not None:
        Allowed(node, client).thread(incoming.context)
    with node.store.reading() as db:
        own = tasks.every(db, client.address)
        found = [each for each in own if each.handoff is not None and asked.task in (None, each.id)]
        if asked.task is not None and not found:
            raise tasks.no_such_task()
        opened = open_gates(node)
        known = [know(node, task, opened) for task in found]
    text = "\n".join(map(showing.in_a_line, known)) or NO_HANDOFFS
    message = presenting.said(view, text, id_=f"{incoming.key}-status", context=incoming.context)
    states: list[JsonValue] = [
        {**state, "taskId": each.task.id} for each in known if (state := showing.work(each))
    ]
    if WORK in view.active and states:
        parts = message["parts"]
        assert isinstance(parts, list)
        message = {
            **message,
            "parts": [*parts, {"data": {"handoffs": states}, "mediaType": presenting.JSON}],
        }
    return message


def _configuration(request: JsonObject) -> JsonObject:
    configuration = request.get("configuration") or {}
    if not isinstance(configuration, dict):
        raise invalid("configuration", "a configuration is an object")
    return configuration


def _modes(value: JsonValue) -> list[str] | None:
    if value is None:
        return None
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise invalid(
            "configuration.acceptedOutputModes", "the accepted output modes are a list of media types"
        )
    return [str(each) for each in value]
