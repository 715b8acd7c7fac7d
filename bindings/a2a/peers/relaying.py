"""The worker that takes mail to peers and follows their tasks, while the node serves (section 8.9).

For each peer with something due one job runs: its card, its mail in order, its tasks. A peer that is slow or never ends
an answer holds up itself alone. A job asks the store what to do (`desk`), then the network, then writes down what came
of it; whatever ends it in between, the next job begins with what is written down.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar

from aiohttp.abc import AbstractResolver

from bindings.a2a.peers import adding, desk, extensions
from bindings.a2a.peers.desk import Due, Following, Relayed
from bindings.a2a.peers.events import read_status
from bindings.a2a.peers.extensions import HearingExtension
from bindings.a2a.peers.records import PeerTask
from bindings.a2a.peers.wire import Call, Line, PeerError
from core.errors import DmpError
from replica.api.errors import Refusal
from replica.api.workers import Workers
from replica.host.config import Config
from replica.node import DirectoryNode, opened
from replica.service.changes import Changes

IDLE_SECONDS: Final = 30.0
"""How often it looks at least, should a change go unnoticed."""

MOST_STREAMS: Final = 50
"""Tasks that are streamed at once; others are asked for again and again."""

STREAM_AGAIN_SECONDS: Final = 30.0
"""How long after a stream of a task began the next one may: a peer that ends each at once is only asked meanwhile."""

FAILED_SECONDS: Final = 5.0
"""How long it waits after it failed itself."""

T = TypeVar("T")
Desk = Callable[[Callable[[DirectoryNode], T]], Awaitable[T]]
"""Does something with the store, away from the loop."""

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class Relay:
    """The work that is done for peers. `private` are hosts that the operator allows to be anywhere."""

    root: Path
    desk: "Desk[Any]"
    private: frozenset[str]
    resolver: AbstractResolver | None = None
    _jobs: dict[str, asyncio.Task[None]] = field(default_factory=dict)
    _streams: dict[tuple[str, str], asyncio.Task[None]] = field(default_factory=dict)
    _streamed: dict[tuple[str, str], float] = field(default_factory=dict)  # when the last stream began
    _ended: asyncio.Event = field(default_factory=asyncio.Event)

    async def turn(self) -> int | None:
        """Begin what is due and not under way; return in how many milliseconds more is, None where nothing waits."""
        due: Due = await self.desk(desk.due)
        for alias in due.aliases:
            if alias not in self._jobs:
                self._jobs[alias] = self._begin(self._job(alias), self._jobs, alias)
        return due.next_in

    async def rest(self, seconds: float) -> None:
        """Wait until a job has ended, but no longer."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._ended.wait(), seconds)
        self._ended.clear()

    @property
    def ended(self) -> asyncio.Event:
        """Set when a job has ended."""
        return self._ended

    async def settle(self) -> None:
        """Wait until nothing is under way, streams aside."""
        while self._jobs:
            await asyncio.wait(self._jobs.values())

    async def close(self) -> None:
        """End what is under way; what was committed is kept, and the rest is done again."""
        tasks = [*self._jobs.values(), *self._streams.values()]
        for each in tasks:
            each.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _begin(
        self, work: Coroutine[Any, Any, None], among: dict[Any, asyncio.Task[None]], name: Any
    ) -> asyncio.Task[None]:
        async def run() -> None:
            try:
                await work
            except (DmpError, Refusal, OSError) as error:
                _log.warning("work for an A2A peer failed, and is tried again: %s", type(error).__name__)
                await asyncio.sleep(FAILED_SECONDS)
            except Exception as error:  # noqa: BLE001 - whatever a peer says, the others go on
                _log.error("work for an A2A peer failed, and is tried again", exc_info=error)
                await asyncio.sleep(FAILED_SECONDS)
            finally:
                among.pop(name, None)
                self._ended.set()

        return asyncio.get_running_loop().create_task(run())

    async def _job(self, alias: str) -> None:
        """Everything that is due for one peer."""
        if await self.desk(lambda node: desk.is_refresh_due(node, alias)):
            await adding.refresh(self.desk, alias, self.private, self.resolver)
        sending: Relayed | None
        while (sending := await self.desk(lambda node: desk.next_sending(node, alias))) is not None:
            await self._relay(sending)
        following: Following | None
        while (following := await self.desk(lambda node: desk.next_task(node, alias))) is not None:
            await self._follow(following)

    # Mail

    async def _relay(self, one: Relayed) -> None:
        line = Line(one.peer.interface, one.credential, self.private, self.resolver)
        try:
            answer = await self._send(line, one)
        except PeerError as error:
            failed = error
            await self.desk(lambda node: desk.not_accepted(node, one, failed))
            return
        task: PeerTask | None = await self.desk(lambda node: desk.accepted(node, one, answer))
        if task is not None:
            self._stream(one, task, line)

    async def _send(self, line: Line, one: Relayed) -> Call:
        headers = line.headers()
        request: Call = one.request
        spoken = extensions.of(one.peer)
        for extension, params in spoken:
            request = await extension.shape(self.root, one.peer, params, request, headers)

        def hear(answered: Mapping[str, str]) -> None:
            for extension, _ in spoken:
                if isinstance(extension, HearingExtension):
                    extension.hear(answered)

        return await line.send(request, headers, hear)

    # Tasks

    async def _follow(self, one: Following) -> None:
        line = Line(one.peer.interface, one.credential, self.private, self.resolver)
        streamed = (one.task.alias, one.task.task) in self._streams
        try:
            found = await line.task(one.task.task)
        except PeerError as error:
            failed = error
            await self.desk(lambda node: desk.not_followed(node, one, failed))
            return
        task: PeerTask = await self.desk(lambda node: desk.heard(node, one, found, streamed=streamed))
        self._stream(one, task, line)

    def _stream(self, one: Relayed | Following, task: PeerTask, line: Line) -> None:
        """Follow a task by a stream, where the peer offers that."""
        name, now = (task.alias, task.task), asyncio.get_running_loop().time()
        if not task.is_open:
            self._streamed.pop(name, None)
            return
        if not one.peer.interface.streaming or name in self._streams or len(self._streams) >= MOST_STREAMS:
            return
        if now - self._streamed.get(name, -STREAM_AGAIN_SECONDS) >= STREAM_AGAIN_SECONDS:
            self._streamed[name] = now
            self._streams[name] = self._begin(self._listen(task, line), self._streams, name)

    async def _listen(self, task: PeerTask, line: Line) -> None:
        """Record what a stream tells, until it ends or tells of an end: then the task itself is asked for."""
        try:
            async with aclosing(line.events(task.task)) as told:
                async for each in told:
                    status = each.get("statusUpdate")
                    event = read_status(status, task.task) if isinstance(status, dict) else None
                    if event is not None and await self.desk(partial(desk.told, task=task, event=event)):
                        await self.desk(lambda node: desk.look_now(node, task))
                        break
        except PeerError as error:
            if error.failure == "later":
                _log.debug("the stream of a peer's task ended: %s", error.text)


