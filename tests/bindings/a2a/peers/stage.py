"""One person's host with peers, in one process: a clock that tests set, and peers that do what a test scripts."""

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

from aiohttp import web
from aiohttp.abc import AbstractResolver, ResolveResult

from bindings.a2a.peers import adding
from bindings.a2a.peers.peer import Peer
from bindings.a2a.peers.relaying import Relay
from core.message import Message, State
from replica.node import DirectoryNode
from tests.replica.world import Machine

LOCAL = frozenset(("localhost", "elsewhere"))
SECRET = "hunter2-bearer"
WORKING, COMPLETED, INPUT = "TASK_STATE_WORKING", "TASK_STATE_COMPLETED", "TASK_STATE_INPUT_REQUIRED"

T = TypeVar("T")
Json = dict[str, Any]
Answer = Callable[[web.Request, Json], Awaitable[web.StreamResponse]]


class ThisMachine(AbstractResolver):
    """Every name is this machine."""

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        found = ResolveResult(
            hostname=host, host="127.0.0.1", port=port, family=socket.AF_INET, proto=0, flags=0
        )
        return [found]

    async def close(self) -> None:
        pass


def status(state: str, text: str | None = None, *, mark: str = "", **members: Any) -> Json:
    """A TaskStatus."""
    found: Json = {"state": state, "timestamp": "2026-09-21T13:33:20Z"}
    if text is not None:
        found["message"] = {
            "messageId": mark or f"s-{state}-{text}",
            "role": "ROLE_AGENT",
            "parts": [{"text": text}],
            **members,
        }
    return found


@dataclass
class ScriptedPeer:
    """An A2A agent over HTTP+JSON that keeps what it is sent, and says of its tasks what a test wrote down."""

    port: int = 0
    card: Json = field(default_factory=dict)
    sent: list[Json] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    tasks: dict[str, Json] = field(default_factory=dict)
    asked: int = 0
    fetched: int = 0
    opens: Json = field(default_factory=lambda: status(WORKING))
    on_send: Answer | None = None
    on_task: Answer | None = None
    on_stream: Answer | None = None
    rpc: bool = False

    @property
    def url(self) -> str:
        return f"http://localhost:{self.port}/.well-known/agent-card.json"

    def make_card(self, **members: Any) -> Json:
        binding = "JSONRPC" if self.rpc else "HTTP+JSON"
        return {
            "name": "Acme",
            "description": "Does things.",
            "version": "1",
            "supportedInterfaces": [
                {"url": "grpc://x", "protocolBinding": "GRPC", "protocolVersion": "1.0"},
                {
                    "url": f"http://localhost:{self.port}/a2a",
                    "protocolBinding": binding,
                    "protocolVersion": "1.0",
                },
            ],
            "capabilities": {},
            "securitySchemes": {"token": {"httpAuthSecurityScheme": {"scheme": "Bearer"}}},
            "securityRequirements": [{"schemes": {"token": {}}}],
            "skills": [{"id": "ask", "name": "Ask", "description": "Ask it."}],
            **members,
        }

    def says(self, task: str, state: str, text: str | None = None, **members: Any) -> None:
        """Let a task be in another state from now on."""
        artifacts = members.pop("artifacts", [])
        self.tasks[task] = {
            "id": task,
            "contextId": f"ctx-{task}",
            "status": status(state, text, **members),
            "artifacts": artifacts,
        }

    # HTTP

    async def handle(self, request: web.Request) -> web.StreamResponse:
        if request.path.endswith("agent-card.json"):
            self.fetched += 1
            return web.json_response(self.card or self.make_card())
        body = await request.json() if request.can_read_body else {}
        if request.path == "/a2a":
            return await self._rpc(request, body)
        if request.path == "/a2a/message:send":
            return await self._send(request, body)
        if request.path.endswith(":subscribe"):
            return await self._subscribe(request, body)
        return await self._task(request, {"id": request.path.rpartition("/")[2]})

    async def _rpc(self, request: web.Request, body: Json) -> web.StreamResponse:
        call = {"SendMessage": self._send, "GetTask": self._task, "SubscribeToTask": self._subscribe}
        answer = await call[body["method"]](request, body["params"])
        if not isinstance(answer, web.Response):
            return answer
        assert isinstance(answer.body, bytes)
        if answer.status != 200:
            code = {404: -32001, 400: -32602}.get(answer.status, -32603)
            said = json.loads(answer.body)["error"]["message"]
            return web.json_response(
                {"jsonrpc": "2.0", "id": body["id"], "error": {"code": code, "message": said}}
            )
        return web.json_response({"jsonrpc": "2.0", "id": body["id"], "result": json.loads(answer.body)})

    async def _send(self, request: web.Request, body: Json) -> web.StreamResponse:
        self.sent.append(body)
        self.headers.append(dict(request.headers))
        if self.on_send is not None:
            return await self.on_send(request, body)
        message = body["message"]
        task = message.get("taskId") or f"t-{message['messageId']}"
        if task not in self.tasks:
            self.tasks[task] = {"id": task, "contextId": f"ctx-{task}", "status": self.opens}
        return web.json_response({"task": self.tasks[task]})

    async def _task(self, request: web.Request, body: Json) -> web.StreamResponse:
        self.asked += 1
        if self.on_task is not None:
            return await self.on_task(request, body)
        found = self.tasks.get(body["id"])
        return refusal(404, "no such task") if found is None else web.json_response(found)

    async def _subscribe(self, request: web.Request, body: Json) -> web.StreamResponse:
        assert self.on_stream is not None
        return await self.on_stream(request, body)


