"""What becomes of a client's open questions when its registration is revoked (section A.2)."""

from typing import Final

from bindings.a2a.records import open_asks
from core.errors import Code, DmpError
from replica.node import Node

REASON: Final = "the client that asked was revoked"


def close_asks(node: Node, client: str) -> None:
    """Close every question of a client that has no answer yet, outside any transaction."""
    for question in open_asks(node.store.db, client):
        try:
            node.engine.close(question, REASON)
        except DmpError as error:
            if error.code is not Code.CONFLICT:  # else it was answered meanwhile
                raise
