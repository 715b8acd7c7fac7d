"""The parts of an A2A message: text, links and data (section 8.2), pure. Nothing that they name is fetched."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from bindings.a2a import fields
from core.errors import Code, DmpError, invalid
from core.fields import as_text
from core.text import cut, is_blank, unbroken
from crypto.canonical import JsonValue

MAX_URLS: Final = 20
MAX_URL_BYTES: Final = 2 * 1024

FIELD: Final = "message.parts"

_KINDS: Final = ("text", "raw", "url", "data")
"""The members of which a part has exactly one."""

_MAX_NAME: Final = 200
_NO_URL: Final = re.compile(r"[\x00-\x20\x7f]")
_NO_NAME: Final = re.compile(r"[\[\]()<>`\\\x00-\x1f\x7f]")
_ESCAPED: Final = str.maketrans({each: f"%{ord(each):02X}" for each in "()<>[]`\\"})


class ContentTypeNotSupportedError(DmpError):
    """A part of bytes, which a message has no place for: A2A's error of that name."""


@dataclass(frozen=True, slots=True)
class Parts:
    """What a message's parts say: a body, and the values of its data parts, in their order."""

    text: str
    data: tuple[JsonValue, ...]


def read_parts(value: JsonValue) -> Parts:
    """Read a message's parts: texts joined with a blank line, then each URL as a markdown link on a line of its own.

    Raises ContentTypeNotSupportedError for a part of bytes; DmpError `invalid` on `message.parts` or on the part.
    """
    if not isinstance(value, list) or not value:
        raise invalid(FIELD, "a message has one part or more")
    texts: list[str] = []
    links: list[str] = []
    data: list[JsonValue] = []
    for index, part in enumerate(value):
        field = f"{FIELD}[{index}]"
        if not isinstance(part, dict):
            raise invalid(field, "a part is an object")
        match _kind(part, field):
            case "text":
                texts.append(as_text(part["text"], f"{field}.text"))
            case "url":
                links.append(_link(part, field))
            case "data":
                data.append(part["data"])
            case _:
                raise ContentTypeNotSupportedError(
                    Code.INVALID, "parts of bytes are not taken; send text, data or a URL", field
                )
    if len(links) > MAX_URLS:
        raise invalid(FIELD, f"a message may have {MAX_URLS} URL parts; it has {len(links)}")
    said = [text for text in texts if not is_blank(text)]
    return Parts("\n\n".join([*said, "\n".join(links)] if links else said), tuple(data))


def _kind(part: Mapping[str, JsonValue], field: str) -> str:
    found = [name for name in _KINDS if name in part]
    if len(found) != 1:
        raise invalid(field, f"a part has exactly one of {', '.join(_KINDS)}")
    return found[0]


def _link(part: Mapping[str, JsonValue], field: str) -> str:
    url = fields.text(part["url"], f"{field}.url", MAX_URL_BYTES)
    if is_blank(url) or _NO_URL.search(url) or unbroken(url) != url:
        raise invalid(f"{field}.url", "a URL has no spaces, line breaks or control characters; escape them")
    escaped = url.translate(_ESCAPED)
    return f"[{_name(part.get('filename')) or escaped}]({escaped})"


def _name(filename: JsonValue) -> str:
    """What a link is called: the file's name, as far as it can stand in one."""
    if not isinstance(filename, str):
        return ""
    return cut(" ".join(_NO_NAME.sub(" ", unbroken(filename)).split()), _MAX_NAME)
