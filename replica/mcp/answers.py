"""Waiting for the answers to blocking questions (section B.2): any number of waits, and one look at the store for all.

A wait holds a future and nothing else: no thread, no transaction, no connection. Only while somebody waits is the store
watched, and each commit in it has one thread look at all the questions there are. A wait that is cancelled is gone.
"""

import asyncio
import logging
import sqlite3
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Final

from core.errors import DmpError
from core.gate_data import is_close
from core.participation import acts_for
from crypto.canonical import JsonValue
from replica.api.errors import Refusal
from replica.mcp.principals import principal
from replica.mcp.shapes import message_json
from replica.node import Node
from replica.service.changes import Changes

HUMAN_SECONDS: Final = 30 * 60
"""How long a wait for a human lasts at most; one for anybody else never lasts longer either (section B.2)."""

MAX_WAITS: Final = 2_000
"""Waits at once; who comes beyond them hears of the answer by mail alone."""

RETRY_SECONDS: Final = 1.0
"""How long it waits before it looks again at a store that could not be read."""

LATER: Final = (
    "Nobody has answered yet. The question stays open, and the answer will arrive in your mailbox: read it there with "
    "inbox_read, and do not ask again."
)
CLOSED: Final = "The question was closed without an answer, so none will come."

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Question:
    """What a wait is for: the answer to `message`, for its sender."""

    message: str
    sender: str


@dataclass(frozen=True, slots=True)
class Answered:
    """An answer as the one who asked is told of it, and what to make of it."""

    answer: JsonValue
    note: str


Found = Answered | DmpError | None
Look = Callable[[Sequence[Question]], Awaitable[Sequence[Found]]]


@dataclass(eq=False, slots=True)
class _Wait:
    question: Question
    done: asyncio.Future[Answered | None] = field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )

    def settle(self, found: Found) -> None:
        if self.done.done() or found is None:
            return
        if isinstance(found, DmpError):
            self.done.set_exception(found)
        else:
            self.done.set_result(found)


class Answers:
    """The waits of one event loop. `watched` gives the changes of the store; `look` reads what there is in it."""

    def __init__(self, watched: Callable[[], AbstractContextManager[Changes]], look: Look) -> None:
        self._watched = watched
        self._look = look
        self._waits: set[_Wait] = set()
        self._watch: asyncio.Task[None] | None = None
        self._ended = False

    @property
    def waits(self) -> int:
        """How many wait."""
        return len(self._waits)

    async def wait(self, question: Question, seconds: float) -> Answered | None:
        """Wait for an answer; None when there is none in `seconds`, or before nobody waits any more.

        Raises DmpError `forbidden` on `from` once the one who asked may not read any more.
        """
        if len(self._waits) >= MAX_WAITS:
            return None
        waiting = _Wait(question)
        self._waits.add(waiting)
        if self._watch is None or self._watch.done():
            self._watch = asyncio.create_task(self._pass_on())
        try:
            async with asyncio.timeout(seconds):
                await self._try([waiting])  # it may have come before anybody watched
                return None if self._ended and not waiting.done.done() else await waiting.done
        except TimeoutError:
            return None
        finally:
            self._waits.discard(waiting)
            if not self._waits and self._watch is not None:
                self._watch.cancel()
                self._watch = None

    def end(self) -> None:
        """End every wait, and let nobody wait any more."""
        self._ended = True
        for wait in self._waits:
            if not wait.done.done():
                wait.done.set_result(None)

    async def _pass_on(self) -> None:
        with self._watched() as changes:
            seen = -1  # whoever came first may have looked before anything was watched
            while not changes.closed:
                seen = await changes.after(seen)
                if not await self._try([*self._waits]):
                    await asyncio.sleep(RETRY_SECONDS)
                    seen = -1

    async def _try(self, waits: Sequence[_Wait]) -> bool:
        """Look whether there are answers; False where the store cannot be read now."""
        try:
            found = await self._look([each.question for each in waits])
        except (DmpError, Refusal, sqlite3.Error, OSError) as error:
            _log.warning("answers cannot be read, and are tried again: %s", type(error).__name__)
            return False
        for wait, each in zip(waits, found, strict=True):
            wait.settle(each)
        return True


def find(node: Node, questions: Sequence[Question]) -> list[Found]:
    """What there is of the answers to some questions, each for the one who asked it."""
    with node.store.reading():
        return [_find(node, each) for each in questions]


def _find(node: Node, question: Question) -> Found:
    try:
        principal(node, question.sender)
    except DmpError as error:
        return error
    answer = node.engine.answer_of(question.message)
    if answer is None:
        return None
    if is_close(answer, node.host.system_address):
        return Answered(message_json(node, answer), CLOSED)
    own = acts_for(node.host, question.sender)
    there = next((each.id for each in node.engine.deliveries(answer.id) if each.recipient in own), None)
    place = "in your mailbox" if there is None else f"in your mailbox, as delivery {there}"
    return Answered(message_json(node, answer), f"This answer is also {place}; do not act on it twice.")
