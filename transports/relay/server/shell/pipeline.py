"""Group commit: what came while one batch was on its way to the disk is the next batch.

One batch is verified while the one before it is written. A lane has publications in one of them at most, so
that each is verified on top of what is on the disk.

Verifying a few ops stays in the thread of the sockets, which it leaves to them every few milliseconds: a thread of its
own would wait anew for the interpreter after each signature, and that costs as much as the signature. Of many ops a
process of its own finds out what can be told of each by itself (`helper`).
"""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from time import perf_counter
from typing import Final

import structlog

from transports.relay.server.relay import Batch, Relay
from transports.relay.server.shell.helper import Helper
from transports.relay.server.shell.metrics import Metrics

SLICE_SECONDS: Final = 0.003
"""How long one goes on verifying before the sockets have a turn."""

GATHER_SECONDS: Final = 0.01
"""How long the next batch gathers while the one before it is written. Whoever publishes alone does not wait."""

_log = structlog.get_logger()


class Pipeline:
    """Takes what waits in a relay through verification and to the disk."""

    def __init__(self, relay: Relay, metrics: Metrics, helper: Helper | None = None) -> None:
        """`helper`, where there is one, ends with the pipeline."""
        self._relay = relay
        self._helper = helper
        self._metrics = metrics
        self._work = asyncio.Event()
        self._examined: asyncio.Queue[Batch] = asyncio.Queue(1)
        self._writer = ThreadPoolExecutor(1, "write")
        self._under_way = 0
        self._idle = asyncio.Event()
        self._idle.set()
        self.broken = False
        """Whether the last write failed."""
        relay.has_work = self._wake

    async def run(self) -> None:
        """Work until cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._examine())
            group.create_task(self._write())

    async def drain(self) -> None:
        """Wait until nothing is under way."""
        await self._idle.wait()

    def close(self) -> None:
        """End the thread, once it has done what it was given, and the helper."""
        self._writer.shutdown()
        if self._helper is not None:
            self._helper.close()

    def _wake(self) -> None:
        self._idle.clear()
        self._work.set()

    async def _examine(self) -> None:
        while True:
            await self._work.wait()
            self._work.clear()
            while (batch := self._relay.take()) is not None:
                self._under_way += 1
                if self._helper is not None:
                    await self._helper.look_ahead(batch)
                until = perf_counter() + SLICE_SECONDS
                for _ in batch.examining():
                    if perf_counter() >= until:
                        await asyncio.sleep(0)
                        until = perf_counter() + SLICE_SECONDS
                await self._examined.put(batch)
                if batch.ops > 1:  # many publish: let more come for the next transaction
                    await asyncio.sleep(GATHER_SECONDS)
            self._rest()

    async def _write(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            batch = await self._examined.get()
            changes = batch.writes()
            start = perf_counter()
            try:
                if changes:
                    await loop.run_in_executor(
                        self._writer, self._relay.store.write, changes, self._relay.now()
                    )
            except Exception as error:  # noqa: BLE001 - whatever the disk does, clients are told
                self.broken = True
                _log.error("write_failed", error=type(error).__name__, detail=str(error))
                self._relay.fail(batch)
            else:
                self.broken = False
                self._metrics.committed(perf_counter() - start, batch.ops)
                self._relay.finish(batch)
            self._under_way -= 1
            self._work.set()  # lanes are free again

    def _rest(self) -> None:
        if self._under_way == 0 and not self._work.is_set():
            self._idle.set()
