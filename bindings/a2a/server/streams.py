"""Streams of a task's events, as Server-Sent Events (A2A 1.0, SendStreamingMessage and SubscribeToTask).

The first event is the task; then come its new artifacts, and its status whenever that has changed. A stream ends when
the task has; while the task waits for somebody, it goes on.
"""

import asyncio
import json
from collections.abc import Iterator
from typing import Final

from aiohttp import hdrs, web

from bindings.a2a.errors import Refused
from bindings.a2a.presenting import JsonObject
from bindings.a2a.server.watching import Watch
from crypto.canonical import JsonValue

ALIVE_SECONDS: Final = 20.0
"""After how long a comment is sent where nothing happens, so that no proxy takes the stream for dead."""

WRITE_SECONDS: Final = 20.0
"""How long a reader may take to take an event, once the buffers are full."""

_HEADERS: Final = {
    hdrs.CONTENT_TYPE: "text/event-stream",
    hdrs.CACHE_CONTROL: "no-store",
    "X-Accel-Buffering": "no",  # of a proxy in front
}


async def stream(
    asked: web.Request, watch: Watch, first: JsonObject, headers: dict[str, str]
) -> web.StreamResponse:
    """Stream what becomes of a watched task, after `first`, the task as it stands."""
    response = web.StreamResponse(headers={**_HEADERS, **headers})
    await response.prepare(asked)
    last = first
    try:
        await _send(response, {"task": first})
        while True:
            try:
                async with asyncio.timeout(ALIVE_SECONDS):
                    seen = await watch.next()
            except TimeoutError:
                await _write(response, b": still here\n\n")
                continue
            for event in events(last, seen.shown):
                await _send(response, event)
            last = seen.shown
            if seen.state.is_terminal:
                break
    except Refused as refusal:
        await _write(response, b"event: error\n" + _data(refusal.to_json()))
    except (ConnectionError, TimeoutError):
        return response
    await response.write_eof()
    return response


async def one(asked: web.Request, event: JsonObject, headers: dict[str, str]) -> web.StreamResponse:
    """A stream of a single event."""
    response = web.StreamResponse(headers={**_HEADERS, **headers})
    await response.prepare(asked)
    await _send(response, event)
    await response.write_eof()
    return response


def events(before: JsonObject, after: JsonObject) -> Iterator[JsonObject]:
    """What a client is told of a task that was shown as `before` and is now `after`: artifacts, then the status."""
    names: JsonObject = {"taskId": after["id"], "contextId": after["contextId"]}
    known = _artifacts(before)
    for artifact in _artifacts(after):
        if artifact not in known:
            yield {"artifactUpdate": {**names, "artifact": artifact, "lastChunk": True}}
    if after["status"] != before["status"]:
        update: JsonObject = {**names, "status": after["status"]}
        if "metadata" in after:
            update["metadata"] = after["metadata"]
        yield {"statusUpdate": update}


def _artifacts(task: JsonObject) -> list[JsonValue]:
    found = task.get("artifacts")
    return found if isinstance(found, list) else []


def _data(value: JsonValue) -> bytes:
    return b"data: " + json.dumps(value).encode() + b"\n\n"


async def _send(response: web.StreamResponse, event: JsonObject) -> None:
    await _write(response, _data(event))


async def _write(response: web.StreamResponse, data: bytes) -> None:
    async with asyncio.timeout(WRITE_SECONDS):
        await response.write(data)
