"""An op of a later build pauses a replica, if its publisher stood at it (federation wire 5.33-5.36)."""

from crypto.roster import fold
from crypto.roster.bodies import Role, Unknown
from tests.crypto.roster.team import ADA, BOB, CY, EVE, FOUNDING, Team, admit, demote, revoke


def team_with_bob(role: Role = Role.MEMBER) -> Team:
    team = Team()
    team.says(ADA, admit(BOB, role))
    return team


def test_an_unknown_op_of_a_member_pauses() -> None:
    team = team_with_bob()
    made = team.says(BOB, Unknown())
    assert team.view.unknown == made


def test_the_first_unknown_op_in_fold_order_is_the_one_named() -> None:
    team = team_with_bob()
    late = team.says(BOB, Unknown(), at=20)
    early = team.says(ADA, Unknown(), at=10)
    assert late in team.ops
    assert team.view.unknown == early


def test_an_unknown_op_of_a_stranger_does_not_pause() -> None:
    team = team_with_bob()
    team.says(EVE, Unknown())
    assert team.view.unknown is None


def test_an_unknown_op_from_before_the_admission_does_not_pause() -> None:
    team = Team()
    team.says(BOB, Unknown())
    team.says(ADA, admit(BOB))
    assert team.view.unknown is None


def test_an_unknown_op_of_an_observer_does_not_pause() -> None:
    team = Team()
    team.says(ADA, admit(CY, observer=True))
    team.says(CY, Unknown())
    assert team.view.unknown is None


def test_a_revocation_below_the_unknown_op_lifts_the_pause_and_one_above_it_does_not() -> None:
    team = team_with_bob()
    team.says(BOB, Unknown(), seq=7)
    team.ops.append(cut := Team(ops=list(team.ops)).says(ADA, revoke(BOB, 7)))
    assert team.view.unknown is not None
    team.ops.remove(cut)
    team.says(ADA, revoke(BOB, 6))
    assert team.view.unknown is None


def test_a_demoted_admin_still_pauses_as_a_member() -> None:
    team = team_with_bob(Role.ADMIN)
    team.says(ADA, demote(BOB, 0))
    team.says(BOB, Unknown())
    assert team.view.unknown is not None


def test_a_relays_fold_never_pauses() -> None:
    team = team_with_bob()
    team.says(BOB, Unknown())
    assert fold(FOUNDING.hash, team.ops, team.keys, relay=True).unknown is None


def test_an_unknown_op_grants_nothing_and_is_no_problem_of_its_own() -> None:
    team = team_with_bob()
    before = team.view
    team.says(BOB, Unknown())
    assert team.view.members == before.members
    assert team.view.problems == ()
