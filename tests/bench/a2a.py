"""The A2A listener under use: `python -m tests.bench.a2a`.

One service; clients that ask, a few at a time, and then streams that stay open. Printed is how many asks a second are
accepted and how long they take, and what open streams take of memory. Nothing fails here: times are this machine's, and
the load comes from the same one.
"""

import argparse
import asyncio
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, Final

import aiohttp

from bindings.a2a import clients
from replica.host.principals import sender
from replica.node import create, opened

ASKS: Final = 3_000
AT_ONCE: Final = 8
STREAMS: Final = 2_000
CLIENTS: Final = 4

_AIM_MB: Final = 300


def main(arguments: Sequence[str] | None = ()) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--asks", type=int, default=ASKS)
    parser.add_argument("--streams", type=int, default=STREAMS)
    given = parser.parse_args(arguments)
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))  # a socket for each stream, at either end
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "ada"
        create(root, "ada", "laptop")
        tokens = []
        with opened(root) as node:
            for index in range(CLIENTS):
                made = clients.add(node, clients.address_of(f"c{index}", node.handle))
                clients.approve(node, sender(node, None), made.client.address)
                tokens.append(made.secret)
        served = ("--listen", "127.0.0.1:0", "--a2a", "127.0.0.1:0", "--a2a-requests-per-minute", "1000000")
        with subprocess.Popen(
            [sys.executable, "-m", "replica.cli.main", "--dir", str(root), "--json", "serve", *served],
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ,
        ) as process:
            assert process.stdout is not None
            try:
                url = json.loads(process.stdout.readline())["a2a"]
                asyncio.run(_measure(url, process.pid, tokens, given.asks, given.streams))
            finally:
                process.terminate()


async def _measure(url: str, pid: int, tokens: Sequence[str], asks: int, streams: int) -> None:
    connector = aiohttp.TCPConnector(limit=0)
    async with AsyncExitStack() as stack:
        http = await stack.enter_async_context(aiohttp.ClientSession(url, connector=connector))
        took: list[float] = []
        tasks: list[tuple[str, str]] = []
        left = iter(range(asks))

        async def ask() -> None:
            for index in left:
                token, begun = tokens[index % len(tokens)], time.perf_counter()
                async with http.post("/message:send", json=_asking(index), headers=_bearer(token)) as found:
                    task = (await found.json())["task"]["id"]
                took.append(time.perf_counter() - begun)
                tasks.append((token, task))

        begun = time.perf_counter()
        await asyncio.gather(*(ask() for _ in range(AT_ONCE)))
        seconds = time.perf_counter() - begun
        took.sort()
        print(
            f"a2a: {asks} asks, {asks / seconds:.0f} a second (aim 500), "
            f"p50 {took[len(took) // 2] * 1000:.0f} ms, p99 {took[int(len(took) * 0.99)] * 1000:.0f} ms (aim 100)"
        )
        before = _resident(pid)
        for index in range(streams):
            token, task = tasks[index % len(tasks)]
            found = await stack.enter_async_context(
                http.get(f"/tasks/{task}:subscribe", headers=_bearer(token))
            )
            await found.content.readline()
        after = _resident(pid)
        print(f"a2a: {streams} open streams, {after} MB resident, {before} MB before (aim {_AIM_MB} MB)")


def _asking(index: int) -> dict[str, Any]:
    message = {"messageId": f"m{index}", "role": "ROLE_USER", "parts": [{"text": "Is it final?"}]}
    return {"message": message, "configuration": {"returnImmediately": True}}


def _bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def _resident(pid: int) -> int:
    """What a process holds of memory, in megabytes."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") // 1_000_000


if __name__ == "__main__":
    main(None)
