"""The tools over HTTP, for clients that connect to a service instead of starting a process.

Whoever comes shows the token of an agent or a session, as at the host API, with each request; the same checks decide
whether it is good. The SDK keeps a session of a client for the token that began it alone. It is served on a loopback
address unless a proxy stands in front: pages of other sites, and names that lead here, are refused by the headers that
browsers send.
"""

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Collection, Iterator
from contextlib import asynccontextmanager, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any, Final

import uvicorn
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.streamable_http import MCP_SESSION_ID_HEADER
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from core.errors import Code
from replica.api import credentials
from replica.api.credentials import Caller
from replica.api.errors import Refusal, forbidden, unauthenticated
from replica.api.workers import Workers
from replica.mcp.desk import Actor, Desk
from replica.mcp.server import Context, server
from replica.node import opened
from replica.records.tokens import Kind
from replica.service.changes import Changes
from replica.service.listening import bound, reached_at

PATH: Final = "/mcp"

MAX_BODY_BYTES: Final = 1024 * 1024
MAX_SESSIONS: Final = 200
IDLE_SECONDS: Final = 30 * 60
"""How long a client's session is kept that asks for nothing."""

END_SECONDS: Final = 2
"""How long calls that are being answered may take at the end."""

_THREADS: Final = 2
_ACTOR: Final = "dmp.actor"
_PAUSE: Final = 0.01


@asynccontextmanager
async def running(
    root: Path, changes: Changes, address: str, option: str, *, names: Collection[str] = ()
) -> AsyncIterator[str]:
    """Serve the tools of the replica at `root`, for the length of a block; the value is their URL.

    `changes` tells of commits in its store, `names` are host names that it answers to besides this machine's own.
    Raises DmpError `unavailable` where the address cannot be used; `option` is what it was given with.
    """
    listening = bound(address, option)
    workers = Workers(lambda: opened(root), _THREADS, "mcp")
    try:
        desk = Desk(workers, lambda: nullcontext(changes))
        sessions = StreamableHTTPSessionManager(
            server(desk, _actor, _connection),
            security_settings=_own_names(listening.getsockname()[1], names),
            session_idle_timeout=IDLE_SECONDS,
            max_request_body_size=MAX_BODY_BYTES,
            max_sessions=MAX_SESSIONS,
        )
        door = _Door(workers, sessions)
        failed: Exception | None = None
        async with _served(door, listening), sessions.run():
            try:
                yield f"http://{reached_at(address, listening)}{PATH}"
            except Exception as error:  # noqa: BLE001 - it leaves as it came, and in no group of the sessions' tasks
                failed = error
            finally:
                desk.end()
                await door.ended()
        if failed is not None:
            raise failed
    finally:
        await asyncio.to_thread(workers.close)
        listening.close()


def _actor(context: Context) -> Actor:
    actor = _request(context).scope[_ACTOR]
    assert isinstance(actor, Actor)
    return actor


def _connection(context: Context) -> str | None:
    return _request(context).headers.get(MCP_SESSION_ID_HEADER)


def _request(context: Context) -> Request:
    assert isinstance(context.request, Request)
    return context.request


class _Door:
    """Through which every request comes: whoever makes it is known before anything else is looked at."""

    def __init__(self, workers: Workers, sessions: StreamableHTTPSessionManager) -> None:
        self._workers = workers
        self._sessions = sessions
        self._calls = 0
        self._ending = False

    async def ended(self) -> None:
        """Let nobody in any more, and wait until whoever called has been told, but not for long."""
        self._ending = True
        with suppress(TimeoutError):
            async with asyncio.timeout(END_SECONDS):
                while self._calls:
                    await asyncio.sleep(_PAUSE)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        try:
            caller = await self._caller(scope["path"], Headers(scope=scope))
        except Refusal as refusal:
            await _answer(refusal)(scope, receive, send)
            return
        token = caller.token
        scope["user"] = AuthenticatedUser(AccessToken(token="", client_id=token.id, scopes=[]))
        scope[_ACTOR] = Actor(caller.sender.address, _session(Request(scope), token.id))
        called = scope["method"] == "POST"  # else it listens, for as long as it likes
        self._calls += called
        try:
            await self._sessions.handle_request(scope, receive, send)
        finally:
            self._calls -= called

    async def _caller(self, path: str, headers: Headers) -> Caller:
        if self._ending:
            raise Refusal(503, str(Code.UNAVAILABLE), "this service is about to end; try again in a moment")
        if path != PATH:
            raise Refusal(404, str(Code.NOT_FOUND), f"there is nothing at this path; the tools are at {PATH}")
        scheme, _, secret = headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not secret:
            raise unauthenticated(
                "send the header Authorization: Bearer TOKEN; `dmp token add` makes a token for an agent or a session"
            )
        caller = await self._workers.run(lambda node: credentials.resolve(node, secret.strip()))
        if caller.token.kind not in (Kind.AGENT, Kind.RUN):
            raise forbidden("tools act for an agent or a session; use the token of one, and not a person's")
        return caller


def _session(request: Request, token: str) -> str:
    """What an agent's messages say they were sent from: the client's session, or its token where it has none."""
    return f"mcp-{request.headers.get(MCP_SESSION_ID_HEADER, token)[:64]}"


def _answer(refusal: Refusal) -> Response:
    return Response(
        json.dumps(refusal.to_json()),
        refusal.status,
        {**refusal.headers, "Cache-Control": "no-store"},
        "application/json",
    )


def _own_names(port: int, names: Collection[str]) -> TransportSecuritySettings:
    hosts = [f"{name}:{port}" for name in ("127.0.0.1", "localhost", "[::1]")]
    hosts += [each for name in names for each in (name, f"{name}:*")]
    origins = [f"{scheme}://{host}" for scheme in ("http", "https") for host in hosts]
    return TransportSecuritySettings(allowed_hosts=hosts, allowed_origins=origins)


class _Server(uvicorn.Server):
    """A server in a process that has its own mind about signals."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


@asynccontextmanager
async def _served(app: Any, listening: socket.socket) -> AsyncIterator[None]:
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        lifespan="off",
        ws="none",
        server_header=False,
        timeout_graceful_shutdown=END_SECONDS,
    )
    serving = _Server(config)
    task = asyncio.create_task(serving.serve(sockets=[listening]))
    try:
        while not serving.started:
            await asyncio.sleep(_PAUSE)
        yield
    finally:
        serving.should_exit = True
        await task
