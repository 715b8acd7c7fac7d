"""Members of what a client sends, read once into typed values; each raises DmpError `invalid` on its field."""

from core.errors import invalid
from core.fields import as_text
from core.text import is_one_line, utf8_len
from crypto.canonical import JsonValue


def list_of(value: JsonValue, field: str, most: int) -> list[JsonValue]:
    """A list of at most so many entries."""
    if not isinstance(value, list):
        raise invalid(field, f"{field} must be a list")
    if len(value) > most:
        raise invalid(field, f"{field} may list {most} entries; it lists {len(value)}")
    return value


def text(value: JsonValue, field: str, most: int) -> str:
    """Text of at most so many bytes."""
    found = as_text(value, field)
    try:
        size = utf8_len(found)
    except UnicodeEncodeError:
        raise invalid(field, f"{field} holds half of a surrogate pair; send whole characters") from None
    if size > most:
        raise invalid(field, f"{field} may take {most} bytes; it takes {size}")
    return found


def line(value: JsonValue, field: str, most: int) -> str:
    """Text on one line of at most so many bytes."""
    found = text(value, field, most)
    if not is_one_line(found):
        raise invalid(field, f"{field} must be one line")
    return found
