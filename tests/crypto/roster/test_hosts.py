"""The handles a replica speaks for besides its own: `hosts` with and without a cut (federation wire 5.12)."""

import pytest

from crypto.roster import Decision, Ignored
from crypto.roster.bodies import CutPoint, Role, SetHosts
from crypto.roster.rights import HostCut
from tests.crypto.roster.team import ADA, BOB, CY, DEE, NO_HASH, Team, admin, admit, hosts, revoke

ACCEPTED, VOID = Decision.ACCEPTED, Decision.VOID


def team_with_bob(role: Role = Role.MEMBER, *handles: str) -> Team:
    team = Team()
    team.says(ADA, admit(BOB, role, hosts=handles))
    return team


def test_an_admin_adds_handles_without_a_cut() -> None:
    team = team_with_bob(Role.MEMBER, "carl")
    team.says(ADA, hosts(BOB, "carl", "dora"))
    assert team.view.members[BOB].hosts == ("carl", "dora")
    assert team.view.replicas_of("dora") == (BOB,)
    assert team.view.speaks_for_handle(BOB, "dora", 1)
    assert team.view.resolution == {}


def test_no_handle_is_dropped_without_a_cut() -> None:
    team = team_with_bob(Role.MEMBER, "carl")
    made = team.says(ADA, hosts(BOB, "dora"))
    assert team.view.ignored == {made.hash: Ignored.HOSTS_CUT_MISSING}
    assert team.view.members[BOB].hosts == ("carl",)


def test_half_a_cut_is_none() -> None:
    team = team_with_bob(Role.MEMBER, "carl")
    made = team.says(ADA, SetHosts(BOB, ()))
    assert made.body == SetHosts(BOB, (), None)
    assert team.view.ignored == {made.hash: Ignored.HOSTS_CUT_MISSING}


def test_a_dropped_handle_is_spoken_for_up_to_the_cut_and_homed_there_no_more() -> None:
    team = team_with_bob(Role.MEMBER, "carl", "dora")
    made = team.says(ADA, hosts(BOB, "dora", after_seq=5))
    view = team.view
    assert view.resolution == {made.hash: ACCEPTED}
    assert view.members[BOB].host_cuts == (HostCut("carl", 5),)
    assert view.speaks_for_handle(BOB, "carl", 5)
    assert not view.speaks_for_handle(BOB, "carl", 6)
    assert view.speaks_for_handle(BOB, "dora", 6)
    assert view.replicas_of("carl") == ()


def test_a_dropped_handle_may_be_given_again() -> None:
    team = team_with_bob(Role.MEMBER, "carl")
    team.says(ADA, hosts(BOB, after_seq=5))
    team.says(ADA, hosts(BOB, "carl"))
    assert team.view.speaks_for_handle(BOB, "carl", 9)


def test_a_cut_that_drops_nothing_is_a_removal_too() -> None:
    team = team_with_bob(Role.MEMBER, "carl")
    made = team.says(ADA, SetHosts(BOB, ("carl", "dora"), CutPoint(5, NO_HASH)))
    assert team.view.resolution == {made.hash: ACCEPTED}
    assert team.view.members[BOB].hosts == ("carl", "dora")
    assert team.view.members[BOB].host_cuts == ()


def test_a_hosts_cut_takes_no_rights() -> None:
    team = team_with_bob(Role.ADMIN, "carl")
    team.says(ADA, hosts(BOB, after_seq=1))
    team.says(BOB, admit(CY))
    assert team.view.is_admin(BOB)
    assert team.view.is_member(CY)


def test_a_member_cuts_no_hosts_not_even_its_own() -> None:
    team = team_with_bob(Role.MEMBER, "carl")
    made = team.says(BOB, hosts(BOB, after_seq=5))
    assert team.view.resolution == {made.hash: VOID}
    assert team.view.ignored == {made.hash: Ignored.NO_RIGHT}
    assert team.view.members[BOB].hosts == ("carl",)


def test_a_hosts_cut_by_an_admin_who_is_cut_off_is_void() -> None:
    team = team_with_bob(Role.ADMIN)
    team.says(ADA, admit(CY, hosts=["carl"]))
    made = team.says(BOB, hosts(CY, after_seq=5), seq=6)
    team.says(ADA, revoke(BOB, 5))
    assert team.view.resolution[made.hash] is VOID
    assert team.view.members[CY].hosts == ("carl",)


@pytest.mark.parametrize("revoked", [False, True])
def test_only_who_is_in_the_team_is_given_handles(revoked: bool) -> None:
    team = Team()
    if revoked:
        team.says(ADA, admit(BOB))
        team.says(ADA, revoke(BOB, 0))
    made = team.says(ADA, hosts(BOB, "carl"))
    assert team.view.ignored == {made.hash: Ignored.REVOKED if revoked else Ignored.NOT_ADMITTED}


def test_a_revoked_replica_speaks_for_its_handles_up_to_its_own_cut_and_theirs() -> None:
    team = team_with_bob(Role.MEMBER, "carl", "dora")
    team.says(ADA, hosts(BOB, "dora", after_seq=3))
    team.says(ADA, revoke(BOB, 5))
    view = team.view
    assert [view.speaks_for_handle(BOB, "carl", seq) for seq in (3, 4, 6)] == [True, False, False]
    assert [view.speaks_for_handle(BOB, "dora", seq) for seq in (3, 5, 6)] == [True, True, False]
    assert view.revoked[BOB].host_cuts == (HostCut("carl", 3),)


def test_an_observer_may_be_given_handles_and_speaks_for_none() -> None:
    team = Team()
    team.says(ADA, admin(BOB))
    team.says(ADA, admit(DEE, observer=True))
    team.says(BOB, hosts(DEE, "carl"))
    assert team.view.replicas_of("carl") == ()
    assert not team.view.speaks_for_handle(DEE, "carl", 1)
