"""Others' words inside this program's own sentences: they must not pass for more than they are."""

from typing import Final

QUOTED: Final = 300
"""Characters of others' words that one sentence repeats."""


def quoted(text: str, limit: int = QUOTED) -> str:
    """Others' words on one line, in quotation marks that they cannot close, cut to `limit` characters."""
    line = "".join(character if character.isprintable() else " " for character in text[:limit])
    inner = line.replace("“", '"').replace("”", '"')
    return f"“{inner}{'…' if len(text) > limit else ''}”"
