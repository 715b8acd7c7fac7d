"""The gateway over HTTP: A2A 1.0's HTTP+JSON binding, as far as mailboxes go, and the directory of instances.

The card is everybody's. Whatever else is asked, the bearer is looked at first, and one answer is given for every one
that is no approved client's. Nothing is streamed or pushed. What waits for a reply waits for commits of the store.
"""

import asyncio
import json
import logging
import sqlite3
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

from aiohttp import hdrs, web

from bindings.a2a.errors import Refused as OfEdge
from bindings.a2a.server.rates import Rates
from bindings.instance_routing import desk, errors
from bindings.instance_routing.callers import caller
from bindings.instance_routing.card import DIRECTORY, WAIT_SECONDS, card
from bindings.instance_routing.errors import Reason, Refused
from bindings.instance_routing.extension import URI
from bindings.instance_routing.request import extensions_of, read
from core.errors import DmpError
from crypto.canonical import JsonError, JsonValue, decode, parse
from replica.api.errors import Refusal
from replica.api.workers import Workers
from replica.node import Node
from replica.service.changes import Changes

MAX_BODY_BYTES: Final = 256 * 1024
BODY_SECONDS: Final = 30.0
"""How long a request may take to arrive."""

MAX_WAITS: Final = 200
"""Messages that are waited for at once; past that, a task is returned as it stands."""

EXTENSIONS: Final = "A2A-Extensions"
PROTOCOL: Final = "A2A-Version"
_COUNTED: Final = web.RequestKey("counted", bool)
_VERSIONS: Final = ("", "1.0")

_log = logging.getLogger(__name__)

T = TypeVar("T")
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def application(workers: Workers, changes: Changes, url: Callable[[], str], rates: Rates) -> web.Application:
    """The gateway on the replica that `workers` have open, reached at `url`; `changes` tells of commits."""
    gateway = _Gateway(workers, changes, url, rates)
    app = web.Application(middlewares=[gateway.door], client_max_size=MAX_BODY_BYTES)
    app.on_response_prepare.append(_plain)
    app.on_shutdown.append(gateway.shut)
    app.router.add_get("/.well-known/agent-card.json", gateway.card)
    app.router.add_get(DIRECTORY, gateway.directory)
    app.router.add_post("/message:send", gateway.send)
    app.router.add_get("/tasks", gateway.list_tasks)
    app.router.add_get("/tasks/{task}", gateway.get_task)
    app.router.add_post("/tasks/{task}:cancel", gateway.cancel_task)
    for path, reason, said in _NOT_HERE:
        app.router.add_route("*", path, gateway.not_here(reason, said))
    return app


_NOT_HERE: Final = (
    (
        "/message:stream",
        Reason.UNSUPPORTED_OPERATION,
        "nothing is streamed from here; send, and ask for the task",
    ),
    (
        "/tasks/{task}:subscribe",
        Reason.UNSUPPORTED_OPERATION,
        "nothing is streamed from here; ask for the task",
    ),
    (
        "/tasks/{task}/pushNotificationConfigs{rest:.*}",
        Reason.PUSH_NOTIFICATION_NOT_SUPPORTED,
        "nothing is pushed from here; ask for the task",
    ),
    (
        "/extendedAgentCard",
        Reason.EXTENDED_AGENT_CARD_NOT_CONFIGURED,
        "the card that everybody sees is all of it",
    ),
)
"""What A2A has and this gateway has not."""


