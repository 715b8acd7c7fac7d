"""Agents of the team: registers by address, each written whole by the replica that registered it (8.6)."""

import sqlite3

from core.errors import forbidden
from core.store import registers
from crypto.canonical import JsonValue
from crypto.op import Op
from crypto.roster.view import View
from replica.chain.outcome import Outcome
from replica.shared.bodies import parse_agent
from replica.shared.kinds import AGENT


def fold(db: sqlite3.Connection, view: View, op: Op) -> Outcome:
    """Fold an agent op in; what a revoked replica registered is revoked.

    Raises DmpError: `invalid`, and `forbidden` on `address` for another person's agent.
    """
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


def registered_at(db: sqlite3.Connection, address: str) -> str | None:
    """The replica that registered an agent, as ops tell, whatever was written here since; None where none does."""
    replica = registers.published_fields(db, AGENT, address).get("replica")
    return replica if isinstance(replica, str) else None
