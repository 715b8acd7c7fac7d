"""Revocations and demotions: what they cut, and which stand against each other (wire 5.16-5.27)."""

from crypto.roster import Decision, Ignored
from crypto.roster.bodies import Role, SetTransport, TransportKind
from tests.crypto.roster.team import (
    ADA,
    BOB,
    CY,
    DEE,
    EVE,
    Team,
    admin,
    admit,
    demote,
    key_of,
    promote,
    revoke,
)

ACCEPTED, VOID = Decision.ACCEPTED, Decision.VOID


def team_of_admins(*replicas: str) -> Team:
    """Ada founded it and made each of these an admin, in this order."""
    team = Team()
    for replica in replicas:
        team.says(ADA, admin(replica))
    return team


# Cuts


def test_a_revocation_voids_what_lies_past_its_seq_and_keeps_what_lies_below() -> None:
    team = team_of_admins(BOB)
    team.says(BOB, admit(DEE), seq=4)
    past = team.says(BOB, admit(CY), seq=7)
    team.says(ADA, revoke(BOB, 5))
    assert set(team.view.members) == {ADA, DEE}
    assert team.view.ignored == {past.hash: Ignored.NO_RIGHT}


def test_a_backdated_clock_saves_no_op_from_a_cut() -> None:
    team = team_of_admins(BOB)
    team.says(ADA, revoke(BOB, 5), at=50)
    team.says(BOB, admit(CY), seq=6, at=10)
    assert not team.view.is_member(CY)


def test_an_op_at_or_below_the_cut_counts_however_late_its_clock() -> None:
    team = team_of_admins(BOB)
    team.says(ADA, revoke(BOB, 5), at=50)
    team.says(BOB, admit(CY), seq=5, at=90)
    assert team.view.is_member(CY)


def test_a_demotion_takes_an_admins_rights_and_leaves_a_members() -> None:
    laptop = "bob-0000001b"
    team = team_of_admins(BOB)
    team.keys[laptop] = key_of(laptop)
    team.says(ADA, demote(BOB, 1))
    team.says(BOB, admit(CY))
    team.says(BOB, admit(laptop))
    assert team.view.members[BOB].role is Role.MEMBER
    assert not team.view.is_member(CY)
    assert team.view.is_member(laptop)


def test_what_follows_from_a_voided_admission_is_void_too() -> None:
    team = team_of_admins(BOB)
    team.says(BOB, admin(CY), seq=6)
    team.says(CY, admin(DEE))
    team.says(DEE, admit(EVE))
    team.says(ADA, revoke(BOB, 5))
    assert set(team.view.members) == {ADA}


def test_when_a_first_admission_is_void_the_next_one_decides() -> None:
    team = team_of_admins(BOB)
    team.says(BOB, admit(CY, handle="mallory", observer=True), seq=6)
    team.says(ADA, admit(CY))
    team.says(ADA, revoke(BOB, 5))
    assert team.view.members[CY].handle == "cy"
    assert not team.view.members[CY].observer


# The right to remove


def test_an_admin_revokes_and_demotes_anyone() -> None:
    team = team_of_admins(BOB, CY)
    one = team.says(BOB, revoke(CY, 0))
    other = team.says(BOB, demote(ADA, 9))
    assert team.view.resolution == {one.hash: ACCEPTED, other.hash: ACCEPTED}


def test_a_member_revokes_a_device_of_its_own_and_nothing_else() -> None:
    laptop = "bob-0000001b"
    team = Team(keys={laptop: key_of(laptop)})
    for replica in (BOB, laptop, CY):
        team.says(ADA, admit(replica))
    own = team.says(BOB, revoke(laptop, 0))
    others = team.says(BOB, revoke(CY, 0))
    own_demotion = team.says(BOB, demote(BOB, 9))
    assert team.view.resolution == {own.hash: ACCEPTED, others.hash: VOID, own_demotion.hash: VOID}
    assert team.view.ignored[others.hash] is Ignored.NO_RIGHT


def test_whose_a_device_is_goes_by_its_admission_then_its_key_then_its_id() -> None:
    team = Team(keys={CY: key_of(CY, "bob"), DEE: key_of(DEE, "bob")})
    unannounced = "bob-00000099"
    team.says(ADA, admit(BOB))
    team.says(ADA, admit(DEE, handle="dee"))
    by_admission = team.says(BOB, revoke(DEE, 0))
    by_key = team.says(BOB, revoke(CY, 0))
    by_id = team.says(BOB, revoke(unannounced, 0))
    assert team.view.resolution == {by_admission.hash: VOID, by_key.hash: ACCEPTED, by_id.hash: ACCEPTED}


