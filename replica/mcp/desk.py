"""One call of a tool from its arguments to its result, for whoever makes it.

A thread that has the replica open does the work; a wait for an answer takes none. What is refused is told in the
protocol's words: a code, the parameter at fault, and how to mend it. What nobody expected is a bug: the log has its
place, and never its text, which may quote a message.
"""

import json
import logging
import secrets
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from core.errors import Code, DmpError, invalid
from crypto.canonical import JsonError, JsonValue, parse
from replica.api.errors import Refusal
from replica.api.workers import Workers
from replica.mcp import answers
from replica.mcp.answers import Answers, Found, Question
from replica.mcp.call import Call, Pages, Result, Waits
from replica.mcp.given import Given
from replica.mcp.principals import principal
from replica.mcp.shapes import text_of
from replica.mcp.tools import BY_NAME, Tool
from replica.node import DirectoryNode
from replica.service.changes import Changes

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Actor:
    """Who calls: the address of an agent or a session, and the session id that an agent's tools made (section B.1)."""

    address: str
    session: str | None = None


@dataclass(frozen=True, slots=True)
class Told:
    """What a call returns: one line of JSON, and whether it says that the call was refused."""

    text: str
    refused: bool = False


def session_id() -> str:
    """An id for the process of an agent's tools, as what it sends tells it."""
    return f"mcp-{secrets.token_hex(5)}"


class Desk:
    """Does what is called. `watched` gives the changes of the store, whenever somebody waits."""

    def __init__(self, workers: Workers, watched: Callable[[], AbstractContextManager[Changes]]) -> None:
        self._workers = workers
        self._answers = Answers(watched, self._look)
        self._pages = Pages()

    @property
    def waits(self) -> int:
        """How many calls wait for an answer."""
        return self._answers.waits

    def end(self) -> None:
        """End the waits: the answers come by mail."""
        self._answers.end()

    async def call(
        self, actor: Actor, name: str, arguments: Mapping[str, JsonValue], key: str | None = None
    ) -> Told:
        """Call a tool. A call that is repeated with the same `key` does nothing again, and returns the same."""
        try:
            return Told(text_of(await self._call(actor, name, arguments, key)))
        except DmpError as error:
            return _refused(Refusal.of(error))
        except Refusal as refusal:
            return _refused(refusal)
        except (sqlite3.Error, OSError) as error:
            _log.warning("the store cannot be used: %s", type(error).__name__)
            return _refused(Refusal(503, str(Code.UNAVAILABLE), "the store cannot be used now; try again"))
        except Exception as error:  # noqa: BLE001 - a model is never shown a traceback, nor is one logged with its text
            _log.error("a tool failed", exc_info=error)
            return _refused(Refusal(500, "bug", "this is a bug in dmp; nothing that was done is lost"))

    async def _call(
        self, actor: Actor, name: str, arguments: Mapping[str, JsonValue], key: str | None
    ) -> Mapping[str, JsonValue]:
        arguments = _read(arguments)
        tool = BY_NAME.get(name)
        if tool is None:
            raise invalid("name", f"there is no such tool; there are {', '.join(BY_NAME)}")
        _check_names(tool, arguments)
        kept = _kept_key(actor, name, arguments, key)
        found = await self._do(tool, actor, Given(arguments), kept)
        if not isinstance(found, Waits):
            return found
        answered = await self._answers.wait(found.question, found.seconds)
        if answered is None:
            return {**found.result, "answer": None, "note": answers.LATER}
        return {**found.result, "answer": answered.answer, "note": answered.note}

    async def _do(self, tool: Tool, actor: Actor, given: Given, key: str) -> Result | Waits:
        def work(node: DirectoryNode) -> Result | Waits:
            if tool.writes:
                node.take_up()
            sender = principal(node, actor.address)
            session = None if actor.address.startswith("run:") else actor.session
            return tool.run(node, Call(sender, session, key, given, self._pages))

        try:
            return await self._workers.run(work)
        except (
            sqlite3.OperationalError
        ):  # it may be another moment, and whatever was stored is found by its key
            return await self._workers.run(work)

    async def _look(self, questions: Sequence[Question]) -> Sequence[Found]:
        return await self._workers.run(lambda node: answers.find(node, questions))


def _read(arguments: Mapping[str, JsonValue]) -> Mapping[str, JsonValue]:
    """The arguments as this host reads all JSON. Raises DmpError `invalid`."""
    try:
        found = parse(json.dumps(arguments)).value
    except (JsonError, RecursionError) as error:
        raise invalid(None, f"the arguments must be JSON: {error}") from None
    assert isinstance(found, dict)
    return found


def _check_names(tool: Tool, arguments: Mapping[str, Any]) -> None:
    for name in arguments:
        if name not in tool.required and name not in tool.optional:
            takes = ", ".join((*tool.required, *tool.optional)) or "no parameters"
            raise invalid(name, f"{tool.name} has no such parameter; it takes {takes}")


def _kept_key(actor: Actor, name: str, arguments: Mapping[str, JsonValue], key: str | None) -> str:
    """The idempotency key of a call: of one caller, one tool and the same arguments."""
    if key is None:
        return f"mcp:{secrets.token_hex(16)}"
    told = json.dumps([actor.address, actor.session, name, arguments, key], sort_keys=True)
    return f"mcp:{sha256(told.encode()).hexdigest()}"


def _refused(refusal: Refusal) -> Told:
    return Told(text_of(refusal.to_json()), refused=True)
