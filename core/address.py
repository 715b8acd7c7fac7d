"""Addresses: who sends and who receives (section 3)."""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from core.errors import invalid
from core.text import shown
from crypto.canonical import JsonValue

MAX_ADDRESS_BYTES: Final = 256
MAX_PART_BYTES: Final = 64
MAX_ALIAS_BYTES: Final = 40

_IDENTIFIER: Final = "[a-z0-9][a-z0-9._-]*"
_PART: Final = re.compile(_IDENTIFIER)

SENDING_SCHEMES: Final = ("human", "agent", "run")
SCHEMES: Final = (*SENDING_SCHEMES, "task", "channel", "a2a")


@dataclass(frozen=True, slots=True, eq=False)  # so that addresses are looked up without hashing what it holds
class Grammar:
    """How narrow a host takes work item and session ids (section 3.1)."""

    task: re.Pattern[str]
    run: re.Pattern[str]
    example: str


CORE: Final = Grammar(_PART, _PART, "an identifier such as t-4a8cce")
"""The grammar of section 3.1: ids are identifiers."""

DISPATCH: Final = Grammar(
    re.compile("[te]-[0-9a-f]{6,12}"),
    re.compile("r-[0-9a-f]{6,12}"),
    "t- or e- (a work item) or r- (a session), then 6 to 12 digits of lowercase hex",
)
"""The Dispatch profile's narrower ids (section C.1)."""


@dataclass(frozen=True, slots=True)
class Address:
    """A parsed address. `kind` is the scheme; the parts the scheme does not have are None."""

    kind: str
    text: str
    handle: str | None = None
    operator: str | None = None
    id: str | None = None
    name: str | None = None
    alias: str | None = None

    def to_json(self) -> dict[str, JsonValue]:
        """Return the form section 3.1 reports; an agent without an operator has a null one."""
        parts: dict[str, JsonValue] = {"kind": self.kind, "address": self.text}
        if self.kind == "agent":
            parts["operator"] = self.operator
        for name in ("handle", "id", "name", "alias"):
            part = getattr(self, name)
            if part is not None:
                parts[name] = part
        return parts


def is_identifier(text: str) -> bool:
    """Whether a text is an identifier of at most 64 bytes (section 1.4)."""
    return len(text) <= MAX_PART_BYTES and _PART.fullmatch(text) is not None


def parse_address(text: str, field: str | None, grammar: Grammar = CORE) -> Address:
    """Read an address. Raises DmpError `invalid` on `field`."""
    # No longer text is an address, and the cache below holds none.
    found = _parse(text, grammar) if len(text) <= MAX_ADDRESS_BYTES else f"is over {MAX_ADDRESS_BYTES} bytes"
    if isinstance(found, str):
        raise invalid(field, f"the address {shown(text)} {found}")
    return found


@lru_cache(maxsize=4096)
def _parse(text: str, grammar: Grammar) -> Address | str:
    """Return the address, or what is wrong with the text."""
    scheme, colon, rest = text.partition(":")
    if not colon or not scheme:
        return f"needs a scheme and a colon in front; the schemes are {', '.join(SCHEMES)}"
    if scheme not in SCHEMES:
        return f"has a scheme this host does not know; the schemes are {', '.join(SCHEMES)}"
    parts = rest.split("/")
    for part in parts:
        if len(part) > MAX_PART_BYTES:
            return f"has a part of over {MAX_PART_BYTES} bytes"
        if _PART.fullmatch(part) is None:
            return (
                "has a part that is no identifier: lowercase letters, digits, '.', '_' and '-', "
                "starting with a letter or a digit"
            )
    if scheme == "channel":
        return Address(scheme, text, name=rest)
    if scheme == "agent" and len(parts) == 2:
        return Address(scheme, text, handle=parts[1], operator=parts[0])
    if len(parts) > 1:
        return "has a '/' where its scheme has none"
    if scheme in ("human", "agent"):
        return Address(scheme, text, handle=rest)
    if scheme == "a2a":
        return _peer(text, rest)
    narrow = grammar.task if scheme == "task" else grammar.run
    if narrow.fullmatch(rest) is None:
        return f"has an id this host does not use; it is {grammar.example}"
    return Address(scheme, text, id=rest)


def _peer(text: str, alias: str) -> Address | str:
    """Return the address of a peer, whose alias is shorter than other parts are (section 8.9)."""
    if len(alias) > MAX_ALIAS_BYTES:
        return f"has an alias of over {MAX_ALIAS_BYTES} characters"
    return Address("a2a", text, alias=alias)
