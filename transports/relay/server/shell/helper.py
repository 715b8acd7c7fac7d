"""A process beside the relay's that looks at ops each by itself, so that a second processor shares the work.

Signatures and hashes are half of what an op costs, and the threads of one interpreter take turns. The helper keeps
nothing and decides nothing: it is asked about the ops of a batch (publication.sound), and where it does not answer, the
relay does without. It starts when much is published for the first time, and ends when the relay does, in any way.
"""

import asyncio
import os
import pickle
import socket
import subprocess
import sys
from collections.abc import Iterator
from typing import Final

import structlog

from transports.relay.server.relay import Batch, Publication
from transports.relay.server.shell import helping
from transports.relay.server.shell.helping import LENGTH, Answer, Question, message

APART_OPS: Final = 8
"""A batch of fewer ops is verified sooner than the helper would answer."""

QUESTION_OPS: Final = 64
QUESTION_CHARACTERS: Final = 1024**2
"""Of how many ops the helper is asked at once, and of how much text before no more is added."""

START_SECONDS: Final = 20.0
ANSWER_SECONDS: Final = 5.0
"""How long it may take to start, and to answer."""

REST_SECONDS: Final = 30.0
"""How long the relay does without one that failed."""

_log = structlog.get_logger()


def processors() -> int:
    """How many processors this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)  # which not every system has
    return len(affinity(0)) if affinity is not None else os.cpu_count() or 1


class Helper:
    """The helper as the relay sees it."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None
        self._starting: asyncio.Task[None] | None = None
        self._not_before = 0.0

    @property
    def pid(self) -> int | None:
        """Its process, where it runs."""
        return None if self._process is None else self._process.pid

    @property
    def is_there(self) -> bool:
        """Whether it would answer now."""
        return self._streams is not None

    async def look_ahead(self, batch: Batch) -> None:
        """Find out about the ops of a batch what can be told of each by itself, where that is worth it."""
        if batch.ops < APART_OPS:
            return
        if self._streams is None:
            self._start()
            return
        try:
            for some in _portions(batch):
                async with asyncio.timeout(ANSWER_SECONDS):
                    await self._ask(some, *self._streams)
        except (OSError, EOFError, TimeoutError) as error:
            self._failed(error)

    async def _ask(
        self,
        ops: list[tuple[Publication, int]],
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        question: Question = [
            (each.session.replica, each.session.key.sign_key, each.ops[number].text) for each, number in ops
        ]
        writer.write(message(question))
        await writer.drain()
        size = int.from_bytes(await reader.readexactly(LENGTH))
        answer: Answer = pickle.loads(await reader.readexactly(size))
        for (each, number), found in zip(ops, answer, strict=True):
            if found is not None:
                each.ahead[number] = found

    def _start(self) -> None:
        """Start it, unless it is about to, or failed a short while ago; meanwhile the relay does without."""
        loop = asyncio.get_running_loop()
        if self._starting is None and loop.time() >= self._not_before:
            self._starting = loop.create_task(self._started())

    async def _started(self) -> None:
        try:
            async with asyncio.timeout(START_SECONDS):
                await self._begin()
        except (OSError, EOFError, TimeoutError) as error:
            self._failed(error)
        finally:
            self._starting = None

    async def _begin(self) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            command = (sys.executable, "-P", "-m", helping.__name__)
            self._process = subprocess.Popen(command, stdin=theirs.fileno(), stdout=subprocess.DEVNULL)
        reader, writer = await asyncio.open_connection(sock=ours)
        try:
            await reader.readexactly(1)  # it has read its modules
            self._streams = reader, writer
        finally:
            if self._streams is None:
                writer.close()

    def _failed(self, error: Exception) -> None:
        _log.warning("helper_failed", error=type(error).__name__)
        self._not_before = asyncio.get_running_loop().time() + REST_SECONDS
        self._end()

    def _end(self) -> None:
        process, streams, self._process, self._streams = self._process, self._streams, None, None
        if streams is not None:
            streams[1].close()
        if process is not None:
            process.kill()  # it keeps nothing
            process.wait()

    def close(self) -> None:
        """End it."""
        if self._starting is not None:
            self._starting.cancel()
        self._end()


def _portions(batch: Batch) -> Iterator[list[tuple[Publication, int]]]:
    """Divide what may be looked at ahead, so that neither side holds much at once."""
    some: list[tuple[Publication, int]] = []
    size = 0
    for each, number in batch.fresh():
        some.append((each, number))
        size += len(each.ops[number].text)
        if len(some) >= QUESTION_OPS or size >= QUESTION_CHARACTERS:
            yield some
            some, size = [], 0
    if some:
        yield some
