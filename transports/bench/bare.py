"""What any relay has to do at least, and nothing else: an echo by aiohttp, each op verified and committed.

The same verification and the same store as the relay's, with a thread for each as there. What was verified while
one transaction was under way goes into the next.
"""

import asyncio
import signal
import socket
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

from aiohttp import WSMsgType, web

from crypto.keys import parse_key_body
from crypto.op import read_entry
from transports.relay import frames
from transports.relay.server.publication import examine
from transports.relay.server.sqlite import SqliteStore
from transports.relay.server.store import Append, Change, NewTeam

_TEAM: Final = "0" * 32
_HOST: Final = "127.0.0.1"


def serve_bare(directory: Path, ready: Callable[[str], None]) -> None:
    """Serve until SIGTERM. `ready` is told the address; a client's first frame publishes its key op."""
    store = SqliteStore(directory / "bare.db")
    store.write([NewTeam(_TEAM, "", _now())], _now())
    try:
        asyncio.run(_Bare(store).serve(ready))
    finally:
        store.close()


class _Bare:
    def __init__(self, store: SqliteStore) -> None:
        self._store = store
        self._waiting: list[tuple[Change, asyncio.Future[None]]] = []
        self._work = asyncio.Event()
        self._writer = ThreadPoolExecutor(1, "write")

    async def serve(self, ready: Callable[[str], None]) -> None:
        app = web.Application()
        app.add_routes([web.get("/{path:.*}", self._converse)])
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        listening = socket.create_server((_HOST, 0), backlog=1024)
        await web.SockSite(runner, listening).start()
        stop = asyncio.Event()
        for each in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(each, stop.set)
        writing = asyncio.create_task(self._write())
        ready(f"ws://{_HOST}:{listening.getsockname()[1]}")
        await stop.wait()
        writing.cancel()
        await runner.cleanup()
        self._writer.shutdown()

    async def _converse(self, request: web.Request) -> web.WebSocketResponse:
        ws = web.WebSocketResponse(max_msg_size=frames.FRAME_BYTES, compress=False)
        await ws.prepare(request)
        answering: set[asyncio.Task[None]] = set()
        replica, key, head = "", None, None
        async for message in ws:
            if message.type is not WSMsgType.TEXT:
                break
            publish = frames.parse(message.data)
            assert isinstance(publish, frames.Publish)
            if key is None:
                entry = read_entry(publish.ops[0].raw)
                replica, key = entry.replica, parse_key_body(getattr(entry, "body", None))
            found = examine(replica, head, key, publish.ops, {})
            head = found.head
            stored = asyncio.get_running_loop().create_future()
            self._waiting.append((Append(_TEAM, replica, found.rows), stored))
            self._work.set()
            answer = frames.write(frames.Stored(publish.id, found.rows[-1].seq))
            task = asyncio.create_task(_answer(ws, stored, answer))
            answering.add(task)
            task.add_done_callback(answering.discard)
        return ws

    async def _write(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            await self._work.wait()
            self._work.clear()
            batch, self._waiting = self._waiting, []
            await loop.run_in_executor(self._writer, self._store.write, [each for each, _ in batch], _now())
            for _, stored in batch:
                stored.set_result(None)


async def _answer(ws: web.WebSocketResponse, stored: asyncio.Future[None], text: str) -> None:
    await stored
    await ws.send_str(text)


def _now() -> int:
    return time.time_ns() // 1_000_000
