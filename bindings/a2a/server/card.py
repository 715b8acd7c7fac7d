"""The agent card (section 8.1): what this host's agent is and how it is called. It names nobody of the host."""

from typing import Final

from bindings.a2a.extensions import ENVELOPE, GATE, WORK
from crypto.canonical import JsonValue
from replica.host.config import A2aConfig

PATH: Final = "/.well-known/agent-card.json"
VERSION: Final = "1"

_MODES: Final = ("text/markdown", "text/plain", "application/json")

_EXTENSIONS: Final = (
    (ENVELOPE, "Whom a message is for, its kind, and what it replies to."),
    (GATE, "Which decisions of the owner a task waits for."),
    (WORK, "Handoffs of work, and how far they are."),
)


def card(url: str, config: A2aConfig) -> dict[str, JsonValue]:
    """The card of a host that is reached at `url`."""
    extensions: list[JsonValue] = [
        {"uri": uri, "description": about, "required": False} for uri, about in _EXTENSIONS
    ]
    return {
        "name": config.name,
        "description": config.about,
        "version": VERSION,
        "supportedInterfaces": [{"url": url, "protocolBinding": "HTTP+JSON", "protocolVersion": "1.0"}],
        "capabilities": {
            "streaming": True,
            "pushNotifications": False,
            "extendedAgentCard": False,
            "extensions": extensions,
        },
        "securitySchemes": {"bearer": {"httpAuthSecurityScheme": {"scheme": "Bearer"}}},
        "securityRequirements": [{"schemes": {"bearer": {"list": []}}}],
        "defaultInputModes": [*_MODES],
        "defaultOutputModes": [*_MODES],
        "skills": _skills(config),
    }


def _skills(config: A2aConfig) -> list[JsonValue]:
    ask: JsonValue = {
        "id": "ask",
        "name": "Ask",
        "description": (
            "Asks the person behind this host, or tells them something. An answer may take hours: send with "
            "returnImmediately, then stream, subscribe or ask for the task. A message that is waited for waits at "
            f"most {config.wait_seconds} seconds, and is answered with the task as it stands then."
        ),
        "tags": ["question", "message"],
    }
    if not config.handoffs:
        return [ask]
    handoff: JsonValue = {
        "id": "handoff",
        "name": "Hand off work",
        "description": f"Proposes a unit of work with {WORK}. It begins once a person here approves it.",
        "tags": ["work", "approval"],
    }
    status: JsonValue = {
        "id": "status",
        "name": "Status of handoffs",
        "description": f"Tells with {WORK} how far your own handoffs are.",
        "tags": ["work", "status"],
    }
    return [ask, handoff, status]
