"""Gates that this host raises to its owner as the system address, and what became of gates (sections 5.3, C.3)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from core.engine import Sent
from core.gate_data import data_type, is_close, is_gate
from core.gate_types import GATE_TYPES, MAX_PREVIEW_BYTES, GateType
from core.inputs import Sender, SendInput
from core.message import Message, Ref
from core.store.effects import is_applied, owner_of
from core.store.messages import answer_to, questions_with_gate_data
from crypto.canonical import JsonValue, canonical
from replica.host import agents
from replica.host.agents import Agent
from replica.host.items import WorkItem
from replica.node import Node
from replica.records.commits import CommitPoint

RAISED_HERE: Final = ("tool-approval", "overseer-action", "memory", "task-proposal", "doc")
"""Types that a program may have raised by a command. The core raises wake gates, and registering an agent its own."""


def raise_gate(
    node: Node,
    gate_type: GateType,
    data: Mapping[str, JsonValue],
    *,
    body: str | None = None,
    reply_to: str | None = None,
    key: str | None = None,
) -> Sent:
    """Raise a gate to this host's owner: a blocking question that offers the type's choices.

    With `key`, raising it again is raising it once. Raises DmpError as a send does, for data of another shape.
    """
    shown = _previewed(data) if gate_type.name == "tool-approval" else data
    return node.engine.send(
        Sender(node.host.system_address),
        SendInput(
            to=(node.host.person,),
            kind="question",
            body=body or _question(gate_type.name, shown),
            reply_to=reply_to,
            refs=_refs(node, shown),
            data={"type": gate_type.name, **shown},
            blocking=True,
            choices=gate_type.choices,
            idempotency_key=key,
        ),
    )


def proposal_key(work_item: str, asked: str) -> str:
    """The idempotency key of the gate that proposes a work item, by its id and that of the message that asked for it.

    However often it is raised, it is one gate.
    """
    return f"task-proposal:{work_item}:{asked}"


def propose(node: Node, item: WorkItem, asked: Message) -> Message:
    """Ask this host's owner, by a gate, whether a draft is taken on that a message asked for."""
    return raise_gate(
        node,
        GATE_TYPES["task-proposal"],
        {"task": item.id, "proposedBy": asked.sender, "message": asked.id},
        reply_to=asked.id,
        key=proposal_key(item.id, asked.id),
    ).message


def registration_gate(
    node: Node, gate_type: GateType, agent: Agent, requested_by: str | None = None
) -> Message:
    """The gate of a pending registration, which is raised where it was not yet, and anew where it was closed.

    `requested_by` is the human who asked, None for the owner.
    """
    gate = _registration_gate(node, gate_type, agent, requested_by)
    closed = node.engine.answer_of(gate.id)
    if closed is None or not is_close(closed, node.host.system_address):
        return gate
    with node.store.transaction(CommitPoint.AGENT) as db:
        agent = agents.ask_anew(db, node.random, agent.address)
    return _registration_gate(node, gate_type, agent, requested_by)


def _registration_gate(node: Node, gate_type: GateType, agent: Agent, requested_by: str | None) -> Message:
    data: dict[str, JsonValue] = {
        "agent": agent.address,
        "client": agent.client,
        "requestedBy": requested_by or node.host.person,
    }
    return raise_gate(node, gate_type, data, key=agents.gate_key(agent)).message


def every_gate(node: Node, *, everything: bool) -> list[Message]:
    """The gates that are open, or with `everything` those that were decided or closed too, the oldest first."""
    found = questions_with_gate_data(node.store.db)
    system, known = node.host.system_address, node.host.gate_types
    return [
        each
        for each in found
        if is_gate(each, system, known) and (everything or answer_to(node.store.db, each.id) is None)
    ]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a gate. `choice` is None for a close, whose reason `reason` then gives."""

    answer: Message
    choice: str | None
    reason: str | None
    applied: bool


def outcome(node: Node, gate: Message) -> Outcome | None:
    """What became of a gate, as who decides is told: also while the effect is being applied; None while it is open."""
    answer = answer_to(node.store.db, gate.id)
    if answer is None:
        return None
    closed = is_close(answer, node.host.system_address)
    reason = answer.data.get("reason") if closed and isinstance(answer.data, dict) else None
    applied = is_applied(node.store.db, gate.id)
    return Outcome(answer, answer.choice, str(reason) if closed else None, applied)


def is_settled(node: Node, found: Outcome, gate: Message) -> bool:
    """Whether an answered gate's effect was tried, and whoever waits for it may hear of it (section 5.5).

    It was, unless a process is about to. One that is gone is taken up first.
    """
    if found.applied or found.reason is not None or data_type(gate.data) not in node.host.gate_types:
        return True
    node.take_up()
    return owner_of(node.store.db, gate.id) is None


def _previewed(data: Mapping[str, JsonValue]) -> Mapping[str, JsonValue]:
    """Cut the input of a parked call to what a gate shows of it; whoever parked the call has it whole."""
    if "input" not in data or data.get("truncated") is True:
        return data
    text = canonical(data["input"])
    if len(text) <= MAX_PREVIEW_BYTES:
        return data
    return {**data, "input": text[:MAX_PREVIEW_BYTES].decode(errors="ignore"), "truncated": True}


def _refs(node: Node, data: Mapping[str, JsonValue]) -> tuple[Ref, ...]:
    """What a gate is about: the session and work item its data names, and the work item of that session."""
    found: dict[Ref, None] = {}
    run = data.get("runId")
    if isinstance(run, str):
        found[Ref("run", run)] = None
        task = node.host.work_item(f"run:{run}")
        if task is not None:
            found[Ref("task", task.partition(":")[2])] = None
    for name, kind in (("task", "task"), ("taskId", "task"), ("message", "message")):
        value = data.get(name)
        if isinstance(value, str) and value:
            found[Ref(kind, value)] = None
    return tuple(found)


def _question(name: str, data: Mapping[str, JsonValue]) -> str:
    """The words of a gate that was given none."""

    def said(member: str) -> str:
        return str(data.get(member, "?"))

    match name:
        case "tool-approval":
            where = f"run:{data['runId']}" if "runId" in data else f"conversation {said('conversation')}"
            return f"May {where} use the tool {said('tool')}?"
        case "agent-registration":
            return f"May {said('agent')}, which runs in {said('client')}, send and receive mail here?"
        case "overseer-action":
            return said("summary")
        case "memory":
            return f"Take the memory proposal {said('proposalId')} ({said('action')}, {said('scope')}, {said('kind')})?"
        case "task-proposal":
            return f"Take on task:{said('task')}, proposed by {said('proposedBy')}?"
        case "doc":
            return f"Apply the change {said('proposal')} to {said('doc')}?"
    return f"A {name} gate"
