"""Clients: A2A agents of others that may ask this host, each an agent of its owner's with a bearer token (8.1, 8.4).

A client stands in the register of agents under `agent:<owner>/a2a.<name>`, and is approved and revoked there as any
agent is. Beside it are kept the hash of its token and whom it may address. Its token is good at the A2A edge alone.
"""

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from core.address import DISPATCH, MAX_PART_BYTES, parse_address
from core.errors import DmpError, forbidden, invalid, not_found
from core.host import AgentStatus
from core.inputs import Sender
from core.message import Message
from crypto.encoding import b64u
from replica.host import agents, registering
from replica.node import Node
from replica.records.commits import CommitPoint
from replica.records.tokens import hash_of

PREFIX: Final = "a2a."
PROGRAM: Final = "an A2A client"
MAX_RECIPIENTS: Final = 50

TOKEN: Final = "dmp_a2a_"
"""What a client's token begins with."""

_SECRET_BYTES: Final = 32


@dataclass(frozen=True, slots=True)
class Client:
    """A client: its address, the humans it may address, and whether it may ask (yet)."""

    address: str
    recipients: tuple[str, ...]
    status: AgentStatus
    made_at: str


@dataclass(frozen=True, slots=True)
class Added:
    """A new client, its token, which is kept nowhere, and the gate that asks whether it may ask."""

    client: Client
    secret: str
    gate: Message


def address_of(name: str, handle: str) -> str:
    """The address of a client of a person's that is named by it, or by its name alone.

    Raises DmpError: `invalid` on `client` for no name; `forbidden` there for a client of another person's.
    """
    own = f"agent:{handle}/{PREFIX}"
    if ":" not in name:
        name = own + name.removeprefix(PREFIX)
    try:
        parsed = parse_address(name, "client", DISPATCH)
    except DmpError:
        parsed = None
    if parsed is None or parsed.kind != "agent" or not name.partition(f"/{PREFIX}")[2]:
        raise invalid(
            "client",
            f"a client's name is {MAX_PART_BYTES - len(PREFIX)} characters at most: small letters and digits, "
            "then also . _ -",
        )
    if parsed.operator != handle:
        raise forbidden("client", f"you are {handle}; your clients are {own}NAME")
    return parsed.text


def add(node: Node, address: str, about: str = PROGRAM) -> Added:
    """Register a client as pending, with a token of its own, and ask its owner; whoever it may address is the owner.

    One that is pending gets a new token, and its old one is good no more. Raises DmpError as `agents.register`.
    """
    secret = f"{TOKEN}{b64u(node.random(_SECRET_BYTES))}"
    with node.store.transaction(CommitPoint.AGENT) as db:
        made = agents.register(db, node.random, address, about, node.me)
        db.execute(
            "INSERT OR REPLACE INTO a2a_clients (address, hash, recipients, made_at) VALUES (?, ?, ?, ?)",
            (address, hash_of(secret), json.dumps([node.host.person]), node.now()),
        )
    gate = registering.gate(node, made)
    return Added(need(node, address), secret, gate)


def approve(node: Node, by: Sender, address: str, recipients: Sequence[str] = ()) -> Client:
    """Let a client ask: the answer to its registration's gate. Without `recipients` they stay as they are.

    Raises DmpError: `not-found` on `client`; `invalid` or `forbidden` on `recipients[i]`; and as `registering.approve`.
    """
    need(node, address)
    named = [_recipient(each, index) for index, each in enumerate(recipients)]
    if len(named) > MAX_RECIPIENTS:
        raise invalid("recipients", f"a client may have {MAX_RECIPIENTS} recipients")
    if not by.can_decide:
        raise forbidden("from", "who decides approves clients")
    registering.approve(node, by, address)
    if named:  # last: until then it may address what it might before
        with node.store.transaction(CommitPoint.AGENT) as db:
            db.execute(
                "UPDATE a2a_clients SET recipients = ? WHERE address = ?",
                (json.dumps(list(dict.fromkeys(named))), address),
            )
    return need(node, address)


def revoke(node: Node, by: Sender, address: str) -> Client:
    """Let a client ask no more, and close what it asks. Raises DmpError `not-found` on `client`."""
    need(node, address)
    registering.revoke(node, by, address)
    return need(node, address)


def need(node: Node, address: str) -> Client:
    """A client by its address. Raises DmpError `not-found` on `client`."""
    found = _read(node.store.db, "address = ?", address)
    if found is None:
        raise not_found(
            "client", f"there is no client {address}; `dmp a2a client list` shows those there are"
        )
    return found


def every(node: Node) -> list[Client]:
    """All clients, in the order of their addresses."""
    db = node.store.db
    rows = db.execute("SELECT address FROM a2a_clients ORDER BY address").fetchall()
    return [found for (address,) in rows if (found := _read(db, "address = ?", address)) is not None]


def find(node: Node, secret: str) -> Client | None:
    """The approved client that a token is of; None for every other token, whatever it is."""
    found = _read(node.store.db, "hash = ?", hash_of(secret))
    return found if found is not None and found.status == "approved" else None


def _read(db: sqlite3.Connection, where: str, value: str) -> Client | None:
    row = db.execute(
        f"SELECT address, recipients, made_at FROM a2a_clients WHERE {where}", (value,)
    ).fetchone()
    if row is None:
        return None
    address, recipients, made_at = row
    registered = agents.find(db, address)
    status: AgentStatus = "revoked" if registered is None else registered.status
    return Client(address, tuple(json.loads(recipients)), status, made_at)


def _recipient(text: str, index: int) -> str:
    field = f"recipients[{index}]"
    parsed = parse_address(text if ":" in text else f"human:{text}", field, DISPATCH)
    if parsed.kind != "human":
        raise invalid(field, "a client's recipients are people; it reaches its own handoffs besides")
    return parsed.text
