"""Reading a SendMessageRequest that addresses an instance. Pure: what it says, and whether it may be said so.

The extension is active for a request that names it three times: in the header `A2A-Extensions`, in the message's
`extensions`, and as a member of the request's `metadata`, whose value says to whom the message goes.
"""

import base64
import binascii
import hashlib
from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from bindings.a2a.external import Content, from_client
from bindings.instance_routing.errors import Reason, Refused, invalid, refused
from bindings.instance_routing.extension import (
    BACKLOG,
    MAX_INSTANCE_ID,
    MAX_SUBJECT,
    MODE,
    RECIPIENT,
    SUBJECT,
    URI,
    Mode,
)
from core.errors import DmpError
from core.message import Absent, Data
from core.text import is_blank, is_one_line, utf8_len
from core.validate import MAX_BODY_BYTES, MAX_DATA_BYTES, MAX_LINE_BYTES
from crypto.canonical import JsonError, JsonValue, canonical

MAX_PARTS: Final = 50
MAX_RAW_BYTES: Final = 45_000
"""Bytes of the files of one message together: what base64 makes of them still fits into its data with their names."""

ASKS_FOR_BACKLOG: Final = "(The sender asks that what waits from before is processed too.)"

_BODIES: Final = ("text", "raw", "url", "data")

JsonObject = dict[str, JsonValue]


@dataclass(frozen=True, slots=True)
class Request:
    """A message to an instance.

    `id` is the one its client gave it, `digest` names its contents: two requests with the same id are the same one
    when their digests agree. `context` is the id of the client's own context that it continues.
    """

    id: str
    digest: str
    instance: str
    subject: str
    mode: Mode
    body: str
    data: Data
    context: str | None
    returns_immediately: bool
    history_length: int | None


def read(given: JsonValue, header: Collection[str]) -> Request:
    """Read a request, as it was parsed, and the extensions that its header names. Raises Refused."""
    if not isinstance(given, dict):
        raise Refused(Reason.INVALID_REQUEST, "a request is a JSON object")
    message = given.get("message")
    if not isinstance(message, dict):
        raise invalid("message", "a request has a message")
    routing = _activated(given, message, header)
    recipient, subject, mode, backlog = _routing(routing)
    if message.get("role") not in ("ROLE_USER", None):
        raise invalid("message.role", "a client speaks as ROLE_USER")
    if message.get("taskId"):
        raise Refused(
            Reason.UNSUPPORTED_OPERATION,
            "a task here is one message and what is replied to it; send a new one, with this one's contextId",
            "message.taskId",
        )
    texts, values, files = _parts(message.get("parts"))
    returns, history = _configuration(given.get("configuration"))
    content = _content(subject, texts, values, files=files, backlog=backlog)
    return Request(
        id=_line(message.get("messageId"), "message.messageId"),
        digest=_digest(given),
        instance=recipient,
        subject=subject,
        mode=mode,
        body=content.body,
        data=content.data,
        context=_optional(message.get("contextId"), "message.contextId"),
        returns_immediately=returns,
        history_length=history,
    )


def key_of(message_id: str) -> str:
    """The idempotency key of a client's message, by the id that the client gave it."""
    return f"instance-routing:{hashlib.sha256(message_id.encode(errors='surrogatepass')).hexdigest()}"


def extensions_of(header: str | None) -> frozenset[str]:
    """The URIs that a header `A2A-Extensions` names."""
    return frozenset(each for each in map(str.strip, (header or "").split(",")) if each)


def _activated(given: JsonObject, message: JsonObject, header: Collection[str]) -> JsonObject:
    named, metadata = message.get("extensions"), given.get("metadata")
    value = metadata.get(URI) if isinstance(metadata, dict) else None
    for is_there, where in (
        (URI in header, "the header A2A-Extensions"),
        (isinstance(named, list) and URI in named, "message.extensions"),
        (isinstance(metadata, dict) and URI in metadata, "the request's metadata"),
    ):
        if not is_there:
            raise Refused(
                Reason.EXTENSION_SUPPORT_REQUIRED,
                f"messages here go to an instance, by the extension {URI}: name it in {where} too",
            )
    if not isinstance(value, dict):
        raise invalid(f"metadata.{RECIPIENT}", "what stands under the extension is an object")
    return value


def _routing(value: JsonObject) -> tuple[str, str, Mode, bool]:
    recipient, subject = value.get(RECIPIENT), value.get(SUBJECT, "")
    mode, backlog = value.get(MODE, "inbox"), value.get(BACKLOG, False)
    if not isinstance(recipient, str) or not 1 <= len(recipient) <= MAX_INSTANCE_ID:
        raise invalid(
            f"metadata.{RECIPIENT}", "name one instance, by the id that the directory lists it with"
        )
    if not isinstance(subject, str) or len(subject) > MAX_SUBJECT or not is_one_line(subject):
        raise invalid(f"metadata.{SUBJECT}", f"a subject is one line of at most {MAX_SUBJECT} characters")
    _sound(subject, f"metadata.{SUBJECT}")
    if not isinstance(backlog, bool):
        raise invalid(f"metadata.{BACKLOG}", f"{BACKLOG} is true or false")
    match mode:
        case "inbox":
            return recipient, subject.strip(), "inbox", False
        case "wake":
            return recipient, subject.strip(), "wake", backlog
    raise invalid(f"metadata.{MODE}", f"{MODE} is inbox or wake")


