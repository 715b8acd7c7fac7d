"""Registering a team: what the relay is shown, and what each of its answers means."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from aiohttp import web

from crypto.keys import team_id
from crypto.op import read_entry
from tests.transports.ops import ADA, Chain
from tests.transports.relay.client.standin import free_port
from transports.base import Refused, Unreachable
from transports.relay.address import AddressError, Stamp
from transports.relay.client.loop import LoopThread
from transports.relay.client.registration import Terms, ask_terms, register
from transports.relay.client.work import stamp

NOW = 1_790_000_000


class Registrar:
    """A relay's HTTP side, which answers as it is told."""

    def __init__(self) -> None:
        self.terms: object = {"difficulty": 8, "tokenRequired": False, "tokenAccepted": True}
        self.answers: list[tuple[int, object]] = []
        self.asked: list[tuple[dict[str, Any], str | None]] = []
        self._thread = LoopThread()
        self.port = self._thread.run(self._start())
        self.url = f"ws://127.0.0.1:{self.port}"

    def close(self) -> None:
        self._thread.run(self._runner.cleanup())
        self._thread.close()

    async def _start(self) -> int:
        app = web.Application()
        app.router.add_get("/v1/registration", self._tell)
        app.router.add_post("/v1/teams", self._register)
        self._runner = web.AppRunner(app, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        return int(self._runner.addresses[0][1])

    async def _tell(self, request: web.Request) -> web.Response:
        if isinstance(self.terms, int):
            return web.Response(status=self.terms)
        return web.json_response(self.terms)

    async def _register(self, request: web.Request) -> web.Response:
        body = await request.json()
        self.asked.append((body, request.headers.get("Authorization")))
        status, members = self.answers.pop(0) if self.answers else (201, {"teamId": TEAM})
        return web.json_response(members, status=status)


_CHAIN = Chain(ADA)
KEY, FOUND = _CHAIN.lines(2)
TEAM = team_id(read_entry(FOUND).hash)


@pytest.fixture
def relay() -> Iterator[Registrar]:
    registrar = Registrar()
    yield registrar
    registrar.close()


def registered(relay: Registrar, token: str | None = None) -> str:
    return register(relay.url, KEY, FOUND, [KEY, FOUND], token=token, now=lambda: NOW)


def test_the_relay_is_shown_the_founding_and_the_work(relay: Registrar) -> None:
    assert ask_terms(relay.url) == Terms(8, token_required=False, token_accepted=True)
    assert registered(relay) == TEAM
    ((body, token),) = relay.asked
    assert token is None
    lines = [json.loads(line) for line in (KEY, FOUND)]
    assert [body["key"], body["found"]] == body["ops"] == lines
    assert body["pow"]["t"] == NOW
    assert Stamp(NOW, body["pow"]["nonce"]).bits(relay.url, TEAM) >= 8


def test_a_relay_that_holds_the_team_already_is_as_good(relay: Registrar) -> None:
    relay.answers = [(200, {"teamId": TEAM})]
    assert registered(relay) == TEAM


def test_a_token_does_instead_of_work(relay: Registrar) -> None:
    relay.terms = {"difficulty": 60, "tokenRequired": True, "tokenAccepted": True}
    with pytest.raises(Refused, match="only with a token"):
        registered(relay)
    assert registered(relay, token="sesame") == TEAM
    ((body, token),) = relay.asked
    assert "pow" not in body
    assert token == "Bearer sesame"


def test_work_that_was_not_taken_is_done_once_more(relay: Registrar) -> None:
    relay.answers = [(403, {"reason": "stale"})]
    assert registered(relay) == TEAM
    relay.answers = [(403, {"reason": "stale"}), (403, {"reason": "spent"}), (201, {"teamId": TEAM})]
    with pytest.raises(Refused, match="twice: spent"):
        registered(relay)
    assert len(relay.asked) == 4


def test_no_more_work_is_done_than_a_minute_s(relay: Registrar) -> None:
    relay.terms = {"difficulty": 27, "tokenRequired": False, "tokenAccepted": True}
    with pytest.raises(Refused, match="27 bits") as error:
        registered(relay)
    assert "token" in error.value.hint
    assert not relay.asked


@pytest.mark.parametrize(
    ("status", "error", "told"),
    [
        (400, Refused, "does not take the founder's chain: told"),
        (401, Refused, "wants a token"),
        (402, Refused, "licence"),
        (404, Refused, "no relay"),
        (413, Refused, "too long"),
        (429, Unreachable, "for now"),
        (500, Unreachable, "could not register"),
        (302, Refused, "no relay gives"),
    ],
)
def test_each_answer_has_a_sentence_and_a_hint(
    relay: Registrar, status: int, error: type[Refused | Unreachable], told: str
) -> None:
    relay.answers = [(status, {"reason": "told\x1b[2J"})]
    with pytest.raises(error, match=told) as found:
        registered(relay)
    assert found.value.hint
    assert found.value.message.isprintable()
    assert len(relay.asked) == 1


def test_a_token_that_is_not_taken_is_told_apart(relay: Registrar) -> None:
    relay.answers = [(401, {})]
    with pytest.raises(Refused, match="does not take this token") as error:
        registered(relay, token="sesame")
    assert "sesame" not in str(error.value)


@pytest.mark.parametrize("answer", [{"teamId": "0" * 32}, {}, [], "x"])
def test_an_answer_for_another_team_is_none(relay: Registrar, answer: object) -> None:
    relay.answers = [(201, answer)]
    with pytest.raises(Refused, match="another team"):
        registered(relay)


@pytest.mark.parametrize("terms", [404, {}, {"difficulty": -1}, {"difficulty": True}, "x", "x" * 100_000])
def test_what_is_no_relay_is_told_apart(relay: Registrar, terms: object) -> None:
    relay.terms = terms
    with pytest.raises(Refused, match="no relay"):
        registered(relay)


def test_a_relay_that_is_not_there_says_so() -> None:
    with pytest.raises(Unreachable, match="does not answer"):
        register(f"ws://127.0.0.1:{free_port()}", KEY, FOUND, [KEY, FOUND])


def test_only_a_relay_s_address_is_asked() -> None:
    with pytest.raises(AddressError, match="use wss"):
        register("ws://relay.example", KEY, FOUND, [KEY, FOUND])


def test_the_work_is_told_and_can_be_interrupted() -> None:
    told: list[tuple[int, int]] = []

    def progress(tried: int, expected: int) -> None:
        told.append((tried, expected))
        if tried:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stamp("wss://relay.example", TEAM, NOW, 60, progress)
    assert told[0] == (0, 1 << 60)
    assert told[1][0] > 0
