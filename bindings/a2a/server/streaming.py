"""A task as a stream of events (A2A's StreamResponse as server-sent events): the task, then what differs.

It ends once the task has ended, or its client may see it no more. A task that waits for its client or for the owner
goes on once they did something, and so does its stream.
"""

import asyncio
import json
from collections.abc import Iterator
from typing import Final

from aiohttp import hdrs, web

from bindings.a2a.presenting import JsonObject
from bindings.a2a.projection import TaskState
from bindings.a2a.server.following import Follower
from bindings.a2a.server.wire import echo
from crypto.canonical import JsonValue

KEEP_ALIVE_SECONDS: Final = 15.0
WRITE_SECONDS: Final = 20.0
"""How long a reader may take to take an event; a slower one is dropped."""

ENDED: Final = frozenset(each.wire for each in TaskState if each.is_terminal)
WAITS: Final = frozenset(each.wire for each in TaskState if each.waits)

_COMMENT: Final = b": still here\n\n"


async def stream(
    request: web.Request, first: JsonObject, follower: Follower | None, active: frozenset[str]
) -> web.StreamResponse:
    """Answer with events: `first`, and whatever the task in it becomes."""
    response = web.StreamResponse(
        headers={hdrs.CONTENT_TYPE: "text/event-stream", "X-Accel-Buffering": "no", **echo(active)}
    )
    await response.prepare(request)
    try:
        await _write(response, _event(first))
        task = first.get("task")
        if follower is not None and isinstance(task, dict):
            await _go_on(response, task, follower)
        await response.write_eof()
    except TimeoutError:
        if request.transport is not None:
            request.transport.abort()
    except ConnectionError:  # it is gone
        pass
    return response


def state_of(task: JsonObject) -> str:
    """A task's state, by its name in A2A's JSON."""
    status = task["status"]
    assert isinstance(status, dict)
    return str(status["state"])


async def _go_on(response: web.StreamResponse, told: JsonObject, follower: Follower) -> None:
    while state_of(told) not in ENDED:
        try:
            task = await follower.after(KEEP_ALIVE_SECONDS)
        except TimeoutError:
            await _write(response, _COMMENT)
            continue
        if task is None:
            return
        for event in differences(told, task):
            await _write(response, _event(event))
        told = task


def differences(told: JsonObject, now: JsonObject) -> Iterator[JsonObject]:
    """The events that tell of what a task became: its results first, since its end ends the stream."""
    ids: JsonObject = {"taskId": now["id"], "contextId": now["contextId"]}
    known = _artifacts(told)
    for id_, artifact in _artifacts(now).items():
        if known.get(id_) != artifact:
            yield {"artifactUpdate": {**ids, "artifact": artifact, "append": False, "lastChunk": True}}
    if _of_status(told) != _of_status(now):
        update: JsonObject = {**ids, "status": now["status"]}
        if "metadata" in now:
            update["metadata"] = now["metadata"]
        yield {"statusUpdate": update}


def _artifacts(task: JsonObject) -> dict[str, JsonValue]:
    found = task.get("artifacts")
    return {
        str(each["artifactId"]): each
        for each in (found if isinstance(found, list) else ())
        if isinstance(each, dict)
    }


def _of_status(task: JsonObject) -> tuple[JsonValue, ...]:
    """What makes a status another one; the media type of its text does not."""
    status = task["status"]
    assert isinstance(status, dict)
    message = status.get("message")
    says: JsonObject = message if isinstance(message, dict) else {}
    return status["state"], says.get("messageId"), says.get("metadata"), task.get("metadata")


def _event(value: JsonObject) -> bytes:
    return f"data: {json.dumps(value)}\n\n".encode()


async def _write(response: web.StreamResponse, event: bytes) -> None:
    async with asyncio.timeout(WRITE_SECONDS):
        await response.write(event)
