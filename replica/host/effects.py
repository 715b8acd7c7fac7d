"""What an answered gate changes here, by its type (sections 5.5, C.3).

Each effect is one transaction, may be asked again, and changes nothing that has gone on since: a registration
that is no longer pending, or a work item that is no draft any more. The decision on any other gate is its
answer, which whoever raised it reads.
"""

import json
from typing import Final

from core.address import DISPATCH, parse_address
from core.errors import DmpError
from core.gate_data import data_type
from core.message import Message
from core.store import Store
from core.store.messages import message_by_key
from crypto.canonical import JsonValue
from replica.addresses import SYSTEM_ADDRESS
from replica.host import agents, doc_proposals, items, memory_effects
from replica.records.commits import CommitPoint

_OWN: Final = frozenset(("wake", "agent-registration"))
"""Types whose effect is wholly this program's, so that no command is told."""

_STATUS_OF_CHOICE: Final = {"approve": "ready", "decline": "dropped"}


def apply(store: Store, gate: Message, answer: Message) -> None:
    """Apply what this program itself does on an answer; of most types that is nothing."""
    match data_type(gate.data):
        case "agent-registration":
            _register(store, gate, answer)
        case "task-proposal":
            _propose(store, gate, answer)
        case "doc":
            _change_document(store, gate, answer)
        case "memory":
            memory_effects.apply(store, gate, answer)


def is_for_others(gate: Message) -> bool:
    """Whether the configured command is told of decisions on this gate."""
    return data_type(gate.data) not in _OWN


def decision_line(gate: Message, answer: Message) -> str:
    """What that command reads: one JSON document on one line."""
    decision: dict[str, JsonValue] = {
        "type": data_type(gate.data),
        "gate": gate.id,
        "choice": answer.choice,
        "data": None if not isinstance(gate.data, dict) else gate.data,
        "body": answer.body,
        "by": answer.sender,
    }
    return json.dumps(decision) + "\n"


def _register(store: Store, gate: Message, answer: Message) -> None:
    address = _member(gate, "agent")
    with store.transaction(CommitPoint.EFFECT) as db:
        agent = agents.find(db, address)
        if agent is None or agent.status != "pending":
            return
        raised = message_by_key(db, SYSTEM_ADDRESS, agents.gate_key(agent))
        if raised is not None and raised.id == gate.id:
            agents.decide(db, address, "approved" if answer.choice == "approve" else "revoked")


def _propose(store: Store, gate: Message, answer: Message) -> None:
    status = _STATUS_OF_CHOICE.get(answer.choice or "")
    address = f"task:{_member(gate, 'task')}"
    try:
        parse_address(address, "task", DISPATCH)
    except DmpError:
        return
    if status is not None:
        with store.transaction(CommitPoint.EFFECT) as db:
            items.promote(db, address, status)


def _change_document(store: Store, gate: Message, answer: Message) -> None:
    revision = _member(gate, "proposal")
    with store.transaction(CommitPoint.EFFECT) as db:
        raised = message_by_key(db, SYSTEM_ADDRESS, doc_proposals.gate_key(revision))
        if raised is not None and raised.id == gate.id:
            approved = answer.choice == "approve"
            doc_proposals.decide(db, revision, _member(gate, "doc"), answer.sender, approved=approved)


def _member(gate: Message, name: str) -> str:
    value = gate.data.get(name) if isinstance(gate.data, dict) else None
    return value if isinstance(value, str) else ""
