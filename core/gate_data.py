"""Telling gate data and markers from private data (sections 2.5, 5.1, F.5).

This host raises no gates: it refuses gate data on whatever is sent or received, so that it fails closed.
A gate another build stored stays one of a type this host does not know (section 5.6): only a deciding
principal answers it, and nothing takes effect.
"""

from typing import Final

from core.message import Data, Message

MARKERS: Final = frozenset(("x-closed", "x-breaker", "x-policy", "x-expired"))
"""The system markers of section 11.7 and the Dispatch profile's (section C.4), all of them local-only."""


def data_type(data: Data) -> str | None:
    """Return the `type` of an object, where it has one that is a string."""
    found = data.get("type") if isinstance(data, dict) else None
    return found if isinstance(found, str) else None


def has_gate_data(data: Data) -> bool:
    """Whether data is an object whose type is a string that does not start with `x-`, whatever the kind."""
    found = data_type(data)
    return found is not None and not found.startswith("x-")


def is_marker(data: Data) -> bool:
    """Whether data has the type of a marker, which only the system address gives a meaning."""
    return data_type(data) in MARKERS


def is_gate(message: Message, system_address: str) -> bool:
    """Whether only a deciding principal may answer a stored message (section 5.6).

    A question with gate data from an agent or a session could not have been raised as a gate and is plain.
    """
    raised = message.sender == system_address or message.sender.startswith("human:")
    return raised and message.takes_answer and has_gate_data(message.data)
