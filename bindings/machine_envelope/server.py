"""The listener: a card, JSON-RPC, and where envelopes are to be had.

It stands on a port of its own, and its card says that the extension is required; clients of the other card never meet
it. Everything but the card and the description of envelopes needs the bearer token of an A2A client.
"""

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final, TypeAlias

from aiohttp import hdrs, web

from bindings.a2a.allowed import Caller
from bindings.a2a.errors import Refused
from bindings.a2a.server.rates import Rates
from bindings.machine_envelope.card import CARD_PATH, card
from bindings.machine_envelope.errors import Refusal, Wrong, refused
from bindings.machine_envelope.extension import ACQUIRE_PATH, HEADER, URI, activated
from bindings.machine_envelope.receiving import Receiver
from core.errors import Code, DmpError
from crypto.canonical import JsonError, JsonValue, decode, parse
from replica.api.errors import Refusal as Busy
from replica.api.workers import Workers
from replica.node import DirectoryNode, Node, opened, wall_clock
from replica.service.listening import bound, reached_at
from replica.service.sockets import answering

MAX_BODY_BYTES: Final = 1024 * 1024

VERSION: Final = "1.0"

_THREADS: Final = 2
_END_SECONDS: Final = 2.0
_BODY_SECONDS: Final = 20.0

FindClient: TypeAlias = Callable[[Node, str], Caller | None]
"""Whose a bearer token is; None for one that is not good."""

_UNAUTHENTICATED: Final = "show the bearer token of an A2A client of this host that is approved"
"""One text, whatever is wrong with a token."""

_log = logging.getLogger(__name__)


@asynccontextmanager
async def running(
    root: Path,
    address: str,
    receiving: Callable[[str], Receiver],
    find: FindClient,
    url: str,
    per_minute: int,
) -> AsyncIterator[str]:
    """Listen for the length of a block; the value is the URL that the card names.

    `receiving` makes the receiver once that URL is known, which is `url` unless that is empty. A client makes
    `per_minute` requests in a minute. Raises DmpError `unavailable` where the address cannot be used.
    """
    listening = bound(address, "--machine-envelope-listen")
    workers = Workers(lambda: opened(root), _THREADS, "machine-envelope")
    try:
        named = url.rstrip("/") or f"http://{reached_at(address, listening)}"
        app = Listener(workers, receiving(named), find, named, Rates(per_minute)).application()
        async with answering(app, listening, seconds=_END_SECONDS):
            yield named
    finally:
        await asyncio.to_thread(workers.close)
        listening.close()


class Listener:
    """The routes, over a receiver."""

    def __init__(
        self, workers: Workers, receiver: Receiver, find: FindClient, url: str, rates: Rates
    ) -> None:
        self._rates = rates
        self._workers = workers
        self._receiver = receiver
        self._find = find
        self._card = card(url, receiver)

    def application(self) -> web.Application:
        """The application that serves them."""
        app = web.Application(client_max_size=MAX_BODY_BYTES, middlewares=[_told])
        app.router.add_get(CARD_PATH, self._show_card)
        app.router.add_get(ACQUIRE_PATH, self._describe)
        app.router.add_post(ACQUIRE_PATH, self._acquire)
        app.router.add_post("/", self._call)
        return app

    async def _show_card(self, _: web.Request) -> web.StreamResponse:
        return web.json_response(self._card)

    async def _describe(self, _: web.Request) -> web.StreamResponse:
        return web.json_response(self._receiver.acquisition.describe())

    async def _acquire(self, request: web.Request) -> web.StreamResponse:
        acquisition = self._receiver.acquisition
        if acquisition.issuer is None:
            return web.json_response({"error": _error(None), **acquisition.describe()}, status=404)
        if await self._client(request) is None:
            return _unauthenticated()
        asked = await _body(request)
        if not isinstance(asked, dict):
            refusal = Refusal(Wrong.INVALID_REQUEST, "a request for an envelope is a JSON object")
            return web.json_response({"error": _error(refusal)}, status=400)
        try:
            found = acquisition.issue(asked, wall_clock(), os.urandom)
        except DmpError as error:
            status = 403 if error.code is Code.FORBIDDEN else 400
            return web.json_response({"error": _error(refused(error))}, status=status)
        return web.json_response({"envelope": found})

    async def _client(self, request: web.Request) -> Caller | None:
        """Who asks: that is known before anything else of a request is read."""
        scheme, _, secret = request.headers.get(hdrs.AUTHORIZATION, "").partition(" ")
        if scheme.lower() != "bearer" or not secret:
            return None
        found = await self._workers.run(lambda node: self._find(node, secret.strip()))
        if found is not None:
            self._rates.take(found.address)
        return found

    async def _call(self, request: web.Request) -> web.StreamResponse:
        client = await self._client(request)
        if client is None:
            return _unauthenticated()
        call = await _body(request)
        active = frozenset(
            each.strip() for value in request.headers.getall(HEADER, ()) for each in value.split(",")
        )
        version = request.headers.get("A2A-Version", "")

        def answer(node: DirectoryNode) -> dict[str, JsonValue]:
            method, params = _read_call(call, version)
            return self._receiver.call(node, client, method, params, active)

        answered: dict[str, JsonValue] = {"jsonrpc": "2.0", "id": _id_of(call)}
        try:
            answered["result"] = await self._workers.run(answer)
        except Refusal as refusal:
            answered["error"] = refusal.to_json()
        except DmpError as error:
            answered["error"] = refused(error).to_json()
        return web.json_response(answered)


