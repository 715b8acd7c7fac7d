"""Calling a peer over A2A 1.0: HTTP+JSON or JSON-RPC (section 8.9). Every answer is bounded, and none is believed.

A call ends with the JSON object that A2A's method returns, or with a PeerError, which says what is to be done: try
again `later` (the network, a 5xx), give this one up as `refused` (any other answer), or ask the owner for another
credential, since this one was refused (`auth`: a 401, or a 403 for a reason of authentication).
"""

import json
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, Final, Literal
from urllib.parse import quote

import aiohttp
from aiohttp.abc import AbstractResolver
from yarl import URL

from bindings.a2a import public_url
from bindings.a2a.extensions import ENVELOPE, WORK
from bindings.a2a.peers.peer import Interface
from bindings.a2a.public_url import UnreachableError
from crypto.canonical import JsonError, JsonValue, decode, parse

MAX_ANSWER: Final = 1024 * 1024
"""Bytes of an answer: a task with its artifacts."""

MAX_STREAM: Final = 4 * MAX_ANSWER
"""Bytes of one stream; past that, the task is asked for anew."""

STREAM_SECONDS: Final = 300.0
"""How long one stream is read; past that, the task is asked for anew."""

CALL_SECONDS: Final = 30.0

MAX_WORDS: Final = 300
"""Characters of a peer's error that are told."""

_INTERNAL: Final = (-32603, -32000)
"""JSON-RPC errors that say the peer itself failed."""

_ERROR_INFO: Final = "type.googleapis.com/google.rpc.ErrorInfo"

Failure = Literal["later", "refused", "auth", "busy"]
Call = Mapping[str, JsonValue]


class PeerError(Exception):
    """A call that did not come to a result. `words` are the peer's own, to be quoted; `text` is this host's."""

    def __init__(self, failure: Failure, text: str, words: str = "") -> None:
        super().__init__(failure, text)
        self.failure = failure
        self.text = text
        self.words = words


@dataclass(frozen=True, slots=True)
class Line:
    """A way to call one peer. `private` are hosts that the operator allows to be anywhere."""

    interface: Interface
    credential: str
    private: frozenset[str]
    resolver: AbstractResolver | None = None

    def headers(self) -> dict[str, str]:
        """The headers of every request, the credential's among them."""
        return {
            "A2A-Version": "1.0",
            "A2A-Extensions": f"{ENVELOPE}, {WORK}",
            "Content-Type": "application/json",
            self.interface.header: f"{self.interface.prefix}{self.credential}",
        }

    async def send(
        self,
        request: Call,
        headers: Mapping[str, str],
        hear: Callable[[Mapping[str, str]], None] | None = None,
    ) -> Call:
        """Send a SendMessageRequest with these headers; return the response, which has `task` or `message`.

        `hear` is given the headers of an answer that has a result, by lower-case names, before the result counts.
        Raises PeerError, and what `hear` raises.
        """
        return await self._call("SendMessage", "POST", "/message:send", request, headers, hear)

    async def task(self, task: str) -> Call:
        """Ask for a task, without its history. Raises PeerError."""
        path = f"/tasks/{quote(task, safe='')}"
        return await self._call("GetTask", "GET", path, {"id": task, "historyLength": 0}, self.headers())

    async def events(self, task: str) -> AsyncGenerator[Call, None]:
        """Follow a task: StreamResponse objects as they come, until the peer or a bound ends the stream.

        Raises PeerError.
        """
        method, url, body = self._request(
            "SubscribeToTask", "POST", f"/tasks/{quote(task, safe='')}:subscribe", {"id": task}
        )
        headers = {**self.headers(), "Accept": "text/event-stream"}
        limits = aiohttp.ClientTimeout(total=STREAM_SECONDS, sock_connect=public_url.SECONDS)
        try:
            async with public_url.opened(
                url,
                self.private,
                method=method,
                headers=headers,
                body=body,
                timeout=limits,
                resolver=self.resolver,
            ) as response:
                if response.status != 200 or response.content_type != "text/event-stream":
                    raise _failed(response.status, await _start(response))
                async with aclosing(_data(response)) as lines:
                    async for text in lines:
                        yield self._result(_object(text))
        except UnreachableError as error:
            raise PeerError("later", str(error)) from None

    async def _call(
        self,
        method: str,
        verb: str,
        path: str,
        params: Call,
        headers: Mapping[str, str],
        hear: Callable[[Mapping[str, str]], None] | None = None,
    ) -> Call:
        verb, url, body = self._request(method, verb, path, params)
        try:
            found = await public_url.fetch(
                url,
                self.private,
                method=verb,
                headers=headers,
                body=body,
                seconds=CALL_SECONDS,
                limit=MAX_ANSWER,
                resolver=self.resolver,
            )
        except UnreachableError as error:
            raise PeerError("later", str(error)) from None
        if found.status != 200:
            raise _failed(found.status, found.body)
        result = self._result(_object(decode(found.body)))
        if hear is not None:
            hear(found.headers)
        return result

    def _request(self, method: str, verb: str, path: str, params: Call) -> tuple[str, URL, bytes | None]:
        """What is asked of which URL: JSON-RPC has one for all its methods."""
        interface, tenant = self.interface, self.interface.tenant
        given: dict[str, JsonValue] = {**params, **({"tenant": tenant} if tenant else {})}
        if interface.binding == "JSONRPC":
            call = {"jsonrpc": "2.0", "id": 1, "method": method, "params": given}
            return "POST", URL(interface.url), json.dumps(call).encode()
        base = interface.url.rstrip("/") + (f"/{tenant}" if tenant else "")
        url = URL(f"{base}{path}", encoded=True)
        if verb == "GET":
            return verb, url.with_query({"historyLength": "0"}), None
        return verb, url, json.dumps(given).encode()

    def _result(self, answer: Call) -> Call:
        """What a JSON-RPC answer holds; one over HTTP+JSON is the result itself."""
        if self.interface.binding == "HTTP+JSON":
            return answer
        error, result = answer.get("error"), answer.get("result")
        if isinstance(error, dict):
            code, words = error.get("code"), _words(error.get("message"))
            failure: Failure = "later" if code in _INTERNAL else "refused"
            raise PeerError(failure, f"it answers with the error {_number(code)}", words)
        if not isinstance(result, dict):
            raise PeerError("later", "its answer is no JSON-RPC")
        return result


