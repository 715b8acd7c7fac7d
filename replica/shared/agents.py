"""Agents of the team: registers by address, each written whole by the replica that registered it (8.6)."""

import sqlite3
from dataclasses import dataclass

from core.errors import forbidden
from core.host import AgentStatus
from core.store import registers
from crypto.canonical import JsonValue
from crypto.op import Op
from crypto.roster.view import View
from replica.mail.outcome import Outcome
from replica.shared.bodies import STATUSES, parse_agent
from replica.shared.kinds import AGENT


@dataclass(frozen=True, slots=True)
class PublishedAgent:
    """An agent as the team knows it: `replica` registered it. What a revoked replica registered is revoked."""

    address: str
    replica: str
    status: AgentStatus


def fold(db: sqlite3.Connection, view: View, op: Op) -> Outcome:
    """Fold an agent op in. Raises DmpError: `invalid`, and `forbidden` on `address` for another person's agent."""
    said = parse_agent(op.body)
    if not view.speaks_for_handle(op.replica, said.operator, op.seq):
        raise forbidden("address", f"that replica does not speak for {said.operator}")
    fields: dict[str, JsonValue] = {
        "displayName": said.display_name,
        "client": said.client,
        "status": said.status if view.is_member(op.replica) else "revoked",
        "replica": op.replica,
    }
    moved = [registers.merge(db, AGENT, said.address, name, value, op.hlc) for name, value in fields.items()]
    return Outcome.APPLIED if any(moved) else Outcome.NOTHING


def published(db: sqlite3.Connection, address: str) -> PublishedAgent | None:
    """The agent of an address as ops tell of it, whatever was written here since; None where none does."""
    fields = registers.published_fields(db, AGENT, address)
    replica, status = fields.get("replica"), STATUSES.get(fields.get("status"))
    if not isinstance(replica, str) or status is None:
        return None
    return PublishedAgent(address, replica, status)
