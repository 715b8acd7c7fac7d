"""What an adapter declares about itself before the first vector (section 12.4.7)."""

import re
from dataclasses import dataclass
from typing import Any, Final

from crypto.canonical import JsonValue
from vectors.runner.document import CAPABILITIES, PREFIXES, PROFILES
from vectors.runner.patterns import PatternFault, find
from vectors.runner.shape import ShapeError, listed, matching, one_of, record, sentence, text
from vectors.runner.text import is_identifier, lines

_WAKE: Final = "wake"
_MOST_ADDRESS_BYTES: Final = 256
_AGENT: Final = re.compile(r"agent:([^/:]+)(?:/([^/:]+))?")


def _system_address(value: JsonValue, place: str) -> None:
    found = _AGENT.fullmatch(value) if isinstance(value, str) else None
    if (
        found is None
        or len(found[0]) > _MOST_ADDRESS_BYTES
        or not all(is_identifier(part) for part in found.groups() if part is not None)
    ):
        raise ShapeError(place, "is not an agent address, such as agent:host")


def _prefix(value: JsonValue, place: str) -> None:
    if not isinstance(value, str) or not value or len(lines(value)) > 1:
        raise ShapeError(place, "is not a text that can start a line")


def _pattern(value: JsonValue, place: str) -> None:
    text(value, place)
    try:
        find(str(value), "")
    except PatternFault as fault:
        raise ShapeError(place, str(fault)) from None


_HELLO: Final = record(
    {
        "dmp": one_of("hello"),
        "implementation": record({"name": sentence, "version": sentence}, open_ended=True),
        "classes": listed(one_of(*PREFIXES), least=1),
        "profiles": listed(one_of(*PROFILES), least=1),
        "capabilities": listed(one_of(*CAPABILITIES)),
        "systemAddress": _system_address,
        "gateTypes": listed(matching("[a-z0-9][a-z0-9._-]*", "a gate type")),
        "render": record(
            {
                "quotePrefix": _prefix,
                "header": _pattern,
                "hostLines": listed(_pattern),
                "digestLead": _pattern,
            },
            open_ended=True,
        ),
    },
    open_ended=True,
)


@dataclass(frozen=True, slots=True)
class Forms:
    """How the implementation renders pushes and digests (section 6.8); patterns are ECMAScript's."""

    quote_prefix: str
    header: str
    host_lines: tuple[str, ...]
    digest_lead: str


@dataclass(frozen=True, slots=True)
class Hello:
    """An adapter's declaration."""

    name: str
    version: str
    classes: frozenset[str]
    profiles: frozenset[str]
    capabilities: frozenset[str]
    system_address: str
    gate_types: frozenset[str]
    forms: Forms


def read_hello(value: Any) -> Hello:
    """Read an adapter's first line. Raises ShapeError for a malformed one."""
    _HELLO(value, "")
    if _WAKE not in value["gateTypes"]:
        raise ShapeError("gateTypes", "does not include wake, which every host implements (section 5.6)")
    implementation, forms = value["implementation"], value["render"]
    return Hello(
        name=implementation["name"],
        version=implementation["version"],
        classes=frozenset(value["classes"]),
        profiles=frozenset(value["profiles"]),
        capabilities=frozenset(value["capabilities"]),
        system_address=value["systemAddress"],
        gate_types=frozenset(value["gateTypes"]),
        forms=Forms(forms["quotePrefix"], forms["header"], tuple(forms["hostLines"]), forms["digestLead"]),
    )
