"""Peers that mean harm, or are broken: each costs itself its mail, and nobody else anything (section 8.9)."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from bindings.a2a.peers import adding, credentials, schedule, wire
from bindings.a2a.peers.peer import PeerState
from core.errors import DmpError
from core.message import State
from tests.bindings.a2a.peers.stage import (
    COMPLETED,
    LOCAL,
    SECRET,
    WORKING,
    Json,
    ScriptedPeer,
    Stage,
    ThisMachine,
    refusal,
    served,
    stage,
    staged,
    status,
)
from tests.replica.world import Machine

PEER = "a2a:acme"


def play(ada: Machine, peer: ScriptedPeer, scene: Callable[[Stage], Awaitable[None]]) -> None:
    async def run() -> None:
        async with stage(ada, peer) as made:
            await scene(made)

    asyncio.run(run())


# Cards


def added(
    ada: Machine, peer: ScriptedPeer, card: Callable[[ScriptedPeer], Any], **members: Any
) -> DmpError | None:
    """Why a peer with such a card is not added; None where it is."""

    async def run() -> DmpError | None:
        async with served(peer):
            peer.card = card(peer)
            try:
                await staged(ada).add(peer, **members)
            except DmpError as error:
                return error
            return None

    return asyncio.run(run())


def interface(url: str, **members: str) -> Json:
    return {"url": url, "protocolBinding": "HTTP+JSON", "protocolVersion": "1.0", **members}


REFUSED_CARDS: list[tuple[str, Callable[[ScriptedPeer], Any], str, str]] = [
    ("no object", lambda _: ["card"], "card", "no agent card"),
    ("no interface", lambda p: p.make_card(supportedInterfaces=[]), "card", "no interface"),
    (
        "another version",
        lambda p: p.make_card(supportedInterfaces=[interface("http://localhost/", protocolVersion="0.3")]),
        "card",
        "no interface",
    ),
    (
        "grpc alone",
        lambda p: p.make_card(supportedInterfaces=[interface("http://localhost/", protocolBinding="GRPC")]),
        "card",
        "no interface",
    ),
    (
        "an interface inside the network",
        lambda p: p.make_card(supportedInterfaces=[interface("http://10.0.0.1/")]),
        "card",
        "of https:",
    ),
    (
        "an address as host",
        lambda p: p.make_card(supportedInterfaces=[interface("https://169.254.169.254/")]),
        "card",
        "name its host",
    ),
    (
        "another origin",
        lambda p: p.make_card(supportedInterfaces=[interface(f"http://elsewhere:{p.port}/a2a")]),
        "origin",
        "add it with --origin http://elsewhere:",
    ),
    (
        "another port",
        lambda p: p.make_card(supportedInterfaces=[interface("http://localhost:1/a2a")]),
        "origin",
        "--origin http://localhost:1",
    ),
    (
        "no scheme",
        lambda p: p.make_card(securitySchemes={}, securityRequirements=[]),
        "card",
        "no bearer token",
    ),
    (
        "a scheme this host has not",
        lambda p: p.make_card(securitySchemes={"m": {"mtlsSecurityScheme": {}}}, securityRequirements=[]),
        "card",
        "no bearer token",
    ),
    (
        "two schemes at once",
        lambda p: p.make_card(securityRequirements=[{"schemes": {"token": {}, "other": {}}}]),
        "card",
        "no bearer token",
    ),
    (
        "a key in the query",
        lambda p: p.make_card(
            securitySchemes={"k": {"apiKeySecurityScheme": {"location": "query", "name": "key"}}},
            securityRequirements=[],
        ),
        "card",
        "no bearer token",
    ),
    (
        "a key in a header of another meaning",
        lambda p: p.make_card(
            securitySchemes={"k": {"apiKeySecurityScheme": {"location": "header", "name": "Host"}}},
            securityRequirements=[],
        ),
        "card",
        "no bearer token",
    ),
    (
        "an extension it requires",
        lambda p: p.make_card(
            capabilities={"extensions": [{"uri": "https://x.example/e", "required": True}]}
        ),
        "card",
        "“https://x.example/e”",
    ),
]


@pytest.mark.parametrize(
    ("card", "field", "says"), [each[1:] for each in REFUSED_CARDS], ids=[each[0] for each in REFUSED_CARDS]
)
def test_a_card_that_cannot_be_agreed_to_is_refused(
    ada: Machine, one_peer: ScriptedPeer, card: Callable[[ScriptedPeer], Any], field: str, says: str
) -> None:
    refused = added(ada, one_peer, card)
    assert refused is not None
    assert (refused.code, refused.field) == ("invalid", field)
    assert says in refused.message
    assert ada.count("a2a_peers") == 0


def test_another_origin_is_taken_once_it_is_confirmed_by_its_name(
    ada: Machine, one_peer: ScriptedPeer
) -> None:
    async def run() -> None:
        async with served(one_peer):
            there = f"http://elsewhere:{one_peer.port}"
            one_peer.card = one_peer.make_card(supportedInterfaces=[interface(f"{there}/a2a")])
            s = staged(ada)
            with pytest.raises(DmpError):
                await s.add(one_peer, origin="http://elsewhere:1")
            made = await s.add(one_peer, origin=there)
            assert made.interface.url == f"{there}/a2a"

    asyncio.run(run())


def test_an_api_key_goes_in_its_header(ada: Machine, one_peer: ScriptedPeer) -> None:
    async def run() -> None:
        async with served(one_peer):
            one_peer.card = one_peer.make_card(
                securitySchemes={"k": {"apiKeySecurityScheme": {"location": "header", "name": "X-API-Key"}}},
                securityRequirements=[{"schemes": {"k": {"list": []}}}],
            )
            s = staged(ada)
            await s.add(one_peer)
            ada.send(PEER, "hello")
            await s.work()
            assert one_peer.headers[0]["X-API-Key"] == SECRET
            assert "Authorization" not in one_peer.headers[0]

    asyncio.run(run())


@pytest.mark.parametrize(
    ("status_", "body", "says"),
    [
        (302, b"", "redirects"),
        (404, b"", "answers with 404"),
        (200, b"<html>", "not JSON"),
        (200, b"[" * 100_000, "not JSON"),
        (200, b" " * 262_145, "more than 262144 bytes"),
    ],
)
def test_what_is_no_card_is_refused(
    ada: Machine, one_peer: ScriptedPeer, status_: int, body: bytes, says: str
) -> None:
    async def answer(_: web.Request) -> web.StreamResponse:
        return web.Response(status=status_, body=body, headers={"Location": "/elsewhere"})

    async def run() -> str:
        app = web.Application()
        app.router.add_get("/card", answer)
        runner = web.AppRunner(app)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        try:
            url = f"http://localhost:{runner.addresses[0][1]}/card"
            with pytest.raises(DmpError) as refused:
                await adding.add("acme", url, LOCAL, resolver=ThisMachine())
            return refused.value.message
        finally:
            await runner.cleanup()

    assert says in asyncio.run(run())


def test_a_card_whose_name_is_private_on_a_later_look_up_is_not_fetched_again(
    ada: Machine, one_peer: ScriptedPeer
) -> None:
    async def scene(s: Stage) -> None:
        fetched = one_peer.fetched
        s.relay.private = frozenset()  # as if the name had been public until now
        await s.work(after=schedule.REFRESH)
        assert one_peer.fetched == fetched
        ada.send(PEER, "hello")
        await s.work()
        assert one_peer.sent == []

    play(ada, one_peer, scene)


def test_the_card_is_fetched_daily_and_another_origin_disables_the_peer_with_one_notice(
    ada: Machine, one_peer: ScriptedPeer
) -> None:
    async def scene(s: Stage) -> None:
        before = one_peer.fetched
        await s.work(after=schedule.REFRESH - 1)
        assert one_peer.fetched == before
        await s.work(after=1)
        assert one_peer.fetched == before + 1
        assert adding.need(s.node, "acme").state is PeerState.ACTIVE
        one_peer.card = one_peer.make_card(
            supportedInterfaces=[interface(f"http://elsewhere:{one_peer.port}/a2a")]
        )
        for _ in range(3):
            await s.work(after=schedule.REFRESH)
        found = adding.need(s.node, "acme")
        assert found.state is PeerState.DISABLED
        assert found.interface.url == f"http://localhost:{one_peer.port}/a2a"
        (notice,) = s.said(sender="agent:dispatch")
        assert "dmp a2a peer enable acme" in notice.body

    play(ada, one_peer, scene)


def test_a_card_that_cannot_be_fetched_for_a_while_changes_nothing(
    ada: Machine, one_peer: ScriptedPeer
) -> None:
    async def run() -> None:
        async with stage(ada, one_peer) as s:
            pass
        await s.work(after=schedule.REFRESH)
        assert adding.need(s.node, "acme").state is PeerState.ACTIVE
        async with served(one_peer):
            before = one_peer.fetched
            await s.work(after=schedule.REFRESH_FAILED)
            assert one_peer.fetched == before + 1
        assert s.said() == []

    asyncio.run(run())


def test_a_card_that_offers_nothing_any_more_disables_the_peer(ada: Machine, one_peer: ScriptedPeer) -> None:
    async def scene(s: Stage) -> None:
        one_peer.card = one_peer.make_card(supportedInterfaces=[])
        await s.work(after=schedule.REFRESH)
        assert adding.need(s.node, "acme").state is PeerState.DISABLED

    play(ada, one_peer, scene)


# Credentials


def test_a_credential_is_in_a_file_of_its_own_and_nowhere_else(ada: Machine, one_peer: ScriptedPeer) -> None:
    async def scene(s: Stage) -> None:
        root = s.node.directory.root
        kept = root / "a2a-peers" / "acme"
        assert (kept.stat().st_mode & 0o777, kept.parent.stat().st_mode & 0o777) == (0o600, 0o700)
        ada.ask(PEER)
        await s.work()
        s.node.store.db.execute("PRAGMA wal_checkpoint")
        for file in root.rglob("*"):
            if file.is_file() and file != kept:
                assert SECRET.encode() not in file.read_bytes(), file
        kept.chmod(0o644)
        ada.send(PEER, "hello")
        await s.work()
        assert adding.need(s.node, "acme").state is PeerState.NO_CREDENTIAL
        assert len(one_peer.sent) == 1

    play(ada, one_peer, scene)


@pytest.mark.parametrize("text", ["", "  \n", "two\nlines", "tab\there", "caf\u00e9", "x" * 8_193])
def test_what_no_header_can_carry_is_no_credential(tmp_path: Path, text: str) -> None:
    with pytest.raises(DmpError) as refused:
        credentials.write(tmp_path, "acme", text)
    assert refused.value.field == "credential"
    assert text.strip() not in refused.value.message or not text.strip()
    assert credentials.read(tmp_path, "acme") is None


# Answers


ODD_ANSWERS = [
    b"",
    b"[]",
    b'"task"',
    b"{}",
    b'{"task": {}}',
    b'{"task": {"id": 5}}',
    b'{"task": {"id": "a\\u0000b"}}',
    b'{"task": {"id": ""}, "message": 3}',
    b"\xff\xfe",
    b'{"task":' + b'{"x":' * 5_000,
    b"x" * (wire.MAX_ANSWER + 1),
]


@pytest.mark.parametrize("body", ODD_ANSWERS, ids=range(len(ODD_ANSWERS)))
def test_an_answer_that_is_none_is_tried_again_with_the_same_message_id(
    ada: Machine, one_peer: ScriptedPeer, body: bytes
) -> None:
    async def odd(_: web.Request, given: Json) -> web.StreamResponse:
        return web.Response(body=body, content_type="application/json")

    async def scene(s: Stage) -> None:
        asked = ada.ask(PEER)
        one_peer.on_send = odd
        await s.work()
        assert s.state(asked) is State.HELD
        one_peer.on_send = None
        await s.work(after=schedule.MINUTE)
        assert s.state(asked) is State.PUSHED
        assert [each["message"]["messageId"] for each in one_peer.sent] == [asked.id] * 2

    play(ada, one_peer, scene)


def test_what_a_task_says_is_bounded_cleaned_and_wrapped(ada: Machine, one_peer: ScriptedPeer) -> None:
    parts: list[Any] = [
        {"text": "a" * 70_000 + "\ud800"},
        {"url": "https://x.example/a)[b](javascript:alert(1)", "filename": "a]b\n"},
        {"raw": "AAAA", "filename": "b.png"},
        {"data": "d" * 70_000},
        7,
        {"other": 1},
    ]

    async def told(_: web.Request, given: Json) -> web.StreamResponse:
        body: Json = {"id": given["id"], "status": status(COMPLETED), "artifacts": [{"parts": parts}, 5]}
        return web.Response(text=json.dumps(body), content_type="application/json")

    async def scene(s: Stage) -> None:
        asked = ada.ask(PEER)
        await s.work()
        one_peer.on_task = told
        await s.work(after=5_000)
        answer = s.answer(asked)
        assert answer is not None
        assert len(answer.body.encode()) <= 65_536
        assert "[… truncated by Dispatch]" in answer.body
        assert answer.body.endswith("(data part over 64 KiB omitted)")
        parts[0] = {"text": "short"}
        other = ada.ask(PEER)
        await s.work()
        await s.work(after=5_000)
        answer = s.answer(other)
        assert answer is not None
        first, link, file, note = answer.body.split("\n\n")
        assert (first, note) == ("short", "(data part over 64 KiB omitted)")
        assert link == "[ab](https://x.example/a%29%5Bb%5D%28javascript:alert%281%29)"
        assert file == "(b.png omitted: a file)"

    play(ada, one_peer, scene)


def test_another_task_than_was_asked_for_counts_for_nothing(ada: Machine, one_peer: ScriptedPeer) -> None:
    async def other(_: web.Request, given: Json) -> web.StreamResponse:
        return web.json_response({"id": "other", "status": status(COMPLETED, "Gotcha.")})

    async def scene(s: Stage) -> None:
        asked = ada.ask(PEER)
        await s.work()
        one_peer.on_task = other
        await s.work(after=schedule.HOUR)
        assert s.answer(asked) is None

    play(ada, one_peer, scene)


@pytest.mark.parametrize("code", [408, 429])
def test_a_peer_that_is_busy_is_asked_for_the_task_again(
    ada: Machine, one_peer: ScriptedPeer, code: int
) -> None:
    async def busy(_: web.Request, given: Json) -> web.StreamResponse:
        return refusal(code, "later, please")

    async def scene(s: Stage) -> None:
        asked = ada.ask(PEER)
        await s.work()
        one_peer.on_task, answers = busy, one_peer.on_task
        await s.work(after=schedule.HOUR)
        assert s.answer(asked) is None
        one_peer.on_task = answers
        one_peer.says(f"t-{asked.id}", COMPLETED, "Yes.")
        await s.work(after=schedule.HOUR)
        answer = s.answer(asked)
        assert answer is not None
        assert answer.body == "Yes."

    play(ada, one_peer, scene)


def test_another_peer_under_an_alias_has_none_of_the_tasks_of_the_one_before(
    ada: Machine, one_peer: ScriptedPeer
) -> None:
    async def scene(s: Stage) -> None:
        before = ada.ask(PEER)
        await s.work()
        adding.remove(s.node, "acme")
        assert s.answer(before) is not None  # closed
        await s.add(one_peer)
        now = ada.ask(PEER)

        async def old_name(_: web.Request, body: Json) -> web.StreamResponse:
            task = {"id": f"t-{before.id}", "contextId": "c", "status": status(COMPLETED, "Mine.")}
            return web.json_response({"task": task})

        one_peer.on_send = old_name
        await s.work()
        answer = s.answer(now)
        assert answer is not None
        assert answer.body == "Mine."

    play(ada, one_peer, scene)


def test_a_peer_cannot_reach_what_it_was_not_sent(ada: Machine, one_peer: ScriptedPeer) -> None:
    """A task id that another peer has is another task: tasks are each peer's own."""

    async def run() -> None:
        bolt = ScriptedPeer()
        async with stage(ada, one_peer) as s, served(bolt):
            await s.add(bolt, "bolt")
            asked = ada.ask(PEER)
            await s.work()

            async def impostor(_: web.Request, given: Json) -> web.StreamResponse:
                task = {"id": f"t-{asked.id}", "status": status(COMPLETED, "Gotcha.")}
                return web.json_response({"task": task})

            bolt.on_send = impostor
            told = ada.send("a2a:bolt", "hello")
            await s.work()
            assert s.answer(asked) is None
            assert [each.reply_to for each in s.said(sender="a2a:bolt")] == [told.id]

    asyncio.run(run())


