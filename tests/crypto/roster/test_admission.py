"""Who is let in, by whom and as what (federation wire 5.13)."""

from crypto.keys import KeyBody
from crypto.roster import Ignored, Key, fold
from crypto.roster.bodies import Admit, Role
from tests.crypto.roster.team import (
    ADA,
    BOB,
    CY,
    DEE,
    EVE,
    Team,
    admin,
    admit,
    fp,
    key_of,
    op,
    promote,
    revoke,
)

BOBS_LAPTOP = "bob-0000001b"


def team_with_bob(role: Role = Role.MEMBER) -> Team:
    team = Team(keys={BOBS_LAPTOP: key_of(BOBS_LAPTOP)})
    team.says(ADA, admit(BOB, role))
    return team


def test_the_founder_is_an_admin_under_the_handle_of_its_key() -> None:
    team = Team(keys={ADA: key_of(ADA, "lovelace")})
    assert team.view.members[ADA].handle == "lovelace"
    assert team.view.members[ADA].role is Role.ADMIN


def test_the_founder_is_known_by_its_id_where_its_key_is_not_held() -> None:
    team = Team()
    del team.keys[ADA]
    assert team.view.members[ADA].handle == "ada"


def test_an_admin_admits_with_handle_role_and_hosts_of_the_admission() -> None:
    team = Team()
    made = team.says(ADA, admit(BOB, Role.ADMIN, handle="robert", hosts=["carl"]))
    member = team.view.members[BOB]
    assert (member.handle, member.role, member.hosts) == ("robert", Role.ADMIN, ("carl",))
    assert member.fingerprint == fp(BOB)
    assert member.since == made.hlc


def test_an_id_without_a_key_is_not_admitted() -> None:
    team = Team()
    made = team.says(ADA, admit("nobody-00000009"))
    assert team.view.ignored == {made.hash: Ignored.NO_KEY}


def test_another_fingerprint_than_the_announced_one_admits_nobody() -> None:
    team = Team()
    made = team.says(ADA, admit(BOB, fingerprint=fp(CY)))
    assert team.view.ignored == {made.hash: Ignored.OTHER_FINGERPRINT}
    assert not team.view.is_member(BOB)


def test_a_revoked_replica_is_never_admitted_again() -> None:
    team = team_with_bob()
    team.says(ADA, revoke(BOB, 0))
    made = team.says(ADA, admit(BOB))
    assert not team.view.is_member(BOB)
    assert team.view.ignored == {made.hash: Ignored.REVOKED}


def test_a_replica_revoked_before_its_first_admission_is_never_let_in() -> None:
    team = Team()
    team.says(ADA, revoke(BOB, 0))
    team.says(ADA, admit(BOB))
    assert not team.view.is_member(BOB)
    assert team.view.revoked[BOB].handle is None


def test_the_first_admission_decides_and_a_second_is_silently_ignored() -> None:
    team = team_with_bob()
    second = team.says(ADA, admit(BOB, Role.ADMIN, handle="robert"))
    assert team.view.members[BOB].handle == "bob"
    assert not team.view.is_admin(BOB)
    assert team.view.ignored == {second.hash: Ignored.ALREADY_ADMITTED}
    assert team.view.problems == ()


def test_an_observer_cannot_be_admitted_or_made_an_admin() -> None:
    team = Team()
    as_admin = team.says(ADA, admit(BOB, Role.ADMIN, observer=True))
    team.says(ADA, admit(CY, observer=True))
    raised = team.says(ADA, promote(CY))
    assert team.view.ignored == {
        as_admin.hash: Ignored.OBSERVING_ADMIN,
        raised.hash: Ignored.OBSERVING_ADMIN,
    }
    assert team.view.members[CY].observer


def test_an_observer_hosts_nobody() -> None:
    team = Team()
    team.says(ADA, admit(CY, observer=True, hosts=["dee"]))
    assert team.view.members[CY].hosts == ()


def test_an_observer_changes_nothing_in_the_roster() -> None:
    team = Team(keys={"cy-0000001c": key_of("cy-0000001c")})
    team.says(ADA, admit(CY, observer=True))
    made = team.says(CY, admit("cy-0000001c"))
    assert team.view.ignored == {made.hash: Ignored.OBSERVER}


def test_a_member_admits_a_device_of_its_own() -> None:
    team = team_with_bob()
    team.says(BOB, admit(BOBS_LAPTOP))
    assert team.view.members[BOBS_LAPTOP].role is Role.MEMBER
    assert team.view.replicas_of("bob") == (BOB, BOBS_LAPTOP)


def test_a_member_admits_nothing_but_a_plain_device_of_its_own() -> None:
    attempts: list[tuple[Admit, str]] = [
        (admit(BOBS_LAPTOP, Role.ADMIN), "bob"),
        (admit(BOBS_LAPTOP, hosts=["cy"]), "bob"),
        (admit(BOBS_LAPTOP, observer=True), "bob"),
        (admit(BOBS_LAPTOP, handle="cy"), "bob"),
        (admit(BOBS_LAPTOP, handle="cy"), "cy"),
        (admit(BOBS_LAPTOP), "cy"),
        (admit(CY, handle="bob"), "bob"),
        (admit(DEE), "dee"),
    ]
    for body, announced in attempts:
        team = team_with_bob()
        team.keys[body.replica] = key_of(body.replica, announced)
        made = team.says(BOB, body)
        assert team.view.ignored == {made.hash: Ignored.NO_RIGHT}, body
        assert set(team.view.members) == {ADA, BOB}


def test_nobody_outside_the_team_admits_anyone() -> None:
    team = Team()
    made = team.says(EVE, admit(EVE))
    assert team.view.ignored == {made.hash: Ignored.NO_RIGHT}
    (note,) = team.view.problems
    assert note.subject == f"op:{EVE}:2"


def test_an_admission_counts_only_for_what_is_positioned_after_it() -> None:
    team = Team()
    early = team.says(BOB, admit(CY), at=3)
    team.says(ADA, admin(BOB), at=5)
    late = team.says(BOB, admit(DEE), at=7)
    assert early.hash in team.view.ignored
    assert late.hash not in team.view.ignored
    assert set(team.view.members) == {ADA, BOB, DEE}


def test_what_is_positioned_before_the_founding_is_ignored() -> None:
    team = Team()
    made = team.says(ADA, admit(BOB), at=-1)
    cut = team.says(ADA, revoke(CY, 0), at=-2)
    assert team.view.ignored == {made.hash: Ignored.BEFORE_FOUNDING, cut.hash: Ignored.BEFORE_FOUNDING}


def test_ops_signed_with_another_key_than_the_admitted_one_never_count() -> None:
    team = team_with_bob(Role.ADMIN)
    forged = op(BOB, 3, 50, admit(CY), key="FP-rival")
    team.ops.append(forged)
    assert not team.view.is_member(CY)
    assert team.view.problems == ()


def test_real_key_bodies_serve_as_keys() -> None:
    team = Team()
    key = KeyBody("bob", "desk", "dmp 0.1", "A" * 43, "B" * 43)
    keys: dict[str, Key] = {**team.keys, BOB: key}
    team.says(ADA, admit(BOB, fingerprint=key.fingerprint))
    assert fold(team.ops[0].hash, team.ops, keys).is_member(BOB)