@web.middleware
async def _told(
    request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
) -> web.StreamResponse:
    """Echo the extension where it was activated, and answer what breaks as an error of this host, without its text."""
    try:
        response = await handler(request)
    except web.HTTPException as error:
        response = web.json_response(
            {"error": {"code": error.status, "message": error.reason}}, status=error.status
        )
        if error.status == 405 and (allowed := error.headers.get(hdrs.ALLOW)):
            response.headers[hdrs.ALLOW] = allowed
    except Busy as busy:
        response = web.json_response(
            {"error": {"code": busy.status, "message": busy.message}},
            status=busy.status,
            headers=busy.headers,
        )
    except Refused as limited:
        response = web.json_response(
            limited.to_json(),
            status=limited.status,
            headers={hdrs.RETRY_AFTER: limited.headers["Retry-After"]},
        )
    except Exception as error:  # noqa: BLE001 - a bug is told without what it happened to
        _log.error("a request could not be answered (%s)", type(error).__name__)
        response = web.json_response({"error": {"code": 500, "message": "this host failed"}}, status=500)
    if activated(request.headers.getall(HEADER, ())):
        response.headers[HEADER] = URI
    response.headers[hdrs.CACHE_CONTROL] = "no-store"
    return response


async def _body(request: web.Request) -> JsonValue:
    """The parsed body, as it was received; None for what is no JSON, or has a member of an object twice."""
    try:
        async with asyncio.timeout(_BODY_SECONDS):
            raw = await request.read()
        found = parse(decode(raw))
    except JsonError:
        return None
    except TimeoutError:
        raise web.HTTPRequestTimeout from None
    return None if found.duplicates else found.value  # of two members only one would be under the signature


def _read_call(call: JsonValue, version: str) -> tuple[str, Mapping[str, JsonValue]]:
    """The method and the parameters of a JSON-RPC call. Raises Refusal."""
    if call is None:
        raise Refusal(Wrong.PARSE_ERROR, "the request is not JSON, or has a member twice")
    method = call.get("method") if isinstance(call, dict) else None
    if not isinstance(call, dict) or call.get("jsonrpc") != "2.0" or not isinstance(method, str):
        raise Refusal(Wrong.INVALID_REQUEST, "the request is no call of JSON-RPC 2.0")
    if version != VERSION:
        raise Refusal(Wrong.VERSION_NOT_SUPPORTED, f"send the header A2A-Version: {VERSION}")
    params = call.get("params", {})
    if not isinstance(params, dict):
        raise Refusal(Wrong.INVALID_PARAMS, "the parameters of a call are an object", "params")
    return method, params


def _id_of(call: JsonValue) -> JsonValue:
    found = call.get("id") if isinstance(call, dict) else None
    return found if isinstance(found, str | int | float) and not isinstance(found, bool) else None


def _unauthenticated() -> web.Response:
    return web.json_response(
        {"error": {"code": 401, "status": "UNAUTHENTICATED", "message": _UNAUTHENTICATED}},
        status=401,
        headers={hdrs.WWW_AUTHENTICATE: "Bearer"},
    )


def _error(refusal: Refusal | None) -> dict[str, JsonValue]:
    if refusal is None:
        return {"code": str(Code.NOT_FOUND), "message": "this host issues no envelopes"}
    found: dict[str, JsonValue] = {"code": str(refusal.wrong), "message": refusal.text}
    return {**found, "field": refusal.field} if refusal.field else found
