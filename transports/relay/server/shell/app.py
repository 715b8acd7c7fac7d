"""The relay over HTTP and WebSocket (wire 7.1)."""

import asyncio
import re
import threading
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from time import perf_counter
from typing import Final

import structlog
from aiohttp import WSMsgType, web

from transports.relay.frames import FRAME_BYTES, Why
from transports.relay.server.registration import BODY_BYTES, Answer, Registrar, Status
from transports.relay.server.relay import Relay, UnknownTeamError
from transports.relay.server.session import Session, State
from transports.relay.server.shell.doors import UNPROVEN_BYTES, Doors, TurnedAwayError, source_of
from transports.relay.server.shell.folds import SMALL_OPS, Folds
from transports.relay.server.shell.held import Gate, Held
from transports.relay.server.shell.helper import Helper, processors
from transports.relay.server.shell.metrics import Metrics
from transports.relay.server.shell.pipeline import Pipeline
from transports.relay.server.shell.speaker import Speaker
from transports.relay.server.team import Team

HEARTBEAT_SECONDS: Final = 30.0
"""How often a silent client is pinged; one that does not answer by half of that again is gone."""

CLOSE_SECONDS: Final = 2.0
"""How long a client has to answer the end of its connection."""

REGISTERING: Final = 16
REGISTERING_PER_SOURCE: Final = 2
"""Requests to register that are read at once, in all and from one source; each may be some megabytes."""

LOAD_SECONDS: Final = 5.0
"""How long a connection waits until a team is read into memory."""

LARGE_OPS: Final = 1_000
"""A roster with more ops is read apart from smaller ones."""

HEAVY_SECONDS: Final = 0.003
HEAVY_SHARE: Final = 5
"""Requests that take longer have one part in so many of a team's time: no team keeps the others waiting."""

_TEAM = re.compile(r"[0-9a-f]{32}")

