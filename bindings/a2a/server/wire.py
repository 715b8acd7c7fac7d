"""The HTTP of the A2A edge, as every listener of it has it: bearers, bodies, headers and answers.

Who asks is looked at before a byte of what they send is read. One answer is given for every bearer that is no
client's own, whatever else it is good for.
"""

import asyncio
import json
from collections.abc import Mapping
from typing import Final

from aiohttp import hdrs, web

from bindings.a2a.errors import Reason, Refused, nobody
from bindings.a2a.extensions import EXTENSIONS
from crypto.canonical import JsonError, JsonValue, decode, parse

MAX_BODY_BYTES: Final = 256 * 1024
BODY_SECONDS: Final = 20.0
"""How long a body may take to arrive."""

EXTENSIONS_HEADER: Final = "A2A-Extensions"
VERSION_HEADER: Final = "A2A-Version"

_VERSIONS: Final = ("", "1.0")
_TYPES: Final = ("application/json", "application/a2a+json")
_MAX_SECRET: Final = 200


def secret_of(request: web.Request) -> str:
    """The bearer token of a request. Raises Refused where it has none, or no single one."""
    given = request.headers.getall(hdrs.AUTHORIZATION, [])
    scheme, _, secret = (given[0] if len(given) == 1 else "").partition(" ")
    secret = secret.strip()
    if scheme.lower() != "bearer" or not secret or len(secret) > _MAX_SECRET:
        raise nobody()
    return secret


def check_version(request: web.Request) -> None:
    """Check that A2A is spoken in a version that is spoken here. Raises Refused."""
    given = request.headers.get(VERSION_HEADER, request.query.get(VERSION_HEADER, ""))
    if given.strip() not in _VERSIONS:
        raise Refused(Reason.VERSION_NOT_SUPPORTED, "A2A 1.0 is spoken here")


def named_extensions(request: web.Request) -> frozenset[str]:
    """The extensions of this binding that a request names in its header (section 8.3)."""
    named = ",".join(request.headers.getall(EXTENSIONS_HEADER, [])).split(",")
    return frozenset(EXTENSIONS) & {each.strip() for each in named}


async def read_json(request: web.Request) -> JsonValue:
    """The body of a request, which came in time, fits and is strict JSON. Raises Refused."""
    if request.content_type not in _TYPES:
        raise Refused(Reason.UNSUPPORTED_MEDIA_TYPE, f"send {' or '.join(_TYPES)}")
    if hdrs.CONTENT_ENCODING in request.headers:  # a small body may unpack to one that fills the memory
        raise Refused(Reason.UNSUPPORTED_MEDIA_TYPE, "send the request as it is, without a Content-Encoding")
    if (request.content_length or 0) > MAX_BODY_BYTES:
        raise too_large()
    try:
        async with asyncio.timeout(BODY_SECONDS):
            body = await request.read()
    except TimeoutError:
        raise Refused(Reason.REQUEST_TIMEOUT, "the request took too long to arrive") from None
    except web.HTTPRequestEntityTooLarge:
        raise too_large() from None
    except web.RequestPayloadError:
        raise Refused(Reason.INVALID_PARAMS, "the request did not arrive whole") from None
    try:
        found = parse(decode(body))
    except JsonError as error:
        raise Refused(Reason.INVALID_PARAMS, f"the request is no JSON that is taken: {error}") from None
    if found.duplicates:  # of which whoever else reads it may keep another value
        raise Refused(Reason.INVALID_PARAMS, "an object of the request has a member twice")
    return found.value


def too_large() -> Refused:
    """The refusal of a body that does not fit."""
    return Refused(Reason.REQUEST_TOO_LARGE, f"a request has at most {MAX_BODY_BYTES} bytes")


def answer(
    value: JsonValue,
    active: frozenset[str] = frozenset(),
    *,
    status: int = 200,
    headers: Mapping[str, str] = {},
) -> web.Response:
    """An answer in JSON, in ASCII: nothing in it breaks a line. It names the extensions that are active."""
    return web.Response(
        status=status,
        text=json.dumps(value),
        content_type="application/json",
        headers={**echo(active), **headers},
    )


def refusal(error: Refused) -> web.Response:
    """What answers a request that is refused. What of it was not read is not waited for."""
    response = answer(error.to_json(), status=error.status, headers=error.all_headers)
    response.force_close()
    return response


def echo(active: frozenset[str]) -> dict[str, str]:
    """The header that names active extensions, in the order of the document."""
    return {EXTENSIONS_HEADER: ", ".join(each for each in EXTENSIONS if each in active)} if active else {}
