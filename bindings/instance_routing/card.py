"""The card of the gateway (section 8.1): what it is and how it is called. It names nobody of this host."""

from typing import Final

from bindings.instance_routing.extension import BACKLOG, MODE, RECIPIENT, SUBJECT, URI
from bindings.instance_routing.request import MAX_RAW_BYTES
from crypto.canonical import JsonValue

VERSION: Final = "1.0.0"
WAIT_SECONDS: Final = 60
"""How long a message that is waited for waits for its reply at most."""

DIRECTORY: Final = "/instances"

_ABOUT: Final = (
    "Mailboxes of agents behind one host. A message goes to one instance, by its id in the directory; replies come "
    "as artifacts of its task."
)


def card(url: str) -> dict[str, JsonValue]:
    """The card of a gateway that is reached at `url`."""
    extension: JsonValue = {
        "uri": URI,
        "description": f"Addresses one instance by {RECIPIENT}; {SUBJECT}, {MODE} and {BACKLOG} are optional.",
        "required": True,
        "params": {"directory": f"{url}{DIRECTORY}"},
    }
    return {
        "name": "DMP instances",
        "description": _ABOUT,
        "version": VERSION,
        "supportedInterfaces": [{"url": url, "protocolBinding": "HTTP+JSON", "protocolVersion": "1.0"}],
        "capabilities": {
            "streaming": False,
            "pushNotifications": False,
            "extendedAgentCard": False,
            "extensions": [extension],
        },
        "securitySchemes": {"bearer": {"httpAuthSecurityScheme": {"scheme": "Bearer"}}},
        "securityRequirements": [{"schemes": {"bearer": {"list": []}}}],
        "defaultInputModes": ["text/plain", "text/markdown", "application/json", "application/octet-stream"],
        "defaultOutputModes": ["text/markdown", "application/json"],
        "skills": [
            {
                "id": "instance-mailbox",
                "name": "Write to an instance",
                "description": (
                    "Puts a message into the mailbox of one instance. Its reply may take hours: send with "
                    "returnImmediately and ask for the task later; a message that is waited for waits at most "
                    f"{WAIT_SECONDS} seconds. Files go as raw bytes, {MAX_RAW_BYTES} a message at most; nothing is "
                    "fetched from a URL."
                ),
                "tags": ["mailbox", "instances"],
            }
        ],
    }
