"""A relay that says what a test tells it to, over real sockets, and a network that a test can cut."""

import asyncio
import socket
import ssl
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field

from aiohttp import WSMsgType, web

from transports.relay import frames
from transports.relay.client.loop import LoopThread

Answering = Callable[[frames.Frame], Iterable[str]]
NONCE = "bm9uY2Utbm9uY2Utbm9uY2U"


@dataclass
class Logs:
    """What a relay holds, as honest relays answer; nothing is verified."""

    lanes: dict[str, list[bytes]] = field(default_factory=dict)
    acks: list[dict[str, int]] = field(default_factory=list)
    asked: list[frames.Frame] = field(default_factory=list)
    at_a_time: int = frames.FRAME_OPS

    def __call__(self, frame: frames.Frame) -> Iterable[str]:
        self.asked.append(frame)
        match frame:
            case frames.Auth():
                yield frames.write(frames.Ready())
            case frames.Publish(id_, ops):
                replica = seq = None
                for each in ops:
                    replica, seq = place(each.raw)
                    lane = self.lanes.setdefault(replica, [])
                    if seq > (place(lane[-1])[1] if lane else 0):
                        lane.append(each.raw)
                assert replica is not None
                yield frames.write(frames.Stored(id_, place(self.lanes[replica][-1])[1]))
            case frames.Pull(id_, since, replicas):
                found = [
                    raw
                    for lane, raws in sorted(self.lanes.items())
                    if replicas is None or lane in replicas
                    for raw in raws
                    if place(raw)[1] > since.get(lane, 0)
                ]
                now = frames.carried(found[: self.at_a_time])
                yield frames.write(frames.Ops(now, id_, more=len(found) > len(now)))
            case frames.Ack(id_, through):
                self.acks.append(dict(through))
                yield frames.write(frames.Acknowledged(id_))


def answered(
    logs: Logs, instead: Callable[[frames.Frame], Iterable[str] | None]
) -> Callable[..., Iterable[str]]:
    """What an honest relay answers, but for what a test has answered otherwise."""

    def answer(frame: frames.Frame) -> Iterable[str]:
        other = instead(frame)
        return logs(frame) if other is None else other

    return answer


def hint(*raws: bytes) -> str:
    """A push of these lines."""
    return frames.write(frames.Ops(frames.carried(raws)))


def place(raw: bytes) -> tuple[str, int]:
    """The lane and seq of a line."""
    carried = frames.parse(f'{{"t":"ops","ops":[{raw.decode()}]}}')
    assert isinstance(carried, frames.Ops)
    parsed = carried.ops[0].parsed
    assert parsed is not None
    value = parsed.value
    assert isinstance(value, dict)
    replica, seq = value["replica"], value["seq"]
    assert isinstance(replica, str)
    assert isinstance(seq, int)
    return replica, seq


