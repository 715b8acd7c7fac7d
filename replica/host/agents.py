"""Agents: the registers of kind `agent`, and of kind `mute`, by their addresses (sections 6.7, 9.1, C.3).

A registration is `pending` until its owner answers its gate. It keeps a token that its gate was raised under,
so an answer to an earlier registration's gate has no effect on a later one.
"""

import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from core.address import DISPATCH, Address, parse_address
from core.errors import DmpError, conflict, forbidden, invalid, not_found
from core.host import AgentStatus
from core.store import registers
from core.text import is_blank, is_one_line
from crypto.canonical import JsonValue
from replica.addresses import SYSTEM_ADDRESS, never_federates
from replica.records import tokens
from replica.shared.bodies import STATUSES
from replica.shared.kinds import AGENT

MUTE: Final = "mute"

MAX_CLIENT: Final = 128
_TOKEN_BYTES: Final = 8


@dataclass(frozen=True, slots=True)
class Agent:
    """A registered agent. `client` is the program it runs in; `registration` names this registration."""

    address: str
    client: str
    status: AgentStatus
    muted: bool
    replica: str | None
    registration: str | None


def find(db: sqlite3.Connection, address: str) -> Agent | None:
    """The agent of an address, or None."""
    fields = registers.fields_of(db, AGENT, address)
    return _read(db, address, fields) if fields else None


def need(db: sqlite3.Connection, address: str) -> Agent:
    """The agent of an address. Raises DmpError `not-found` on `agent`."""
    agent = find(db, address)
    if agent is None:
        raise not_found("agent", f"no agent {address} is registered; `dmp agent list` shows those that are")
    return agent


def every(db: sqlite3.Connection) -> list[Agent]:
    """All agents, in the order of their addresses."""
    return [_read(db, address, fields) for address, fields in registers.subjects(db, AGENT).items()]


def is_muted(db: sqlite3.Connection, address: str) -> bool:
    """Whether its owner muted an agent here."""
    return registers.fields_of(db, MUTE, address).get("muted") is True


def mute(db: sqlite3.Connection, address: str, muted: bool) -> None:
    """Mute an agent or end that, inside an open transaction."""
    registers.edit(db, MUTE, address, {"muted": muted})


def address_of(text: str, handle: str) -> str:
    """The address of an agent that is named by it, or a person's own by its name alone.

    Raises DmpError `invalid` on `agent`.
    """
    return _parse(text, handle).text


def own_address(text: str, handle: str) -> str:
    """The address of an agent of a person's own, named as in `address_of`.

    Raises DmpError: `invalid` on `agent` for what is none or is reserved; `forbidden` there for another
    person's.
    """
    address = own_registration(text, handle)
    if address == SYSTEM_ADDRESS or never_federates(address):
        raise invalid("agent", f"the name {address.rpartition('/')[2]} is reserved; choose another")
    return address


def own_registration(text: str, handle: str) -> str:
    """As `own_address`, also of a name that is reserved: whatever registered it, its person decides on it."""
    parsed = _parse(text, handle)
    if parsed.kind != "agent" or parsed.operator is None:
        raise invalid("agent", f"an agent's address is agent:{handle}/NAME")
    if parsed.operator != handle:
        raise forbidden("agent", f"you are {handle}; your agents are agent:{handle}/NAME")
    return parsed.text


def _parse(text: str, handle: str) -> Address:
    return parse_address(text if ":" in text else f"agent:{handle}/{text}", "agent", DISPATCH)


def register(
    db: sqlite3.Connection, random: Callable[[int], bytes], address: str, client: str, replica: str
) -> Agent:
    """Register an agent as pending, inside an open transaction; one that is pending stays as it was.

    One that was revoked asks anew. Raises DmpError: `conflict` on `agent` for one that is approved, or waits to be
    on another machine; `invalid` on `client`.
    """
    if not 1 <= len(client) <= MAX_CLIENT or is_blank(client) or not is_one_line(client):
        raise invalid(
            "client", f"say which program it runs in, in one line of at most {MAX_CLIENT} characters"
        )
    known = find(db, address)
    if known is not None and known.status == "approved":
        raise conflict("agent", f"{address} is approved already")
    if known is not None and known.status == "pending":
        need_registered_at(known, replica)
        return known
    fields: dict[str, JsonValue] = {
        "displayName": address.rpartition("/")[2],
        "client": client,
        "status": "pending",
        "replica": replica,
        "registration": random(_TOKEN_BYTES).hex(),
    }
    registers.edit(db, AGENT, address, fields)
    tokens.remove_of(db, address)  # those of an earlier registration
    return _read(db, address, fields)


def ask_anew(db: sqlite3.Connection, random: Callable[[int], bytes], address: str) -> Agent:
    """Let a registration be asked about by another gate, inside an open transaction; its old one counts no more."""
    registers.edit(db, AGENT, address, {"registration": random(_TOKEN_BYTES).hex()})
    return need(db, address)


def need_registered_at(agent: Agent, replica: str) -> None:
    """Check that an agent was registered on this machine. Raises DmpError `conflict` on `agent`."""
    if agent.replica not in (None, replica):
        raise conflict("agent", f"{agent.address} is registered on another machine; approve it there")


def decide(db: sqlite3.Connection, address: str, status: AgentStatus) -> None:
    """Set a registration's status, inside an open transaction."""
    registers.edit(db, AGENT, address, {"status": status})


def not_pending(agent: Agent) -> DmpError:
    """The refusal to approve an agent that was revoked."""
    return conflict("agent", f"{agent.address} was revoked; register it again to have it approved")


def gate_key(agent: Agent) -> str:
    """The idempotency key of a registration's gate: however often it is raised, it is one gate."""
    return f"agent-registration:{agent.address}:{agent.registration}"


def _read(db: sqlite3.Connection, address: str, fields: Mapping[str, JsonValue]) -> Agent:
    client, replica, token = fields.get("client"), fields.get("replica"), fields.get("registration")
    return Agent(
        address=address,
        client=client if isinstance(client, str) else "",
        status=STATUSES.get(fields.get("status"), "revoked"),
        muted=is_muted(db, address),
        replica=replica if isinstance(replica, str) else None,
        registration=token if isinstance(token, str) else None,
    )
