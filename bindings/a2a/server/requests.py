"""What every request of the listener is read by: its bearer, its version, its extensions and its body.

The bearer comes first, and nothing of a body is read before it is known to be a client's.
"""

import asyncio
from typing import Final

from aiohttp import hdrs, web

from bindings.a2a.errors import Reason, Refused, nobody
from bindings.a2a.extensions import EXTENSIONS
from bindings.a2a.presenting import JsonObject
from crypto.canonical import JsonError, JsonValue, decode, parse

MAX_BODY_BYTES: Final = 256 * 1024
BODY_SECONDS: Final = 20.0
"""How long a client may take to send a request's body."""

ACTIVATES: Final = "A2A-Extensions"
VERSION: Final = "A2A-Version"

_VERSIONS: Final = ("", "1.0")
_TYPES: Final = ("application/json", "application/a2a+json")


def secret_of(asked: web.Request) -> str:
    """The bearer token of a request. Raises Refused for one without."""
    scheme, _, secret = asked.headers.get(hdrs.AUTHORIZATION, "").partition(" ")
    if scheme.lower() != "bearer" or not secret.strip():
        raise nobody()
    return secret.strip()


def check_version(asked: web.Request) -> None:
    """Raise Refused for a version of A2A that is not spoken here; a request without one is taken for 1.0."""
    if header(asked, VERSION) not in _VERSIONS:
        raise Refused(Reason.VERSION_NOT_SUPPORTED, "A2A 1.0 is spoken here")


def header(asked: web.Request, name: str) -> str:
    """A header's value, of all its lines."""
    return ",".join(asked.headers.getall(name, []))


def active(asked: web.Request, message: JsonValue = None) -> frozenset[str]:
    """The extensions of this binding that a request activates, by its header or by its message (section 8.3)."""
    named = {each.strip() for each in header(asked, ACTIVATES).split(",")}
    listed = message.get("extensions") if isinstance(message, dict) else None
    if isinstance(listed, list):
        named |= {each for each in listed if isinstance(each, str)}
    return frozenset(named & {*EXTENSIONS})


def echoed(extensions: frozenset[str]) -> dict[str, str]:
    """The header that names the extensions an answer was made with."""
    return {ACTIVATES: ", ".join(each for each in EXTENSIONS if each in extensions)} if extensions else {}


async def body(asked: web.Request) -> JsonObject:
    """A request's body, which is a JSON object. Raises Refused."""
    if asked.content_type not in _TYPES:
        raise Refused(Reason.CONTENT_TYPE_NOT_SUPPORTED, f"send {' or '.join(_TYPES)}")
    try:
        async with asyncio.timeout(BODY_SECONDS):
            raw = await asked.read()
    except TimeoutError:
        raise Refused(Reason.REQUEST_TIMEOUT, "the request's body did not come") from None
    try:
        found = parse(decode(raw))
    except JsonError as error:
        raise Refused(Reason.INVALID_REQUEST, f"the request is no JSON: {error}") from None
    if found.duplicates:  # of which another reader may keep another value
        raise Refused(Reason.INVALID_REQUEST, "an object of the request has a member twice")
    if not isinstance(found.value, dict):
        raise Refused(Reason.INVALID_REQUEST, "a request is a JSON object")
    return found.value
