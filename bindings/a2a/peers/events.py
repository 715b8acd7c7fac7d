"""What a peer says of a task, read from A2A's JSON into one value (section 8.9).

Everything in it is the peer's: it is bounded, and nothing in it is followed. Files, by URL or as bytes, are named and
never fetched.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final
from urllib.parse import quote

from bindings.a2a.extensions import ENVELOPE, WORK
from bindings.a2a.external import NO_TEXT, from_peer, peer_choices
from bindings.a2a.peers.wire import PeerError
from core.message import ABSENT, Data
from core.text import is_blank
from core.validate import MAX_CHOICES
from crypto.canonical import JsonError, JsonValue, canonical

MAX_ID: Final = 512
"""Bytes of a peer's own ids."""

MAX_URL: Final = 2_048
MAX_PARTS: Final = 200
"""Parts of one message or artifact that are read, and artifacts of one task."""

_IN_URLS: Final = "/:?#@!$&'*+,;=%~"
"""What stays as it is in a URL that becomes a link; the rest cannot end the link, or begin another."""


class TaskState(StrEnum):
    """The states of A2A that mean something here; any other is read as WORKING without a word."""

    SUBMITTED = "TASK_STATE_SUBMITTED"
    WORKING = "TASK_STATE_WORKING"
    INPUT_REQUIRED = "TASK_STATE_INPUT_REQUIRED"
    AUTH_REQUIRED = "TASK_STATE_AUTH_REQUIRED"
    COMPLETED = "TASK_STATE_COMPLETED"
    FAILED = "TASK_STATE_FAILED"
    CANCELED = "TASK_STATE_CANCELED"
    REJECTED = "TASK_STATE_REJECTED"


TERMINAL: Final = (TaskState.COMPLETED, TaskState.FAILED, TaskState.CANCELED, TaskState.REJECTED)


@dataclass(frozen=True, slots=True)
class Words:
    """What a peer said, by the rules for a peer's content (section 8.8): a body, wrapped data, trimmed choices.

    `choice` is what it chose of the question it was asked, where it named something.
    """

    body: str
    data: Data = ABSENT
    choices: tuple[str, ...] | None = None
    choice: str | None = None

    @property
    def is_empty(self) -> bool:
        """Whether it says nothing."""
        return self.body in ("", NO_TEXT) and self.data is ABSENT


@dataclass(frozen=True, slots=True)
class Event:
    """A state of a peer's task: `said` is its status message, and `result` that with the artifacts.

    `mark` tells this event from others in the same state.
    """

    task: str
    context: str
    state: TaskState
    mark: str
    said: Words
    result: Words

    @property
    def key(self) -> str:
        """The idempotency key of what is recorded of it."""
        return f"a2a-event:{digest(self.task, self.state, self.mark)}"


def digest(*texts: str) -> str:
    """What stands for some texts of others in a key of this host's: 64 characters, the same for the same ones."""
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()


def read_task(raw: Mapping[str, JsonValue], task: str | None = None) -> Event:
    """Read a Task. Raises PeerError for what is none, or another than `task`."""
    found = need_id(raw.get("id"))
    if task is not None and found != task:
        raise PeerError("later", "it answers with another task than was asked for")
    artifacts = _list(raw.get("artifacts"))[:MAX_PARTS]
    return _event(found, raw, [*map(_object, artifacts)])


def read_status(raw: Mapping[str, JsonValue], task: str) -> Event | None:
    """Read a TaskStatusUpdateEvent of a stream; None for one of another task."""
    return _event(task, raw, []) if raw.get("taskId") == task else None


def read_message(raw: Mapping[str, JsonValue]) -> tuple[str, str, Words]:
    """Read a Message that a peer answers with: its id, its context, and what it says."""
    return _id(raw.get("messageId")), _id(raw.get("contextId")), words([raw])


def need_id(value: JsonValue) -> str:
    """The id of a task. Raises PeerError."""
    found = _id(value)
    if not found:
        raise PeerError("later", "its answer is no task")
    return found


def _event(task: str, raw: Mapping[str, JsonValue], artifacts: Sequence[Mapping[str, JsonValue]]) -> Event:
    status = _object(raw.get("status"))
    message = _object(status.get("message"))
    state = status.get("state")
    known = next((each for each in TaskState if each == state), TaskState.WORKING)
    mark = _id(message.get("messageId")) or _id(status.get("timestamp")) or _mark(message)
    said = words([message])
    return Event(
        task,
        _id(raw.get("contextId")),
        known,
        mark,
        said,
        words([message, *artifacts]) if artifacts else said,
    )


def words(sources: Sequence[Mapping[str, JsonValue]]) -> Words:
    """What a status message, and artifacts after it, say together. The first of them says what is offered."""
    texts: list[str] = []
    data: list[JsonValue] = []
    for source in sources:
        for part in map(_object, _list(source.get("parts"))[:MAX_PARTS]):
            if isinstance(part.get("text"), str):
                texts.append(str(part["text"]))
            elif isinstance(part.get("url"), str):
                texts.append(
                    f"[{_name(part)}]({quote(str(part['url'])[:MAX_URL], _IN_URLS, errors='replace')})"
                )
            elif "raw" in part:
                texts.append(f"({_name(part)} omitted: a file)")
            elif "data" in part:
                data.append(part["data"])
    said = dict.fromkeys(
        text for text in texts if not is_blank(text)
    )  # a result may repeat the status message
    content = from_peer("\n\n".join(said), data)
    offered = _list(_extension(sources[0], ENVELOPE).get("choices"))[: 10 * MAX_CHOICES]
    return Words(content.body, content.data, peer_choices(offered), _choice(sources))


def _choice(sources: Sequence[Mapping[str, JsonValue]]) -> str | None:
    """What a peer chose: as an envelope or the artifact of an answer says."""
    for source in sources:
        for uri in (ENVELOPE, WORK):
            found = _extension(source, uri).get("choice")
            if isinstance(found, str):
                return found
    return None


def _extension(source: Mapping[str, JsonValue], uri: str) -> Mapping[str, JsonValue]:
    return _object(_object(source.get("metadata")).get(uri))


def _name(part: Mapping[str, JsonValue]) -> str:
    name = part.get("filename")
    shown = (
        "".join(each for each in name[:200] if each not in "[]()<>`\\\n\r") if isinstance(name, str) else ""
    )
    return shown.strip() or "file"


def _mark(message: Mapping[str, JsonValue]) -> str:
    """What tells an event from others where the peer gave it neither an id nor a time."""
    if not message:
        return ""
    try:
        return hashlib.sha256(canonical(dict(message))).hexdigest()
    except JsonError:
        return "unreadable"


def _id(value: JsonValue) -> str:
    if not isinstance(value, str) or not value.isprintable() or len(value.encode(errors="replace")) > MAX_ID:
        return ""
    return value


def _object(value: JsonValue) -> Mapping[str, JsonValue]:
    return value if isinstance(value, dict) else {}


def _list(value: JsonValue) -> Sequence[JsonValue]:
    return value if isinstance(value, list) else ()
