"""Signing a browser in and out (section A.1): a token or a one-time code becomes a cookie that scripts cannot read.

Cookies are sent along by themselves, whatever page asks. So a request that changes something and comes with one must
be this host's own page's, and hold what only such a page can have read: a text made from the cookie (CSRF).
"""

import hashlib
import hmac
from typing import Final

from aiohttp import hdrs, web

from crypto.canonical import JsonValue
from replica.api.errors import forbidden
from replica.api.guard import Guard
from replica.api.tokens import PAGE_DAYS

CSRF_HEADER: Final = "X-CSRF-Token"

SAFE: Final = ("GET", "HEAD", "OPTIONS")

_SECONDS: Final = PAGE_DAYS * 24 * 3600


def cookie_name(request: web.Request) -> str:
    """The name of this host's cookie: browsers send those of all ports of a machine alike."""
    port = request.headers.get(hdrs.HOST, "").rpartition("]")[2].rpartition(":")[2]
    return f"dmp-{port}" if port.isascii() and port.isdigit() else "dmp"


def cookie_of(request: web.Request) -> str | None:
    """The secret in this host's cookie."""
    return request.cookies.get(cookie_name(request))


def set_cookie(request: web.Request, response: web.Response, secret: str) -> None:
    """Sign the browser in."""
    response.set_cookie(
        cookie_name(request),
        secret,
        max_age=_SECONDS,
        path="/",
        httponly=True,
        samesite="Strict",
        secure=request.headers.get(hdrs.ORIGIN, "").startswith("https:"),
    )


def clear_cookie(request: web.Request, response: web.Response) -> None:
    """Sign the browser out."""
    response.del_cookie(cookie_name(request), path="/", httponly=True, samesite="Strict")


def csrf_of(secret: str) -> str:
    """What a page sends along with each request that changes something."""
    return hashlib.sha256(b"dmp csrf\n" + secret.encode(errors="surrogatepass")).hexdigest()[:32]


def check_csrf(request: web.Request, guard: Guard, secret: str) -> None:
    """Check that a request with a cookie, which changes something, is this host's own page's. Raises Refusal."""
    sent = request.headers.get(CSRF_HEADER, "")
    right = hmac.compare_digest(sent.encode(errors="replace"), csrf_of(secret).encode())
    if not right or not guard.is_own_origin(request):
        raise forbidden(
            f"a browser must send the {CSRF_HEADER} that GET /node/session says, from a page of this host"
        )


def session_json(address: str | None, tier: str | None, secret: str) -> dict[str, JsonValue]:
    """Whose browser it is, and what its page needs to know."""
    return {"address": address, "tier": tier, "csrf": csrf_of(secret)}
