"""Roles, invites, the legacy window and the transport (federation wire 5.1, 5.11, 5.14)."""

import pytest

from crypto.invites import invite_id, invite_proof, public_of
from crypto.keys import InviteProof, KeyBody
from crypto.roster import Ignored
from crypto.roster.bodies import (
    Body,
    CloseLegacy,
    Dismiss,
    Found,
    Malformed,
    OpenInvite,
    Role,
    SetHosts,
    SetLicense,
    SetRecoveryKey,
    SetRole,
    SetTransport,
    TransportKind,
)
from crypto.roster.view import License
from crypto.roster.walk import LEGACY_WINDOW_MS
from tests.crypto.roster.team import ADA, BOB, CY, EVE, FOUNDING, Team, admin, admit, demote, promote, revoke

RELAY = SetTransport(TransportKind.RELAY, "wss://relay.example")
SEED = bytes(range(32))
PUB = public_of(SEED)


def invite(handle: str, pub: str = PUB) -> OpenInvite:
    return OpenInvite(invite_id(pub), pub, handle, "2030-01-01T00:00:00.000Z")


def team_with_bob(role: Role = Role.MEMBER) -> Team:
    team = Team()
    team.says(ADA, admit(BOB, role))
    return team


def test_an_admin_makes_a_member_an_admin() -> None:
    team = team_with_bob()
    team.says(ADA, promote(BOB))
    team.says(BOB, admit(CY))
    assert team.view.is_admin(BOB)
    assert team.view.is_member(CY)


def test_a_member_promotes_nobody() -> None:
    team = team_with_bob()
    made = team.says(BOB, promote(BOB))
    assert team.view.ignored == {made.hash: Ignored.NO_RIGHT}


def test_who_was_not_admitted_is_not_promoted() -> None:
    team = Team()
    made = team.says(ADA, promote(BOB))
    team.says(ADA, admit(BOB))
    assert team.view.ignored == {made.hash: Ignored.NOT_ADMITTED}
    assert not team.view.is_admin(BOB)


def test_who_was_revoked_is_not_promoted() -> None:
    team = team_with_bob()
    team.says(ADA, revoke(BOB, 0))
    made = team.says(ADA, promote(BOB))
    assert team.view.ignored == {made.hash: Ignored.REVOKED}


def test_a_demotion_without_a_cut_is_ignored() -> None:
    team = team_with_bob(Role.ADMIN)
    made = team.says(ADA, SetRole(BOB, Role.MEMBER))
    assert team.view.ignored == {made.hash: Ignored.CUT_MISSING}
    assert team.view.is_admin(BOB)
    assert team.view.resolution == {}


def test_a_promotion_after_a_demotion_restores_an_admin() -> None:
    team = team_with_bob(Role.ADMIN)
    team.says(ADA, demote(BOB, 0))
    assert not team.view.is_admin(BOB)
    team.says(ADA, promote(BOB))
    assert team.view.is_admin(BOB)


def test_a_transport_is_git_until_an_admin_says_otherwise_and_the_last_word_counts() -> None:
    team = team_with_bob()
    assert team.view.transport == SetTransport(TransportKind.GIT)
    team.says(BOB, RELAY)
    assert team.view.transport == SetTransport(TransportKind.GIT)
    team.says(ADA, RELAY)
    assert team.view.transport == RELAY
    team.says(ADA, SetTransport(TransportKind.GIT))
    assert team.view.transport == SetTransport(TransportKind.GIT)


def test_an_admin_closes_the_legacy_window_at_any_time() -> None:
    team = Team()
    assert not team.view.legacy_closed
    team.says(ADA, CloseLegacy())
    again = team.says(ADA, CloseLegacy())
    assert team.view.legacy_closed
    assert team.view.ignored == {again.hash: Ignored.ALREADY_CLOSED}


@pytest.mark.parametrize(("at", "closed"), [(LEGACY_WINDOW_MS - 1, False), (LEGACY_WINDOW_MS, True)])
def test_a_member_closes_the_legacy_window_thirty_days_after_the_founding(at: int, closed: bool) -> None:
    team = team_with_bob()
    team.says(BOB, CloseLegacy(), at=at)
    assert team.view.legacy_closed is closed


