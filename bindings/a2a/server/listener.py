"""The listener's routes: A2A 1.0's HTTP+JSON binding over the desk of the edge (section 8).

Everybody may read the card. For everything else the bearer is looked at first, with one answer for each that is no
approved client's. The event loop never waits for a disk: the store is worked on in threads.
"""

import asyncio
import json
import logging
import sqlite3
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Final, TypeVar

from aiohttp import hdrs, web

from bindings.a2a import clients, exchange, paging
from bindings.a2a.clients import Client
from bindings.a2a.errors import Reason, Refused, nobody, not_cancelable, refused
from bindings.a2a.extensions import WORK
from bindings.a2a.metadata import extension_of
from bindings.a2a.presenting import JsonObject, View
from bindings.a2a.projection import TaskState
from bindings.a2a.server import streams
from bindings.a2a.server.card import PATH, card
from bindings.a2a.server.rate import Rate
from bindings.a2a.server.requests import (
    MAX_BODY_BYTES,
    active,
    body,
    check_version,
    echoed,
    secret_of,
)
from bindings.a2a.server.watching import Watching
from core.errors import DmpError, invalid
from crypto.canonical import JsonValue
from replica.api.errors import Refusal
from replica.api.workers import Workers
from replica.host.config import A2aConfig
from replica.node import Node
from replica.service.changes import Changes

_NO_PUSH: Final = "nothing is pushed from here; stream, subscribe, or ask for the task"
_TERMINAL: Final = frozenset(each.wire for each in TaskState if each.is_terminal)
_WAITS: Final = frozenset(each.wire for each in TaskState if each.waits)

_log = logging.getLogger(__name__)

