"""A replica's API on a real socket, in a thread of its own, and those who use it."""

import asyncio
import http.client
import json
import threading
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

from aiohttp import web
from websockets.sync.client import ClientConnection, connect

from crypto.canonical import JsonValue
from replica.api import tokens
from replica.api.app import application
from replica.home.locks import Held
from replica.host import items
from replica.node import DirectoryNode, create, opened
from replica.records.commits import CommitPoint
from replica.records.tokens import Tier
from replica.service.changes import Changes

PATIENCE = 20.0
"""Seconds that a test waits for what should come at once."""


@dataclass(frozen=True)
class Got:
    """An answer."""

    status: int
    headers: tuple[tuple[str, str], ...]
    raw: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.raw)

    def header(self, name: str) -> str | None:
        return next((value for known, value in self.headers if known.lower() == name.lower()), None)

    @property
    def comparable(self) -> tuple[int, tuple[tuple[str, str], ...], bytes]:
        """All of it but the time of day."""
        return self.status, tuple(each for each in self.headers if each[0] != "Date"), self.raw


@dataclass
class User:
    """Somebody with a token, or without one."""

    port: int
    token: str | None
    headers: dict[str, str] = field(default_factory=dict)

    def ask(
        self, method: str, path: str, body: object = None, headers: Mapping[str, str] | None = None
    ) -> Got:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE + 30)
        sent = {**self.headers, **(headers or {})}
        if self.token is not None:
            sent.setdefault("Authorization", f"Bearer {self.token}")
        content = None
        if body is not None:
            sent.setdefault("Content-Type", "application/json")
            content = body if isinstance(body, bytes) else json.dumps(body).encode()
        try:
            connection.request(method, path, content, sent)
            answer = connection.getresponse()
            return Got(answer.status, tuple(answer.getheaders()), answer.read())
        finally:
            connection.close()

    def get(self, path: str, headers: Mapping[str, str] | None = None) -> Got:
        return self.ask("GET", path, headers=headers)

    def post(self, path: str, body: object = None, headers: Mapping[str, str] | None = None) -> Got:
        return self.ask("POST", path, body, headers)

    def delete(self, path: str, headers: Mapping[str, str] | None = None) -> Got:
        return self.ask("DELETE", path, headers=headers)

    def send(self, *to: str, body: str = "Hello", kind: str = "message", **more: object) -> Any:
        got = self.post("/api/messages", {"to": to, "kind": kind, "body": body, **more})
        assert got.status == 201, got
        return got.json["message"]

    @contextmanager
    def events(self, path: str = "/ws", headers: Mapping[str, str] | None = None) -> Iterator["Events"]:
        sent = {**self.headers, **(headers or {})}
        if self.token is not None and "token=" not in path:
            sent["Authorization"] = f"Bearer {self.token}"
        with connect(
            f"ws://127.0.0.1:{self.port}{path}",
            additional_headers=sent,
            open_timeout=PATIENCE,
            compression=None,
        ) as socket:
            yield Events(socket)


class Events:
    """What a socket hears of, but that something of the node changed."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket

    def next(self, kind: str | None = None) -> Any:
        """The next event, of a kind where one is named."""
        while True:
            event = json.loads(self.socket.recv(timeout=PATIENCE))
            if event["type"] == kind or (kind is None and event["type"] != "node.changed"):
                return event


@dataclass
class Host:
    """Ada's machine, served; `node` is what a command on it would open."""

    root: Path
    port: int
    node: DirectoryNode

    def user(self, address: str | None = None, tier: Tier | None = None) -> User:
        """A holder of a new token."""
        return User(self.port, tokens.make(self.node, address, tier=tier).secret)

    @property
    def stranger(self) -> User:
        """Whoever has no token."""
        return User(self.port, None)

    def agent(self, name: str) -> User:
        """An approved agent of Ada's."""
        person = self.user()
        made = person.post("/api/agents/register", {"name": name, "client": "tests"})
        assert made.status == 201, made
        approved = person.post(f"/api/agents/{quoted(f'agent:ada/{name}')}/approve")
        assert approved.json["agent"]["status"] == "approved"
        return User(self.port, made.json["token"])


@contextmanager
def session(host: Host, task: str | None = None) -> Iterator[str]:
    """A live session of this machine."""
    here = host.node.host.sessions_here
    with host.node.store.transaction(CommitPoint.SESSION):
        made = here.make(host.node.random, task, None, now=host.node.now())
    lock: Held = here.hold(made.address)
    with host.node.store.transaction(CommitPoint.SESSION):
        here.begin(made)
    try:
        yield made.address
    finally:
        lock.release()


def work_item(host: Host, **fields: JsonValue) -> str:
    with host.node.store.transaction(CommitPoint.WORK_ITEM) as db:
        return items.add(db, host.node.random, {"title": "It", **fields}, now=host.node.now()).address


def quoted(address: str) -> str:
    """An address in a path."""
    return quote(address, safe="")


@contextmanager
def served(folder: Path, names: Collection[str] = ()) -> Iterator[Host]:
    """Serve a new replica of Ada's."""
    root = folder / "ada"
    create(root, "ada", "laptop")
    with Changes(root / "state.db") as changes, serving(root, changes, names) as port, opened(root) as node:
        yield Host(root, port, node)


@contextmanager
def serving(root: Path, changes: Changes, names: Collection[str] = ()) -> Iterator[int]:
    """Serve a replica from a thread of its own; the value is the port."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="api of a test")
    thread.start()

    async def start() -> web.AppRunner:
        runner = web.AppRunner(application(root, changes, names=names), access_log=None, shutdown_timeout=5)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        return runner

    try:
        runner = asyncio.run_coroutine_threadsafe(start(), loop).result(PATIENCE)
        try:
            yield runner.addresses[0][1]
        finally:
            asyncio.run_coroutine_threadsafe(runner.cleanup(), loop).result(PATIENCE)
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(PATIENCE)
        loop.close()