def test_an_observer_and_a_stranger_remove_nobody() -> None:
    team = Team()
    team.says(ADA, admit(CY, handle="cy", observer=True))
    by_observer = team.says(CY, revoke(CY, 9))
    by_stranger = team.says(EVE, revoke(EVE, 9))
    assert team.view.resolution == {by_observer.hash: VOID, by_stranger.hash: VOID}
    assert team.view.ignored[by_observer.hash] is Ignored.OBSERVER


def test_a_removal_judged_under_the_others_needs_no_right_under_itself() -> None:
    team = team_of_admins(BOB, CY)
    stepping_down = team.says(BOB, demote(BOB, 1))
    assert team.view.resolution == {stepping_down.hash: ACCEPTED}
    assert not team.view.is_admin(BOB)


# Removals that meet


def test_of_two_admins_who_revoke_each_other_the_one_granted_earlier_stands() -> None:
    for first, second in ((BOB, CY), (CY, BOB)):
        team = team_of_admins(BOB, CY)
        one = team.says(first, revoke(second, 1))
        other = team.says(second, revoke(first, 1))
        won, lost = (one, other) if first == BOB else (other, one)
        assert team.view.resolution == {won.hash: ACCEPTED, lost.hash: VOID}
        assert set(team.view.members) == {ADA, BOB}


def test_the_founder_stands_against_every_admin_whatever_the_clocks_say() -> None:
    team = team_of_admins(BOB)
    backdated = team.says(BOB, revoke(ADA, 2), at=10)
    won = team.says(ADA, revoke(BOB, 1), at=99)
    assert team.view.resolution == {won.hash: ACCEPTED, backdated.hash: VOID}


def test_a_junior_admins_removal_stands_if_it_is_spared_and_does_not_spare_the_seniors() -> None:
    team = team_of_admins(BOB, CY)
    juniors = team.says(CY, revoke(BOB, 3), seq=4)
    seniors = team.says(BOB, revoke(CY, 4), seq=5)
    assert team.view.resolution == {juniors.hash: ACCEPTED, seniors.hash: VOID}
    assert set(team.view.members) == {ADA, CY}


def test_a_juniors_spared_removal_stands_even_against_the_founder() -> None:
    team = team_of_admins(BOB)
    juniors = team.says(BOB, revoke(ADA, 3), seq=4)
    founders = team.says(ADA, revoke(BOB, 4), seq=5)
    assert team.view.resolution == {juniors.hash: ACCEPTED, founders.hash: VOID}
    assert team.view.is_admin(BOB)


def test_removals_that_spare_each_other_both_stand() -> None:
    team = team_of_admins(BOB, CY)
    one = team.says(BOB, revoke(CY, 9), seq=4)
    other = team.says(CY, revoke(BOB, 9), seq=5)
    assert team.view.resolution == {one.hash: ACCEPTED, other.hash: ACCEPTED}
    assert set(team.view.members) == {ADA}


def test_a_demoted_admins_older_removals_at_or_below_the_cut_stand() -> None:
    team = team_of_admins(BOB)
    team.says(ADA, admit(CY))
    older = team.says(BOB, revoke(CY, 0), seq=4)
    team.says(ADA, demote(BOB, 4))
    newer = team.says(BOB, revoke(DEE, 0), seq=5)
    assert team.view.resolution[older.hash] is ACCEPTED
    assert team.view.resolution[newer.hash] is VOID


def test_a_members_baseless_removal_of_an_admin_does_not_hold_up_the_admins_own() -> None:
    team = Team()
    team.says(ADA, admit(BOB))
    baseless = team.says(BOB, revoke(ADA, 2), at=10)
    sound = team.says(ADA, revoke(BOB, 1), at=20)
    assert team.view.resolution == {sound.hash: ACCEPTED, baseless.hash: VOID}


