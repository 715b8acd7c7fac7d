"""Taking out an op that this build cannot read (federation wire 5.29-5.32)."""

from crypto.roster import Ignored, RosterOp
from crypto.roster.bodies import Dismiss, Malformed, Role, Unknown
from crypto.roster.view import Dismissal
from tests.crypto.roster.team import ADA, BOB, CY, EVE, Team, admit, revoke


def dismiss(op: RosterOp) -> Dismiss:
    return Dismiss(op.replica, op.seq, op.hash)


def team_with_admins() -> Team:
    team = Team()
    team.says(ADA, admit(BOB, Role.ADMIN))
    team.says(ADA, admit(CY, Role.ADMIN))
    return team


def test_an_admin_lifts_the_pause_by_dismissing_what_cannot_be_read() -> None:
    team = team_with_admins()
    unknown = team.says(BOB, Unknown())
    assert team.view.unknown == unknown
    team.says(ADA, dismiss(unknown))
    view = team.view
    assert view.unknown is None
    assert view.dismissed == (Dismissal(BOB, unknown.seq, unknown.hash, ADA),)
    assert view.ignored == {unknown.hash: Ignored.DISMISSED}


def test_the_next_unknown_op_still_pauses() -> None:
    team = team_with_admins()
    first, second = team.says(BOB, Unknown()), team.says(BOB, Unknown())
    team.says(ADA, dismiss(first))
    assert team.view.unknown == second


def test_an_admin_dismisses_its_own_and_a_juniors_but_no_seniors() -> None:
    for publisher, works in ((ADA, False), (BOB, True), (CY, True)):
        team = team_with_admins()
        unknown = team.says(publisher, Unknown())
        made = team.says(BOB, dismiss(unknown))
        assert (team.view.unknown is None) is works
        assert team.view.ignored.get(made.hash) == (None if works else Ignored.NOT_OUTRANKED)


def test_an_admin_dismisses_what_a_member_published_while_it_was_no_admin() -> None:
    team = team_with_admins()
    team.says(ADA, admit(EVE))
    unknown = team.says(EVE, Unknown())
    team.says(CY, dismiss(unknown))
    assert team.view.unknown is None


def test_a_member_dismisses_nothing_not_even_its_own() -> None:
    team = Team()
    team.says(ADA, admit(BOB))
    unknown = team.says(BOB, Unknown())
    made = team.says(BOB, dismiss(unknown))
    assert team.view.unknown == unknown
    assert team.view.ignored == {made.hash: Ignored.NO_RIGHT}


def test_a_dismissal_counts_no_longer_once_its_publisher_is_cut_below_it() -> None:
    team = team_with_admins()
    unknown = team.says(CY, Unknown())
    team.says(BOB, dismiss(unknown), seq=5)
    assert team.view.unknown is None
    team.says(ADA, revoke(BOB, 4))
    assert team.view.unknown == unknown


def test_what_this_build_reads_is_not_dismissed() -> None:
    team = team_with_admins()
    admission = team.says(BOB, admit(EVE))
    for named in (admission, team.ops[0], team.says(BOB, Malformed("replica"))):
        made = team.says(ADA, dismiss(named))
        assert team.view.ignored[made.hash] is Ignored.READABLE
    assert team.view.is_member(EVE)
    assert team.view.dismissed == ()


def test_a_dismissal_of_what_is_not_held_counts_once_it_is() -> None:
    team = team_with_admins()
    unknown = team.says(BOB, Unknown())
    team.ops.remove(unknown)
    made = team.says(ADA, dismiss(unknown))
    assert team.view.ignored == {made.hash: Ignored.NOT_HELD}
    assert team.view.problems == ()
    team.ops.append(unknown)
    assert team.view.unknown is None
    assert team.view.ignored == {unknown.hash: Ignored.DISMISSED}


def test_a_dismissal_names_an_op_by_its_hash_too() -> None:
    team = team_with_admins()
    unknown = team.says(BOB, Unknown())
    team.says(ADA, Dismiss(BOB, unknown.seq, "0" * 64))
    assert team.view.unknown == unknown
