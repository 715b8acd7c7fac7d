"""What others send becomes a body, data and choices of this host's (section 8.8), pure.

All data of external senders is stored under the URI of envelope/v1. So it has no `type` of its own, and is never gate
data or a marker, whatever its sender writes. Clients are refused what they can put right; a peer, which has gone on
meanwhile, is cut to fit.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from bindings.a2a.extensions import ENVELOPE
from core.errors import invalid
from core.message import ABSENT, Absent, Data
from core.text import is_blank, trimmed, unbroken, utf8_len
from core.validate import MAX_BODY_BYTES, MAX_CHOICES, MAX_DATA_BYTES, MAX_LINE_BYTES
from crypto.canonical import JsonError, JsonValue, canonical_size

NO_TEXT: Final = "(no text)"
OMITTED: Final = "(data part over 64 KiB omitted)"
TRUNCATED: Final = "[… truncated by Dispatch]"

_BREAK: Final = "\n\n"


@dataclass(frozen=True, slots=True)
class Content:
    """What is stored of an external sender's message: a body that is not blank, and its data, wrapped."""

    body: str
    data: Data


def wrap(parts: Sequence[JsonValue]) -> Data:
    """The data of a message that came with these data parts: the one part, or a list of several, under the URI.

    ABSENT where there are none, and where they take more than 64 KiB so or cannot be canonical JSON.
    """
    if not parts:
        return ABSENT
    wrapped: JsonValue = {ENVELOPE: parts[0] if len(parts) == 1 else list(parts)}
    try:
        return wrapped if canonical_size(wrapped) <= MAX_DATA_BYTES else ABSENT
    except JsonError:
        return ABSENT


def unwrap(data: Data) -> Data:
    """What an external sender's data was before it was wrapped; any other data as it is.

    For the sender alone: to anyone else the data goes as it is stored.
    """
    return data[ENVELOPE] if isinstance(data, dict) and data.keys() == {ENVELOPE} else data


def from_client(text: str, parts: Sequence[JsonValue]) -> Content:
    """What is stored of a client's message. Raises DmpError `invalid` on `body` for nothing, and for too much."""
    _check_size(text)
    if is_blank(text) and not parts:
        raise invalid("body", "the message says nothing; send a text part or a data part")
    content = _content(text, parts)
    _check_size(content.body)
    return content


def from_peer(text: str, parts: Sequence[JsonValue]) -> Content:
    """What is stored of a peer's message, cut to fit; the body is empty where it says nothing.

    Half a character of it becomes a question mark, since nothing stores one.
    """
    whole = text.encode(errors="replace").decode()
    content = _content(whole, parts)
    if utf8_len(content.body) <= MAX_BODY_BYTES:
        return content
    ending = f"\n{TRUNCATED}"
    if content.data is ABSENT and parts:
        ending += f"{_BREAK}{OMITTED}"
    return Content(_cut(whole, MAX_BODY_BYTES - utf8_len(ending)) + ending, content.data)


def peer_choices(offered: Iterable[JsonValue]) -> tuple[str, ...] | None:
    """The choices that a peer's question may have here; None where none is left.

    Each on one line, trimmed, at most 200 bytes, once; the first 20 of those.
    """
    found: dict[str, None] = {}
    for each in offered:
        if isinstance(each, str):
            whole = each.encode(errors="replace").decode()
            line = trimmed(_cut(trimmed(unbroken(whole)), MAX_LINE_BYTES))
            if line:
                found[line] = None
        if len(found) == MAX_CHOICES:
            break
    return tuple(found) or None


def _content(text: str, parts: Sequence[JsonValue]) -> Content:
    data = wrap(parts)
    body = NO_TEXT if is_blank(text) and parts else text
    if parts and isinstance(data, Absent):
        body = f"{body}{_BREAK}{OMITTED}"
    return Content(body, data)


def _check_size(body: str) -> None:
    try:
        size = utf8_len(body)
    except UnicodeEncodeError:
        raise invalid("body", "the body holds half of a surrogate pair; send whole characters") from None
    if size > MAX_BODY_BYTES:
        raise invalid("body", f"the body may take {MAX_BODY_BYTES} bytes; it takes {size}")


def _cut(text: str, size: int) -> str:
    """The longest beginning of a text that takes at most so many bytes."""
    return text.encode()[:size].decode(errors="ignore")
