"""What waits for the relay's disk is bounded: of one team, and of all (wire 7.5)."""

import asyncio
import json
import threading
from collections.abc import Iterable
from pathlib import Path

import pytest

from crypto.op import to_line
from tests.transports.relay.people import Desk, Line, Person, body_of, found
from tests.transports.relay.process import entered, served
from transports.relay import frames
from transports.relay.frames import carried, write
from transports.relay.server import relay as relay_module
from transports.relay.server.shell import pipeline as pipeline_module
from transports.relay.server.shell.metrics import Metrics
from transports.relay.server.shell.pipeline import Pipeline
from transports.relay.server.store import Change


def other_team(desk: Desk) -> Line:
    """Somebody of another team who is connected."""
    zoe = Person("zoe", 8)
    team = found(zoe)
    assert desk.registrar.register(body_of(zoe), None).team == team
    ours, desk.team = desk.team, team
    line = desk.line(zoe)
    desk.team = ours
    return line


def say(line: Line, frame: frames.Frame) -> None:
    """Say something that the relay leaves waiting."""
    line.session.receive(write(frame))


def publish(line: Line, size: int) -> None:
    say(line, frames.Publish(1, carried([to_line(line.person.task("x" * size))])))


def test_too_much_of_a_team_that_waits_for_the_disk_holds_that_team_back_and_no_other(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(relay_module, "QUEUED_TEAM_BYTES", 10_000)
    _, bobs = desk.join("bob", 2)
    adas, zoes = desk.line(desk.founder), other_team(desk)
    publish(adas, 5_000)
    assert not adas.session.must_wait
    publish(adas, 5_000)
    assert adas.session.must_wait
    assert bobs.session.must_wait
    assert not zoes.session.must_wait
    woken: list[Line] = []
    for line in (adas, bobs, zoes):
        line.session.woken = lambda line=line: woken.append(line)
    desk.relay.work()
    assert bobs in woken
    assert not any(line.session.must_wait for line in (adas, bobs, zoes))


def test_too_much_of_all_teams_that_waits_for_the_disk_holds_everybody_back(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(relay_module, "QUEUED_BYTES", 10_000)
    adas, zoes = desk.line(desk.founder), other_team(desk)
    publish(adas, 10_000)
    assert adas.session.must_wait
    assert zoes.session.must_wait
    zoes.session.closed()
    assert not zoes.session.must_wait
    desk.relay.work()
    assert not adas.session.must_wait


def test_acknowledgements_wait_for_the_disk_within_the_same_bounds(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(relay_module, "QUEUED_TEAM_BYTES", 10_000)
    _, bobs = desk.join("bob", 2)
    many = {f"x{number}-00000001": 1 for number in range(1_000)}
    say(bobs, frames.Ack(1, many))
    assert bobs.session.must_wait
    bobs.listen()
    assert not bobs.session.must_wait
    for number in range(64):
        say(bobs, frames.Ack(number, {}))
    assert bobs.session.busy
    bobs.listen()
    assert not bobs.session.busy


def test_what_the_disk_did_not_take_waits_no_more(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relay_module, "QUEUED_TEAM_BYTES", 10_000)
    adas = desk.line(desk.founder)
    publish(adas, 10_000)
    say(adas, frames.Ack(2, {}))
    assert adas.session.must_wait
    batch = desk.relay.take()
    assert batch is not None
    batch.examine()
    desk.relay.fail(batch)
    assert not adas.session.must_wait
    assert not adas.session.waiting


def test_while_the_disk_is_slow_clients_wait_and_then_everything_is_stored(tmp_path: Path) -> None:
    """Over real sockets: members of one team say more than may wait, as fast as they can."""
    ada = Person("ada", 1)
    found(ada)
    people = [ada, *(Person(f"k{number}", 10 + number) for number in range(3))]
    for person in people[1:]:
        person.key_op()
        ada.admit(person)
    text = "x" * 900_000

    def tell(person: Person) -> None:
        with entered(relay, team, person) as wire:
            if person is not ada:
                assert wire.publish([person.chain[0]])["t"] == "stored"
            start = len(person.chain)
            for number in range(6):
                wire.write(t="publish", id=number, ops=[json.loads(to_line(person.task(text)))])
            for number in range(6):
                assert wire.answer() == {"t": "stored", "re": number, "through": start + number + 1}

    with served(tmp_path / "relay") as relay:
        status, answer = relay.post("/v1/teams", body_of(ada))
        assert status == 201
        team = answer["teamId"]
        failed: list[BaseException] = []

        def run(person: Person) -> None:
            try:
                tell(person)
            except BaseException as error:
                failed.append(error)
                raise

        threads = [threading.Thread(target=run, args=(person,)) for person in people]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not failed


def test_a_long_publication_is_verified_in_slices_between_which_sockets_are_served(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipeline_module, "SLICE_SECONDS", 0.0)
    adas = desk.line(desk.founder)
    ops = [desk.founder.task() for _ in range(50)]
    turns, before_write = 0, 0
    store = desk.store.write

    def noted(changes: Iterable[Change], now_ms: int) -> None:
        nonlocal before_write
        before_write = turns
        store(changes, now_ms)

    monkeypatch.setattr(desk.store, "write", noted)

    async def story() -> None:
        nonlocal turns
        pipeline = Pipeline(desk.relay, Metrics())
        running = asyncio.create_task(pipeline.run())
        say(adas, frames.Publish(1, carried(map(to_line, ops))))
        draining = asyncio.create_task(pipeline.drain())
        while not draining.done():
            await asyncio.sleep(0)
            turns += 1
        running.cancel()
        pipeline.close()

    asyncio.run(story())
    assert before_write >= len(ops)
    assert frames.Stored(1, ops[-1].seq) in adas.listen()
