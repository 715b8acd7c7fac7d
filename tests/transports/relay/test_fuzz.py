"""Whatever is said, thousands of times, a relay goes on, stores what verifies and serves the others (wire 7.2, 7.5)."""

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from crypto.op import to_line
from tests.transports.relay.people import Desk, Line, Person
from transports.relay import frames
from transports.relay.frames import carried, write
from transports.relay.server.session import State
from transports.relay.server.settings import Settings

CASES = 10_000
PIECES = (
    '"',
    "\\",
    "{}",
    "[]",
    ",",
    ":",
    "null",
    "true",
    "-1",
    "1e3",
    "\ud800",
    "\x00",
    '"pruned":true,',
    "9" * 40,
)


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    settings = Settings("wss://relay.example.org", difficulty=0, ops_per_minute=10_000_000)
    desk = Desk(tmp_path / "relay.db", settings=settings)
    desk.register()
    yield desk
    desk.store.close()


def damaged(text: str, rng: random.Random) -> str:
    at = rng.randrange(len(text))
    match rng.randrange(5):
        case 0:
            return text[:at] + rng.choice(PIECES) + text[at:]
        case 1:
            return text[:at] + text[at + rng.randint(1, 9) :]
        case 2:
            return text[:at] + chr(rng.randrange(32, 127)) + text[at + 1 :]
        case 3:
            return text[:at] + text[rng.randrange(len(text)) :]
        case _:
            return text


def test_10000_damaged_frames_hurt_nobody(desk: Desk) -> None:
    rng = random.Random(11)
    ada, mal = desk.founder, Person("mal", 66)
    mal.key_op()
    adas = desk.line(ada)
    adas.publish([ada.admit(mal)])
    attacker = desk.line(mal)
    attacker.publish(mal.chain)
    desk.store._writer.execute("PRAGMA synchronous = OFF")
    lane = desk.relay.team(desk.team).lanes[mal.replica]
    good = [to_line(each) for each in (*ada.chain, *mal.chain)]
    valid = 0
    following = mal.task()
    for case in range(CASES):
        if attacker.session.state is State.ENDED:
            attacker = desk.line(mal)
        op = to_line(following)
        frame = rng.choice(
            (
                frames.Publish(case, carried([op])),
                frames.Publish(case, carried([*rng.sample(good, 2), op])),
                frames.Pull(case, {ada.replica: rng.randrange(4), mal.replica: 0}, (ada.replica,)),
                frames.Ack(case, {ada.replica: 2, mal.replica: 1}),
                frames.Auth(mal.replica, "AAAA", carried([op])[0]),
            )
        )
        attacker.session.receive(damaged(write(frame), rng))
        desk.relay.work()
        while (text := attacker.session.outbox.take()) is not None:
            frames.parse(text)
        assert lane.head is not None
        if lane.head.hash == following.hash:  # it was good as it was
            following = mal.task()
            valid += 1
        assert lane.head.hash == mal.chain[-2].hash
    assert 250 < valid < CASES / 2
    answer = adas.pull({mal.replica: 0}, mal.replica)
    assert [op.raw for op in answer.ops] == [to_line(op) for op in mal.chain[:-1]][:1000]
    assert adas.publish([ada.task()]) == frames.Stored(adas._request, ada.chain[-1].seq)
    assert len(desk.relay.sessions) <= 3


def test_2500_damaged_greetings_let_nobody_else_in(desk: Desk) -> None:
    rng = random.Random(12)
    ada = desk.founder
    entered = 0
    for _ in range(CASES // 4):
        line = Line(desk, ada)
        greeting = line.heard[0]
        assert isinstance(greeting, frames.Challenge)
        sig = ada.prove(desk.team, greeting.nonce)
        auth = frames.Auth(ada.replica, sig, carried([to_line(ada.chain[0])])[0])
        text = write(auth)
        sent = damaged(text, rng)
        line.session.receive(sent)
        if line.session.state is State.READY:
            entered += 1
            read = frames.parse(sent)
            assert isinstance(read, frames.Auth)
            assert (read.replica, read.sig) == (ada.replica, sig)
        line.session.closed()
    assert entered > CASES / 40
    assert not desk.relay.sessions