def _parts(parts: JsonValue) -> tuple[list[str], list[JsonValue], bool]:
    """The texts, what is kept of data parts and files in their order, and whether there are files."""
    if not isinstance(parts, list) or not 1 <= len(parts) <= MAX_PARTS:
        raise invalid("message.parts", f"a message has 1 to {MAX_PARTS} parts")
    texts: list[str] = []
    files = False
    values: list[JsonValue] = []
    size = 0
    for index, part in enumerate(parts):
        path = f"message.parts[{index}]"
        held = [each for each in _BODIES if each in part] if isinstance(part, dict) else []
        if not isinstance(part, dict) or len(held) != 1:
            raise invalid(path, "a part has one of text, raw and data")
        match held[0]:
            case "text":
                texts.append(_sound(part["text"], f"{path}.text"))
            case "data":
                values.append(part["data"])
            case "raw":
                content = _bytes(part["raw"], f"{path}.raw")
                size += len(content)
                if size > MAX_RAW_BYTES:
                    raise invalid(
                        f"{path}.raw", f"the files of one message have at most {MAX_RAW_BYTES} bytes together"
                    )
                files = True
                values.append(_file(part, content, path))
            case _:
                raise Refused(
                    Reason.CONTENT_TYPE_NOT_SUPPORTED,
                    "nothing is fetched from a URL here; send a file's bytes as raw",
                    f"{path}.url",
                )
    return texts, values, files


def _file(part: JsonObject, content: bytes, path: str) -> JsonValue:
    kept: JsonObject = {"raw": base64.b64encode(content).decode()}
    for name in ("filename", "mediaType"):
        value = _optional(part.get(name), f"{path}.{name}")
        if value is not None:
            kept[name] = value
    return kept


def _content(
    subject: str, texts: list[str], values: list[JsonValue], *, files: bool, backlog: bool
) -> Content:
    """What is stored of a message: its subject and what it asks of the recipient stand in its body."""
    try:
        said = from_client("\n\n".join(each for each in texts if not is_blank(each)), values)
    except DmpError as error:
        raise refused(error) from None
    if files and isinstance(said.data, Absent):
        raise invalid(
            "message.parts", f"the files and data of a message have at most {MAX_DATA_BYTES} bytes as JSON"
        )
    lines = [f"Subject: {subject}"] * bool(subject) + [said.body] + [ASKS_FOR_BACKLOG] * backlog
    body = "\n\n".join(lines)
    if utf8_len(body) > MAX_BODY_BYTES:
        raise invalid("message.parts", f"subject and text have at most {MAX_BODY_BYTES} bytes together")
    return Content(body, said.data)


def _configuration(given: JsonValue) -> tuple[bool, int | None]:
    if given is None:
        return False, None
    if not isinstance(given, dict):
        raise invalid("configuration", "a configuration is an object")
    if given.get("taskPushNotificationConfig"):
        raise Refused(
            Reason.PUSH_NOTIFICATION_NOT_SUPPORTED, "nothing is pushed from here; ask for the task instead"
        )
    returns, history = given.get("returnImmediately", False), given.get("historyLength")
    if not isinstance(returns, bool):
        raise invalid("configuration.returnImmediately", "returnImmediately is true or false")
    if history is not None and (not isinstance(history, int) or isinstance(history, bool) or history < 0):
        raise invalid("configuration.historyLength", "historyLength is a whole number from 0 on")
    return returns, history


def _digest(given: JsonObject) -> str:
    """The contents of a request: its message and metadata as they were received. How it is waited for is none."""
    contents: JsonObject = {name: given[name] for name in ("message", "metadata") if name in given}
    try:
        return hashlib.sha256(canonical(contents)).hexdigest()
    except JsonError as error:
        raise invalid(None, f"a request is JSON that every reader takes the same way: {error}") from None


def _bytes(value: JsonValue, path: str) -> bytes:
    if not isinstance(value, str):
        raise invalid(path, "raw holds bytes as base64")
    try:
        padded = value + "=" * (-len(value) % 4)
        return base64.b64decode(padded.translate(_STANDARD), validate=True)
    except (ValueError, binascii.Error):
        raise invalid(path, "raw holds bytes as base64") from None


_STANDARD: Final = str.maketrans("-_", "+/")
"""JSON of protocol buffers takes both alphabets of base64."""


def _line(value: JsonValue, path: str) -> str:
    found = _optional(value, path)
    if found is None:
        raise invalid(path, f"{path} is one line of at most {MAX_LINE_BYTES} bytes")
    return found


def _optional(value: JsonValue, path: str) -> str | None:
    if value is None or value == "":
        return None
    text = _sound(value, path)
    if utf8_len(text) > MAX_LINE_BYTES or not is_one_line(text):
        raise invalid(path, f"{path} is one line of at most {MAX_LINE_BYTES} bytes")
    return text


def _sound(value: JsonValue, path: str) -> str:
    if not isinstance(value, str):
        raise invalid(path, f"{path} is text")
    try:
        utf8_len(value)
    except UnicodeEncodeError:
        raise invalid(path, f"{path} holds half of a surrogate pair; send whole characters") from None
    return value
