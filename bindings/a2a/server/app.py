"""The routes of A2A 1.0's HTTP+JSON binding, over the desk of the edge.

The card is everybody's. Of whatever else is asked the bearer is looked at first. Nothing is pushed to URLs of clients:
the card says so, and every route of that is refused.
"""

import asyncio
import json
import logging
import sqlite3
from collections.abc import Awaitable, Callable
from contextlib import suppress
from hashlib import sha256
from typing import Final, TypeVar

from aiohttp import hdrs, web

from bindings.a2a import clients, exchange, paging
from bindings.a2a.clients import Client
from bindings.a2a.errors import Reason, Refused, nobody, refused
from bindings.a2a.extensions import EXTENSIONS, WORK
from bindings.a2a.metadata import extension_of
from bindings.a2a.presenting import JsonObject
from bindings.a2a.server import wire
from bindings.a2a.server.card import PATH, card
from bindings.a2a.server.following import Following, Subject
from bindings.a2a.server.rates import Rates
from bindings.a2a.server.streaming import ENDED, WAITS, state_of, stream
from core.errors import DmpError, invalid
from crypto.canonical import JsonValue
from replica.api.errors import Refusal
from replica.api.guard import Guard
from replica.api.workers import Workers
from replica.host.config import A2aConfig
from replica.node import Node
from replica.service.changes import Changes

CARD_SECONDS: Final = 300
"""How long a card may be kept."""

_log = logging.getLogger(__name__)

T = TypeVar("T")
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def application(
    workers: Workers, changes: Changes, guard: Guard, url: str, config: A2aConfig
) -> web.Application:
    """The edge on the replica that `workers` have open, reached at `url`; `changes` tells of commits."""
    edge = _Edge(workers, changes, guard, url, config)
    app = web.Application(middlewares=[edge.door], client_max_size=wire.MAX_BODY_BYTES)
    app.on_response_prepare.append(_plain)
    app.on_shutdown.append(edge.shut)
    app.router.add_get(PATH, edge.card)
    app.router.add_post("/message:send", edge.send)
    app.router.add_post("/message:stream", edge.send_and_stream)
    app.router.add_get("/tasks", edge.list_tasks)
    app.router.add_post("/tasks/{task}:cancel", edge.cancel)
    app.router.add_get("/tasks/{task}:subscribe", edge.subscribe, allow_head=False)  # all of it is a body
    app.router.add_post("/tasks/{task}:subscribe", edge.subscribe)
    app.router.add_get("/tasks/{task}", edge.get_task)
    for path, reason, said in _NOT_HERE:
        app.router.add_route("*", path, edge.not_here(reason, said))
    return app


_NO_PUSH: Final = "nothing is pushed from here; stream, subscribe or ask for the task"

_NOT_HERE: Final = (
    (
        "/tasks/{task}/pushNotificationConfigs{rest:.*}",
        Reason.PUSH_NOTIFICATION_NOT_SUPPORTED,
        _NO_PUSH,
    ),
    (
        "/extendedAgentCard",
        Reason.EXTENDED_AGENT_CARD_NOT_CONFIGURED,
        "the card that everybody sees is all of it",
    ),
)
"""What A2A has and this host has not."""


