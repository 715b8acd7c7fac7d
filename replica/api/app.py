"""The application: `application` puts it together, for whoever serves it."""

import asyncio
import json
import logging
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Final

from aiohttp import hdrs, web

from core.errors import Code, DmpError
from crypto.canonical import JsonValue
from replica.api import tokens
from replica.api.credentials import resolve
from replica.api.errors import Refusal, forbidden, unauthenticated
from replica.api.guard import Guard
from replica.api.openapi import document
from replica.api.reading import Given, admit, read, secret_of
from replica.api.routes import ROUTES
from replica.api.signing_in import (
    SAFE,
    check_csrf,
    clear_cookie,
    cookie_of,
    csrf_of,
    session_json,
    set_cookie,
)
from replica.api.sockets import HEARTBEAT_SECONDS, MAX_RECEIVED_BYTES, Hub, Socket
from replica.api.table import WAIT_SECONDS, Reply, Route, Wait, Work
from replica.api.workers import Workers
from replica.node import DirectoryNode, opened
from replica.records import tokens as token_rows
from replica.records.commits import CommitPoint
from replica.service.changes import Changes
from replica.web import pages
from transports.base import TransportError

MAX_BODY_BYTES: Final = 1024 * 1024
"""What a request may hold: a body and data of 64 KiB each, however they are escaped."""

MAX_SIGN_IN_BYTES: Final = 4 * 1024
"""What may be sent by whoever is not known yet."""

_THREADS: Final[Mapping[Work, int]] = {Work.READ: 2, Work.WRITE: 2, Work.FAR: 1}

_log = logging.getLogger(__name__)

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def application(root: Path, changes: Changes, *, names: Collection[str] = ()) -> web.Application:
    """The API of the replica at `root`, to be served by aiohttp; `changes` tells of commits in its store.

    `names` are host names that it answers to besides this machine's own, such as that of a proxy in front. Serve it
    on a loopback address unless there is one.
    """
    api = _Api(root, changes, Guard(names))
    app = web.Application(middlewares=[api.door], client_max_size=MAX_BODY_BYTES)
    app.on_response_prepare.append(_plain)
    app.cleanup_ctx.append(api.running)
    app.on_shutdown.append(api.shut)
    for route in ROUTES:
        app.router.add_route(route.method, route.path, api.handler(route))
    app.add_routes(pages.routes())
    return app


