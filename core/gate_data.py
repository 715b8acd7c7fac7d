"""Telling gate data, markers and private data apart, and gates, closes and answers that decide (sections 2.5, 5)."""

from collections.abc import Collection
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
    """Whether data has the type of a marker, which means something from the system address alone (section 13.14)."""
    return data_type(data) in MARKERS


def is_gate(message: Message, system_address: str, known: Collection[str]) -> bool:
    """Whether a stored message is a gate, which only a deciding principal answers (sections 5.1, 5.6).

    `known` are the gate types the host implements. A question with gate data of any other type is one only
    from the system address or a human, since from an agent or a session it could not have been raised.
    """
    if not (message.takes_answer and has_gate_data(message.data)):
        return False
    return data_type(message.data) in known or is_deciding(message, system_address)


def is_deciding(message: Message, system_address: str) -> bool:
    """Whether a stored message is from an address that could decide (section 5.7)."""
    return message.sender == system_address or message.sender.startswith("human:")


def is_close(answer: Message, system_address: str) -> bool:
    """Whether an answer settles its question without an effect (section 4.8)."""
    return answer.sender == system_address and data_type(answer.data) == "x-closed"
