"""Messages, deliveries, channels and agents as programs read them, whoever gives them out."""

from core.host import Host
from core.message import Delivery, Message
from crypto.canonical import JsonValue
from replica.host.agents import Agent
from replica.records.remote import RemoteRow


def message_json(host: Host, message: Message) -> dict[str, JsonValue]:
    """A message: section 4.1's fields, and what a reader must know of where it comes from (section 6.8).

    `external` when its sender is reached through a binding, `remote` when it came from another replica.
    """
    found = message.to_json()
    found["external"] = host.external(message.sender) is not None
    found["remote"] = message.origin is not None
    found["standing"] = None if message.standing is None else str(message.standing)
    found["receivedAt"] = message.received_at
    return found


def delivery_json(delivery: Delivery) -> dict[str, JsonValue]:
    """A delivery."""
    return {
        "id": delivery.id,
        "message": delivery.message,
        "recipient": delivery.recipient,
        "session": delivery.session,
        "via": str(delivery.via),
        "state": str(delivery.state),
        "changedAt": delivery.changed_at,
    }


def row_json(row: RemoteRow) -> dict[str, JsonValue]:
    """A recipient whose home is another replica, and what its homes reported."""
    return {
        "message": row.message,
        "recipient": row.recipient,
        "via": row.via,
        "homes": [*row.homes],
        "state": row.state,
        "refused": {**row.refused},
        "changedAt": row.changed_at,
    }


def agent_json(agent: Agent) -> dict[str, JsonValue]:
    """A registered agent."""
    return {
        "address": agent.address,
        "client": agent.client,
        "status": agent.status,
        "muted": agent.muted,
        "replica": agent.replica,
    }