@asynccontextmanager
async def relaying(root: Path, changes: Changes, config: Config) -> AsyncIterator[None]:
    """Relay to the peers of the replica at `root` for the length of a block."""
    workers = Workers(lambda: opened(root), 1, "a2a-peers")
    relay = Relay(root, workers.run, config.peers.private_hosts)
    running = asyncio.get_running_loop().create_task(_run(relay, changes))
    try:
        yield
    finally:
        running.cancel()
        with suppress(asyncio.CancelledError):
            await running
        await relay.close()
        await asyncio.to_thread(workers.close)


async def _run(relay: Relay, changes: Changes) -> None:
    while True:
        seen = changes.count
        try:
            next_in = await relay.turn()
        except Exception as error:  # noqa: BLE001 - the store may be busy or full; nothing is lost by waiting
            _log.warning("A2A peers wait: %s", type(error).__name__)
            await asyncio.sleep(FAILED_SECONDS)
            continue
        seconds = IDLE_SECONDS if next_in is None else min(IDLE_SECONDS, max(0.0, next_in / 1000))
        changed = asyncio.ensure_future(changes.after(seen, max(seconds, 0.05)))
        ended = asyncio.ensure_future(relay.ended.wait())
        await asyncio.wait((changed, ended), return_when=asyncio.FIRST_COMPLETED)
        for each in (changed, ended):
            each.cancel()
        relay.ended.clear()
