"""Waiting for what becomes of tasks: any number of requests and streams, and one look at the store for all.

Whoever watches a task holds its latest state and nothing else: no thread, no transaction. After a commit one thread
looks at all the tasks that are watched, a batch at a time, and rests as long as it looked. Whoever is slow to read
misses what came between, and never the last state.
"""

import asyncio
import logging
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

from bindings.a2a import clients, facts, scope, showing, tasks
from bindings.a2a.errors import Reason, Refused, no_such_task, nobody
from bindings.a2a.presenting import JsonObject, View
from bindings.a2a.projection import TaskState
from core.errors import DmpError
from replica.api.errors import Refusal
from replica.api.workers import Workers
from replica.node import Node
from replica.service.changes import Changes

MAX_WATCHED: Final = 4_000
"""Requests and streams that wait at once."""

MAX_OF_CLIENT: Final = 500
"""How many of them may be one client's."""

BATCH: Final = 100
"""Tasks that one job of the thread looks at, so that others get their turn."""

RETRY_SECONDS: Final = 1.0
"""How long it waits before it looks again at a store that could not be read."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Seen:
    """A task as its client is shown it, without its history."""

    state: TaskState
    shown: JsonObject


@dataclass(eq=False, slots=True)
class Watch:
    """One that waits: for what task, and how it is shown. `seen` is the latest that is known of it."""

    view: View
    task: str
    seen: Seen | Refused | None = None
    told: asyncio.Event = field(default_factory=asyncio.Event)

    async def next(self) -> Seen:
        """What the task has become since this was last asked. Raises Refused once the client may not know any more."""
        await self.told.wait()
        self.told.clear()
        assert self.seen is not None
        if isinstance(self.seen, Refused):
            raise self.seen
        return self.seen

    def tell(self, found: Seen | Refused) -> None:
        """Note what was found; whoever waits is told where it is something new."""
        if found != self.seen:
            self.seen = found
            self.told.set()


class Watching:
    """Everybody who waits. `workers` have one thread of their own for looking; `run` does so until the service ends."""

    def __init__(self, workers: Workers, changes: Changes) -> None:
        self._workers = workers
        self._changes = changes
        self._watches: set[Watch] = set()
        self._new = asyncio.Event()
        self._ended = False

    @property
    def watched(self) -> int:
        """How many wait."""
        return len(self._watches)

    @contextmanager
    def watch(self, view: View, task: str) -> Iterator[Watch]:
        """Wait for a task's changes for the length of a block, and be told of how it stands first.

        Raises Refused when too many wait.
        """
        own = sum(each.view.client == view.client for each in self._watches)
        if self._ended or len(self._watches) >= MAX_WATCHED or own >= MAX_OF_CLIENT:
            raise Refused(Reason.UNAVAILABLE, "too many wait here; ask for the task again later")
        found = Watch(view, task)
        self._watches.add(found)
        self._new.set()
        try:
            yield found
        finally:
            self._watches.discard(found)

    def end(self) -> None:
        """Let nobody wait any more."""
        self._ended = True
        for each in self._watches:
            each.tell(Refused(Reason.UNAVAILABLE, "this host is about to stop; ask for the task again later"))

    async def run(self) -> None:
        """Look after each commit, and at whatever is new."""
        seen = -1
        while not self._changes.closed and not self._ended:
            if not self._watches:
                await self._new.wait()
            seen, pending = await self._next(seen)
            began = time.monotonic()
            try:
                for batch in _batches(pending):
                    await self._look(batch)
            except (DmpError, Refusal, sqlite3.Error, OSError) as error:
                _log.warning("tasks cannot be looked at, and are tried again: %s", type(error).__name__)
                await asyncio.sleep(RETRY_SECONDS)
                seen = -1
            await asyncio.sleep(time.monotonic() - began)

    async def _next(self, seen: int) -> tuple[int, list[Watch]]:
        """Wait for a commit or for somebody new; return the count of commits, and who is to be looked after."""
        self._new.clear()
        fresh = [each for each in self._watches if each.seen is None]
        if fresh and self._changes.count == seen:
            return seen, fresh
        news = asyncio.create_task(self._changes.after(seen))
        new = asyncio.create_task(self._new.wait())
        try:
            await asyncio.wait((news, new), return_when=asyncio.FIRST_COMPLETED)
        finally:
            news.cancel()
            new.cancel()
        if self._changes.count == seen:
            return seen, [each for each in self._watches if each.seen is None]
        return self._changes.count, [*self._watches]

    async def _look(self, watches: Sequence[Watch]) -> None:
        found = await self._workers.run(lambda node: look(node, watches))
        for watch, each in zip(watches, found, strict=True):
            watch.tell(each)


def look(node: Node, watches: Sequence[Watch]) -> list[Seen | Refused]:
    """How the tasks stand that some wait for, each for its client."""
    with node.store.reading():
        opened = scope.open_gates(node)
        approved: dict[str, bool] = {}
        found: list[Seen | Refused] = []
        for each in watches:
            client = each.view.client
            if client not in approved:
                approved[client] = clients.need(node, client).status == "approved"
            if not approved[client]:
                found.append(nobody())
                continue
            task = tasks.find(node.store.db, client, each.task)
            if task is None:
                found.append(no_such_task())
                continue
            known = facts.know(node, task, opened)
            found.append(Seen(known.state.state, showing.task_json(node, known, each.view, history=0)))
        return found


def _batches(watches: Sequence[Watch]) -> Iterator[Sequence[Watch]]:
    for start in range(0, len(watches), BATCH):
        yield watches[start : start + BATCH]
