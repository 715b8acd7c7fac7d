"""The tools over HTTP: for whoever shows an agent's or a session's token, on this machine, by the official client."""

import asyncio
import json
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client

from core.errors import Code, DmpError
from replica.api import tokens
from replica.host import agents
from replica.mcp import http
from replica.mcp.answers import LATER
from replica.mcp.desk import Desk
from replica.mcp.tools import TOOLS
from replica.records.commits import CommitPoint
from replica.service.changes import Changes
from tests.replica.mcp.office import ADA, PATIENCE, SCOUT, SCRIBE, Office
from tests.replica.mcp.test_stdio import environment, read

HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "by hand", "version": "1"},
    },
}
ACCEPT = {"Accept": "application/json, text/event-stream"}
QUESTION = {"to": [ADA], "kind": "question", "body": "Ship it?", "choices": ["yes", "no"], "blocking": True}


def run(work: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(work, PATIENCE))


def token(ada: Office, address: str | None) -> str:
    return tokens.make(ada.node, address).secret


@asynccontextmanager
async def serving(ada: Office, *names: str) -> AsyncIterator[str]:
    with Changes(ada.root / "state.db") as changes:
        async with http.running(ada.root, changes, "127.0.0.1:0", "--mcp", names=names) as url:
            yield url


@asynccontextmanager
async def connected(url: str, secret: str, mode: str) -> AsyncIterator[Client]:
    headers = {"Authorization": f"Bearer {secret}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=PATIENCE) as carrier,
        Client(streamable_http_client(url, http_client=carrier), mode=mode) as client,
    ):
        yield client


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_the_official_client_asks_and_hears_the_answer(ada: Office, mode: str) -> None:
    secret = token(ada, SCOUT)

    async def work() -> None:
        async with serving(ada) as url, connected(url, secret, mode) as client:
            listed = await client.list_tools()
            assert [each.name for each in listed.tools] == [each.name for each in TOOLS]
            asking = asyncio.create_task(client.call_tool("msg_send", QUESTION))
            while not ada.node.engine.open_blocking():
                await asyncio.sleep(0.01)
            (question,) = ada.node.engine.open_blocking()
            ada.answer(question.id, choice="yes")
            found = read(await asking)
            assert (found["message"]["from"], found["answer"]["choice"]) == (SCOUT, "yes")
            assert found["message"]["session"].startswith("mcp-")
            assert secret not in found["message"]["session"]

    run(work())


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_call_that_is_cancelled_waits_no_more(
    ada: Office, mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    desks = []

    class Seen(Desk):
        def __init__(self, *given: Any) -> None:
            super().__init__(*given)
            desks.append(self)

    monkeypatch.setattr(http, "Desk", Seen)

    async def work() -> None:
        async with serving(ada) as url, connected(url, token(ada, SCOUT), mode) as client:
            asking = asyncio.create_task(client.call_tool("msg_send", QUESTION))
            while not desks[0].waits:
                await asyncio.sleep(0.01)
            asking.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asking
            while desks[0].waits:
                await asyncio.sleep(0.01)
            assert len(ada.node.engine.open_blocking()) == 1

    run(work())


def test_who_shows_no_agents_or_sessions_token_is_refused(ada: Office) -> None:
    ada.register("agent:ada/late")
    late = token(ada, "agent:ada/late")
    with ada.session() as ended:
        gone = token(ada, ended)
    secret = token(ada, SCOUT)

    async def work() -> None:
        async with serving(ada, "dmp.example") as url, httpx2.AsyncClient(timeout=PATIENCE) as by_hand:

            async def ask(given: str | None, path: str = "", **headers: str) -> httpx2.Response:
                if given is not None:
                    headers["Authorization"] = f"Bearer {given}"
                return await by_hand.post(url + path, json=HELLO, headers={**ACCEPT, **headers})

            for given, status in (
                (None, 401),
                ("dmp_agent_nobodys", 401),
                (gone, 401),
                (token(ada, None), 403),
                (secret, 200),
                (late, 200),
            ):
                answer = await ask(given)
                assert answer.status_code == status, answer.text
                if status != 200:
                    assert set(answer.json()) == {"error", "code"}
            with ada.node.store.transaction(CommitPoint.AGENT) as db:
                agents.decide(db, "agent:ada/late", "revoked")
            assert (await ask(late)).status_code == 401
            assert (await ask(secret, "/elsewhere")).status_code == 404
            assert (await ask(secret, Host="evil.example")).status_code == 421
            assert (await ask(secret, Host="localhost:1")).status_code == 421
            assert (await ask(secret, Origin="http://evil.example")).status_code == 403
            assert (await ask(secret, Origin="null")).status_code == 403
            assert (await ask(secret, Host="dmp.example", Origin="https://dmp.example")).status_code == 200
            own = url.removesuffix("/mcp")
            assert (await ask(secret, Origin=own)).status_code == 200
            large = await by_hand.post(
                url, content=b" " * (http.MAX_BODY_BYTES + 1), headers={"Authorization": f"Bearer {secret}"}
            )
            assert large.status_code == 413

    run(work())


def test_a_clients_session_is_for_the_token_that_began_it_alone(ada: Office) -> None:
    async def work() -> None:
        async with serving(ada) as url, httpx2.AsyncClient(timeout=PATIENCE) as by_hand:
            own = {**ACCEPT, "Authorization": f"Bearer {token(ada, SCOUT)}"}
            begun = await by_hand.post(url, json=HELLO, headers=own)
            session = {"Mcp-Session-Id": begun.headers["mcp-session-id"]}
            listing = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
            others = {**ACCEPT, "Authorization": f"Bearer {token(ada, SCRIBE)}"}
            for headers, status in ((own, 200), (others, 404)):
                answer = await by_hand.post(url, json=listing, headers={**headers, **session})
                assert answer.status_code == status

    run(work())


def test_an_address_that_is_taken_is_said_to_be(ada: Office) -> None:
    async def work() -> None:
        async with serving(ada) as url:
            taken = url.removeprefix("http://").removesuffix("/mcp")
            with Changes(ada.root / "state.db") as changes, pytest.raises(DmpError, match="--mcp") as refused:
                async with http.running(ada.root, changes, taken, "--mcp"):
                    pass
            assert refused.value.code is Code.UNAVAILABLE

    run(work())


def test_what_fails_while_the_tools_are_served_is_told_as_it_is(ada: Office) -> None:
    async def work() -> None:
        with Changes(ada.root / "state.db") as changes, pytest.raises(DmpError, match="no key"):
            async with http.running(ada.root, changes, "127.0.0.1:0", "--mcp"):
                raise DmpError(Code.NOT_FOUND, "no key")

    run(work())


def test_the_service_serves_the_tools_where_it_is_told_to_and_ends_while_somebody_waits(ada: Office) -> None:
    secret = token(ada, SCOUT)
    with subprocess.Popen(
        [sys.executable, "-m", "replica.cli.main", "serve", "--mcp", "127.0.0.1:0", "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(ada, DMP_SERVE_LISTEN="127.0.0.1:0"),
        cwd=Path(__file__).parents[3],
    ) as process:
        try:
            assert process.stdout is not None
            started = json.loads(process.stdout.readline())

            async def work() -> None:
                async with connected(started["mcp"], secret, "legacy") as client:
                    sent = await client.call_tool("msg_send", {"to": [ADA], "kind": "message", "body": "Hi"})
                    assert read(sent)["message"]["from"] == SCOUT
                    asking = asyncio.create_task(client.call_tool("msg_send", QUESTION))
                    while not ada.node.engine.open_blocking():
                        await asyncio.sleep(0.01)
                    process.send_signal(signal.SIGTERM)
                    assert read(await asking)["note"] == LATER

            run(work())
            _, errors = process.communicate()
            assert process.returncode == 0
            assert [line for line in errors.splitlines() if "uvicorn" in line or "mcp" in line] == []
            assert len(ada.node.engine.open_blocking()) == 1
        finally:
            process.kill()
