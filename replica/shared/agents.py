"""Agents of the team: registers by address, each written whole by the replica that registered it (8.6)."""

import sqlite3
from typing import Final

from core.errors import forbidden
from core.store import registers
from crypto.canonical import JsonValue
from crypto.op import Op
from crypto.roster.view import View
from replica.chain.outcome import Outcome
from replica.shared.bodies import parse_agent
from replica.shared.kinds import AGENT

_HEARD: Final = "heard"
"""The field of an agent's edits that holds when others said what was last taken up here."""


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


def take_up_revocations(db: sqlite3.Connection, me: str) -> None:
    """Revoke what was registered on this machine, `me`, and revoked on another, inside an open transaction.

    Otherwise what is registered here wins over what others say of it (8.6); but whoever revokes an agent, on whichever
    of their machines, wants it to be revoked. A later registration here is not undone by an earlier revocation.
    """
    for address, edits in registers.edits(db, AGENT).items():
        published = registers.published_fields(db, AGENT, address)
        if (
            edits.get("replica") != me
            or published.get("replica") == me
            or published.get("status") != "revoked"
        ):
            continue
        said_at = str(registers.reading_of(db, AGENT, address, "status"))
        if edits.get(_HEARD) != said_at:
            registers.edit(db, AGENT, address, {"status": "revoked", _HEARD: said_at})


def registered_at(db: sqlite3.Connection, address: str) -> str | None:
    """The replica that registered an agent, as ops tell, whatever was written here since; None where none does."""
    replica = registers.published_fields(db, AGENT, address).get("replica")
    return replica if isinstance(replica, str) else None