# Streams


def streamed(peer: ScriptedPeer, events: Callable[[web.StreamResponse, str], Awaitable[None]]) -> None:
    """Let a peer offer streams, of which `events` writes one."""

    async def stream(request: web.Request, given: Json) -> web.StreamResponse:
        task = given.get("id") or request.path.split("/")[-1].removesuffix(":subscribe")
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        await events(response, task)
        return response

    peer.card = {}
    peer.on_stream = stream


def event(peer: ScriptedPeer, update: Json) -> bytes:
    said: Json = {"jsonrpc": "2.0", "id": 1, "result": update} if peer.rpc else update
    return f": ping\r\nevent: message\r\ndata: {json.dumps(said)}\r\n\r\n".encode()


def test_a_stream_tells_each_event_and_its_end_has_the_task_asked_for(
    ada: Machine, peer: ScriptedPeer
) -> None:
    async def tell(response: web.StreamResponse, task: str) -> None:
        for state, text in ((WORKING, "Reading."), (COMPLETED, "Not the result yet.")):
            update = {"taskId": task, "contextId": "c", "status": status(state, text)}
            await response.write(event(peer, {"statusUpdate": {**update, "taskId": "another"}}))
            await response.write(event(peer, {"statusUpdate": update}))
        peer.says(task, COMPLETED, "Read.", artifacts=[{"artifactId": "a", "parts": [{"text": "42"}]}])

    async def run() -> None:
        async with served(peer):
            streamed(peer, tell)
            peer.card = peer.make_card(capabilities={"streaming": True})
            s = staged(ada)
            await s.add(peer)
            asked = ada.ask(PEER)
            await s.until(lambda: s.answer(asked) is not None, "the answer")
            answer = s.answer(asked)
            assert answer is not None
            assert answer.body == "Read.\n\n42"
            assert [each.body for each in s.said(sender=PEER, kind="notice")] == ["Reading."]
            await s.relay.close()

    asyncio.run(run())


