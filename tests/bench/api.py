"""The host API under use: `python -m tests.bench.api`.

One service; 200 WebSocket readers, a few of whom decide and hear of everything, and 50 requests a second that send,
read and mark. Printed is how long requests and events took, what of the processor it cost, and that no reader was shown
a message it may not read. Nothing fails here: times are this machine's, and the load comes from the same one.
"""

import argparse
import asyncio
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any, Final

import aiohttp

from replica.api import tokens
from replica.host import agents
from replica.node import create, opened
from replica.records.commits import CommitPoint

READERS: Final = 200
DECIDING: Final = 20
REQUESTS_PER_SECOND: Final = 50
SECONDS: Final = 20.0

_AIM_MS: Final = 50.0


@dataclass
class Reader:
    """A socket, and what it was shown: the ids of messages."""

    address: str
    token: str
    seen: list[str] = field(default_factory=list)


@dataclass
class Measured:
    """What was measured, times in seconds."""

    requests: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    events: list[float] = field(default_factory=list)
    sent: dict[str, tuple[float, frozenset[str]]] = field(default_factory=dict)
    late: int = 0


def main(arguments: Sequence[str] | None = ()) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--readers", type=int, default=READERS)
    parser.add_argument("--rate", type=int, default=REQUESTS_PER_SECOND, help="requests a second")
    parser.add_argument("--seconds", type=float, default=SECONDS)
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        readers = _people(Path(folder) / "ada", given.readers)
        process = subprocess.Popen(
            [sys.executable, "-m", "replica.cli.main", "serve", "--listen", "127.0.0.1:0", "--json"],
            env={**os.environ, "DMP_DIR": f"{folder}/ada", "XDG_STATE_HOME": f"{folder}/state"},
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        try:
            assert process.stdout is not None
            url = json.loads(process.stdout.readline())["url"]
            measured = asyncio.run(_use(url, readers, given.rate, given.seconds))
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait()
            assert process.stdout is not None
            process.stdout.close()
    _tell(readers, measured, given.rate, given.seconds)


def _people(root: Path, count: int) -> list[Reader]:
    """A new replica of Ada's with tokens for her and for agents of hers."""
    create(root, "ada", "laptop")
    with opened(root) as node:
        readers = [Reader("human:ada", tokens.make(node).secret) for _ in range(min(DECIDING, count))]
        with node.store.transaction(CommitPoint.AGENT) as db:
            for index in range(count - len(readers)):
                agents.register(db, node.random, f"agent:ada/a{index}", "bench", node.me)
                agents.decide(db, f"agent:ada/a{index}", "approved")
        for index in range(count - len(readers)):
            address = f"agent:ada/a{index}"
            readers.append(Reader(address, tokens.make(node, address).secret))
    return readers


async def _use(url: str, readers: list[Reader], rate: int, seconds: float) -> Measured:
    measured, random = Measured(), Random(1)
    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(url, connector=connector) as session:
        sockets = [
            await session.ws_connect("/ws", headers={"Authorization": f"Bearer {each.token}"})
            for each in readers
        ]
        listening = [
            asyncio.create_task(_listen(socket, reader, measured))
            for socket, reader in zip(sockets, readers, strict=True)
        ]
        await _request(session, readers, measured, random, timed=False)
        begun, asked = time.perf_counter(), []
        for index in range(int(rate * seconds)):
            due = begun + index / rate
            if (left := due - time.perf_counter()) > 0:
                await asyncio.sleep(left)
            asked.append(asyncio.create_task(_request(session, readers, measured, random)))
        await asyncio.gather(*asked)
        await asyncio.sleep(1.0)  # for the last events
        for socket in sockets:
            await socket.close()
        await asyncio.gather(*listening)
    return measured


async def _listen(socket: aiohttp.ClientWebSocketResponse, reader: Reader, measured: Measured) -> None:
    async for received in socket:
        now = time.perf_counter()
        event: dict[str, Any] = json.loads(received.data)
        if event["type"] == "message.new":
            id_ = event["message"]["id"]
            reader.seen.append(id_)
            if (begun := float(event["message"]["body"].partition(" ")[0])) > 0:
                measured.events.append(now - begun)


async def _request(
    session: aiohttp.ClientSession,
    readers: list[Reader],
    measured: Measured,
    random: Random,
    *,
    timed: bool = True,
) -> None:
    who = random.choice(readers)
    headers = {"Authorization": f"Bearer {who.token}"}
    kind = random.choices(("send", "mailbox", "thread", "read"), (40, 30, 20, 10))[0] if timed else "send"
    begun = time.perf_counter()
    if kind == "send":
        to = [random.choice(readers).address for _ in range(random.choice((1, 1, 2)))]
        given = {"to": to, "kind": "message", "body": f"{begun if timed else 0} {'x' * 200}"}
        async with session.post("/api/messages", json=given, headers=headers) as answer:
            message = (await answer.json())["message"]
        measured.sent[message["id"]] = begun, frozenset((who.address, *to))
    elif kind == "mailbox" or not who.seen:
        async with session.get("/api/mailbox?limit=20&order=newest", headers=headers) as answer:
            await answer.read()
    elif kind == "thread":
        async with session.get(f"/api/threads/{random.choice(who.seen)}", headers=headers) as answer:
            await answer.read()
    else:
        async with session.get("/api/mailbox?limit=1&order=newest", headers=headers) as answer:
            found = (await answer.json())["deliveries"]
        begun = time.perf_counter()
        if found:
            path = f"/api/deliveries/{found[0]['delivery']['id']}/read"
            async with session.post(path, headers=headers) as answer:
                await answer.read()
    if timed:
        measured.requests[kind].append(time.perf_counter() - begun)


def _tell(readers: list[Reader], measured: Measured, rate: int, seconds: float) -> None:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    own = resource.getrusage(resource.RUSAGE_SELF)
    every = [each for times in measured.requests.values() for each in times]
    print(f"api: {len(readers)} readers, {rate} requests a second for {seconds:.0f} s")
    for kind, times in (*sorted(measured.requests.items()), ("all", every), ("event", measured.events)):
        p99 = _percentile(times, 0.99) * 1000
        aim = f" (aim: {_AIM_MS:.0f})" if kind == "all" else ""
        print(
            f"  {kind:<8} {len(times):>6}  p50 {_percentile(times, 0.5) * 1000:7.1f} ms"
            f"  p99 {p99:7.1f} ms{aim}  longest {max(times, default=0) * 1000:7.1f} ms"
        )
    wrong, missed = Counter[str](), 0
    for reader in readers:
        for id_ in reader.seen:
            wrong[reader.address] += (
                reader.address != "human:ada" and reader.address not in measured.sent[id_][1]
            )
        missed += sum(
            id_ not in set(reader.seen)
            for id_, (_, to) in measured.sent.items()
            if reader.address == "human:ada" or reader.address in to
        )
    shown = sum(len(reader.seen) for reader in readers)
    print(
        f"  {shown} messages were shown, {sum(wrong.values())} to who may not read them; {missed} were not shown"
    )
    cpu, load = used.ru_utime + used.ru_stime, own.ru_utime + own.ru_stime
    print(
        f"  the service used {cpu:.1f} s of the processor and {used.ru_maxrss / 1024:.0f} MiB, the load {load:.1f} s"
    )


def _percentile(times: list[float], share: float) -> float:
    return sorted(times)[min(len(times) - 1, int(len(times) * share))] if times else 0.0


if __name__ == "__main__":
    main(None)
