"""What is checked of every request before anybody looks at who makes it.

A page of another site that a person happens to look at may ask this host anything their browser lets it. Under a name
of its own that leads here (DNS rebinding) it would even read the answers, so requests for other names are refused. A
request that a page of another origin makes is refused as well, other ports of this machine included.
"""

from collections.abc import Collection
from typing import Final
from urllib.parse import urlsplit

from aiohttp import hdrs, web

from replica.api.errors import forbidden

LOOPBACK: Final = ("localhost", "127.0.0.1", "::1")

_FOREIGN: Final = ("cross-site", "same-site")
"""What browsers say of a request (Sec-Fetch-Site) that another origin's page makes."""


class Guard:
    """Knows the names this host is reached by: its own machine's, and those it was given, such as a proxy's."""

    def __init__(self, names: Collection[str]) -> None:
        self._names = frozenset(name.lower() for name in names)

    def check(self, request: web.Request) -> None:
        """Raise Refusal for a request that is meant for another host, or comes from a page of another."""
        if not self._is_own(request, request.headers.get(hdrs.HOST, "")):
            raise forbidden(
                "the Host header names another host; use the address that `dmp serve` shows, or let it know of the "
                "name"
            )
        if hdrs.ORIGIN in request.headers and not self.is_own_origin(request):
            raise forbidden("a page of another origin may not use this host")
        if request.headers.get("Sec-Fetch-Site") in _FOREIGN and not _is_navigation(request):
            raise forbidden("a page of another origin may not use this host")

    def is_own_origin(self, request: web.Request) -> bool:
        """Whether the request says that a page of this host makes it."""
        origin = request.headers.get(hdrs.ORIGIN, "")
        return origin in (f"http://{request.headers[hdrs.HOST]}", f"https://{request.headers[hdrs.HOST]}")

    def _is_own(self, request: web.Request, host: str) -> bool:
        try:
            parts = urlsplit(f"//{host}")
            name, port = (parts.hostname or "").lower(), parts.port
        except ValueError:
            return False
        if parts.netloc != host or "@" in host:  # it holds more than a name and a port
            return False
        if name in self._names:
            return True
        return name in LOOPBACK and (port or 80) == _port(request)


def _port(request: web.Request) -> int | None:
    """The port that the request came in by."""
    own = None if request.transport is None else request.transport.get_extra_info("sockname")
    return own[1] if isinstance(own, tuple) else None


def _is_navigation(request: web.Request) -> bool:
    """Whether a person follows a link, and does not act by it."""
    return request.method == "GET" and request.headers.get("Sec-Fetch-Mode") == "navigate"
