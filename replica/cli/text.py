"""Text for a terminal: what others wrote is shown, and never acts (design: nobody but `dmp` speaks as `dmp`).

Handles, device names, bodies and reasons come from other people and their machines. Their control characters,
escape sequences and marks that turn the direction of writing are shown as escapes, never sent on.
"""

import re
import unicodedata
from datetime import datetime
from typing import Final

_HIDDEN: Final = frozenset(("Cc", "Cf", "Cs", "Zl", "Zp"))
"""Unicode categories that act on a terminal or show nothing: controls, format marks, separators."""

_JOINERS: Final = "\u200c\u200d"
"""Format marks that scripts and emoji need between two characters, and that do nothing else."""

_LINE_BREAK: Final = re.compile("\r\n|[\n\r\x0b\x0c\x85\u2028\u2029]")
"""Every line break of section 1.4."""

_QUOTED_OR_TIMESTAMP: Final = re.compile(
    "“[^”]*”|([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}[.][0-9]{3}Z)"
)

_TOKEN: Final = re.compile("[^ ]+| +")

QUOTE: Final = "  | "
"""What every line of a body starts with, so that none can pass for a line of the program's own."""

CLIPPED: Final = 200
"""Characters of others' text in a sentence of the program's own."""


def escaped(text: str) -> str:
    """Return a text with every character that would act on a terminal written as an escape."""
    if text.isprintable():
        return text
    return "".join(char if _is_harmless(char) else _escape(char) for char in text)


def quoted(text: str, limit: int = CLIPPED) -> str:
    """Return others' words for a sentence: escaped, in quotation marks that they cannot close, cut short."""
    cut = text if len(text) <= limit else f"{text[:limit]}…"
    inner = escaped(cut).replace("“", '"').replace("”", '"')
    return f"“{inner}”"


def lines(text: str) -> list[str]:
    """Split a text at every line break; one without any is one line."""
    return _LINE_BREAK.split(text)


def body_lines(body: str) -> list[str]:
    """Return the lines of a body, escaped; tabs become spaces."""
    return [escaped(line.replace("\t", "    ")) for line in lines(body)]


def folded(text: str, width: int) -> list[str]:
    """Return a text of one line as the lines it takes in `width` terminal cells, broken between words."""
    found, current, taken = [], "", 0
    for token in _TOKEN.findall(text):
        for piece in _chopped(token, width):
            cells = _cells(piece)
            if current and taken + cells > width:
                found.append(current)
                current, taken = "", 0
            current += piece
            taken += cells
    return [*found, current]


def _cells(text: str) -> int:
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def _chopped(text: str, width: int) -> list[str]:
    if text.isascii():
        return [text[start : start + width] for start in range(0, len(text), width)]
    from rich.cells import chop_cells

    chopped = chop_cells(text, width)
    rest = text[sum(map(len, chopped)) :]  # what takes no cells at the end is left out there
    return [*chopped, rest] if rest else chopped


def moment(timestamp: str) -> str:
    """Return a timestamp of section 1.4 in this machine's own time zone, to the minute."""
    try:
        return datetime.fromisoformat(timestamp).astimezone().strftime("%Y-%m-%d %H:%M")
    except (ValueError, OverflowError):
        return escaped(timestamp)


def in_own_zone(sentence: str) -> str:
    """Return a sentence of the program's own with the timestamps outside its quotations as `moment` shows them."""
    return _QUOTED_OR_TIMESTAMP.sub(
        lambda found: found[0] if found[1] is None else moment(found[1]), sentence
    )


def listing(parts: list[str]) -> str:
    """Return `a`, `a and b`, or `a, b and c`."""
    return " and ".join(part for part in (", ".join(parts[:-1]), parts[-1]) if part) if parts else "nobody"


def counted(count: int, thing: str) -> str:
    """Return `1 message` or `3 messages`."""
    return f"{count} {thing}{'' if count == 1 else 's'}"


def _is_harmless(char: str) -> bool:
    return char in _JOINERS or unicodedata.category(char) not in _HIDDEN


def _escape(char: str) -> str:
    point = ord(char)
    if point < 0x100:
        return f"\\x{point:02x}"
    return f"\\u{point:04x}" if point < 0x10000 else f"\\U{point:08x}"
