"""Registering a team at a relay (wire 7.9, 7.11)."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from crypto.canonical import JsonValue
from crypto.op import to_line
from tests.transports.relay.people import URL, Desk, Person, body_of, found
from transports.relay.address import solve
from transports.relay.server.registration import Registrar, Status
from transports.relay.server.settings import Settings


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    desk = Desk(tmp_path / "relay.db", settings=Settings(URL, difficulty=8, tokens=frozenset({"t0ken"})))
    desk.team = found(desk.founder)
    yield desk
    desk.store.close()


def work(desk: Desk, *, url: str = URL, late: int = 0, bits: int = 8) -> JsonValue:
    stamp = solve(url, desk.team, desk.now_ms // 1000 + late, bits)
    return {"t": stamp.t, "nonce": stamp.nonce}


def test_a_team_is_registered_once_and_known_from_then_on(desk: Desk) -> None:
    body = body_of(desk.founder, pow=work(desk))
    answer = desk.registrar.register(body, None)
    assert (answer.status, answer.team) == (Status.NEW, desk.team)
    assert desk.registrar.register(body, None).status is Status.HELD
    assert desk.registrar.register(body_of(desk.founder), None).status is Status.HELD
    assert len(desk.line(desk.founder).pull().ops) == 2


def test_the_founders_chain_may_go_on_past_the_founding(desk: Desk) -> None:
    desk.founder.task()
    desk.founder.admit(Person("bob", 2))
    assert desk.registrar.register(body_of(desk.founder, pow=work(desk)), None).status is Status.NEW
    assert len(desk.line(desk.founder).pull().ops) == 4


@pytest.mark.parametrize(("late", "status"), [(-601, 403), (-599, 201), (599, 201), (601, 403)])
def test_a_stamp_is_of_the_last_10_minutes(desk: Desk, late: int, status: int) -> None:
    assert desk.registrar.register(body_of(desk.founder, pow=work(desk, late=late)), None).status == status


def test_a_stamp_is_for_one_relay_and_one_team_and_hard_enough(desk: Desk) -> None:
    elsewhere = work(desk, url="wss://relay.example.net")
    bad: list[JsonValue] = [elsewhere, {"t": desk.now_ms // 1000, "nonce": -1}, {}, None, 7]
    for pow_ in bad:
        assert desk.registrar.register(body_of(desk.founder, pow=pow_), None).status is Status.PROOF
    stamp = work(desk)
    other = Person("zoe", 8)
    found(other)
    assert desk.registrar.register(body_of(other, pow=stamp), None).status is Status.PROOF


def test_each_stamp_serves_once_across_restarts(desk: Desk) -> None:
    stamp = work(desk)
    broken = json.loads(body_of(desk.founder, pow=stamp))
    broken["key"]["sig"] = broken["found"]["sig"]
    assert desk.registrar.register(json.dumps(broken).encode(), None).status is Status.BAD
    desk.store.close()
    desk.open()
    answer = desk.registrar.register(body_of(desk.founder, pow=stamp), None)
    assert answer.status is Status.PROOF
    assert "before" in answer.error


def test_a_token_does_instead_of_work_and_a_wrong_one_does_not(desk: Desk) -> None:
    assert desk.registrar.register(body_of(desk.founder, pow=work(desk)), "other").status is Status.TOKEN
    assert desk.registrar.register(body_of(desk.founder), "t0ken").status is Status.NEW


def test_a_relay_may_take_tokens_alone(desk: Desk) -> None:
    registrar = Registrar(replace(desk.settings, token_required=True), desk.store, lambda: desk.now_ms)
    assert registrar.terms() == {"difficulty": 8, "tokenRequired": True, "tokenAccepted": True}
    assert registrar.register(body_of(desk.founder, pow=work(desk)), None).status is Status.TOKEN
    assert registrar.register(body_of(desk.founder), "t0ken").status is Status.NEW


def test_no_stamp_is_asked_for_where_the_difficulty_is_0(desk: Desk) -> None:
    registrar = Registrar(replace(desk.settings, difficulty=0), desk.store, lambda: desk.now_ms)
    assert registrar.register(body_of(desk.founder), None).status is Status.NEW


def test_a_chain_that_does_not_verify_is_refused(desk: Desk) -> None:
    good = json.loads(body_of(desk.founder, pow=work(desk)))
    key, founding = good["key"], good["found"]
    later = json.loads(to_line(desk.founder.task()))
    rival = json.loads(to_line(desk.founder.sign("task", {}, after=desk.founder.chain[0])))
    gap = json.loads(to_line(desk.founder.task()))
    stranger = json.loads(to_line(Person("eve", 5).key_op()))
    broken: list[dict[str, JsonValue]] = [
        {"key": None},
        {"found": None},
        {"key": founding},
        {"found": later},
        {"ops": {}},
        {"ops": [rival]},
        {"ops": [gap]},
        {"ops": [stranger]},
        {"ops": [later] * 1001},
        {"key": key | {"body": key["body"] | {"device": "other"}}},
        {"found": founding | {"sig": key["sig"]}},
        {"found": founding | {"body": founding["body"] | {"name": "Other"}}},
    ]
    for changes in broken:
        # Each attempt costs a stamp, so a token pays for these.
        answer = desk.registrar.register(json.dumps(good | changes).encode(), "t0ken")
        assert answer.status is Status.BAD, changes
        assert answer.error
    assert desk.store.teams() == 0


@pytest.mark.parametrize(
    "body", [b"", b"[]", b"{", b'{"key":1,"key":2}', b"\xff", b"[" * 5000, b'{"found":{}}']
)
def test_a_body_that_cannot_be_read_is_refused(desk: Desk, body: bytes) -> None:
    assert desk.registrar.register(body, "t0ken").status is Status.BAD


def test_a_source_may_try_20_times_an_hour(desk: Desk) -> None:
    assert all(desk.registrar.allows("192.0.2.1") for _ in range(20))
    assert not desk.registrar.allows("192.0.2.1")
    assert desk.registrar.allows("192.0.2.2")
    desk.now_ms += 3_600_000
    assert desk.registrar.allows("192.0.2.1")


def test_a_relay_holds_so_many_teams(desk: Desk) -> None:
    registrar = Registrar(replace(desk.settings, max_teams=0), desk.store, lambda: desk.now_ms)
    assert registrar.register(body_of(desk.founder), "t0ken").status is Status.FULL
