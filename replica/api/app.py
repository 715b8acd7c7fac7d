"""The application: `application` puts it together, for whoever serves it."""

import json
import logging
from collections.abc import Awaitable, Callable, Collection
from pathlib import Path
from typing import Final

from aiohttp import hdrs, web

from core.errors import Code
from crypto.canonical import JsonValue
from replica.api.errors import Refusal
from replica.api.guard import Guard
from replica.service.changes import Changes

MAX_BODY_BYTES: Final = 1024 * 1024
"""What a request may hold: a body and data of 64 KiB each, however they are escaped."""

_log = logging.getLogger(__name__)

ROOT: Final = web.AppKey("root", Path)
CHANGES: Final = web.AppKey("changes", Changes)

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def application(root: Path, changes: Changes, *, names: Collection[str] = ()) -> web.Application:
    """The API of the replica at `root`, to be served by aiohttp; `changes` tells of commits in its store.

    `names` are host names that it answers to besides this machine's own, such as that of a proxy in front. Serve it
    on a loopback address unless there is one.
    """
    door = _Door(Guard(names))
    app = web.Application(middlewares=[door.each], client_max_size=MAX_BODY_BYTES)
    app[ROOT], app[CHANGES] = root, changes
    app.on_response_prepare.append(_plain)
    app.add_routes([web.get(path, _health, allow_head=False) for path in ("/health", "/api/health")])
    return app


class _Door:
    """Through which every request comes, and every refusal leaves."""

    def __init__(self, guard: Guard) -> None:
        self._guard = guard

    @web.middleware
    async def each(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        try:
            self._guard.check(request)
            return await handler(request)
        except Refusal as refusal:
            return refused(refusal)
        except web.HTTPException as error:
            return refused(_of_http(error))
        except ConnectionError:
            raise
        except Exception as error:  # noqa: BLE001 - what was asked is not logged, only what went wrong here
            _log.error("a request failed: %s", type(error).__name__)
            return refused(Refusal(500, "bug", "this is a bug in dmp; nothing that was done is lost"))


def answer(status: int, value: JsonValue, headers: dict[str, str] | None = None) -> web.Response:
    """An answer in JSON, in ASCII: no line break of section 1.4 is left raw in it (section 6.8)."""
    return web.Response(
        status=status, text=json.dumps(value), content_type="application/json", headers=headers
    )


def refused(refusal: Refusal) -> web.Response:
    """The answer to a request that is refused."""
    return answer(refusal.status, refusal.to_json(), dict(refusal.headers))


def _of_http(error: web.HTTPException) -> Refusal:
    kept: dict[str, str] = {
        name: value for name in (hdrs.ALLOW,) if (value := error.headers.get(name)) is not None
    }
    match error.status:
        case 404:
            said = "there is nothing at this path; /openapi.json lists what there is"
            return Refusal(404, str(Code.NOT_FOUND), said)
        case 405:
            return Refusal(
                405, str(Code.INVALID), f"use {kept.get(hdrs.ALLOW, 'another method')} here", headers=kept
            )
        case 413:
            return Refusal(413, str(Code.INVALID), f"a request may hold {MAX_BODY_BYTES} bytes")
    return Refusal(error.status, str(Code.INVALID), error.reason)


async def _health(_: web.Request) -> web.Response:
    return answer(200, {"status": "ok"})


async def _plain(_: web.Request, response: web.StreamResponse) -> None:
    response.headers.pop(hdrs.SERVER, None)
    response.headers.setdefault(hdrs.CACHE_CONTROL, "no-store")
    response.headers.setdefault("X-Content-Type-Options", "nosniff")
