"""Who makes a call: an agent or a session of this machine, and never a person (sections 9.1, B.1).

A tool does what a model says, and a person's word decides; so no tool acts as one. Whether an agent is approved and a
session lives is asked anew with each call.
"""

from core.address import DISPATCH, parse_address
from core.errors import DmpError, forbidden
from core.inputs import Sender
from core.participation import authorize
from replica.host import agents
from replica.host.principals import sender
from replica.node import Node


def address_of(node: Node, text: str) -> str:
    """The address that somebody named: an agent's or a session's, or an agent of this host's person by its name.

    Raises DmpError: `invalid` on `from` for what is no address, `forbidden` there for anybody else's.
    """
    address = parse_address(text if ":" in text else f"agent:{node.handle}/{text}", "from", DISPATCH)
    if address.kind not in ("agent", "run"):
        raise forbidden(
            "from",
            f"tools act for an agent or a session, and not as {address.text}; register an agent for them",
        )
    return address.text


def principal(node: Node, address: str) -> Sender:
    """Whoever has an address, who may send and read now.

    Raises DmpError `forbidden` on `from` for an agent that is not approved and for a session that is not live.
    """
    if parse_address(address, "from", DISPATCH).kind not in ("agent", "run"):
        raise forbidden("from", "tools act for an agent or a session alone")
    if node.host.external(address) is not None:
        raise forbidden("from", f"{address} is reached through a binding, and acts through that alone")
    found = sender(node, address)
    if address.startswith("agent:"):
        _check_agent(node, address)
    authorize(node.host, found)
    return found


def _check_agent(node: Node, address: str) -> None:
    name, found = address.rpartition("/")[2], agents.find(node.store.db, address)
    if found is None:
        raise forbidden(
            "from",
            f"{address} is not registered; its human does that with `dmp agent register {name} --client TEXT`, and "
            f"then `dmp agent approve {name}`",
        )
    if found.status == "pending":
        raise forbidden(
            "from", f"{address} waits to be approved; its human does that with `dmp agent approve {name}`"
        )
    if found.status == "revoked":
        raise forbidden("from", f"{address} was revoked; its human may register it again")


def standing(node: Node, address: str) -> str | None:
    """Why nobody may use the tools as an address yet, which may be mended while they run; None when somebody may.

    Raises DmpError as `principal` for what nobody can wait for: only an agent that is registered is ever approved.
    """
    try:
        principal(node, address)
    except DmpError as error:
        found = agents.find(node.store.db, address)
        if found is None or found.status != "pending" or node.host.external(address) is not None:
            raise
        return error.message
    return None
