"""The listener's own agent card."""

from typing import Final

from bindings.a2a.extensions import ENVELOPE, WORK
from bindings.machine_envelope.extension import declaration
from bindings.machine_envelope.receiving import Receiver
from crypto.canonical import JsonValue

CARD_PATH: Final = "/.well-known/agent-card.json"

_MODES: Final[list[JsonValue]] = ["text/markdown", "text/plain", "application/json"]

_SKILLS: Final[dict[str, dict[str, JsonValue]]] = {
    "ask": {
        "id": "ask",
        "name": "Ask",
        "description": "Ask the person behind this host, or tell them something.",
        "tags": ["question", "message"],
    },
    "handoff": {
        "id": "handoff",
        "name": "Hand off work",
        "description": "Propose work; it begins when its owner approves it.",
        "tags": ["work", "approval"],
    },
}


_OTHERS: Final[list[JsonValue]] = [
    {"uri": ENVELOPE, "description": "Addresses and kinds of DMP.", "required": False},
    {"uri": WORK, "description": "Handoffs of work.", "required": False},
]


def card(url: str, receiver: Receiver) -> dict[str, JsonValue]:
    """The card, of A2A 1.0. Nothing in it tells whose host this is."""
    return {
        "name": "DMP host, with machine envelopes",
        "description": "A person's mailbox. Each message needs a signed envelope.",
        "version": "1",
        "supportedInterfaces": [{"url": f"{url}/", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}],
        "capabilities": {
            "streaming": False,
            "pushNotifications": False,
            "extensions": [declaration(receiver.acquisition.params), *_OTHERS],
        },
        "securitySchemes": {"bearer": {"httpAuthSecurityScheme": {"scheme": "Bearer"}}},
        "securityRequirements": [{"schemes": {"bearer": {"list": []}}}],
        "defaultInputModes": _MODES,
        "defaultOutputModes": _MODES,
        "skills": [_SKILLS[each] for each in sorted(receiver.skills)],
    }