def test_a_removal_cut_by_an_accepted_revocation_is_void_however_many_others_meet_it() -> None:
    team = team_of_admins(BOB, CY, DEE)
    cut = team.says(BOB, revoke(CY, 1), seq=9)
    other = team.says(CY, revoke(BOB, 1), seq=9)
    above_both = team.says(ADA, revoke(BOB, 8))
    assert team.view.resolution == {cut.hash: VOID, other.hash: ACCEPTED, above_both.hash: ACCEPTED}


def test_in_a_circle_of_three_the_best_ranked_that_hold_their_right_stand() -> None:
    team = team_of_admins(BOB, CY, DEE)
    best = team.says(BOB, revoke(CY, 1))
    cut = team.says(CY, revoke(DEE, 1))
    last = team.says(DEE, revoke(BOB, 1))
    assert team.view.resolution == {best.hash: ACCEPTED, cut.hash: VOID, last.hash: ACCEPTED}
    assert set(team.view.members) == {ADA, DEE}


def test_rank_goes_by_when_one_became_an_admin_not_by_when_one_was_admitted() -> None:
    team = Team()
    team.says(ADA, admit(BOB))
    team.says(ADA, admin(CY))
    team.says(ADA, promote(BOB))
    bobs = team.says(BOB, revoke(CY, 1))
    cys = team.says(CY, revoke(BOB, 1))
    assert team.view.resolution == {bobs.hash: VOID, cys.hash: ACCEPTED}


def test_a_removal_that_gains_its_right_only_from_several_others_together_stands() -> None:
    team = team_of_admins(BOB, DEE)
    team.says(BOB, admit(CY, observer=True), seq=6)
    team.says(DEE, admit(CY, observer=True), seq=6)
    team.says(ADA, admin(CY))
    gaining = team.says(CY, revoke(EVE, 0))
    for each in (BOB, DEE):
        team.says(ADA, revoke(each, 5))
    assert team.view.is_admin(CY)
    assert team.view.resolution[gaining.hash] is ACCEPTED


# The last admin


def test_the_last_admin_cannot_step_down() -> None:
    team = Team()
    team.says(ADA, admit(BOB))
    made = team.says(ADA, demote(ADA, 3))
    assert team.view.resolution == {made.hash: VOID}
    assert team.view.ignored == {made.hash: Ignored.LAST_ADMIN}
    assert team.view.is_admin(ADA)


def test_when_all_admins_step_down_the_worst_ranked_stays() -> None:
    team = team_of_admins(BOB, CY)
    others = [team.says(each, demote(each, 9)) for each in (ADA, BOB)]
    last = team.says(CY, demote(CY, 9))
    assert team.view.ignored == {last.hash: Ignored.LAST_ADMIN}
    assert all(team.view.resolution[each.hash] is ACCEPTED for each in others)
    assert team.view.is_admin(CY)


def test_one_of_two_last_admins_who_spare_each_others_removal_stays() -> None:
    team = team_of_admins(BOB)
    kept = team.says(ADA, revoke(BOB, 9), seq=4)
    held = team.says(BOB, revoke(ADA, 9), seq=4)
    assert team.view.resolution == {kept.hash: ACCEPTED, held.hash: VOID}
    assert team.view.ignored == {held.hash: Ignored.LAST_ADMIN}


def test_removals_that_touch_no_admin_are_accepted_while_admins_quarrel() -> None:
    team = team_of_admins(BOB)
    team.says(ADA, admit(CY))
    harmless = team.says(ADA, revoke(CY, 0), seq=5)
    team.says(ADA, demote(ADA, 9))
    team.says(BOB, demote(BOB, 9))
    assert team.view.resolution[harmless.hash] is ACCEPTED
    assert sum(team.view.is_admin(each) for each in (ADA, BOB)) == 1


def test_a_revocation_that_unmakes_its_own_publisher_leaves_the_founder() -> None:
    team = Team()
    team.says(ADA, admin(BOB), seq=5)
    made = team.says(BOB, revoke(ADA, 4))
    assert team.view.resolution == {made.hash: VOID}
    assert team.view.ignored[made.hash] is Ignored.LAST_ADMIN
    assert team.view.is_admin(ADA)


def test_other_ops_of_a_removed_admin_past_its_cut_are_ignored() -> None:
    team = team_of_admins(BOB)
    team.says(ADA, revoke(BOB, 1))
    made = team.says(BOB, SetTransport(TransportKind.RELAY, "wss://relay.example"))
    assert team.view.ignored == {made.hash: Ignored.NO_RIGHT}
