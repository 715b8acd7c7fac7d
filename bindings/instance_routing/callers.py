"""Who asks: the A2A client that a bearer token is of (section 8.1)."""

from bindings.a2a import clients
from replica.node import Node


def caller(node: Node, secret: str) -> str | None:
    """The address of the approved client that holds a secret; None for everybody else, whoever it is."""
    found = clients.find(node, secret)
    return None if found is None else found.address