class _Edge:
    """The handlers, and what they share."""

    def __init__(self, workers: Workers, changes: Changes, guard: Guard, url: str, config: A2aConfig) -> None:
        self._workers = workers
        self._changes = changes
        self._guard = guard
        self._config = config
        self._card = json.dumps(card(url, config)).encode()
        self._tag = f'"{sha256(self._card).hexdigest()[:32]}"'
        self._rates = Rates(config.requests_per_minute)
        self._following = Following(workers, changes)

    async def shut(self, _: web.Application) -> None:
        """End every stream, and let whatever waits be answered as it stands."""
        self._following.end()

    @web.middleware
    async def door(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Through which every request comes, and every refusal leaves."""
        try:
            return await self._passed(request, handler)
        except Refused as error:
            return wire.refusal(error)

    async def _passed(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        try:
            self._guard.check(request)
        except Refusal as error:
            raise Refused(Reason.HOST_NOT_ALLOWED, error.message) from None
        try:
            return await handler(request)
        except Refused:
            raise
        except DmpError as error:
            raise refused(error, canceling=request.path.endswith(":cancel")) from None
        except Refusal:
            raise Refused(Reason.UNAVAILABLE, "this host is busy; try again in a moment") from None
        except web.HTTPMethodNotAllowed as error:
            allowed = {str(hdrs.ALLOW): error.headers.get(hdrs.ALLOW, "")}
            raise Refused(
                Reason.METHOD_NOT_ALLOWED, "that path takes another method", headers=allowed
            ) from None
        except web.HTTPException:
            raise Refused(
                Reason.METHOD_NOT_FOUND, "there is nothing at this path; the card says what is"
            ) from None
        except ConnectionError:  # whoever asked is gone: there is nobody to tell, and nothing to log
            return web.Response(status=400)
        except (sqlite3.Error, OSError):
            raise Refused(Reason.UNAVAILABLE, "this host cannot use its store; try again later") from None
        except Exception as error:  # noqa: BLE001 - what was asked is not logged, only what went wrong here
            _log.error("a request failed: %s", type(error).__name__)
            raise Refused(Reason.INTERNAL_ERROR, "this host failed at the request") from None

    async def card(self, request: web.Request) -> web.Response:
        """What this host is, for everybody."""
        headers = {hdrs.ETAG: self._tag, hdrs.CACHE_CONTROL: f"public, max-age={CARD_SECONDS}"}
        if self._tag in [each.strip() for each in request.headers.get(hdrs.IF_NONE_MATCH, "").split(",")]:
            return web.Response(status=304, headers=headers)
        return web.Response(body=self._card, content_type="application/json", headers=headers)

    async def send(self, request: web.Request) -> web.Response:
        """SendMessage: waits until the task has ended or waits for somebody, but not for long."""
        secret, client, given, active = await self._given(request)
        found = await self._sent(secret, given, active)
        task = found.get("task")
        configuration = given.get("configuration")
        options: JsonObject = configuration if isinstance(configuration, dict) else {}
        if not isinstance(task, dict) or options.get("returnImmediately") is True or state_of(task) in WAITS:
            return wire.answer(found, active)
        subject = Subject(client.address, secret, str(task["id"]), active, exchange.text_of(given))
        await self._wait(subject)
        history = paging.read_count(options, "historyLength")
        now = await self._as_client(
            secret,
            lambda node, asks: exchange.get_task(node, asks, subject.task, history, active, subject.text),
        )
        return wire.answer({"task": now}, active)

    async def send_and_stream(self, request: web.Request) -> web.StreamResponse:
        """SendStreamingMessage: the task, and then whatever it becomes."""
        secret, client, given, active = await self._given(request)
        found = await self._sent(secret, given, active)
        task = found.get("task")
        if not isinstance(task, dict):
            return await stream(request, found, None, active)
        subject = Subject(client.address, secret, str(task["id"]), active, exchange.text_of(given))
        async with self._following.follow(subject) as follower:
            return await stream(request, found, follower, active)

    async def subscribe(self, request: web.Request) -> web.StreamResponse:
        """SubscribeToTask: the task as it is, and then whatever it becomes; one that has ended is refused."""
        secret, client = await self._client(request)
        active = wire.named_extensions(request)
        id_ = request.match_info["task"]
        task = await self._as_client(
            secret, lambda node, asks: exchange.get_task(node, asks, id_, None, active)
        )
        if state_of(task) in ENDED:
            raise Refused(Reason.UNSUPPORTED_OPERATION, "that task has ended; ask for it instead")
        async with self._following.follow(Subject(client.address, secret, id_, active)) as follower:
            return await stream(request, {"task": task}, follower, active)

    async def get_task(self, request: web.Request) -> web.Response:
        """GetTask."""
        secret, _ = await self._client(request)
        active = wire.named_extensions(request)
        history = paging.read_count(_query(request), "historyLength")
        id_ = request.match_info["task"]
        found = await self._as_client(
            secret, lambda node, asks: exchange.get_task(node, asks, id_, history, active)
        )
        return wire.answer(found, active)

    async def list_tasks(self, request: web.Request) -> web.Response:
        """ListTasks."""
        secret, _ = await self._client(request)
        active, query = wire.named_extensions(request), _query(request)
        found = await self._as_client(
            secret, lambda node, asks: exchange.list_tasks(node, asks, query, active)
        )
        return wire.answer(found, active)

    async def cancel(self, request: web.Request) -> web.Response:
        """CancelTask. Nothing that its body may say counts."""
        secret, _ = await self._client(request)
        active, id_ = wire.named_extensions(request), request.match_info["task"]
        try:
            found = await self._as_client(
                secret, lambda node, asks: exchange.cancel_task(node, asks, id_, active)
            )
        finally:
            self._changes.poke()
        return wire.answer(found, active)

    def not_here(self, reason: Reason, said: str) -> Handler:
        """What answers a request for what this host has not."""

        async def refuse(request: web.Request) -> web.StreamResponse:
            await self._client(request)
            raise Refused(reason, said)

        return refuse

    async def _client(self, request: web.Request) -> tuple[str, Client]:
        """Who asks, and by which token. Raises Refused for nobody, who asks too often, and another A2A."""
        secret = wire.secret_of(request)
        found = await self._workers.run(lambda node: clients.find(node, secret))
        if found is None:
            raise nobody()
        self._rates.take(found.address)
        wire.check_version(request)
        return secret, found

    async def _given(self, request: web.Request) -> tuple[str, Client, JsonObject, frozenset[str]]:
        """Who sends, what, and the extensions that are active for it."""
        secret, client = await self._client(request)
        given = await wire.read_json(request)
        if not isinstance(given, dict):
            raise Refused(Reason.INVALID_PARAMS, "a request is a JSON object")
        if secret in json.dumps(given):  # as it was meant, however its characters were written
            raise invalid("message", "the message holds your token; leave it out, and have another one made")
        configuration = given.get("configuration")
        if isinstance(configuration, dict):
            if configuration.get("taskPushNotificationConfig") is not None:
                raise Refused(Reason.PUSH_NOTIFICATION_NOT_SUPPORTED, _NO_PUSH)
            if not isinstance(configuration.get("returnImmediately") or False, bool):
                raise invalid("configuration.returnImmediately", "returnImmediately is true or false")
        message = given.get("message")
        active = wire.named_extensions(request)
        if isinstance(message, dict):
            named = message.get("extensions")
            active |= frozenset(EXTENSIONS) & {
                each for each in (named if isinstance(named, list) else ()) if isinstance(each, str)
            }
            work = extension_of(message, WORK) if WORK in active else None
            if not self._config.handoffs and isinstance(work, dict) and work.get("skill") == "handoff":
                raise invalid("work.skill", "no work is taken here; the card says what is")
        return secret, client, given, active

    async def _sent(self, secret: str, given: JsonObject, active: frozenset[str]) -> JsonObject:
        """Send for whoever asks, who may have been revoked while the body arrived."""
        try:
            return await self._as_client(
                secret, lambda node, asks: exchange.send_message(node, asks, given, active)
            )
        finally:
            self._changes.poke()

    async def _as_client(self, secret: str, work: Callable[[Node, Client], T]) -> T:
        """Do something for whoever asks, who is looked at in the same thread just before."""

        def run(node: Node) -> T:
            client = clients.find(node, secret)
            if client is None:
                raise nobody()
            return work(node, client)

        return await self._workers.run(run)

    async def _wait(self, subject: Subject) -> None:
        """Wait until a task has ended or waits for somebody, but not for long; not at all where too many do."""
        with suppress(TimeoutError, Refused):
            async with self._following.follow(subject) as follower:
                async with asyncio.timeout(self._config.wait_seconds):
                    while (task := await follower.after()) is not None:
                        if state_of(task) in WAITS:
                            return


def _query(request: web.Request) -> dict[str, JsonValue]:
    return {name: request.query[name] for name in request.query}


async def _plain(_: web.Request, response: web.StreamResponse) -> None:
    response.headers.pop(hdrs.SERVER, None)
    response.headers.setdefault(hdrs.CACHE_CONTROL, "no-store")
    response.headers.setdefault("X-Content-Type-Options", "nosniff")
