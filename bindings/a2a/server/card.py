"""The card of this host (section 8.1): what it is and how it is called. It names nobody, and nothing private."""

from typing import Final

from bindings.a2a.extensions import ENVELOPE, GATE, WORK
from crypto.canonical import JsonValue
from replica.host.config import A2aConfig

PATH: Final = "/.well-known/agent-card.json"
VERSION: Final = "1.0.0"

_EXTENSIONS: Final = (
    (ENVELOPE, "The envelope of a message: its kind, choices and what it is about."),
    (GATE, "Which decisions of the project's owner a task waits for."),
    (WORK, "Hands off work, and tells how far it is."),
)


def card(url: str, config: A2aConfig) -> dict[str, JsonValue]:
    """The card of a host that is reached at `url`."""
    modes: list[JsonValue] = ["text/plain", "text/markdown", "application/json"]
    skills: list[JsonValue] = [
        _skill(
            "ask",
            "Ask the owner",
            "Asks the project's owner a question. An answer can take hours: send with returnImmediately, then stream, "
            f"subscribe or poll. A send that waits does so for at most {config.wait_seconds} seconds.",
            "question",
        )
    ]
    if config.handoffs:
        skills.append(
            _skill(
                "handoff",
                "Hand off work",
                f"Proposes a unit of work with {WORK}. The project's owner approves it before anything runs.",
                "work",
            )
        )
    skills.append(_skill("status", "Ask how work is", "Reports the state of your own handoffs.", "work"))
    return {
        "name": config.name,
        "description": config.description,
        "version": VERSION,
        "supportedInterfaces": [{"url": url, "protocolBinding": "HTTP+JSON", "protocolVersion": "1.0"}],
        "capabilities": {
            "streaming": True,
            "pushNotifications": False,
            "extendedAgentCard": False,
            "extensions": [
                {"uri": uri, "description": about, "required": False} for uri, about in _EXTENSIONS
            ],
        },
        "securitySchemes": {"bearer": {"httpAuthSecurityScheme": {"scheme": "Bearer"}}},
        "securityRequirements": [{"schemes": {"bearer": {"list": []}}}],
        "defaultInputModes": modes,
        "defaultOutputModes": ["text/markdown", "text/plain", "application/json"],
        "skills": skills,
    }


def _skill(id_: str, name: str, about: str, tag: str) -> dict[str, JsonValue]:
    return {"id": id_, "name": name, "description": about, "tags": [tag]}
