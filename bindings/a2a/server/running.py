"""Running the edge for the length of a block: its socket and its threads."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from bindings.a2a.server.app import application
from core.errors import invalid
from replica.api.guard import Guard
from replica.api.workers import Workers
from replica.host.config import A2aConfig, Config
from replica.node import DirectoryNode, opened
from replica.service.changes import Changes
from replica.service.listening import bound, reached_at
from replica.service.sockets import answering

OPTION: Final = "--a2a"

END_SECONDS: Final = 2.0
"""How long requests that are being answered may take at the end."""

_THREADS: Final = 2


@asynccontextmanager
async def running(root: Path, changes: Changes, address: str, config: Config) -> AsyncIterator[str]:
    """Serve A2A clients of the replica at `root`; the value is the URL that the card names.

    Raises DmpError: `unavailable` where the address cannot be used, `invalid` for a URL that is none.
    """
    settings = _settings(config)
    listening = bound(address, OPTION)
    url = settings.url.rstrip("/") or f"http://{reached_at(address, listening)}"
    workers = Workers(lambda: _recovered(root), _THREADS, "a2a")
    try:
        names = (*config.serve.names, urlsplit(url).hostname or "")
        app = application(workers, changes, Guard(names), url, settings)
        async with answering(app, listening, seconds=END_SECONDS, cancels=True):
            yield url
    finally:
        listening.close()
        await asyncio.to_thread(workers.close)


def _settings(config: Config) -> A2aConfig:
    """What is set for this listener; work that is taken with signed envelopes is taken there alone."""
    found, elsewhere = config.a2a, config.machine_envelope
    if found.url:
        try:
            parts = urlsplit(found.url)
        except ValueError:
            parts = urlsplit("")
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
            raise invalid("a2a.url", "a2a.url is a URL as https://agent.example")
    is_elsewhere = elsewhere.listen is not None and "handoff" in elsewhere.skills
    return replace(found, handoffs=found.handoffs and not is_elsewhere)


@contextmanager
def _recovered(root: Path) -> Iterator[DirectoryNode]:
    """The replica, with what a process that is gone left undone taken up before anything is sent (section 6.3)."""
    with opened(root) as node:
        node.take_up()
        yield node
