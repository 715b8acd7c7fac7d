"""Reading an agent card that somebody else wrote, and deciding how its agent is called (section 8.9, steps 2 and 4).

Nothing in a card is followed or trusted: what is shown of it is cut to a length, and what is used is checked.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from bindings.a2a.peers.peer import BINDINGS, About, Binding, Declared, Interface, Skill
from core.errors import DmpError, invalid
from crypto.canonical import JsonError, JsonValue, canonical_size, decode, parse
from replica.quoting import quoted

MAX_NAME: Final = 200
MAX_DESCRIPTION: Final = 2_000
MAX_SKILLS: Final = 50
MAX_EXTENSIONS: Final = 20
MAX_PARAMS: Final = 8 * 1024
"""Bytes of an extension's parameters that are kept."""

MAX_SCHEMES: Final = 50

_HEADER: Final = re.compile("[A-Za-z0-9!#$%&'*+.^_`|~-]{1,64}")
_NOT_FOR_KEYS: Final = re.compile(
    "host|connection|content-.*|transfer-encoding|upgrade|te|trailer|cookie|accept.*|expect|keep-alive|a2a-.*|"
    "user-agent|via",
    re.IGNORECASE,
)
"""Headers that mean something of their own."""

FIELD: Final = "card"
"""The field of every refusal here."""


@dataclass(frozen=True, slots=True)
class Card:
    """What a card offers that this host can use."""

    interface: Interface
    about: About


def read_card(body: bytes, known: Collection[str]) -> Card:
    """Read a card. `known` are the extensions that this host can speak.

    Raises DmpError `invalid` on `card`: for no card, for one without an interface or a security scheme this host can
    use, and for one that requires another extension.
    """
    try:
        found = parse(decode(body)).value
    except JsonError:
        raise invalid(FIELD, "what is at this URL is not JSON, and so no agent card") from None
    if not isinstance(found, dict):
        raise invalid(FIELD, "what is at this URL is no agent card")
    extensions = tuple(_extensions(found))
    for each in extensions:
        if each.required and each.uri not in known:
            raise invalid(
                FIELD, f"the agent requires an extension this host does not speak: {quoted(each.uri)}"
            )
    url, binding, tenant = _interface(found)
    header, prefix = _security(found)
    streaming = _object(found.get("capabilities")).get("streaming") is True
    about = About(
        _text(found.get("name"), MAX_NAME),
        _text(found.get("description"), MAX_DESCRIPTION),
        tuple(_skills(found)),
        extensions,
    )
    return Card(Interface(url, binding, tenant, header, prefix, streaming), about)


def _interface(card: Mapping[str, JsonValue]) -> tuple[str, Binding, str]:
    """The first interface that this host can call."""
    for each in map(_object, _list(card.get("supportedInterfaces"))):
        named = next((binding for binding in BINDINGS if each.get("protocolBinding") == binding), None)
        url, tenant = each.get("url"), each.get("tenant", "")
        if each.get("protocolVersion") != "1.0" or named is None or not isinstance(url, str):
            continue
        if (
            not isinstance(tenant, str)
            or len(tenant) > MAX_NAME
            or re.fullmatch("[A-Za-z0-9._~-]*", tenant) is None
        ):
            continue
        return url, named, tenant
    raise invalid(FIELD, "the agent offers no interface of A2A 1.0 over HTTP+JSON or JSONRPC")


def _security(card: Mapping[str, JsonValue]) -> tuple[str, str]:
    """The header that shows a credential, and what stands before the credential in it."""
    schemes = _object(card.get("securitySchemes"))
    required = [_object(_object(each).get("schemes")) for each in _list(card.get("securityRequirements"))]
    alone = [next(iter(each)) for each in required if len(each) == 1]
    for name in alone if required else list(schemes)[:MAX_SCHEMES]:
        shown = _shown(_object(schemes.get(name)))
        if shown is not None:
            return shown
    raise invalid(
        FIELD, "the agent takes no bearer token and no API key in a header, which are what this host can show"
    )


def _shown(scheme: Mapping[str, JsonValue]) -> tuple[str, str] | None:
    http, key = _object(scheme.get("httpAuthSecurityScheme")), _object(scheme.get("apiKeySecurityScheme"))
    named = http.get("scheme")
    if isinstance(named, str) and named.lower() == "bearer":
        return "Authorization", "Bearer "
    header = key.get("name")
    if key.get("location") != "header" or not isinstance(header, str) or _HEADER.fullmatch(header) is None:
        return None
    return None if _NOT_FOR_KEYS.fullmatch(header) else (header, "")


def _skills(card: Mapping[str, JsonValue]) -> Iterator[Skill]:
    for each in map(_object, _list(card.get("skills"))[:MAX_SKILLS]):
        yield Skill(
            _text(each.get("id"), MAX_NAME),
            _text(each.get("name"), MAX_NAME),
            _text(each.get("description"), MAX_DESCRIPTION),
        )


def _extensions(card: Mapping[str, JsonValue]) -> Iterator[Declared]:
    given = _list(_object(card.get("capabilities")).get("extensions"))
    if len(given) > MAX_EXTENSIONS:
        raise invalid(FIELD, f"the agent declares more than {MAX_EXTENSIONS} extensions")
    for each in map(_object, given):
        uri, params = each.get("uri"), _object(each.get("params"))
        if not isinstance(uri, str) or not uri.isascii() or not uri.isprintable() or len(uri) > 512:
            continue
        yield Declared(uri, each.get("required") is True, params if _is_small(params) else {})


def _is_small(params: Mapping[str, JsonValue]) -> bool:
    try:
        return canonical_size(dict(params)) <= MAX_PARAMS
    except JsonError:
        return False


def _object(value: JsonValue) -> Mapping[str, JsonValue]:
    return value if isinstance(value, dict) else {}


def _list(value: JsonValue) -> Sequence[JsonValue]:
    return value if isinstance(value, list) else ()


def _text(value: JsonValue, most: int) -> str:
    """A text of others, on one line and cut; a lone surrogate in it is none any more."""
    if not isinstance(value, str):
        return ""
    line = "".join(each if each.isprintable() else " " for each in value[:most])
    return line.encode(errors="replace").decode().strip()


def refused(text: str) -> DmpError:
    """The refusal of a card."""
    return invalid(FIELD, text)
