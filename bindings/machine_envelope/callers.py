"""Who asks: the A2A client that a bearer token is of (section 8.1)."""

from dataclasses import dataclass

from bindings.a2a.allowed import Caller
from replica.api import credentials
from replica.api.errors import Refusal
from replica.host import binding
from replica.node import Node
from replica.records.tokens import Kind


@dataclass(frozen=True, slots=True)
class Client:
    """A client that calls, and whom it may address."""

    address: str
    recipients: tuple[str, ...]


def find(node: Node, secret: str) -> Caller | None:
    """The approved client that holds a secret; None for everybody else, whoever it is."""
    try:
        found = credentials.resolve(node, secret)
    except Refusal:
        return None
    address = found.address
    if found.token.kind is not Kind.AGENT or address is None or binding.external(address) != "client":
        return None
    return Client(address, (node.host.person,))
