"""Who takes a seat, and what is vouched for of unsigned logs (federation wire 5.37, 5.38): counted, never enforced."""

from dataclasses import replace

import pytest

from crypto.roster import View, fold
from crypto.roster.bodies import Attestation, CloseLegacy, Found
from crypto.roster.ops import RosterOp
from tests.crypto.roster.team import ADA, BOB, CY, DEE, EVE, START_MS, Team, admit, hosts, op, recover, revoke

OLD = Attestation("zoe-0000000e", 7, "0" * 64)
LATE = Attestation("yan-0000000f", 3, "1" * 64)
DAYS_30 = 30 * 24 * 60 * 60 * 1000


def test_people_are_counted_in_the_order_in_which_they_were_first_let_in() -> None:
    team = Team()
    team.says(ADA, admit(CY, hosts=["guest"]))
    team.says(ADA, admit(BOB))
    team.says(ADA, hosts(BOB, "late", "guest"))
    assert team.view.people == ("ada", "cy", "guest", "bob", "late")


def test_who_came_first_and_left_gives_the_seat_free_and_keeps_its_place() -> None:
    team = Team()
    team.says(ADA, admit(BOB))
    team.says(ADA, admit(CY))
    team.says(ADA, revoke(BOB, 1))
    assert list(team.view.people) == ["ada", "cy"]
    team.says(ADA, admit(DEE, handle="bob"))
    assert list(team.view.people) == ["ada", "bob", "cy"]


def test_an_observer_takes_no_seat_and_is_covered() -> None:
    team = Team()
    team.says(ADA, admit(EVE, observer=True))
    assert team.view.people == ("ada",)
    assert team.view.covers(EVE)


def test_a_seat_is_for_a_machines_own_person_and_not_for_whom_it_hosts() -> None:
    team = Team()
    team.says(ADA, hosts(ADA, "guest", "other"))
    team.says(ADA, admit(BOB, hosts=["ada"]))
    view = team.view
    assert view.seats == 3
    assert view.covered == ("ada", "guest", "other")
    assert [view.covers(each) for each in (ADA, BOB, CY)] == [True, False, False]


def test_who_recovers_takes_a_seat() -> None:
    team = Team()
    team.says(BOB, recover(BOB))
    assert team.view.people == ("ada", "bob")


def founded(*attested: Attestation) -> tuple[RosterOp, Team]:
    team = Team()
    founding = replace(team.ops[0], body=Found("Orchard", attested, "r"))
    team.ops[0] = founding
    return founding, team


def view_of(founding: RosterOp, team: Team) -> View:
    return fold(founding.hash, team.ops, team.keys)


def test_people_of_unsigned_logs_count_until_the_window_closes() -> None:
    founding, team = founded(OLD)
    team.says(ADA, admit(BOB))
    view = view_of(founding, team)
    assert (view.people, view.attested, view.legacy_closed) == (("ada", "zoe", "bob"), (OLD,), False)
    assert view.legacy_deadline_ms == START_MS + DAYS_30
    team.says(ADA, CloseLegacy((LATE,)))
    view = view_of(founding, team)
    assert (view.people, view.attested, view.legacy_closed) == (("ada", "bob"), (OLD, LATE), True)


def test_people_of_unsigned_logs_who_announced_a_key_count_as_members_alone() -> None:
    founding, team = founded(replace(OLD, replica=BOB))
    assert view_of(founding, team).people == ("ada",)


@pytest.mark.parametrize(("late", "closed"), [(DAYS_30 - 1, False), (DAYS_30, True)])
def test_a_member_closes_the_window_from_the_deadline_on(late: int, closed: bool) -> None:
    team = Team()
    team.says(ADA, admit(BOB))
    team.ops.append(op(BOB, 2, late, CloseLegacy()))
    assert team.view.legacy_closed is closed
