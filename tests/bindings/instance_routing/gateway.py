"""Ada's machine with an agent, two A2A clients and their tokens, and its gateway on a socket."""

import asyncio
from collections.abc import AsyncIterator, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp

from bindings.a2a import clients
from bindings.instance_routing import instances
from bindings.instance_routing.commits import CommitPoint
from bindings.instance_routing.extension import URI
from bindings.instance_routing.instances import Instance
from bindings.instance_routing.running import running
from core.inputs import ReplyInput, Sender
from core.message import Message
from replica.api import tokens
from replica.host import agents
from replica.node import DirectoryNode, create, opened
from replica.records.commits import CommitPoint as Replica
from replica.service.changes import Changes

SCRIBE = "agent:ada/scribe"
ACME, OTHER = "agent:ada/a2a.acme", "agent:ada/a2a.other"
HEADERS = {"A2A-Extensions": URI, "A2A-Version": "1.0"}
PATIENCE = 60.0

Json = dict[str, Any]


@dataclass
class Machine:
    """Ada's machine, and who may come."""

    root: Path
    node: DirectoryNode
    scribe: Instance
    secrets: dict[str, str]

    def expose(self, address: str = SCRIBE, **options: str | None) -> Instance:
        with self.node.store.transaction(CommitPoint.EXPOSED) as db:
            return instances.expose(db, self.node.random, self.node.me, address, **options)

    def inbox(self, address: str = SCRIBE) -> list[Message]:
        return [message for _, message in self.node.engine.inbox(address)]

    def answer(self, message: Message, body: str, **given: Any) -> Message:
        return self.node.engine.reply(Sender(SCRIBE), message.id, ReplyInput(body, **given)).message


@contextmanager
def machine(root: Path) -> Iterator[Machine]:
    """Ada's machine: `scribe` is exposed, `acme` and `other` are approved clients."""
    create(root, "ada", "laptop")
    with opened(root) as node:
        approve(node, SCRIBE)
        secrets = {SCRIBE: tokens.make(node, SCRIBE).secret}
        for address in (ACME, OTHER):
            secrets[address] = clients.add(node, address).secret
            clients.approve(node, Sender("human:ada", can_decide=True), address)
        with node.store.transaction(CommitPoint.EXPOSED) as db:
            scribe = instances.expose(db, node.random, node.me, SCRIBE)
        yield Machine(root, node, scribe, secrets)


def approve(node: DirectoryNode, address: str) -> None:
    with node.store.transaction(Replica.AGENT) as db:
        agents.register(db, node.random, address, "a program", node.me)
        agents.decide(db, address, "approved")


@dataclass
class Answer:
    """What came back."""

    status: int
    body: bytes
    json: Any
    headers: Any

    @property
    def reason(self) -> str:
        return str(self.json["error"]["details"][0]["reason"])

    @property
    def field(self) -> str:
        return str(self.json["error"]["details"][1]["fieldViolations"][0]["field"])


@dataclass
class Caller:
    """A client that speaks HTTP by hand."""

    session: aiohttp.ClientSession
    url: str
    secret: str

    async def ask(self, verb: str, path: str, **given: Any) -> Answer:
        headers = {"Authorization": f"Bearer {self.secret}", **given.pop("headers", HEADERS)}
        async with self.session.request(verb, f"{self.url}{path}", headers=headers, **given) as response:
            body = await response.read()
            return Answer(response.status, body, await response.json(), response.headers)

    async def send(self, request: Json, **given: Any) -> Answer:
        return await self.ask("POST", "/message:send", json=request, **given)


@dataclass
class Gateway:
    """The gateway, on a socket."""

    machine: Machine
    session: aiohttp.ClientSession
    url: str

    def client(self, address: str = ACME) -> Caller:
        return Caller(self.session, self.url, self.machine.secrets[address])


@asynccontextmanager
async def served(machine: Machine, per_minute: int = 6_000) -> AsyncIterator[Gateway]:
    with Changes(machine.root / "state.db") as changes:
        async with (
            running(machine.root, changes, "127.0.0.1:0", "", per_minute) as url,
            aiohttp.ClientSession() as session,
        ):
            yield Gateway(machine, session, url)


def run(work: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(work, PATIENCE))


def a_request(recipient: str, text: str = "Hello", id_: str = "m1", **routing: Any) -> Json:
    """A SendMessageRequest that waits for nothing."""
    return {
        "message": {
            "messageId": id_,
            "role": "ROLE_USER",
            "parts": [{"text": text}],
            "extensions": [URI],
        },
        "metadata": {URI: {"recipientInstanceId": recipient, **routing}},
        "configuration": {"returnImmediately": True},
    }
