"""Letting oneself in with the recovery code, and changing that code (federation wire 4.6, 5.15)."""

from crypto.invites import public_of
from crypto.roster import Decision, Ignored, Note
from crypto.roster.bodies import CloseLegacy, Malformed, Recover, SetRecoveryKey, Unknown
from tests.crypto.roster.team import (
    ADA,
    BOB,
    CY,
    DEE,
    EVE,
    OTHER_SEED,
    SEED,
    Team,
    admin,
    admit,
    demote,
    key_of,
    promote,
    recover,
    revoke,
)

ACCEPTED, VOID = Decision.ACCEPTED, Decision.VOID
LAPTOP = "ada-0000001a"


def team_with_laptop() -> Team:
    return Team(keys={LAPTOP: key_of(LAPTOP)})


def test_who_proves_the_code_is_an_admin_junior_to_every_granted_one() -> None:
    team = team_with_laptop()
    team.says(LAPTOP, recover(LAPTOP))
    team.says(ADA, admin(BOB))
    view = team.view
    assert {replica: member.rank for replica, member in view.members.items()} == {ADA: 0, BOB: 1, LAPTOP: 2}
    assert (view.members[LAPTOP].handle, view.members[LAPTOP].recovered) == ("ada", True)
    assert view.problems == (
        Note(f"replica:{LAPTOP}", f"{LAPTOP} let itself in as an admin with the recovery code.", LAPTOP),
    )


def test_a_promotion_makes_a_recovered_admin_one_like_others() -> None:
    team = team_with_laptop()
    team.says(LAPTOP, recover(LAPTOP))
    team.says(ADA, promote(LAPTOP))
    team.says(ADA, admin(BOB))
    assert team.view.members[LAPTOP].rank == 1
    assert team.view.members[BOB].rank == 2


def test_the_code_works_once() -> None:
    team = team_with_laptop()
    assert not team.view.recovery_used
    team.says(LAPTOP, recover(LAPTOP))
    second = team.says(EVE, recover(EVE))
    assert team.view.ignored == {second.hash: Ignored.RECOVERY_USED}
    assert team.view.recovery_used


def test_a_new_code_replaces_the_old_from_there_on_and_is_unused() -> None:
    team = team_with_laptop()
    team.says(LAPTOP, recover(LAPTOP))
    team.says(LAPTOP, SetRecoveryKey(public_of(OTHER_SEED)))
    assert (team.view.recovery_pub, team.view.recovery_used) == (public_of(OTHER_SEED), False)
    team.says(EVE, recover(EVE, OTHER_SEED))
    assert team.view.is_admin(EVE)


def test_an_old_code_lets_nobody_in() -> None:
    team = Team()
    team.says(ADA, SetRecoveryKey(public_of(OTHER_SEED)))
    made = team.says(EVE, recover(EVE, SEED))
    assert team.view.ignored == {made.hash: Ignored.OTHER_RECOVERY}
    assert not team.view.is_member(EVE)


def test_a_used_code_stays_used_when_it_is_set_again() -> None:
    team = Team()
    team.says(EVE, recover(EVE))
    team.says(ADA, SetRecoveryKey(public_of(SEED)))
    made = team.says(CY, recover(CY))
    assert team.view.ignored == {made.hash: Ignored.RECOVERY_USED}


def test_a_proof_of_another_replica_lets_nobody_in() -> None:
    team = Team()
    for proof in (recover(CY), Recover("proof"), recover(EVE, OTHER_SEED)):
        made = team.says(EVE, proof, seq=7)
        assert team.view.ignored == {made.hash: Ignored.OTHER_RECOVERY}
        team.ops.remove(made)


def test_a_recovery_counts_only_as_the_first_thing_said_of_the_roster() -> None:
    team = Team()
    team.says(EVE, CloseLegacy())
    made = team.says(EVE, recover(EVE))
    assert team.view.ignored[made.hash] is Ignored.NOT_FIRST


def test_what_cannot_be_read_or_is_older_than_the_founding_does_not_come_before_a_recovery() -> None:
    team = Team()
    team.says(EVE, CloseLegacy(), seq=3, at=-5)
    team.says(EVE, Unknown())
    team.says(EVE, Malformed("action"))
    team.says(EVE, recover(EVE))
    assert team.view.is_admin(EVE)


def test_a_known_action_with_a_wrong_member_does_come_before_it() -> None:
    team = Team()
    team.says(EVE, Malformed("replica"))
    team.says(EVE, recover(EVE))
    assert not team.view.is_member(EVE)


def test_a_member_has_nothing_to_recover_and_uses_up_no_code() -> None:
    team = Team()
    team.says(ADA, admit(BOB))
    made = team.says(BOB, recover(BOB))
    assert team.view.ignored == {made.hash: Ignored.ALREADY_ADMITTED}
    assert not team.view.recovery_used
    assert not team.view.is_admin(BOB)


def test_a_revoked_replica_does_not_come_back_by_the_code() -> None:
    team = Team()
    team.says(ADA, revoke(BOB, 0))
    made = team.says(BOB, recover(BOB))
    assert team.view.ignored == {made.hash: Ignored.REVOKED_ITSELF}


def test_a_revocation_below_its_seq_undoes_a_recovery_and_frees_the_code() -> None:
    team = Team()
    made = team.says(EVE, recover(EVE), seq=3)
    team.says(EVE, admit(CY))
    team.says(ADA, revoke(EVE, 2))
    later = team.says(DEE, recover(DEE))
    view = team.view
    assert view.ignored[made.hash] is Ignored.REVOKED_ITSELF
    assert later.hash not in view.ignored
    assert set(view.members) == {ADA, DEE}


def test_a_replica_without_a_key_recovers_nothing() -> None:
    team = Team()
    stranger = "eve-0000009e"
    made = team.says(stranger, recover(stranger))
    assert team.view.ignored == {made.hash: Ignored.NO_OWN_KEY}


def test_in_a_quarrel_every_granted_admin_stands_against_a_recovered_one() -> None:
    team = team_with_laptop()
    team.says(LAPTOP, recover(LAPTOP))
    team.says(ADA, admin(BOB))
    theirs = team.says(LAPTOP, revoke(BOB, 1), at=5)
    bobs = team.says(BOB, revoke(LAPTOP, 1))
    assert team.view.resolution == {theirs.hash: VOID, bobs.hash: ACCEPTED}


def test_a_recovered_admin_replaces_a_lost_founder() -> None:
    team = team_with_laptop()
    team.says(LAPTOP, recover(LAPTOP))
    made = team.says(LAPTOP, revoke(ADA, 2))
    view = team.view
    assert view.resolution == {made.hash: ACCEPTED}
    assert set(view.members) == {LAPTOP}
    assert view.members[LAPTOP].rank == 0


def test_removals_of_who_set_the_code_decide_who_could_recover() -> None:
    """Bob's new code is void, so eve's recovery by it never was, and her removal with it."""
    team = Team()
    team.says(ADA, admin(BOB))
    team.says(BOB, SetRecoveryKey(public_of(OTHER_SEED)), seq=5)
    team.says(EVE, recover(EVE, OTHER_SEED))
    hers = team.says(EVE, demote(BOB, 9))
    adas = team.says(ADA, revoke(BOB, 4))
    assert team.view.resolution == {hers.hash: VOID, adas.hash: ACCEPTED}
    assert set(team.view.members) == {ADA}