T = TypeVar("T")
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Listener:
    """The handlers, and what they share. `workers` are for requests, `watching` is for those that wait."""

    def __init__(
        self, workers: Workers, watching: Watching, changes: Changes, config: A2aConfig, url: str
    ) -> None:
        self._workers = workers
        self._watching = watching
        self._changes = changes
        self._config = config
        self._rate = Rate(config.messages_per_hour, time.monotonic)
        self._card = json.dumps(card(url, config))

    def application(self) -> web.Application:
        """The application with every route."""
        app = web.Application(middlewares=[self._door], client_max_size=MAX_BODY_BYTES)
        app.on_response_prepare.append(_plain)
        app.on_shutdown.append(self._shut)
        router = app.router
        router.add_get(PATH, self._show_card)
        router.add_post("/message:send", self._send)
        router.add_post("/message:stream", self._stream)
        router.add_get("/tasks", self._list_tasks)
        router.add_get("/tasks/{task}", self._get_task)
        router.add_post("/tasks/{task}:cancel", self._cancel_task)
        for method in (hdrs.METH_GET, hdrs.METH_POST):
            router.add_route(method, "/tasks/{task}:subscribe", self._subscribe)
        for path in ("", "/{id}"):
            router.add_route(
                "*",
                f"/tasks/{{task}}/pushNotificationConfigs{path}",
                self._not_here(Reason.PUSH_NOTIFICATION_NOT_SUPPORTED, _NO_PUSH),
            )
        router.add_get(
            "/extendedAgentCard",
            self._not_here(
                Reason.EXTENDED_AGENT_CARD_NOT_CONFIGURED, "the card that everybody reads is all there is"
            ),
        )
        return app

    # Routes

    async def _show_card(self, _: web.Request) -> web.Response:
        return web.Response(
            text=self._card,
            content_type="application/json",
            headers={hdrs.CACHE_CONTROL: "public, max-age=3600"},
        )

    async def _send(self, asked: web.Request) -> web.StreamResponse:
        client, request, extensions = await self._message(asked)
        done = await self._take(client, request, extensions)
        task, configuration = done.get("task"), exchange.configuration_of(request)
        if isinstance(task, dict) and not _flag(configuration, "returnImmediately"):
            view = exchange.view_of(client, request, extensions)
            if await self._wait(view, task):
                # The message again, which is known by its id: it is answered with the task as it stands now.
                done = await self._as(
                    client, lambda node: exchange.send_message(node, client, request, extensions)
                )
        return _answer(200, done, echoed(extensions))

    async def _stream(self, asked: web.Request) -> web.StreamResponse:
        client, request, extensions = await self._message(asked)
        done = await self._take(client, request, extensions)
        task = done.get("task")
        if not isinstance(task, dict) or _state(task) in _TERMINAL:
            return await streams.one(asked, done, echoed(extensions))
        with self._watching.watch(exchange.view_of(client, request, extensions), str(task["id"])) as watch:
            return await streams.stream(asked, watch, task, echoed(extensions))

    async def _subscribe(self, asked: web.Request) -> web.StreamResponse:
        client, task_id = await self._client(asked), asked.match_info["task"]
        extensions = active(asked)
        task = await self._as(client, lambda node: exchange.get_task(node, client, task_id, 0, extensions))
        if _state(task) in _TERMINAL:
            raise Refused(Reason.UNSUPPORTED_OPERATION, "that task has ended; ask for it")
        with self._watching.watch(View(client.address, extensions), task_id) as watch:
            return await streams.stream(asked, watch, task, echoed(extensions))

    async def _get_task(self, asked: web.Request) -> web.Response:
        client, task_id, extensions = await self._client(asked), asked.match_info["task"], active(asked)
        query = _query(asked)
        length = paging.read_count(query, "historyLength")
        found = await self._as(
            client, lambda node: exchange.get_task(node, client, task_id, length, extensions)
        )
        return _answer(200, found, echoed(extensions))

    async def _list_tasks(self, asked: web.Request) -> web.Response:
        client, query, extensions = await self._client(asked), _query(asked), active(asked)
        found = await self._as(client, lambda node: exchange.list_tasks(node, client, query, extensions))
        return _answer(200, found, echoed(extensions))

    async def _cancel_task(self, asked: web.Request) -> web.Response:
        client, task_id, extensions = await self._client(asked), asked.match_info["task"], active(asked)

        def cancel(node: Node) -> JsonObject:
            try:
                return exchange.cancel_task(node, client, task_id, extensions)
            except DmpError as error:
                raise not_cancelable(error) from None

        found = await self._as(client, cancel)
        self._changes.poke()
        return _answer(200, found, echoed(extensions))

    def _not_here(self, reason: Reason, said: str) -> Handler:
        """What answers a request for what A2A has and this host has not."""

        async def refuse(asked: web.Request) -> web.StreamResponse:
            await self._client(asked)
            raise Refused(reason, said)

        return refuse

    # What they share

    async def _client(self, asked: web.Request) -> Client:
        secret = secret_of(asked)
        found = await self._workers.run(lambda node: clients.find(node, secret))
        if found is None:
            raise nobody()
        check_version(asked)
        return found

    async def _as(self, client: Client, work: Callable[[Node], T]) -> T:
        """Do something for a client that may still ask: whether it may is looked at in the same breath."""

        def done(node: Node) -> T:
            if clients.need(node, client.address).status != "approved":
                raise nobody()
            return work(node)

        return await self._workers.run(done)

    async def _message(self, asked: web.Request) -> tuple[Client, JsonObject, frozenset[str]]:
        """Who sends, what, and with which extensions."""
        client = await self._client(asked)
        request = await body(asked)
        if "taskPushNotificationConfig" in exchange.configuration_of(request):
            raise Refused(Reason.PUSH_NOTIFICATION_NOT_SUPPORTED, _NO_PUSH)
        return client, request, active(asked, request.get("message"))

    async def _take(self, client: Client, request: JsonObject, extensions: frozenset[str]) -> JsonObject:
        """Do what a message asks for."""
        self._check_skill(request.get("message"), extensions)
        if not self._rate.take(client.address):
            raise Refused(Reason.LIMITED, "too many messages came from you in the past hour; wait a little")
        try:
            return await self._as(
                client, lambda node: exchange.send_message(node, client, request, extensions)
            )
        finally:
            self._changes.poke()

    def _check_skill(self, message: JsonValue, extensions: frozenset[str]) -> None:
        if self._config.handoffs or WORK not in extensions or not isinstance(message, dict):
            return
        work = extension_of(message, WORK)
        if isinstance(work, dict) and work.get("skill") == "handoff":
            raise refused(invalid("work.skill", "this host takes no handoffs here"))

    async def _wait(self, view: View, task: JsonObject) -> bool:
        """Wait until a task has ended or waits for somebody, as long as this host lets; whether it has changed."""
        if _state(task) in _WAITS:
            return False
        changed = False
        with suppress(TimeoutError):
            async with asyncio.timeout(self._config.wait_seconds):
                with self._watching.watch(view, str(task["id"])) as watch:
                    while not (await watch.next()).state.waits:
                        changed = True
                    return True
        return changed

    @web.middleware
    async def _door(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Through which every request comes, and every refusal leaves."""
        try:
            return await handler(request)
        except Refused as refusal:
            return _refused(refusal)
        except DmpError as error:
            return _refused(refused(error))
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

    async def _shut(self, _: web.Application) -> None:
        self._watching.end()


def _flag(configuration: JsonObject, name: str) -> bool:
    value = configuration.get(name, False)
    if not isinstance(value, bool):
        raise invalid(f"configuration.{name}", f"{name} is true or false")
    return value


def _state(task: JsonObject) -> str:
    status = task["status"]
    assert isinstance(status, dict)
    return str(status["state"])


def _query(asked: web.Request) -> JsonObject:
    return {name: asked.query[name] for name in asked.query}


def _answer(status: int, value: JsonValue, headers: dict[str, str] | None = None) -> web.Response:
    """An answer in JSON, in ASCII: nothing in it breaks a line."""
    return web.Response(
        status=status, text=json.dumps(value), content_type="application/json", headers=headers
    )


def _refused(refusal: Refused) -> web.Response:
    return _answer(refusal.status, refusal.to_json(), refusal.headers)


async def _plain(_: web.Request, response: web.StreamResponse) -> None:
    response.headers.pop(hdrs.SERVER, None)
    response.headers.setdefault(hdrs.CACHE_CONTROL, "no-store")
    response.headers.setdefault("X-Content-Type-Options", "nosniff")