def test_an_admin_invites_anyone_and_a_member_its_own_handle() -> None:
    team = team_with_bob()
    team.says(ADA, invite("eve"))
    team.says(BOB, invite("bob", public_of(b"b" * 32)))
    refused = team.says(BOB, invite("dee", public_of(b"c" * 32)))
    assert [(each.handle, each.by) for each in team.view.invites.values()] == [("eve", ADA), ("bob", BOB)]
    assert team.view.ignored == {refused.hash: Ignored.NO_RIGHT}


def test_the_first_invite_of_an_id_counts() -> None:
    team = Team()
    team.says(ADA, invite("eve"))
    team.says(ADA, invite("mallory"))
    assert team.view.invites[invite_id(PUB)].handle == "eve"


def test_an_invite_under_the_id_of_another_key_is_ignored() -> None:
    team = team_with_bob()
    squatting = team.says(BOB, OpenInvite(invite_id(PUB), public_of(b"b" * 32), "bob", "never"))
    team.says(ADA, invite("eve"))
    assert team.view.ignored == {squatting.hash: Ignored.OTHER_INVITE_ID}
    assert team.view.invites[invite_id(PUB)].by == ADA


def claimant(
    handle: str = "eve", *, seed: bytes = SEED, replica: str = EVE, team: str | None = None
) -> KeyBody:
    sign_pub = "A" * 43
    sig = invite_proof(seed, team=team or FOUNDING.hash[:32], replica=replica, sign_pub=sign_pub)
    return KeyBody(handle, "desk", "dmp", sign_pub, "B" * 43, invite=InviteProof(invite_id(PUB), sig))


def test_an_invites_proof_shows_who_invited() -> None:
    team = Team()
    team.says(ADA, invite("eve"))
    found = team.view.invited_by(EVE, claimant())
    assert found is not None
    assert found.by == ADA


def test_a_proof_for_another_handle_team_replica_or_seed_shows_nothing() -> None:
    team = Team()
    team.says(ADA, invite("eve"))
    for key in (
        claimant("mallory"),
        claimant(team="0" * 32),
        claimant(replica=CY),
        claimant(seed=b"x" * 32),
        KeyBody("eve", "desk", "dmp", "A" * 43, "B" * 43),
    ):
        assert team.view.invited_by(EVE, key) is None


def test_a_proof_of_an_invite_that_nobody_published_shows_nothing() -> None:
    assert Team().view.invited_by(EVE, claimant()) is None


@pytest.mark.parametrize(
    "body",
    [
        RELAY,
        SetLicense("dispatch1.x.y"),
        SetRecoveryKey("pub"),
        Dismiss(BOB, 1, "0" * 64),
        SetHosts(BOB, ("carl",)),
    ],
    ids=lambda body: type(body).__name__,
)
def test_what_only_admins_may_do_is_nothing_a_member_does(body: Body) -> None:
    team = team_with_bob()
    before = team.view
    made = team.says(BOB, body)
    assert team.view.ignored == {made.hash: Ignored.NO_RIGHT}
    assert (team.view.members, team.view.license, team.view.recovery_pub) == (
        before.members,
        before.license,
        before.recovery_pub,
    )


def test_the_licence_that_was_shared_last_counts() -> None:
    team = team_with_bob(Role.ADMIN)
    assert team.view.license is None
    team.says(ADA, SetLicense("dispatch1.x.y"))
    team.says(BOB, SetLicense("dispatch1.z.y"))
    assert team.view.license == License("dispatch1.z.y", BOB)
    team.says(ADA, revoke(BOB, 1))
    assert team.view.license == License("dispatch1.x.y", ADA)


def test_a_malformed_body_is_noted_and_does_not_pause() -> None:
    team = Team()
    made = team.says(ADA, Malformed("rv"))
    assert team.view.ignored == {made.hash: Ignored.MALFORMED}
    assert team.view.unknown is None


def test_another_founding_is_noted_and_changes_nothing() -> None:
    team = Team()
    made = team.says(ADA, Found("Other", (), "x"))
    assert team.view.ignored == {made.hash: Ignored.OTHER_FOUNDING}
    assert team.view.name == "Orchard"


def test_an_admission_as_admin_is_a_promotion_too() -> None:
    team = Team()
    team.says(ADA, admin(BOB))
    team.says(BOB, admin(CY))
    assert team.view.is_admin(CY)