async def _start(response: aiohttp.ClientResponse) -> bytes:
    """The beginning of an answer that is no stream."""
    found = b""
    async for chunk in response.content.iter_any():
        found += chunk
        if len(found) > public_url.MAX_BYTES:
            break
    return found


async def _data(response: aiohttp.ClientResponse) -> AsyncGenerator[str, None]:
    """The data of each event of a stream (server-sent events). Ends where the stream does, or its bound."""
    pending, lines, total = b"", [], 0
    async for chunk in response.content.iter_any():
        total += len(chunk)
        if total > MAX_STREAM:
            return
        pending += chunk
        *whole, pending = pending.replace(b"\r\n", b"\n").split(b"\n")
        for line in whole:
            if line.startswith(b"data:"):
                lines.append(decode(line[5:]).removeprefix(" "))
            elif not line and lines:
                yield "\n".join(lines)
                lines = []
        if len(pending) + sum(map(len, lines)) > MAX_ANSWER:
            raise PeerError("later", f"an event of its stream is longer than {MAX_ANSWER} bytes")


def _object(text: str) -> dict[str, JsonValue]:
    try:
        found = parse(text).value
    except JsonError:
        found = None
    if not isinstance(found, dict):
        raise PeerError("later", "its answer is no JSON object")
    return found


_BUSY: Final = (408, 429)
"""Statuses by which a server asks to be asked later; a message that meets one is given up as after any 4xx."""


def _failed(status: int, body: bytes) -> PeerError:
    """What an answer of another status than 200 means."""
    try:
        error: Any = _object(decode(body)).get("error")
    except PeerError:
        error = None
    error = error if isinstance(error, dict) else {}
    words, text = _words(error.get("message")), f"it answers with {status}"
    if status >= 500:
        return PeerError("later", text, words)
    if status == 401 or (status == 403 and _reason(error).startswith("AUTH_")):
        return PeerError("auth", text, words)
    if status in _BUSY:
        return PeerError("busy", text, words)
    if 300 <= status < 400:
        text = f"it answers with {status}, and no redirect is followed"
    return PeerError("refused", text, words)


def _reason(error: Mapping[str, Any]) -> str:
    details = error.get("details")
    for each in details if isinstance(details, list) else ():
        if (
            isinstance(each, dict)
            and each.get("@type") == _ERROR_INFO
            and isinstance(each.get("reason"), str)
        ):
            return str(each["reason"])
    return ""


def _words(value: JsonValue) -> str:
    return value[:MAX_WORDS] if isinstance(value, str) else ""


def _number(code: JsonValue) -> str:
    return str(code) if isinstance(code, int) and abs(code) < 10**6 else "of another kind"