class _Api:
    """The handlers of one application, and what they share."""

    def __init__(self, root: Path, changes: Changes, guard: Guard) -> None:
        self._root = root
        self._changes = changes
        self._guard = guard
        self._document = json.dumps(document(ROUTES))
        self._pools: dict[Work, Workers] = {}
        self._hub: Hub | None = None
        self._special: Mapping[str, Handler] = {
            "health": self._health,
            "apiHealth": self._health,
            "openapi": self._openapi,
            "signIn": self._sign_in,
            "signOut": self._sign_out,
            "events": self._events,
            "openPage": self._open_page,
            "getSession": self._session,
        }

    # Running

    async def running(self, _: web.Application) -> AsyncIterator[None]:
        """The threads and the hub, for as long as the application runs."""
        self._pools = {
            work: Workers(self._recovered if work is Work.WRITE else self._opened, threads, work.name.lower())
            for work, threads in _THREADS.items()
        }
        self._hub = Hub(self._changes, self._pools[Work.READ])
        passing_on = asyncio.create_task(self._hub.run())
        yield
        passing_on.cancel()
        with suppress(asyncio.CancelledError):
            await passing_on
        for pool in self._pools.values():
            await asyncio.to_thread(pool.close)

    def _opened(self) -> AbstractContextManager[DirectoryNode]:
        return opened(self._root)

    @contextmanager
    def _recovered(self) -> Iterator[DirectoryNode]:
        """The replica, with what a process that is gone left undone taken up before anything is sent (section 6.3)."""
        with opened(self._root) as node:
            node.take_up()
            yield node

    async def shut(self, _: web.Application) -> None:
        """End what waits and listens, so that the rest may end."""
        self._live.close()

    @property
    def _live(self) -> Hub:
        assert self._hub is not None
        return self._hub

    # The door

    @web.middleware
    async def door(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Through which every request comes, and every refusal leaves."""
        try:
            self._guard.check(request)
            return await handler(request)
        except Refusal as refusal:
            return refused(refusal)
        except DmpError as error:
            return refused(Refusal.of(error))
        except web.HTTPException as error:
            return refused(_of_http(error))
        except TransportError as error:
            hint = f"; {error.hint}" if error.hint else ""
            return refused(Refusal(503, str(Code.UNAVAILABLE), f"{error.message}{hint}"))
        except ConnectionError:  # whoever asked is gone: there is nobody to tell, and nothing to log
            return web.Response(status=400)
        except (sqlite3.IntegrityError, sqlite3.ProgrammingError) as error:  # this program is at fault
            return _bug(error)
        except (sqlite3.DatabaseError, OSError):
            return refused(Refusal(503, str(Code.UNAVAILABLE), "the store cannot be used; look at the disk"))
        except Exception as error:  # noqa: BLE001 - what was asked is not logged, only what went wrong here
            return _bug(error)

    def handler(self, route: Route) -> Handler:
        """What answers the requests of a route."""
        special = self._special.get(route.name)
        if special is not None:
            return special

        async def handle(request: web.Request) -> web.StreamResponse:
            reply = await self._serve(request, route)
            return web.Response(status=204) if reply.body is None else answer(reply.status, reply.body)

        return handle

    # Routes of the table

    async def _serve(self, request: web.Request, route: Route) -> Reply:
        secret, cookie = secret_of(request)
        if cookie and request.method not in SAFE:
            check_csrf(request, self._guard, secret)
        if (
            route.takes is not None
        ):  # nobody's words are kept before it is known that they may say something here
            await self._pools[Work.READ].run(lambda node: admit(node, route, secret, cookie=cookie))
        given: Given | Refusal | DmpError
        try:
            given = await read(request, route)
        except (Refusal, DmpError) as fault:  # told to who may make such a request at all
            given = fault
        pool = self._pools[route.work]

        def work(node: DirectoryNode, *, patient: bool) -> Reply | Wait:
            caller = admit(node, route, secret, cookie=cookie)
            if isinstance(given, Exception):
                raise given
            return route.handler(node, given.by(caller, patient=patient))

        try:
            found = await pool.run(lambda node: work(node, patient=True))
            if isinstance(found, Reply):
                return found
            return await self._wait(
                found.question, lambda patient: pool.run(lambda node: work(node, patient=patient))
            )
        finally:
            if route.work is not Work.READ:
                self._changes.poke()

    async def _wait(self, question: str, ask: Callable[[bool], Awaitable[Reply | Wait]]) -> Reply:
        """Ask until there is an answer, or the time is over: again only when there is news."""
        loop = asyncio.get_running_loop()
        until = loop.time() + WAIT_SECONDS
        async with self._live.waiting(question) as news:
            while True:
                left = until - loop.time()
                found = await ask(left > 0 and not self._live.closing)
                if isinstance(found, Reply):
                    return found
                with suppress(TimeoutError):
                    await asyncio.wait_for(news.wait(), left)
                news.clear()

    # Routes that are served here

    async def _health(self, _: web.Request) -> web.Response:
        return answer(200, {"status": "ok"})

    async def _openapi(self, _: web.Request) -> web.Response:
        return web.Response(text=self._document, content_type="application/json")

    async def _sign_in(self, request: web.Request) -> web.Response:
        given = await _read_of_a_stranger(request)
        body = given.body if isinstance(given.body, dict) else {}
        secret = body.get("token")
        if not isinstance(secret, str):
            raise Refusal(400, str(Code.INVALID), "token must be a string", "token")
        made = await self._page_for(secret)
        response = answer(200, session_json(made.token.address, made.token.tier, made.secret))
        set_cookie(request, response, made.secret)
        return response

    async def _open_page(self, request: web.Request) -> web.Response:
        made = await self._page_for(request.query.get("code", ""), code=True)
        response = web.Response(status=303, headers={hdrs.LOCATION: "/", "Referrer-Policy": "no-referrer"})
        set_cookie(request, response, made.secret)
        return response

    async def _page_for(self, secret: str, *, code: bool = False) -> tokens.Made:
        def exchange(node: DirectoryNode) -> tokens.Made:
            found = token_rows.find(node.store.db, secret)
            is_code = found is not None and found.kind is token_rows.Kind.CODE
            if not is_code and not code and not resolve(node, secret).is_person:
                raise forbidden("only a person signs in to the page; use your own token")
            made = tokens.page(node, secret) if is_code or not code else None
            if made is None:
                raise unauthenticated("this was used already, or is too old; `dmp web` prints another link")
            return made

        return await self._pools[Work.WRITE].run(exchange)

    async def _sign_out(self, request: web.Request) -> web.Response:
        secret = cookie_of(request)
        if secret is not None:
            await self._pools[Work.WRITE].run(lambda node: _forget(node, secret))
        response = web.Response(status=204)
        clear_cookie(request, response)
        return response

    async def _session(self, request: web.Request) -> web.Response:
        secret, cookie = secret_of(request)

        def find(node: DirectoryNode) -> dict[str, JsonValue]:
            caller = admit(node, _BY_NAME["getSession"], secret, cookie=cookie)
            return {
                "address": caller.address,
                "tier": caller.token.tier,
                "csrf": csrf_of(secret) if cookie else None,
                "replica": node.me,
                "handle": node.handle,
            }

        return answer(200, await self._pools[Work.READ].run(find))

    async def _events(self, request: web.Request) -> web.StreamResponse:
        secret, cookie = secret_of(request, query=True)
        if cookie and not self._guard.is_own_origin(request):
            raise forbidden("a page of another origin may not use this host")
        caller = await self._pools[Work.READ].run(lambda node: resolve(node, secret, cookie=cookie))
        ws = web.WebSocketResponse(
            heartbeat=HEARTBEAT_SECONDS, max_msg_size=MAX_RECEIVED_BYTES, compress=False
        )
        if not ws.can_prepare(request):
            raise Refusal(400, str(Code.INVALID), "open this as a WebSocket")
        socket = Socket(caller)
        async with self._live.attached(socket):
            await ws.prepare(request)
            await socket.serve(request, ws)
        return ws


async def _read_of_a_stranger(request: web.Request) -> Given:
    """What is given by whoever is not known yet, and is heard for no longer than that takes."""
    try:
        if (request.content_length or 0) <= MAX_SIGN_IN_BYTES:
            return await read(request.clone(client_max_size=MAX_SIGN_IN_BYTES), _BY_NAME["signIn"])
    except web.HTTPRequestEntityTooLarge:
        pass
    raise Refusal(413, str(Code.INVALID), f"to sign in, send at most {MAX_SIGN_IN_BYTES} bytes")


_BY_NAME: Final = {route.name: route for route in ROUTES}


def answer(status: int, value: JsonValue, headers: dict[str, str] | None = None) -> web.Response:
    """An answer in JSON, in ASCII: no line break of section 1.4 is left raw in it (section 6.8)."""
    return web.Response(
        status=status, text=json.dumps(value), content_type="application/json", headers=headers
    )


def refused(refusal: Refusal) -> web.Response:
    """The answer to a request that is refused."""
    return answer(refusal.status, refusal.to_json(), dict(refusal.headers))


def _bug(error: Exception) -> web.Response:
    _log.error("a request failed: %s", type(error).__name__)
    return refused(Refusal(500, "bug", "this is a bug in dmp; nothing that was done is lost"))


def _forget(node: DirectoryNode, secret: str) -> None:
    with node.store.transaction(CommitPoint.TOKEN) as db:
        found = token_rows.find(db, secret)
        if found is not None and found.kind is token_rows.Kind.PAGE:
            token_rows.remove(db, found.id)


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


async def _plain(_: web.Request, response: web.StreamResponse) -> None:
    response.headers.pop(hdrs.SERVER, None)
    response.headers.setdefault(hdrs.CACHE_CONTROL, "no-store")
    response.headers.setdefault("X-Content-Type-Options", "nosniff")
