"""A roster that takes long to fold, as a hostile team can make one (K7), holds up nobody else."""

import asyncio
import threading

import pytest

from crypto.keys import KeyBody
from crypto.op import Op, to_line
from tests.transports.relay.people import Desk, Line, Person
from transports.relay import frames
from transports.relay.frames import Why
from transports.relay.server import session
from transports.relay.server.session import State
from transports.relay.server.shell.folds import SMALL_OPS, Folds
from transports.relay.server.team import Folded, Team


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Opened, it lets the folds of large rosters end."""
    gate, fold, would_admit = threading.Event(), Team.fold, Team.would_admit

    def slow(team: Team) -> Folded:
        assert team.roster_ops <= SMALL_OPS or gate.wait(30)
        return fold(team)

    def slowly(team: Team, replica: str, key: KeyBody) -> bool:
        assert team.roster_ops <= SMALL_OPS or gate.wait(30)
        return would_admit(team, replica, key)

    monkeypatch.setattr(Team, "fold", slow)
    monkeypatch.setattr(Team, "would_admit", slowly)
    return gate


def invites(founder: Person, count: int) -> list[Op]:
    return [founder.invite(f"g{number}", seed=number.to_bytes(32)) for number in range(count)]


async def until(line: Line, *, ready: bool) -> None:
    async with asyncio.timeout(30):
        while (line.session.state is State.READY) is not ready:
            await asyncio.sleep(0.001)


def test_k7_while_a_large_roster_is_folded_everybody_is_served(desk: Desk, gate: threading.Event) -> None:
    bob, bobs = desk.join("bob", 2)
    cy, cys = desk.join("cy", 3)

    async def story() -> None:
        desk.relay.fold = Folds()
        adas = desk.line(desk.founder)
        more = invites(desk.founder, SMALL_OPS)
        assert isinstance(adas.publish([*more, desk.founder.revoke(bob)]), frames.Stored)
        assert isinstance(cys.publish([cy.task()]), frames.Stored)
        assert isinstance(bobs.publish([bob.task()]), frames.Stored), "not known to be revoked yet"
        assert isinstance(adas.publish([desk.founder.revoke(cy)]), frames.Stored)
        gate.set()
        await until(bobs, ready=False)
        await until(cys, ready=False)

    asyncio.run(story())
    assert bobs.session.why is cys.session.why is Why.REVOKED


def test_k7_who_is_admitted_by_a_large_roster_waits_for_its_fold_alone(
    desk: Desk, gate: threading.Event
) -> None:
    bob = Person("bob", 2)
    bob.key_op()
    adas = desk.line(desk.founder)
    gate.set()
    adas.publish([*invites(desk.founder, SMALL_OPS), desk.founder.admit(bob)])
    gate.clear()

    async def story() -> None:
        desk.relay.fold = Folds()
        line = Line(desk, bob)
        challenge = line.heard[0]
        assert isinstance(challenge, frames.Challenge)
        key_op = frames.Carried.line(to_line(bob.key_op()))
        auth = frames.Auth(bob.replica, bob.prove(desk.team, challenge.nonce), key_op)
        line.session.receive(frames.write(auth))
        assert line.session.state is State.JUDGED
        assert line.session.busy, "nothing more is read from it until then"
        assert isinstance(adas.publish([desk.founder.task()]), frames.Stored)
        gate.set()
        await until(line, ready=True)
        line.listen()
        assert line.publish(bob.chain) == frames.Stored(1, 1)
        assert isinstance(line.publish([bob.task()]), frames.Stored)

    asyncio.run(story())


def test_k7_a_team_has_a_bounded_roster(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "ROSTER_OPS", 4)
    adas = desk.line(desk.founder)
    first = invites(desk.founder, 3)
    assert isinstance(adas.publish(first), frames.Stored)
    answer = adas.publish(invites(desk.founder, 1))
    assert isinstance(answer, frames.Error)
    assert answer.reason.startswith("limited: ")
    desk.founder.chain.pop()
    assert isinstance(adas.publish([desk.founder.task()]), frames.Stored)
    assert isinstance(adas.publish(first), frames.Stored), "a repeat adds nothing"
