"""What an answered `memory` gate changes here (section C.3): a proposal is written, or a teammate's write counts.

It is one transaction and may be asked for again. Nothing follows from the gate of another proposal, nor of one that
was decided or withdrawn.
"""

import sqlite3

from core.message import Message
from core.store import Store
from core.store.messages import message_by_key
from replica.addresses import SYSTEM_ADDRESS
from replica.records.commits import CommitPoint
from replica.shared.memory import changes, proposals
from replica.shared.memory.proposals import Proposal, State


def apply(store: Store, gate: Message, answer: Message) -> None:
    """Apply the decision on a proposal."""
    name = gate.data.get("proposalId") if isinstance(gate.data, dict) else None
    with store.transaction(CommitPoint.EFFECT) as db:
        proposal = proposals.find(db, name) if isinstance(name, str) else None
        if proposal is None or proposal.state is not State.OPEN:
            return
        raised = message_by_key(db, SYSTEM_ADDRESS, proposal.gate_key)
        if raised is not None and raised.id == gate.id:
            decide(db, proposal, approve=answer.choice == "approve", now=answer.created_at)


def decide(db: sqlite3.Connection, proposal: Proposal, *, approve: bool, now: str) -> None:
    """Say what became of a proposal, and write what one of this host proposed, inside an open transaction."""
    proposals.set_state(db, proposal, State.APPROVED if approve else State.REJECTED)
    if approve and proposal.changes is not None and proposal.by is not None:
        changes.record(db, proposal.scope, proposal.changes, by=proposal.by, now=now)
