"""What a client is shown of a message, in A2A's terms (sections 8.2-8.4)."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from bindings.a2a.extensions import ENVELOPE
from bindings.a2a.external import unwrap
from core.message import Absent, Message
from crypto.canonical import JsonValue

JsonObject = dict[str, JsonValue]

MARKDOWN: Final = "text/markdown"
PLAIN: Final = "text/plain"
JSON: Final = "application/json"

ROLE_USER: Final = "ROLE_USER"
ROLE_AGENT: Final = "ROLE_AGENT"


@dataclass(frozen=True, slots=True)
class View:
    """What decides how a client is shown things.

    `active` are the extensions of the request, `text` the media type of text parts.
    """

    client: str
    active: frozenset[str]
    text: str = MARKDOWN

    def part(self, text: str) -> JsonObject:
        """A text part."""
        return {"text": text, "mediaType": self.text}

    def extended(self, shown: JsonObject, extensions: Mapping[str, JsonValue]) -> JsonObject:
        """A message or an artifact with the metadata of those extensions that are active, besides what it has."""
        active = {uri: value for uri, value in extensions.items() if uri in self.active}
        if not active:
            return shown
        metadata, named = shown.get("metadata"), shown.get("extensions")
        return {
            **shown,
            "metadata": {**(metadata if isinstance(metadata, dict) else {}), **active},
            "extensions": [*(named if isinstance(named, list) else ()), *active],
        }


def text_type(modes: Sequence[str] | None) -> str:
    """The media type of text parts for a client that accepts some: plain where it accepts that alone."""
    accepts = [] if modes is None else [mode.partition(";")[0].strip().lower() for mode in modes]
    return PLAIN if PLAIN in accepts and not {MARKDOWN, "text/*", "*/*"} & {*accepts} else MARKDOWN


def message_json(
    view: View, message: Message, *, task: str | None, key: str | None, shown: Collection[str] = ()
) -> JsonObject:
    """A message that the client sent or received.

    `task` is the task it is shown in, `key` the id that the client gave it, where it sent it, and `shown` holds the
    ids of the other messages that the client is shown, which alone it may name as what it replies to.
    """
    parts = [view.part(message.body)] if message.body else []
    if message.sender != view.client and ENVELOPE not in view.active:
        parts += [view.part(each) for each in _in_words(message)]
    if not isinstance(message.data, Absent):
        parts.append({"data": unwrapped(message, view.client), "mediaType": JSON})
    found: JsonObject = {
        "messageId": message.id if key is None else key,
        "contextId": message.thread,
        "role": ROLE_USER if message.sender == view.client else ROLE_AGENT,
        "parts": [*parts] or [view.part(message.choice or "")],  # a message has one at least
    }
    if task is not None:
        found["taskId"] = task
    return view.extended(found, {ENVELOPE: envelope_json(message, shown)})


def _in_words(message: Message) -> list[str]:
    """What envelope/v1 says of choices, for a client that does not read it."""
    if message.choices:
        return [f"Choices: {', '.join(message.choices)}"]
    return [f"Choice: {message.choice}"] if message.choice is not None and message.body else []


def envelope_json(message: Message, shown: Collection[str]) -> JsonObject:
    """What a message carries as envelope/v1: never its recipients, and no message that the client is not shown."""
    found: JsonObject = {
        "id": message.id,
        "thread": message.thread,
        "from": message.sender,
        "kind": message.kind,
    }
    if message.reply_to is not None and message.reply_to in shown:
        found["replyTo"] = message.reply_to
    if message.blocking:
        found["blocking"] = True
    if message.choices is not None:
        found["choices"] = [*message.choices]
    if message.choice is not None:
        found["choice"] = message.choice
    if message.refs:
        found["refs"] = [{"type": ref.type, "id": ref.id} for ref in message.refs]
    return found


def unwrapped(message: Message, client: str) -> JsonValue:
    """The data of a message: what a client sent comes back to it as it was (section 8.8)."""
    data = unwrap(message.data) if message.sender == client else message.data
    assert not isinstance(data, Absent)
    return data


def said(view: View, text: str, *, id_: str, context: str | None, task: str | None = None) -> JsonObject:
    """A sentence of the host's own as a message."""
    found: JsonObject = {"messageId": id_, "role": ROLE_AGENT, "parts": [view.part(text)]}
    for name, value in (("contextId", context), ("taskId", task)):
        if value is not None:
            found[name] = value
    return found
