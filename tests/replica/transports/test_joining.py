"""Joining over a relay, which shows nothing before it has seen a key with an invite's proof (federation wire 7.6)."""

import pytest

from core.errors import Code, DmpError
from crypto.invites import InviteCode
from replica.records.link import Link, remembered
from replica.sync import Report
from replica.team import commands
from tests.replica.transports.places import GIT, RELAY, Places, main_of
from tests.replica.world import Machine
from transports.base import Unreachable


def invited(places: Places, admin: Machine, handle: str) -> str:
    return commands.invite(places.pass_(admin), handle).encode()


def ask(places: Places, machine: Machine, code: str | None, address: str = RELAY) -> Report:
    open_ = places.open_for(machine)
    machine.transport = open_(Link(address))
    return commands.join(machine.pass_(open_=open_), code, Link(address))


@pytest.fixture
def ada(places: Places) -> Machine:
    """An admin of a team that is on a relay."""
    found, _ = places.team("ada", "bob")
    places.to_relay(found)
    places.sync(found)
    return found


def test_an_invite_names_the_relay_that_the_team_is_on(places: Places, ada: Machine) -> None:
    assert InviteCode.decode(invited(places, ada, "cy")).relay == RELAY


def test_an_invite_of_a_team_on_a_branch_names_none(places: Places) -> None:
    (ada,) = places.team("ada")
    assert main_of(ada) == GIT
    assert InviteCode.decode(invited(places, ada, "cy")).relay is None


def test_a_machine_joins_over_a_relay_and_stays_there(places: Places, ada: Machine) -> None:
    cy = places.w.machine("cy")
    ask(places, cy, invited(places, ada, "cy"))
    places.sync(ada, cy)
    assert cy.node.team is not None
    assert cy.node.team.ready(cy.me)
    assert main_of(cy) == RELAY
    assert not cy.problems()


def test_nobody_asks_over_a_relay_without_a_code(places: Places, ada: Machine) -> None:
    cy = places.w.machine("cy")
    with pytest.raises(DmpError) as refused:
        ask(places, cy, None)
    assert (refused.value.code, refused.value.field) == (Code.INVALID, "code")
    assert cy.chain() == []


def test_a_relay_that_was_away_is_asked_again_with_the_key_that_was_signed(
    places: Places, ada: Machine
) -> None:
    code = invited(places, ada, "cy")
    places.at(RELAY).unreachable = True
    cy = places.w.machine("cy")
    with pytest.raises(Unreachable):
        ask(places, cy, code)
    (key,) = cy.chain()
    places.at(RELAY).unreachable = False
    ask(places, cy, code)
    assert cy.chain() == [key]
    places.sync(ada, cy)
    assert cy.node.team is not None
    assert cy.node.team.ready(cy.me)


def test_a_wrong_relay_may_be_tried_again_with_the_right_one(places: Places, ada: Machine) -> None:
    code = invited(places, ada, "cy")
    places.registered.add("wss://wrong.example")
    places.at("wss://wrong.example").unreachable = True
    cy = places.w.machine("cy")
    with pytest.raises(Unreachable):
        ask(places, cy, code, "wss://wrong.example")
    ask(places, cy, code)
    assert remembered(cy.node.store.db) == Link(RELAY)


def test_a_key_that_was_signed_for_one_invite_serves_no_other(places: Places, ada: Machine) -> None:
    first = invited(places, ada, "cy")
    ada.clock.ms += 3 * 60_000
    second = invited(places, ada, "cy")
    assert first != second
    places.at(RELAY).unreachable = True
    cy = places.w.machine("cy")
    with pytest.raises(Unreachable):
        ask(places, cy, first)
    places.at(RELAY).unreachable = False
    with pytest.raises(DmpError) as refused:
        ask(places, cy, second)
    assert refused.value.code is Code.CONFLICT
    assert len(cy.chain()) == 1


def test_a_machine_that_waits_publishes_nothing_but_its_key(places: Places, ada: Machine) -> None:
    cy = places.w.machine("cy")
    code = invited(places, ada, "cy")
    ask(places, cy, code)
    places.sync(cy, cy)
    assert len(places.lines(RELAY, cy)) == 1
    assert cy.me not in places.at(RELAY).state().acks
