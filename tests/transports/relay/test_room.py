"""What a team, and all teams, may store on a relay."""

import sqlite3
from dataclasses import replace

from tests.transports.relay.people import Desk, Line, Person, body_of, found
from transports.relay import frames
from transports.relay.server.registration import Registrar, Status
from transports.relay.server.relay import MEASURED_MS
from transports.relay.server.settings import DAY_MS
from transports.relay.server.sqlite import SqliteStore

ROOM = 100_000


def counted(desk: Desk) -> int:
    """What the rows that are there take."""
    rows = sqlite3.connect(desk.path)
    texts = rows.execute("SELECT line, stub FROM ops").fetchall()
    rows.close()
    return sum(300 + sum(len(text.encode()) for text in row if text is not None) for row in texts)


def limit(desk: Desk, **limits: int) -> None:
    """Start the relay anew with these limits."""
    desk.store.close()
    desk.settings = replace(desk.settings, **limits)  # type: ignore[arg-type]
    desk.open()


def fill(person: Person, line: Line) -> frames.Error:
    """Publish until that is refused."""
    for _ in range(100):
        answer = line.publish([person.task("x" * 5_000)])
        if isinstance(answer, frames.Error):
            person.chain.pop()
            return answer
    raise AssertionError


def test_what_a_team_stores_is_counted_through_everything_that_prunes(desk: Desk) -> None:
    bob, bobs = desk.join("bob", 2)
    adas = desk.line(desk.founder)
    adas.publish([desk.founder.mail(bob, text="ö" * 500), desk.founder.task("ü" * 100)])
    adas.publish([desk.founder.run("r1"), desk.founder.run("r1"), desk.founder.run("r1", live=False)])
    adas.publish([desk.founder.mail(bob) for _ in range(3)])
    assert desk.store.used() == desk.store.used(desk.team) == counted(desk)
    bobs.acks({desk.founder.replica: 4})
    assert desk.store.used(desk.team) == counted(desk)
    assert desk.store.expire(desk.now_ms + 31 * DAY_MS, 2) == 2
    assert desk.store.used(desk.team) == counted(desk)
    stored = desk.store.load(desk.team)
    assert stored is not None
    assert stored.used == counted(desk)
    assert desk.store.used("0" * 32) == 0


def test_a_store_of_the_version_before_is_counted_when_it_is_opened(desk: Desk) -> None:
    adas = desk.line(desk.founder)
    adas.publish([desk.founder.mail(desk.founder, text="ö"), desk.founder.task("ü" * 100)])
    desk.store.close()
    old = sqlite3.connect(desk.path)
    old.executescript("ALTER TABLE teams DROP COLUMN used; PRAGMA user_version = 1;")
    old.close()
    desk.store = SqliteStore(desk.path)
    assert desk.store.used() == counted(desk) > 1_000


def test_a_team_stores_so_much_and_its_admins_can_still_revoke_whoever_filled_it(desk: Desk) -> None:
    eve, _ = desk.join("eve", 2)
    limit(desk, max_team_bytes=ROOM)
    adas, eves = desk.line(desk.founder), desk.line(eve)
    answer = fill(eve, eves)
    assert answer.reason.startswith("limited: this team stores 0 MiB here")
    assert desk.store.used() <= ROOM
    assert isinstance(eves.publish(eve.chain), frames.Stored), "what is there may be sent again"
    assert isinstance(adas.publish([desk.founder.revoke(eve)]), frames.Stored)
    assert eves.session.why is frames.Why.REVOKED
    assert fill(desk.founder, adas).reason.startswith("limited: ")
    assert desk.store.used() <= ROOM * 9 // 8


def test_what_is_acknowledged_makes_room(desk: Desk) -> None:
    bob, bobs = desk.join("bob", 2)
    cy, cys = desk.join("cy", 3)
    limit(desk, max_team_bytes=ROOM)
    bobs, cys = desk.line(bob), desk.line(cy)
    while not isinstance(cys.publish([cy.mail(bob, text="x" * 5_000)]), frames.Error):
        pass
    cy.chain.pop()
    bobs.acks({cy.replica: len(cy.chain)})
    desk.now_ms += MEASURED_MS
    assert isinstance(cys.publish([cy.task()]), frames.Stored)


def test_all_teams_together_store_so_much_and_then_none_is_registered(desk: Desk) -> None:
    limit(desk, max_bytes=ROOM)
    assert fill(desk.founder, desk.line(desk.founder)).reason.startswith("limited: this relay is full")
    other = Person("oz", 9)
    found(other)
    other.task("x" * 6_000)
    answer = Registrar(desk.settings, desk.store, lambda: desk.now_ms).register(body_of(other), None)
    assert answer.status is Status.FULL
    assert desk.store.teams() == 1
