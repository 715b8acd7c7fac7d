"""Sockets on which nothing is asked, or not to its end: a listener closes them, and answers everybody else."""

import asyncio
import gzip
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from aiohttp import web

from replica.service import sockets
from replica.service.listening import bound
from replica.service.sockets import answering

ROOT = Path(__file__).parents[3]
SOON = 0.2
PATIENCE = 60.0

Pair = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class Listener:
    """A listener that answers at once, waits to be let go, or reads what it is sent."""

    def __init__(self) -> None:
        self.waits = 0
        self.let_go = asyncio.Event()
        self.port = 0

    async def at_once(self, _: web.Request) -> web.Response:
        return web.Response(text="here")

    async def waiting(self, _: web.Request) -> web.Response:
        self.waits += 1
        await self.let_go.wait()
        return web.Response(text="at last")

    async def read(self, request: web.Request) -> web.Response:
        return web.Response(text=str(len(await request.read())))

    async def open(self, sent: bytes = b"") -> Pair:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        writer.write(sent)
        await writer.drain()
        return reader, writer

    async def get(self, path: str = "/") -> str:
        url = f"http://127.0.0.1:{self.port}{path}"
        async with aiohttp.ClientSession() as session, session.get(url) as response:
            return await response.text()


@asynccontextmanager
async def served() -> AsyncIterator[Listener]:
    found, app = Listener(), web.Application()
    app.router.add_get("/", found.at_once)
    app.router.add_get("/waiting", found.waiting)
    app.router.add_post("/read", found.read)
    with bound("127.0.0.1:0", "--listen") as listening:
        found.port = listening.getsockname()[1]
        async with answering(app, listening, seconds=0.1):
            yield found


def run(work: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(work, PATIENCE))


async def closed(pair: Pair) -> bytes:
    """Wait until the other end closes a socket; what came before that."""
    reader, writer = pair
    try:
        return await reader.read()
    except ConnectionError:
        return b""
    finally:
        writer.close()


HEAD = b"POST /read HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n"


@pytest.mark.parametrize(
    "sent",
    [b"", b"GET / HT", b"GET / HTTP/1.1\r\nHost: x\r\n", HEAD + b"\r\n", HEAD + b"\r\nhalf"],
    ids=["nothing", "half a line", "half a head", "no body", "half a body"],
)
def test_a_socket_whose_request_does_not_arrive_is_closed(
    monkeypatch: pytest.MonkeyPatch, sent: bytes
) -> None:
    monkeypatch.setattr(sockets, "REQUEST_SECONDS", SOON)

    async def work() -> None:
        async with served() as listener:
            assert await closed(await listener.open(sent)) == b""
            assert await listener.get() == "here"

    run(work())


@pytest.mark.parametrize("then", [b"", b"GET / HTTP/1.1\r\nHo"], ids=["nothing", "half a request"])
def test_a_socket_that_is_kept_for_a_request_that_does_not_come_is_closed(
    monkeypatch: pytest.MonkeyPatch, then: bytes
) -> None:
    monkeypatch.setattr(sockets, "KEPT_SECONDS", SOON)

    async def work() -> None:
        async with served() as listener:
            pair = await listener.open(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n" + then)
            assert (await closed(pair)).endswith(b"here")

    run(work())


@pytest.mark.parametrize("sent", [b"", HEAD + b"\r\nhalf"], ids=["silent", "half a body"])
def test_of_too_many_sockets_the_oldest_that_asks_nothing_makes_room(
    monkeypatch: pytest.MonkeyPatch, sent: bytes
) -> None:
    most = 8
    monkeypatch.setattr(sockets, "MOST_IDLE", most)

    async def work() -> None:
        async with served() as listener:
            asked = asyncio.create_task(listener.get("/waiting"))
            while not listener.waits:
                await asyncio.sleep(0)
            held = []
            for _ in range(4 * most):
                held.append(await listener.open(sent))
                assert await listener.get() == "here"
            for pair in held[: 2 * most]:
                assert await closed(pair) == b""
            listener.let_go.set()
            assert await asked == "at last"
            for _, writer in held:
                writer.close()

    run(work())


def test_those_that_come_at_once_make_no_room_for_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sockets, "MOST_IDLE", 2)

    async def work() -> None:
        async with served() as listener:
            together = await asyncio.gather(*(listener.open() for _ in range(20)))
            for _, writer in together:
                writer.write(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            assert all([(await closed(pair)).endswith(b"here") for pair in together])

    run(work())


def test_however_many_come_at_once_there_is_a_most(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sockets, "MOST_COMING", 4)
    monkeypatch.setattr(sockets, "MOMENT_SECONDS", PATIENCE)

    async def work() -> None:
        async with served() as listener:
            held = [await listener.open() for _ in range(12)]
            for pair in held[:8]:
                assert await closed(pair) == b""
            for _, writer in held:
                writer.close()

    run(work())


def test_what_is_answered_is_not_ended_by_how_long_it_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sockets, "REQUEST_SECONDS", SOON)
    monkeypatch.setattr(sockets, "MOST_IDLE", 2)

    async def work() -> None:
        async with served() as listener:
            asked = [asyncio.create_task(listener.get("/waiting")) for _ in range(4)]
            while listener.waits < len(asked):
                await asyncio.sleep(0)
            await closed(await listener.open())  # which takes as long as any request may to arrive
            listener.let_go.set()
            assert await asyncio.gather(*asked) == ["at last"] * len(asked)

    run(work())


def test_every_listener_of_the_service_is_served_so() -> None:
    rooms = (ROOT / "replica", ROOT / "bindings")
    makers = [
        path.relative_to(ROOT).as_posix()
        for room in rooms
        for path in room.rglob("*.py")
        if "AppRunner(" in path.read_text()
    ]
    assert makers == ["replica/service/sockets.py"]


def test_a_packed_body_is_read_as_it_came() -> None:
    packed = gzip.compress(b" " * 1_000_000)

    async def work() -> None:
        async with served() as listener, aiohttp.ClientSession() as session:
            url = f"http://127.0.0.1:{listener.port}/read"
            async with session.post(url, data=packed, headers={"Content-Encoding": "gzip"}) as answer:
                assert await answer.text() == str(len(packed))

    run(work())
