"""Text as section 1.4 counts, splits and trims it: bytes of UTF-8, line breaks, blank."""

import json
import re
from typing import Final

_LINE_BREAK: Final = re.compile("\r\n|[\n\r\x0b\x0c\x85\u2028\u2029]")

# ECMAScript's String.prototype.trim, spelled out; NEL is not in it, so Python's own strip() differs.
_TRIMMED: Final = (
    "\t\n\x0b\x0c\r \xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)

_SHOWN: Final = 80


def utf8_len(text: str) -> int:
    """Return the length of a text in bytes of UTF-8. Raises UnicodeEncodeError for a lone surrogate."""
    return len(text) if text.isascii() else len(text.encode())


def is_one_line(text: str) -> bool:
    """Whether a text holds no line break."""
    return _LINE_BREAK.search(text) is None


def lines(text: str) -> list[str]:
    """Split a text at every line break; Python's own splitlines() splits at others too."""
    return _LINE_BREAK.split(text)


def first_line(text: str) -> str:
    """Return a text up to its first line break."""
    return _LINE_BREAK.split(text, 1)[0]


def is_blank(text: str) -> bool:
    """Whether nothing of a text is left once both ends are trimmed."""
    return not trimmed(text)


def trimmed(text: str) -> str:
    """Return a text without what is blank at its ends."""
    return text.strip(_TRIMMED)


def cut(text: str, characters: int) -> str:
    """Return a text of at most that many characters: of a longer one its beginning and `…`."""
    return text if len(text) <= characters else text[: characters - 1] + "…"


def unbroken(text: str) -> str:
    """Return a text on one line, with a space for each line break."""
    return " ".join(lines(text))


def shown(text: str) -> str:
    """Return a text as a sentence may quote it: in quotes, escaped to ASCII, cut to 80 characters.

    Errors reach terminals and other machines' problem lists, where text others wrote must not act.
    """
    return json.dumps(cut(text, _SHOWN))