class _Gateway:
    """The handlers, and what they share."""

    def __init__(self, workers: Workers, changes: Changes, url: Callable[[], str], rates: Rates) -> None:
        self._rates = rates
        self._workers = workers
        self._changes = changes
        self._url = url
        self._waits = 0
        self._ended = asyncio.Event()

    async def shut(self, _: web.Application) -> None:
        """Let whatever waits be answered as it stands."""
        self._ended.set()

    @web.middleware
    async def door(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Through which every request comes, and every refusal leaves."""
        try:
            return await handler(request)
        except Refused as refusal:
            return _refused(refusal)
        except DmpError as error:
            return _refused(errors.refused(error))
        except Refusal as busy:
            return _refused(Refused(Reason.UNAVAILABLE, busy.message))
        except web.HTTPRequestEntityTooLarge:
            return _refused(
                Refused(Reason.REQUEST_TOO_LARGE, f"a request has at most {MAX_BODY_BYTES} bytes")
            )
        except web.HTTPException:
            return _refused(
                Refused(Reason.METHOD_NOT_FOUND, "there is nothing at this path; the card says what is")
            )
        except ConnectionError:
            raise
        except (sqlite3.Error, OSError):
            return _refused(Refused(Reason.UNAVAILABLE, "the host cannot use its store; try again later"))
        except Exception as error:  # noqa: BLE001 - what was asked is not logged, only what went wrong here
            _log.error("a request failed: %s", type(error).__name__)
            return _refused(Refused(Reason.INTERNAL_ERROR, "the host failed at this request"))

    async def card(self, _: web.Request) -> web.Response:
        """What the gateway is, for everybody."""
        return _answer(200, card(self._url()))

    async def directory(self, asked: web.Request) -> web.Response:
        """The instances that may be addressed."""
        return _answer(200, await self._as_client(asked, desk.directory))

    async def send(self, asked: web.Request) -> web.Response:
        """SendMessage: into an instance's mailbox; and wait for the reply, unless the client does not."""
        secret = _secret(asked)
        client = await self._client(asked)
        body = await _body(asked)
        value = _parsed(body)
        given = read(value, extensions_of(_header(asked, EXTENSIONS)))
        if secret in json.dumps(value):  # as it was meant, however its characters were written
            raise errors.invalid(
                "message", "the message holds your token; leave it out, and have another one made"
            )

        def send(node: Node) -> str:
            return desk.send(node, client, given).id

        try:
            task = await self._workers.run(send)
        finally:
            self._changes.poke()
        if not given.returns_immediately:
            await self._wait(client, task)
        query = {} if given.history_length is None else {"historyLength": given.history_length}
        shown = await self._as_client(asked, lambda node, client: desk.show(node, client, task, query))
        return self._extended(asked, {"task": shown})

    async def get_task(self, asked: web.Request) -> web.Response:
        """GetTask."""
        task, query = asked.match_info["task"], _query(asked)
        return self._extended(
            asked, await self._as_client(asked, lambda node, client: desk.show(node, client, task, query))
        )

    async def list_tasks(self, asked: web.Request) -> web.Response:
        """ListTasks."""
        query = _query(asked)
        return self._extended(
            asked, await self._as_client(asked, lambda node, client: desk.listing(node, client, query))
        )

    async def cancel_task(self, asked: web.Request) -> web.Response:
        """CancelTask."""
        task = asked.match_info["task"]
        try:
            found = await self._as_client(asked, lambda node, client: desk.cancel(node, client, task))
        finally:
            self._changes.poke()
        return self._extended(asked, found)

    def not_here(self, reason: Reason, said: str) -> Handler:
        """What answers a request for what this gateway has not."""

        async def refuse(asked: web.Request) -> web.StreamResponse:
            await self._client(asked)
            raise Refused(reason, said)

        return refuse

    async def _client(self, asked: web.Request) -> str:
        """Who asks, by its bearer, and whether in a version that is spoken here."""
        secret = _secret(asked)
        found = await self._workers.run(lambda node: caller(node, secret))
        if found is None:
            raise errors.nobody()
        if asked.get(_COUNTED) is None:  # a request is counted once, however often its bearer is looked at
            asked[_COUNTED] = True
            self._count(found)
        if _header(asked, PROTOCOL) not in _VERSIONS:
            raise Refused(Reason.VERSION_NOT_SUPPORTED, "A2A 1.0 is spoken here")
        return found

    def _count(self, client: str) -> None:
        try:
            self._rates.take(client)
        except OfEdge:
            raise Refused(Reason.LIMITED, "you ask too often; wait a little") from None

    async def _as_client(self, asked: web.Request, work: Callable[[Node, str], T]) -> T:
        """Do something for whoever asks, who is looked at in the same thread just before."""
        client = await self._client(asked)
        return await self._workers.run(lambda node: work(node, client))

    async def _wait(self, client: str, task: str) -> None:
        """Wait until a task stays as it is, for a minute at most."""
        if self._waits >= MAX_WAITS:
            return
        self._waits += 1
        ended = asyncio.create_task(self._ended.wait())
        try:
            async with asyncio.timeout(WAIT_SECONDS):
                while not self._ended.is_set():
                    seen = self._changes.count
                    if await self._workers.run(lambda node: desk.is_final(node, client, task)):
                        return
                    news = asyncio.create_task(self._changes.after(seen))
                    await asyncio.wait((news, ended), return_when=asyncio.FIRST_COMPLETED)
                    news.cancel()
        except TimeoutError:
            return
        finally:
            ended.cancel()
            self._waits -= 1

    def _extended(self, asked: web.Request, value: JsonValue) -> web.Response:
        """An answer that names the extension where the request did."""
        is_active = URI in extensions_of(_header(asked, EXTENSIONS))
        return _answer(200, value, {EXTENSIONS: URI} if is_active else {})


def _secret(asked: web.Request) -> str:
    scheme, _, secret = asked.headers.get(hdrs.AUTHORIZATION, "").partition(" ")
    if scheme.lower() != "bearer" or not secret.strip():
        raise errors.nobody()
    return secret.strip()


async def _body(asked: web.Request) -> bytes:
    try:
        async with asyncio.timeout(BODY_SECONDS):
            return await asked.read()
    except TimeoutError:
        raise Refused(Reason.REQUEST_TIMEOUT, "the request took too long to arrive; send it again") from None


def _header(asked: web.Request, name: str) -> str:
    return ",".join(asked.headers.getall(name, []))


def _query(asked: web.Request) -> dict[str, JsonValue]:
    return {name: asked.query[name] for name in asked.query}


def _parsed(body: bytes) -> JsonValue:
    try:
        found = parse(decode(body))
    except JsonError as error:
        raise Refused(Reason.INVALID_REQUEST, f"the request is no JSON: {error}") from None
    if found.duplicates:  # of which other readers may keep another value
        raise Refused(Reason.INVALID_REQUEST, "an object of the request has a member twice")
    return found.value


def _answer(status: int, value: JsonValue, headers: dict[str, str] | None = None) -> web.Response:
    """An answer in JSON, in ASCII: nothing in it breaks a line."""
    return web.Response(
        status=status, text=json.dumps(value), content_type="application/json", headers=headers
    )


def _refused(refusal: Refused) -> web.Response:
    return _answer(refusal.status, refusal.to_json(), dict(refusal.headers))


async def _plain(_: web.Request, response: web.StreamResponse) -> None:
    response.headers.pop(hdrs.SERVER, None)
    response.headers.setdefault(hdrs.CACHE_CONTROL, "no-store")
    response.headers.setdefault("X-Content-Type-Options", "nosniff")