class StandIn:
    """A relay at an address of its own, which answers each frame with the texts that `answer` gives."""

    def __init__(self, answer: Answering, tls: ssl.SSLContext | None = None) -> None:
        self.answer = answer
        self._tls = tls
        self.first: Callable[[], Iterable[str]] = lambda: [frames.write(frames.Challenge(NONCE))]
        self.handshake: Callable[[], web.Response | None] = lambda: None
        self.connections = 0
        self._open: set[web.WebSocketResponse] = set()
        self._changed = threading.Condition()
        self._thread = LoopThread()
        self.port = self._thread.run(self._start())

    @property
    def url(self) -> str:
        return f"{'ws' if self._tls is None else 'wss'}://127.0.0.1:{self.port}"

    def say(self, text: str) -> None:
        """Send a text to whoever is connected."""
        self._thread.run(self._say(text))

    def hang_up(self) -> None:
        """Close every connection."""
        self._thread.run(self._hang_up())

    def until(self, holds: Callable[[], bool], seconds: float = 20) -> None:
        """Wait until something holds that a connection or a frame brings about."""
        with self._changed:
            assert self._changed.wait_for(holds, seconds)

    def close(self) -> None:
        self._thread.run(self._stop())
        self._thread.close()

    async def _start(self) -> int:
        app = web.Application()
        app.router.add_get("/v1/teams/{team}", self._serve)
        self._runner = web.AppRunner(app, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0, ssl_context=self._tls)
        await site.start()
        address = self._runner.addresses[0]
        return int(address[1])

    async def _serve(self, request: web.Request) -> web.StreamResponse:
        refused = self.handshake()
        if refused is not None:
            return refused
        ws = web.WebSocketResponse(max_msg_size=frames.FRAME_BYTES)
        await ws.prepare(request)
        self._open.add(ws)
        self._tell(1)
        try:
            await self._send(ws, self.first())
            async for message in ws:
                if message.type is WSMsgType.TEXT:
                    frame = frames.parse(message.data)
                    await self._send(ws, self.answer(frame))
                    self._tell()
        except ConnectionError:
            pass
        finally:
            self._open.discard(ws)
            self._tell()
        return ws

    def _tell(self, connections: int = 0) -> None:
        with self._changed:
            self.connections += connections
            self._changed.notify_all()

    async def _send(self, ws: web.WebSocketResponse, texts: Iterable[str]) -> None:
        for text in texts:
            await ws.send_str(text)
            if '"refused"' in text:
                await ws.close()

    async def _say(self, text: str) -> None:
        for ws in set(self._open):
            await self._send(ws, [text])

    async def _hang_up(self) -> None:
        for ws in set(self._open):
            await ws.close()

    async def _stop(self) -> None:
        await self._hang_up()
        await self._runner.cleanup()


class Network:
    """The way to a port of this machine, which a test can cut: nothing passes any more, and nobody is told."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._is_closed = False
        self._passes: list[asyncio.Event] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self._writers: set[asyncio.StreamWriter] = set()
        self._thread = LoopThread()
        self.port = self._thread.run(self._start())

    @property
    def url(self) -> str:
        return f"ws://127.0.0.1:{self.port}"

    def hold(self) -> None:
        """Keep the connections there are open, and let nothing through any more."""
        self._thread.run(self._hold())

    def cut(self) -> None:
        """End every connection without a word of WebSocket."""
        self._thread.run(self._abort())

    def close_door(self) -> None:
        """End every connection, and begin no other."""
        self._is_closed = True
        self.cut()

    def open_door(self) -> None:
        """Let connections begin again."""
        self._is_closed = False

    def close(self) -> None:
        self._thread.run(self._stop())
        self._thread.close()

    async def _start(self) -> int:
        self._server = await asyncio.start_server(self._through, "127.0.0.1", 0)
        return int(self._server.sockets[0].getsockname()[1])

    async def _through(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            if self._is_closed:
                raise ConnectionRefusedError
            there_reader, there = await asyncio.open_connection("127.0.0.1", self._port)
        except OSError:
            writer.transport.abort()
            return
        self._writers |= {writer, there}
        passes = asyncio.Event()
        passes.set()
        self._passes.append(passes)
        for source, target in ((reader, there), (there_reader, writer)):
            task = asyncio.create_task(self._pass_on(source, target, passes))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _hold(self) -> None:
        for passes in self._passes:
            passes.clear()

    async def _pass_on(
        self, source: asyncio.StreamReader, target: asyncio.StreamWriter, passes: asyncio.Event
    ) -> None:
        with suppress(ConnectionError):
            while data := await source.read(65536):
                await passes.wait()
                target.write(data)
                await target.drain()
        target.close()

    async def _abort(self) -> None:
        for writer in self._writers:
            writer.transport.abort()
        self._writers.clear()

    async def _stop(self) -> None:
        self._server.close()
        await self._abort()
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)


def free_port() -> int:
    """A port nobody listens at."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])
