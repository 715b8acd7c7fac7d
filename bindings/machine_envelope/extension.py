"""The extension as cards declare it and requests activate it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from core.errors import DmpError, invalid
from crypto.canonical import JsonValue

URI: Final = "https://agent-guild-5d5r.onrender.com/extensions/machine-envelope/v1"
METADATA_KEY: Final = "io.agent-guild/machine-envelope"

HEADER: Final = "A2A-Extensions"

ACQUIRE_PATH: Final = "/a2a/extensions/machine-envelope/v1/acquire"

DESCRIPTION: Final = (
    "A signed envelope over the exact message is required before anything is done with the message."
)

MAX_VALUE: Final = 2_048
"""Characters of one parameter."""

_FIELD: Final = "card"


@dataclass(frozen=True, slots=True)
class Params:
    """What a receiver publishes, and requires of every envelope. `acquisition` tells where envelopes are to be had."""

    recipient: str
    kind: str
    context_protocol: str
    acquisition: str
    metadata_key: str = METADATA_KEY
    free_discovery: bool = True

    def to_json(self) -> dict[str, JsonValue]:
        """The member `params` of the card's entry."""
        return {
            "metadata_key": self.metadata_key,
            "recipient": self.recipient,
            "kind": self.kind,
            "context_protocol": self.context_protocol,
            "acquisition": self.acquisition,
            "free_discovery": self.free_discovery,
        }


def declaration(params: Params) -> dict[str, JsonValue]:
    """The entry in a card's `capabilities.extensions`."""
    return {"uri": URI, "description": DESCRIPTION, "required": True, "params": params.to_json()}


def read_params(given: Mapping[str, JsonValue]) -> Params:
    """Read what a receiver published; members that are not known are left alone. Raises DmpError `invalid`."""

    def text(name: str, *, default: str | None = None) -> str:
        value = given.get(name, default)
        if not isinstance(value, str) or not value or len(value) > MAX_VALUE or not value.isprintable():
            raise _unusable(f"its {name} is missing, or no text that can be used")
        return value

    return Params(
        text("recipient"),
        text("kind"),
        text("context_protocol"),
        text("acquisition"),
        text("metadata_key", default=METADATA_KEY),
        given.get("free_discovery") is True,
    )


def activated(headers: Iterable[str]) -> bool:
    """Whether the values of the header A2A-Extensions, of which there may be several, name this extension."""
    return any(each.strip() == URI for value in headers for each in value.split(","))


def _unusable(why: str) -> DmpError:
    return invalid(_FIELD, f"the agent's machine envelope extension cannot be satisfied: {why}")