_log = structlog.get_logger()

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Shell:
    """The handlers of one relay."""

    def __init__(
        self,
        relay: Relay,
        registrar: Registrar,
        metrics: Metrics,
        *,
        trust_proxy: bool = False,
        max_connections: int = 5_000,
    ) -> None:
        self.relay = relay
        self.pipeline = Pipeline(relay, metrics, Helper() if processors() > 1 else None)
        self._registrar = registrar
        self._metrics = metrics
        self._trust_proxy = trust_proxy
        self._max_connections = max_connections
        self._doors = Doors()
        self._registering = Counter[str]()
        self._one_registration = threading.Lock()
        self._open: set[asyncio.Task[None]] = set()
        self._loading: dict[str, asyncio.Task[Team]] = {}
        self._frames, self._texts = Held(), Held()
        self._folds = relay.fold = Folds()
        self.closing = False
        self.spoke: Callable[[web.Request], None] = lambda _: None
        """Told of each request as it begins."""

    def app(self, *, metrics: bool) -> web.Application:
        """The application that clients speak to."""
        app = web.Application(client_max_size=BODY_BYTES, middlewares=[self._each])
        app.add_routes(
            [
                web.get("/v1/registration", self._terms),
                web.post("/v1/teams", self._register),
                web.get("/v1/teams/{team}", self._connect),
            ]
        )
        self._add_health(app, metrics=metrics)
        return app

    def watching(self) -> web.Application:
        """The application that whoever runs the relay looks at."""
        app = web.Application(middlewares=[self._each])
        self._add_health(app, metrics=True)
        return app

    def _add_health(self, app: web.Application, *, metrics: bool) -> None:
        app.add_routes([web.get("/healthz", self._healthz), web.get("/readyz", self._readyz)])
        if metrics:
            app.add_routes([web.get("/metrics", self._metrics_text)])

    @web.middleware
    async def _each(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        self.spoke(request)
        try:
            response = await handler(request)
        except (web.HTTPException, ConnectionError):
            raise
        except Exception as error:  # noqa: BLE001 - what was asked is not logged, only what went wrong here
            _log.error("request_failed", error=type(error).__name__)
            response = web.Response(status=500, text="the relay failed at this; see its log\n")
        if not isinstance(response, web.WebSocketResponse):
            response.force_close()  # no second request for a slow sender to hang on to
        return response

    # Health

    async def _healthz(self, _: web.Request) -> web.Response:
        return web.Response(text="ok\n")

    async def _readyz(self, _: web.Request) -> web.Response:
        if self.closing or self.pipeline.broken or not self.relay.store.healthy():
            return web.Response(
                status=503, text="closing\n" if self.closing else "the disk does not take writes\n"
            )
        return web.Response(text="ok\n")

    async def _metrics_text(self, _: web.Request) -> web.Response:
        self._metrics.settle()
        body = await asyncio.to_thread(self._metrics.text, self.relay)
        return web.Response(body=body, headers={"Content-Type": "text/plain; version=0.0.4; charset=utf-8"})

    # Registration

    async def _terms(self, _: web.Request) -> web.Response:
        return web.json_response(dict(self._registrar.terms()))

    async def _register(self, request: web.Request) -> web.Response:
        source = source_of(request, trust_proxy=self._trust_proxy)
        room = sum(self._registering.values()) < REGISTERING
        if (
            not room
            or self._registering[source] >= REGISTERING_PER_SOURCE
            or not self._registrar.allows(source)
        ):
            return self._registered(Status.RATE, {"error": "too many attempts to register; try again later"})
        self._registering[source] += 1
        try:
            async with asyncio.timeout(self.relay.settings.body_ms / 1000):
                body = await request.read()
            answer = await asyncio.to_thread(self._register_body, body, _bearer(request))
        except TimeoutError:
            return self._registered(408, {"error": "the request took too long to arrive"})
        finally:
            self._registering[source] -= 1
            self._registering += Counter()  # which forgets sources without any
        if answer.status is Status.NEW:
            _log.info("team_registered", team=answer.team)
        return self._registered(answer.status, dict(answer.to_json()))

    def _register_body(self, body: bytes, token: str | None) -> Answer:
        with self._one_registration:
            return self._registrar.register(body, token)

    def _registered(self, status: int, answer: dict[str, str]) -> web.Response:
        self._metrics.tally("registrations", str(int(status)))
        return web.json_response(answer, status=int(status))

    # Teams

    async def _connect(self, request: web.Request) -> web.StreamResponse:
        source = source_of(request, trust_proxy=self._trust_proxy)
        ws = web.WebSocketResponse(
            max_msg_size=FRAME_BYTES, heartbeat=HEARTBEAT_SECONDS, compress=False, timeout=CLOSE_SECONDS
        )
        if not ws.can_prepare(request):
            return web.Response(
                status=426, text="this address takes WebSockets\n", headers={"Upgrade": "websocket"}
            )
        if self.closing or len(self.relay.sessions) >= self._max_connections:
            return self._turned_away(503)
        try:
            async with self._doors.turn(source) as give_back:
                team = await self._team(request.match_info["team"])
                await ws.prepare(request)
                await self._converse(ws, request, team, source, give_back)
        except UnknownTeamError:
            return self._turned_away(404)
        except TurnedAwayError as error:
            return self._turned_away(error.status)
        return ws

    def _turned_away(self, status: int) -> web.Response:
        self._metrics.tally("turned_away", str(status))
        text = "no such team is registered here\n" if status == 404 else "no room now; try again later\n"
        return web.Response(status=status, text=text, headers={} if status == 404 else {"Retry-After": "5"})

    async def _team(self, team_id: str) -> Team:
        if not _TEAM.fullmatch(team_id):
            raise UnknownTeamError
        team = self.relay.teams.get(team_id)
        if team is not None:
            return team
        loading = self._loading.get(team_id)
        if loading is None:
            loading = self._loading[team_id] = asyncio.create_task(self._load(team_id))
            loading.add_done_callback(lambda _: self._loading.pop(team_id))
        try:
            async with asyncio.timeout(LOAD_SECONDS):
                await asyncio.wait([loading])
        except TimeoutError:
            raise TurnedAwayError(503) from None
        return loading.result()

    async def _load(self, team_id: str) -> Team:
        """Read a team and fold its roster, which may take long."""
        stored = await asyncio.to_thread(self.relay.store.load, team_id)
        ops = 0 if stored is None else sum(len(each.roster) for each in stored.lanes)
        if ops <= SMALL_OPS:
            team = self.relay.read(stored)
        else:
            team, took = await self._folds.apart(partial(self.relay.read, stored), is_long=ops > LARGE_OPS)
            team.fold_seconds = took
        return self.relay.teams.setdefault(team_id, team)

    async def _converse(
        self,
        ws: web.WebSocketResponse,
        request: web.Request,
        team: Team,
        source: str,
        give_back: Callable[[], None],
    ) -> None:
        """Serve one connection until it ends."""
        transport = request.transport
        if transport is None:
            return
        speaker = Speaker(ws, transport, self.relay.settings.unread_ms / 1000, self._texts)
        session = self.relay.connect(team.id, source, speaker.woken, speaker.say)

        def over() -> None:
            if session.state is State.READY:
                session.end(Why.SLOW, "too many long frames are under way, and this one is for longest")
            else:
                session.end(Why.LIMITED, f"more than {UNPROVEN_BYTES // 1024} KiB came before `ready`")

        gate = Gate(transport, self._frames, narrow=UNPROVEN_BYTES, over=over)
        sending = asyncio.create_task(self._send(speaker, session, transport))
        self._open.add(sending)
        sending.add_done_callback(self._open.discard)
        try:
            async for message in ws:
                while session.must_wait:
                    speaker.room.clear()
                    await speaker.room.wait()
                began = perf_counter()
                if message.type is WSMsgType.TEXT:
                    session.receive(message.data)
                else:
                    session.end(Why.INVALID, "frames are text")
                if session.state is State.READY:
                    gate.widen()
                    give_back()
                gate.read()
                speaker.weigh()
                if (took := perf_counter() - began) > HEAVY_SECONDS:
                    team.free_at = max(began, team.free_at) + took * HEAVY_SHARE
                    await asyncio.sleep(team.free_at - perf_counter())
                while session.busy or (self.closing and session.state is not State.ENDED):
                    speaker.room.clear()
                    await speaker.room.wait()
        finally:
            session.closed()
            with suppress(asyncio.CancelledError):
                await sending
            self._texts.set(speaker, 0)
            if session.why is not None:
                _log.info("connection_refused", team=team.id, why=session.why.value)

    async def _send(self, speaker: Speaker, session: Session, transport: asyncio.Transport) -> None:
        try:
            await speaker.run(session)
        except TimeoutError:
            session.closed()
            self._metrics.tally("refused", Why.SLOW.value)
            transport.abort()
        except (ConnectionError, RuntimeError):  # it is gone, or going
            session.closed()

    # Ending

    async def close(self) -> None:
        """Take nothing more, finish what was begun, and tell everybody."""
        self.closing = True
        with suppress(TimeoutError):
            async with asyncio.timeout(10):
                await self.pipeline.drain()
        self.relay.close()
        if self._open:
            await asyncio.wait(list(self._open), timeout=5)


def _bearer(request: web.Request) -> str | None:
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else None
