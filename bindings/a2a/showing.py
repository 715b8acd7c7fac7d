"""A task as its client is shown it: one JSON object of A2A for every read and every event (sections 8.2, 8.7)."""

from dataclasses import replace
from typing import Final

from bindings.a2a import artifacts, handoffs, presenting, records
from bindings.a2a.extensions import GATE, WORK
from bindings.a2a.facts import Known
from bindings.a2a.presenting import JsonObject, View
from bindings.a2a.projection import Projected, TaskState
from bindings.a2a.work import work_state
from core.message import Message
from crypto.canonical import JsonValue
from replica.node import Node

MAX_HISTORY: Final = 100
"""How many messages of a task's history are shown at most, the latest of them."""

ANSWERED: Final = "Answered."
"""Stands for an answer that was not sent to the client."""


def task_json(
    node: Node, known: Known, view: View, *, history: int | None = None, with_artifacts: bool = True
) -> JsonObject:
    """A task, with the last `history` of its messages: by default as many as are ever shown."""
    task = known.task
    found: JsonObject = {
        "id": task.id,
        "contextId": task.root.thread,
        "status": _status(node, known, view),
    }
    results = _artifacts(node, known, view) if with_artifacts else []
    if results:
        found["artifacts"] = [*results]
    count = min(MAX_HISTORY if history is None else history, MAX_HISTORY)
    if count:
        found["history"] = [_message(node, known, each, view) for each in known.shown[-count:]]
    stands = work(known)
    if stands is not None and WORK in view.active:
        found["metadata"] = {WORK: stands}
    return found


def in_a_line(known: Known) -> str:
    """A handoff and its state as a line of text."""
    state = known.state.state.value.lower().replace("_", " ")
    stage = f" ({known.state.stage})" if known.state.stage is not None else ""
    return f"{known.task.id}: {_title(known)}: {state}{stage}"


def _status(node: Node, known: Known, view: View) -> JsonObject:
    state, task = known.state, known.task
    says = state.says
    if isinstance(says, Message) and all(each.id != says.id for each in known.shown):
        says = ANSWERED
    if isinstance(says, Message):
        message = _message(node, known, says, view)
    else:
        message = presenting.said(
            view, says, id_=f"{task.id}-{state.state.value.lower()}", context=task.root.thread, task=task.id
        )
    if state.gates:
        gates: list[JsonValue] = [gate.to_json() for gate in state.gates]
        message = view.extended(message, {GATE: {"gates": gates}})
    stands = work(known)
    if stands is not None:
        message = view.extended(message, {WORK: stands})
        if WORK not in view.active:
            parts = message["parts"]
            assert isinstance(parts, list)
            message = {**message, "parts": [*parts, view.part(_in_words(stands))]}
    return {"state": state.state.wire, "message": message, "timestamp": known.at}


def _message(node: Node, known: Known, message: Message, view: View) -> JsonObject:
    key = records.key_of(node.store.db, view.client, message.id)
    handoff = known.task.handoff
    if handoff is not None and message.id == known.task.id:
        message = replace(message, body=message.body.removesuffix(handoffs.appended(handoff.request)))
    return presenting.message_json(
        view, message, task=known.task.id, key=key, shown={each.id for each in known.shown}
    )


def _artifacts(node: Node, known: Known, view: View) -> list[JsonObject]:
    handoff = known.task.handoff
    if handoff is not None:
        return artifacts.results(view, node, handoff.work_item)
    answer = known.answer
    if known.state.state is not TaskState.COMPLETED or answer is None:
        return []
    return [artifacts.answer(view, each) for each in known.shown if each.id == answer.id]


def work(known: Known) -> JsonObject | None:
    """How a handoff stands, as work/v1 has it; None for an ask, and where its work item is gone."""
    if known.item is None:
        return None
    return work_state(
        known.item.id, known.item.title, _lifecycle(known.state, known.item.status), known.state.stage
    )


def _lifecycle(state: Projected, status: str) -> str:
    """The status of a work item as its client is told: a canceled or declined one is dropped, also before it is.

    One that was told to have landed stays so.
    """
    if state.state in (TaskState.CANCELED, TaskState.REJECTED):
        return "dropped"
    return "landed" if state.state is TaskState.COMPLETED else status


def _title(known: Known) -> str:
    handoff = known.task.handoff
    asked = "" if handoff is None else str(handoff.request.get("title", ""))
    return asked if known.item is None else known.item.title


def _in_words(stands: JsonObject) -> str:
    return f"Work item {stands['task']}, {stands['title']}: {stands['status']}."
