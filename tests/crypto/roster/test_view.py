"""What a view says of members, revoked replicas and what they may speak for (federation wire 5.37, 5.40)."""

import pytest

from crypto.invites import public_of
from crypto.roster import Decision, FoundingError, fold
from crypto.roster.bodies import Role
from crypto.roster.notes import MAX_NOTES
from tests.crypto.roster.team import (
    ADA,
    BOB,
    CY,
    DEE,
    EVE,
    FOUNDING,
    SEED,
    Team,
    admin,
    admit,
    demote,
    key_of,
    promote,
    revoke,
)


def test_a_team_is_known_by_its_founding() -> None:
    view = Team().view
    assert view.team_id == FOUNDING.hash[:32]
    assert (view.name, view.founder, view.recovery_pub) == ("Orchard", ADA, public_of(SEED))


def test_a_founding_that_is_not_held_cannot_be_folded() -> None:
    team = Team()
    made = team.says(ADA, admit(BOB))
    for missing in ("0" * 64, made.hash):
        with pytest.raises(FoundingError):
            fold(missing, team.ops, team.keys)


def test_admins_are_ranked_by_when_they_became_admins_and_the_founder_first() -> None:
    team = Team()
    team.says(ADA, admit(BOB))
    team.says(ADA, admin(CY))
    team.says(ADA, promote(BOB))
    assert {replica: member.rank for replica, member in team.view.members.items()} == {ADA: 0, BOB: 2, CY: 1}


def test_a_demoted_and_promoted_founder_ranks_by_its_promotion() -> None:
    team = Team()
    team.says(ADA, admin(BOB))
    team.says(BOB, demote(ADA, 3))
    team.says(BOB, promote(ADA))
    assert [team.view.members[each].rank for each in (ADA, BOB)] == [1, 0]


def test_members_who_are_no_admins_have_no_rank() -> None:
    team = Team()
    team.says(ADA, admit(BOB))
    assert team.view.members[BOB].rank is None


def test_of_two_accepted_revocations_the_one_that_cuts_lowest_is_shown() -> None:
    team = Team()
    team.says(ADA, admit(BOB, hosts=["carl"]))
    team.says(ADA, revoke(BOB, 9))
    lowest = team.says(ADA, revoke(BOB, 4))
    team.says(ADA, revoke(BOB, 6))
    cut = team.view.revoked[BOB]
    assert (cut.point.after_seq, cut.by, cut.handle, cut.hosts) == (4, ADA, "bob", ("carl",))
    assert BOB not in team.view.members
    assert team.view.resolution[lowest.hash] is Decision.ACCEPTED


def test_pending_are_the_announced_replicas_that_were_neither_admitted_nor_revoked() -> None:
    team = Team()
    team.says(ADA, admit(BOB))
    team.says(ADA, revoke(CY, 0))
    assert team.view.pending == (DEE, EVE)


def test_a_member_speaks_for_its_handle_and_its_hosts_at_every_seq() -> None:
    team = Team()
    team.says(ADA, admit(BOB, hosts=["carl"]))
    for seq in (1, 10**6):
        assert team.view.speaks_for_handle(BOB, "bob", seq)
        assert team.view.speaks_for_handle(BOB, "carl", seq)
        assert not team.view.speaks_for_handle(BOB, "ada", seq)


def test_a_revoked_replica_speaks_up_to_its_cut_alone() -> None:
    team = Team()
    team.says(ADA, admit(BOB))
    team.says(ADA, revoke(BOB, 5))
    assert team.view.speaks_for_handle(BOB, "bob", 5)
    assert not team.view.speaks_for_handle(BOB, "bob", 6)
    assert team.view.standing(BOB, 5)
    assert not team.view.standing(BOB, 6)


def test_a_replica_that_was_never_admitted_speaks_for_nobody_revoked_or_not() -> None:
    team = Team()
    team.says(ADA, revoke(BOB, 5))
    for replica in (BOB, CY, "nobody-00000009"):
        assert not team.view.standing(replica, 1)
        assert not team.view.speaks_for_handle(replica, replica.split("-")[0], 1)


def test_an_observer_stands_but_speaks_for_nobody() -> None:
    team = Team()
    team.says(ADA, admit(CY, observer=True))
    assert team.view.standing(CY, 3)
    assert not team.view.speaks_for_handle(CY, "cy", 3)


def test_a_handles_mail_is_delivered_by_its_replicas_and_hosts_but_not_by_observers() -> None:
    laptop = "bob-0000001b"
    team = Team(keys={laptop: key_of(laptop)})
    team.says(ADA, admit(laptop))
    team.says(ADA, admit(BOB))
    team.says(ADA, admit(CY, hosts=["bob"]))
    team.says(ADA, admit(DEE, handle="bob", observer=True))
    assert team.view.replicas_of("bob") == (BOB, laptop, CY)
    team.says(ADA, revoke(BOB, 0))
    assert team.view.replicas_of("bob") == (laptop, CY)


def test_k6_ops_without_rights_cannot_grow_the_notes_nor_hide_those_of_members() -> None:
    team = Team()
    team.says(ADA, admit(BOB))
    for number in range(300):
        team.says(f"eve-{number:08x}", admit(CY), at=1)
    mine = team.says(BOB, admit(CY, Role.ADMIN))
    problems = team.view.problems
    assert len(problems) == MAX_NOTES + 2
    assert f"op:{BOB}:{mine.seq}" in [note.subject for note in problems]
    assert problems[-1].text.startswith(f"{300 - MAX_NOTES} more roster ops")


def test_m6_notes_hold_no_text_of_others() -> None:
    team = Team()
    spoof = "\x1b[2J approved\n" * 1000
    team.says(ADA, admit(BOB, handle=spoof))
    team.says(BOB, admit(CY, handle=spoof))
    assert all(len(note.text) < 200 and note.text.isprintable() for note in team.view.problems)
    assert team.view.problems