def refusal(status: int, text: str, reason: str = "") -> web.Response:
    """A google.rpc.Status."""
    details = [{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": reason, "domain": "a2a"}]
    return web.json_response(
        {"error": {"code": status, "message": text, "details": details if reason else []}}, status=status
    )


@asynccontextmanager
async def served(peer: ScriptedPeer) -> AsyncIterator[ScriptedPeer]:
    """Serve a scripted peer on a port of this machine."""
    app = web.Application(client_max_size=2**22)
    app.router.add_route("*", "/{path:.*}", peer.handle)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", peer.port)
    await site.start()
    peer.port = runner.addresses[0][1]
    try:
        yield peer
    finally:
        await runner.cleanup()


@dataclass
class Stage:
    """A host, its person, and the worker for peers, which moves only when a test says so."""

    ada: Machine
    relay: Relay

    @property
    def node(self) -> DirectoryNode:
        assert isinstance(self.ada.node, DirectoryNode)
        return self.ada.node

    async def add(self, peer: ScriptedPeer, alias: str = "acme", **members: Any) -> Peer:
        made = await adding.add(alias, peer.url, LOCAL, resolver=ThisMachine(), **members)
        return adding.keep(self.node, made, SECRET)

    async def work(self, *, after: int = 0) -> None:
        """Let time pass, in milliseconds, and then do all that is due."""
        self.ada.clock.ms += after
        await self.relay.turn()
        await self.relay.settle()

    async def until(self, holds: Callable[[], bool], what: str) -> None:
        """Work until something holds; streams go on meanwhile."""
        for _ in range(2000):
            if holds():
                return
            await self.work(after=100)
            await asyncio.sleep(0.005)
        raise AssertionError(f"never came: {what}")

    def said(self, **members: str) -> list[Message]:
        """What the person was sent, of which the members are as given."""
        return [
            each
            for each in self.ada.inbox()
            if all(getattr(each, name) == value for name, value in members.items())
        ]

    def answer(self, question: Message) -> Message | None:
        return self.node.engine.answer_of(question.id)

    def state(self, message: Message) -> State:
        (delivery,) = self.node.engine.deliveries(message.id)
        return delivery.state


def staged(machine: Machine) -> Stage:
    """A stage for a machine; call it inside an event loop."""
    node = machine.node
    assert isinstance(node, DirectoryNode)

    async def desk(work: Callable[[DirectoryNode], T]) -> T:
        return work(node)

    return Stage(machine, Relay(machine.directory.root, desk, LOCAL, ThisMachine()))


@asynccontextmanager
async def stage(machine: Machine, peer: ScriptedPeer, **members: Any) -> AsyncIterator[Stage]:
    """A stage with one peer, which is added and served."""
    async with served(peer):
        made = staged(machine)
        await made.add(peer, **members)
        try:
            yield made
        finally:
            await made.relay.close()
