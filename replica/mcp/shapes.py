"""What tools return of messages (section 6.8): whose words they are is said beside them, never left to be guessed."""

import json
from collections.abc import Mapping

from core.message import Message
from crypto.canonical import JsonValue
from replica.host import shapes
from replica.host.shapes import delivery_json, row_json
from replica.node import Node
from replica.records import remote


def message_json(node: Node, message: Message) -> dict[str, JsonValue]:
    """A message; `external` and `remote` mark senders beyond this host, `remoteHandle` says whose machine it was."""
    found = shapes.message_json(node.host, message)
    found["remoteHandle"] = node.host.remote_handle(message)
    return found


def placed_json(node: Node, message: Message) -> dict[str, JsonValue]:
    """A message with how far it got."""
    return {
        "message": message_json(node, message),
        "deliveries": [delivery_json(each) for each in node.engine.deliveries(message.id)],
        "remote": [row_json(row) for row in remote.rows_of(node.store.db, message.id)],
    }


def text_of(value: Mapping[str, JsonValue]) -> str:
    """A result as text: one line of ASCII, so every line break of section 1.4 in it is an escape."""
    return json.dumps(value)