@pytest.mark.parametrize("kind", ["endless", "silent", "one long event"])
def test_a_stream_that_never_ends_holds_up_nothing(
    ada: Machine, one_peer: ScriptedPeer, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wire, "MAX_STREAM", 300_000)
    monkeypatch.setattr(wire, "MAX_ANSWER", 100_000)
    begun, ended = 0, asyncio.Event()

    async def tell(response: web.StreamResponse, task: str) -> None:
        nonlocal begun
        begun += 1
        try:
            await write(response, task)
        finally:
            ended.set()

    async def write(response: web.StreamResponse, task: str) -> None:
        while True:
            if kind == "silent":
                await asyncio.sleep(60)
            elif kind == "endless":
                await response.write(
                    event(one_peer, {"artifactUpdate": {"taskId": task, "artifact": "x" * 20_000}})
                )
            else:
                await response.write(b"data: " + b"x" * 20_000)

    async def run() -> None:
        async with served(one_peer):
            streamed(one_peer, tell)
            one_peer.card = one_peer.make_card(capabilities={"streaming": True})
            s = staged(ada)
            await s.add(one_peer)
            asked = ada.ask(PEER)
            await s.work()
            await s.until(lambda: begun > 0, "the stream")
            told = ada.send(PEER, "And this.")
            await s.until(lambda: s.state(told) is State.PUSHED, "other mail")
            one_peer.says(f"t-{asked.id}", COMPLETED, "Done.")
            await s.until(lambda: s.answer(asked) is not None, "the answer")
            if kind != "silent":
                await asyncio.wait_for(ended.wait(), 60)
            await s.relay.close()

    asyncio.run(run())
