"""Ada's machine, with agents of hers that call tools, and no process or socket between."""

import asyncio
import json
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from core.host import AgentStatus
from core.inputs import ReplyInput, Sender, SendInput
from core.message import Message
from replica.api.workers import Workers
from replica.host import agents, items
from replica.host.attach import living
from replica.mcp.desk import Actor, Desk, Told
from replica.node import DirectoryNode, create, opened
from replica.records.commits import CommitPoint
from replica.service.changes import Changes

SCOUT = "agent:ada/scout"
SCRIBE = "agent:ada/scribe"
ADA = "human:ada"

PATIENCE = 60.0
"""Seconds that a test waits for what should come at once."""

T = TypeVar("T")


@dataclass
class Office:
    """`node` is what a command on the machine would open; `desk` does what tools are called for."""

    root: Path
    node: DirectoryNode
    desk: Desk
    runner: asyncio.Runner

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self.runner.run(asyncio.wait_for(work, PATIENCE))

    async def told(self, name: str, by: str = SCOUT, key: str | None = None, /, **arguments: Any) -> Told:
        return await self.desk.call(Actor(by, "mcp-test"), name, arguments, key)

    def call(self, name: str, by: str = SCOUT, key: str | None = None, /, **arguments: Any) -> Any:
        """Call a tool, which must do it."""
        told = self.run(self.told(name, by, key, **arguments))
        assert not told.refused, told.text
        return json.loads(told.text)

    def refused(self, name: str, by: str = SCOUT, key: str | None = None, /, **arguments: Any) -> Any:
        """Call a tool, which must not do it."""
        told = self.run(self.told(name, by, key, **arguments))
        assert told.refused, told.text
        return json.loads(told.text)

    def send(self, *to: str, body: str = "Hello", by: str = ADA, **more: Any) -> Message:
        """Send a message as somebody on this machine does, with no tool."""
        given = SendInput(to, more.pop("kind", "message"), body, **more)
        return self.node.engine.send(Sender(by, can_decide=by == ADA), given).message

    def answer(self, question: str, body: str = "", choice: str | None = None) -> Message:
        return self.node.engine.reply(
            Sender(ADA, can_decide=True), question, ReplyInput(body, choice=choice)
        ).message

    def register(self, address: str, status: AgentStatus | None = "approved") -> None:
        with self.node.store.transaction(CommitPoint.AGENT) as db:
            agents.register(db, self.node.random, address, "a test", self.node.me)
            if status is not None:
                agents.decide(db, address, status)

    def task(self, title: str = "Fix the login", **more: Any) -> str:
        with self.node.store.transaction(CommitPoint.WORK_ITEM) as db:
            return items.add(db, self.node.random, {"title": title, **more}, now=self.node.now()).address

    @contextmanager
    def session(self, work_item: str | None = None) -> Iterator[str]:
        """A session of Ada's, as long as the block."""
        here = self.node.host.sessions_here
        with living(
            self.node, lambda: here.make(self.node.random, work_item, None, now=self.node.now())
        ) as made:
            yield made.address

    def stored(self) -> int:
        (count,) = self.node.store.db.execute("SELECT count(*) FROM messages").fetchone()
        return int(count)


@contextmanager
def office(folder: Path) -> Iterator[Office]:
    """A new machine of Ada's, with two approved agents."""
    root = folder / "ada"
    create(root, "ada", "laptop")
    workers = Workers(lambda: opened(root), 1, "test")
    try:
        with opened(root) as node, asyncio.Runner() as runner:
            desk = Desk(workers, lambda: Changes(root / "state.db"))
            made = Office(root, node, desk, runner)
            for address in (SCOUT, SCRIBE):
                made.register(address)
            yield made
    finally:
        workers.close()
