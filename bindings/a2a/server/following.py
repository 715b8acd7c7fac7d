"""Following tasks: one watch of the store for everybody who waits for one or streams it.

After each commit every task that is followed is read once, however many follow it, and whoever does is woken where it
differs. Of states that follow each other faster than somebody is told, only the last is kept: so a slow reader costs
one task's JSON, which all of its followers share.
"""

import asyncio
import json
import logging
import sqlite3
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final

from bindings.a2a import clients, exchange
from bindings.a2a.errors import Reason, Refused
from bindings.a2a.presenting import MARKDOWN, JsonObject
from core.errors import Code, DmpError
from replica.api.workers import Workers
from replica.node import Node
from replica.service.changes import Changes

MAX_FOLLOWERS: Final = 4_000
"""Streams and waits at once, of all clients."""

MAX_OF_CLIENT: Final = 1_000
"""Those of one client."""

_BATCH: Final = 50
"""Tasks that are read in one go: others' requests come between."""

_RETRY_SECONDS: Final = 1.0

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Subject:
    """What is followed: a task of a client's, as it is shown with these extensions active and text of this type."""

    client: str
    secret: str
    task: str
    active: frozenset[str]
    text: str = MARKDOWN


@dataclass(eq=False, slots=True)
class _Followed:
    followers: int = 0
    shown: JsonObject | None = None
    digest: str = ""
    turn: int = 0
    over: bool = False
    news: asyncio.Event = field(default_factory=asyncio.Event)

    def put(self, shown: JsonObject | None) -> None:
        """Keep how the task is now; None for one that whoever follows may see no more."""
        if shown is None:
            self.over = True
        else:
            digest = json.dumps(shown, sort_keys=True)
            if digest == self.digest:
                return
            self.shown, self.digest = shown, digest
            self.turn += 1
        self.wake()

    def wake(self) -> None:
        news, self.news = self.news, asyncio.Event()
        news.set()


class Follower:
    """Who follows a task: `after` gives it as it is, once for each state it is found in."""

    def __init__(self, followed: _Followed) -> None:
        self._followed = followed
        self._turn = 0

    async def after(self, seconds: float | None = None) -> JsonObject | None:
        """The task, once it differs from what was given before; None when nothing more will come.

        Raises TimeoutError after `seconds` without news.
        """
        followed = self._followed
        async with asyncio.timeout(seconds):
            while not followed.over and followed.turn == self._turn:
                await followed.news.wait()
        if followed.turn == self._turn:
            return None
        self._turn = followed.turn
        return followed.shown


class Following:
    """The tasks that are followed, on one event loop."""

    def __init__(self, workers: Workers, changes: Changes) -> None:
        self._workers = workers
        self._changes = changes
        self._followed: dict[Subject, _Followed] = {}
        self._of_client: dict[str, int] = {}
        self._watch: asyncio.Task[None] | None = None
        self._new = asyncio.Event()
        self._ended = False

    @property
    def count(self) -> int:
        """How many follow."""
        return sum(self._of_client.values())

    @asynccontextmanager
    async def follow(self, subject: Subject) -> AsyncIterator[Follower]:
        """Follow a task for the length of a block. Raises Refused where too many do."""
        own = self._of_client.get(subject.client, 0)
        if self._ended or own >= MAX_OF_CLIENT or self.count >= MAX_FOLLOWERS:
            raise Refused(Reason.LIMITED, "too many streams are open here; close one, or ask for the task")
        self._of_client[subject.client] = own + 1
        followed = self._followed.setdefault(subject, _Followed())
        followed.followers += 1
        self._new.set()
        if self._watch is None:
            self._watch = asyncio.create_task(self._pass_on())
        try:
            yield Follower(followed)
        finally:
            followed.followers -= 1
            if not followed.followers:
                self._followed.pop(subject, None)
            self._of_client[subject.client] -= 1
            if not self._of_client[subject.client]:
                del self._of_client[subject.client]

    def end(self) -> None:
        """Tell everybody that nothing more will come."""
        self._ended = True
        if self._watch is not None:
            self._watch.cancel()
        for each in [*self._followed.values()]:
            each.over = True
            each.wake()

    async def _pass_on(self) -> None:
        seen = -1
        while not self._changes.closed:
            news = asyncio.create_task(self._changes.after(seen))
            fresh = asyncio.create_task(self._new.wait())
            try:
                await asyncio.wait((news, fresh), return_when=asyncio.FIRST_COMPLETED)
            finally:
                news.cancel()
                fresh.cancel()
            self._new.clear()
            count = self._changes.count
            begun = time.monotonic()
            # What is new has not been read yet; the rest only where something was committed.
            due = [each for each, to in self._followed.items() if count != seen or not to.turn]
            seen = count if await self._read(due) else -1
            # Half of the time at most, however much is committed.
            await asyncio.sleep(_RETRY_SECONDS if seen < 0 else min(1.0, time.monotonic() - begun))

    async def _read(self, due: Sequence[Subject]) -> bool:
        """Read tasks and tell their followers; False where some cannot be read now."""
        all_read = True
        for first in range(0, len(due), _BATCH):
            batch = due[first : first + _BATCH]
            try:
                found = await self._workers.run(lambda node, batch=batch: _look(node, batch))  # type: ignore[misc]
            except Exception as error:  # noqa: BLE001 - whoever follows other tasks is told of those all the same
                _unread(error)
                return False
            for subject, shown in zip(batch, found, strict=True):
                if isinstance(shown, _Unread):
                    all_read = False
                elif (followed := self._followed.get(subject)) is not None:
                    followed.put(shown)
        return all_read


class _Unread:
    """Stands for a task that cannot be read now."""


_UNREAD: Final = _Unread()


def _unread(error: Exception) -> _Unread:
    _log.warning("tasks cannot be read, and are tried again: %s", type(error).__name__)
    return _UNREAD


def _look(node: Node, batch: Sequence[Subject]) -> list[JsonObject | _Unread | None]:
    found: list[JsonObject | _Unread | None] = []
    for each in batch:
        try:
            found.append(_look_at(node, each))
        except (sqlite3.Error, OSError):  # the store itself is at fault
            raise
        except Exception as error:  # noqa: BLE001 - one task that cannot be read keeps nobody from the others
            found.append(_unread(error))
    return found


def _look_at(node: Node, subject: Subject) -> JsonObject | None:
    """A task as its client is shown it, without its history; None once it may not be seen."""
    client = clients.find(node, subject.secret)
    if client is None or client.address != subject.client:
        return None
    try:
        return exchange.get_task(node, client, subject.task, 0, subject.active, subject.text)
    except DmpError as error:
        if error.code is Code.NOT_FOUND:
            return None
        raise
