"""The page's files, served as they are: read once, by their names, with headers that let a browser do nothing else.

What the page shows is other people's text. It is built of text nodes alone (`dom.js`), and should that ever fail, the
policy here still runs no script and fetches nothing that is not one of these files or this host's own answer.
"""

from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path
from typing import Final

from aiohttp import hdrs, web

POLICY: Final = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "connect-src 'self'",
        "img-src 'self' data:",
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    )
)
"""The Content-Security-Policy of everything here."""

HEADERS: Final = {
    "Content-Security-Policy": POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    hdrs.CACHE_CONTROL: "no-cache",  # kept, and asked for each time; what they show is never kept
}

FOLDER: Final = Path(__file__).parent
PREFIX: Final = "/web/"
START: Final = "index.html"

TYPES: Final = {
    ".html": "text/html",
    ".css": "text/css",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
}
"""What is served, by the suffixes of files."""


def routes(folder: Path = FOLDER) -> Iterable[web.RouteDef]:
    """The page at `/`, and what it is made of below `/web/`."""
    for path in sorted(folder.iterdir()):
        if path.suffix in TYPES:
            at = "/" if path.name == START else f"{PREFIX}{path.name}"
            yield web.get(at, _File(path).serve, allow_head=True)


class _File:
    """One file, as it was when the service began."""

    def __init__(self, path: Path) -> None:
        self._body = path.read_bytes()
        self._type = TYPES[path.suffix]
        self._tag = sha256(self._body).hexdigest()[:16]

    async def serve(self, request: web.Request) -> web.Response:
        """The file, or that the browser has it already."""
        known = request.if_none_match or ()
        if any(each.value == self._tag for each in known):
            response = web.Response(status=304, headers=HEADERS)
        else:
            response = web.Response(
                body=self._body, content_type=self._type, charset="utf-8", headers=HEADERS
            )
        response.etag = self._tag
        return response
