"""What a message becomes on its way to a peer: one SendMessageRequest, in proto-JSON (sections 8.2, 8.4, 8.6, 8.9).

The envelope has what section 8.9 lists, and no more. Of the message's recipients the peer alone is named, and of its
place in a thread only the message it replies to.
"""

from collections.abc import Mapping
from typing import Final

from bindings.a2a.extensions import ENVELOPE, WORK
from core.gate_data import has_gate_data
from core.message import Absent, Message
from crypto.canonical import JsonValue

MAX_TITLE: Final = 200
"""Bytes of the title of a handoff (section 8.6)."""

_ACCEPTED: Final = ("text/markdown", "text/plain", "application/json")


def request(
    message: Message, peer: str, *, context: str | None = None, task: str | None = None
) -> dict[str, JsonValue]:
    """Return the request that takes a message to the peer at an address.

    `context` and `task` are the peer's own, where the message goes on with something it knows.
    """
    assert not has_gate_data(message.data), "gate data never leaves this host"
    parts: list[JsonValue] = []
    if message.body:
        parts.append({"text": message.body, "mediaType": "text/markdown"})
    if not isinstance(message.data, Absent):
        parts.append({"data": message.data, "mediaType": "application/json"})
    if not parts:  # an answer that only chooses
        parts.append({"text": message.choice or "", "mediaType": "text/plain"})
    metadata: dict[str, JsonValue] = {ENVELOPE: envelope(message, peer)}
    if message.kind == "handoff":
        metadata[WORK] = {"skill": "handoff", "title": title(message.body)}
    sent: dict[str, JsonValue] = {
        "messageId": message.id,
        "role": "ROLE_USER",
        "parts": parts,
        "metadata": metadata,
        "extensions": [*metadata],
    }
    if context:
        sent["contextId"] = context
    if task:
        sent["taskId"] = task
    return {
        "message": sent,
        "configuration": {"returnImmediately": True, "acceptedOutputModes": [*_ACCEPTED]},
    }


def envelope(message: Message, peer: str) -> dict[str, JsonValue]:
    """The envelope/v1 that goes with a message to a peer."""
    found: dict[str, JsonValue] = {
        "from": message.sender,
        "to": [peer],
        "kind": message.kind,
    }
    if message.reply_to is not None:
        found["replyTo"] = message.reply_to
    if message.choices is not None:
        found["choices"] = [*message.choices]
    if message.choice is not None:
        found["choice"] = message.choice
    if message.refs:
        found["refs"] = [{"type": each.type, "id": each.id} for each in message.refs]
    return found


def title(body: str) -> str:
    """A handoff's title: the first line of its body that says something, cut to the length of one."""
    line = next((each.strip() for each in body.splitlines() if each.strip()), "Handoff")
    return line.encode()[:MAX_TITLE].decode(errors="ignore")


def accepted(answer: Mapping[str, JsonValue]) -> tuple[str, Mapping[str, JsonValue]] | None:
    """Which of a task and a message a peer's response is, and that; None for a response that is neither."""
    for name in ("task", "message"):
        found = answer.get(name)
        if isinstance(found, dict):
            return name, found
    return None
