"""Which team an audit is about, and how the roster of a whole branch is read."""

from itertools import pairwise
from pathlib import Path
from typing import TypeAlias

import pytest

from crypto.invites import public_of, recovery_proof
from crypto.op import to_line
from crypto.roster.bodies import Recover, Role, SetRecoveryKey, SetRole
from replica.audit.source import SourceError
from replica.audit.team import MAX_FOUNDINGS
from tests.replica.audit.orchard import (
    ADA,
    BOB,
    CY,
    EVE,
    Member,
    Orchard,
    audit_lines,
    faults,
    row,
)


@pytest.fixture
def two() -> tuple[Orchard, Member]:
    """The orchard, and a vineyard that cy founded on the same branch."""
    cy = Member(CY, 3).announce()
    cy.found("Vineyard")
    return Orchard(), cy


def test_two_foundings_need_a_choice(tmp_path: Path, two: tuple[Orchard, Member]) -> None:
    team, cy = two
    with pytest.raises(SourceError, match="2 teams were founded there") as raised:
        audit_lines(tmp_path, [*team.lines, *cy.lines])
    assert f'{team.team_id} "Orchard" by {ADA}' in raised.value.message
    assert "--team" in raised.value.hint


def test_a_team_is_chosen_by_id_its_beginning_or_name(tmp_path: Path, two: tuple[Orchard, Member]) -> None:
    team, cy = two
    for wanted in (team.team_id, team.team_id[:8], "Orchard"):
        report = audit_lines(tmp_path, [*team.lines, *cy.lines], team=wanted)
        assert report.team is not None
        assert report.team.id == team.team_id
        assert row(report, CY).status.value == "pending"
        assert report.verified
    report = audit_lines(tmp_path, [*team.lines, *cy.lines], team="Vineyard")
    assert {each.replica: each.status.value for each in report.replicas} == {
        ADA: "pending",
        BOB: "pending",
        CY: "founder",
        EVE: "pending",
    }


@pytest.mark.parametrize("wanted", ["Meadow", "", "ffff"])
def test_a_team_that_is_not_there_cannot_be_read(tmp_path: Path, wanted: str) -> None:
    with pytest.raises(SourceError, match="no team"):
        audit_lines(tmp_path, Orchard().lines, team=wanted)


def test_teams_of_one_name_are_told_apart_by_id(tmp_path: Path) -> None:
    team, cy = Orchard(), Member(CY, 3).announce()
    cy.found("Orchard")
    with pytest.raises(SourceError, match="2 teams"):
        audit_lines(tmp_path, [*team.lines, *cy.lines], team="Orchard")


def test_k6_foundings_by_the_dozen_are_named_up_to_a_bound(tmp_path: Path) -> None:
    team = Orchard()
    crowd = [Member(f"x-{number:08x}", number + 10).announce() for number in range(MAX_FOUNDINGS)]
    for each in crowd:
        each.found("Orchard")
    lines = [*team.lines, *(line for each in crowd for line in each.lines)]
    with pytest.raises(SourceError, match=f"more than {MAX_FOUNDINGS} teams"):
        audit_lines(tmp_path, lines)
    assert audit_lines(tmp_path, lines, team=team.team_id).verified


def test_without_a_founding_chains_verify_under_the_keys_they_announce(tmp_path: Path) -> None:
    team = Orchard()
    report = audit_lines(tmp_path, [*team.bob.lines, *team.eve.lines])
    assert report.team is None
    assert report.verified
    assert {each.status.value for each in report.replicas} == {"announced"}


def test_a_founding_that_is_not_the_first_thing_said_of_a_roster_founds_nothing(tmp_path: Path) -> None:
    team = Orchard()
    team.ada.found("Coup")
    late = Member(CY, 3).announce().tasks(7)
    late.found("Too late")
    report = audit_lines(tmp_path, [*team.lines, *late.lines])
    assert report.team is not None
    assert report.team.name == "Orchard"


def test_a_founding_that_nobody_signed_founds_nothing(tmp_path: Path) -> None:
    team, cy = Orchard(), Member(CY, 3).announce()
    thief = Member(CY, 9).announce()
    thief.found("Stolen")
    report = audit_lines(tmp_path, [*team.lines, *cy.lines, *thief.lines[1:]])
    assert report.team is not None
    assert report.team.name == "Orchard"


def test_a_founder_with_a_rival_key_is_the_one_that_signed_the_founding(tmp_path: Path) -> None:
    team = Orchard()
    for fill in (3, 9):
        thief = Member(ADA, fill).announce().tasks(2)
        report = audit_lines(tmp_path, [*thief.lines, *team.lines])
        assert row(report, ADA).fingerprint == team.ada.key.fingerprint
        assert report.verified


def test_a_fork_of_the_founding_leaves_no_team_and_halts_its_founder(tmp_path: Path) -> None:
    team = Orchard()
    other = Member(ADA, 1).announce()
    other.found("Another")
    report = audit_lines(tmp_path, [*team.lines, other.lines[1]])
    assert report.team is None
    assert faults(report) == {ADA: ("fork", 2, "two ops share this seq")}


def test_the_roster_is_read_to_its_end_over_chains_of_admissions(tmp_path: Path) -> None:
    team = Orchard()
    admins = [Member(f"m-{number:08x}", number + 10).announce() for number in range(6)]
    team.ada.admit(admins[0], Role.ADMIN)
    for admin, newcomer in pairwise(admins):
        admin.admit(newcomer, Role.ADMIN)
    lines = [*(line for each in reversed(admins) for line in each.lines), *team.lines]
    report = audit_lines(tmp_path, lines)
    assert report.team is not None
    assert report.team.notes == ()
    assert [row(report, each.replica).status.value for each in admins] == ["admin"] * 6


def test_an_admission_beyond_the_first_few_claims_still_decides(tmp_path: Path) -> None:
    team = Orchard()
    claimants = [Member(EVE, fill).announce().tasks(1) for fill in range(10, 20)]
    last = max(claimants, key=lambda each: each.key.fingerprint)
    team.ada.admit(last)
    lines = [*team.ada.lines, *(line for each in claimants for line in each.lines)]
    report = audit_lines(tmp_path, lines)
    assert report.verified
    assert (row(report, EVE).fingerprint, row(report, EVE).rival_keys) == (last.key.fingerprint, 9)


def test_roster_ops_without_effect_are_told(tmp_path: Path) -> None:
    team = Orchard()
    ignored = team.bob.admit(team.eve)
    report = audit_lines(tmp_path, team.lines)
    assert report.team is not None
    (note,) = report.team.notes
    assert f"{BOB} at seq {ignored.seq}" in note
    assert row(report, EVE).status.value == "pending"
    assert report.verified


def test_all_are_heard_whom_somebody_let_in_though_a_removal_undoes_that(tmp_path: Path) -> None:
    """What decides a contest may be said by a machine that is in the team only because it is said."""
    team = Orchard()
    ann, dee = (Member(each, fill).announce() for each, fill in (("ann-0000000d", 6), ("dee-0000000d", 7)))
    team.ada.admit(team.eve, Role.ADMIN)
    before = team.eve.head
    team.eve.admit(dee, Role.ADMIN)
    team.ada.admit(ann, Role.ADMIN)  # so ann ranks below dee
    ann.revoke(team.eve, before)
    dee.revoke(ann, ann.ops[0])
    report = audit_lines(tmp_path, [*team.lines, *ann.lines, *dee.lines])
    states = {each.replica: each.status.value for each in report.replicas}
    assert states == {
        ADA: "founder",
        BOB: "member",
        EVE: "admin",
        ann.replica: "revoked",
        dee.replica: "admin",
    }


@pytest.fixture
def two_faces() -> tuple[Orchard, Member, list[bytes]]:
    """Eve is an admin and signs two histories: on one she admits dee, on the other she does something else."""
    team = Orchard()
    dee = Member("dee-0000000d", 7).announce()
    team.ada.admit(team.eve, Role.ADMIN)
    other = team.eve.rival(team.eve.head, {"task": "t-9"})
    team.eve.tasks(1).admit(dee)
    return team, dee, [to_line(other), *dee.lines]


Told: TypeAlias = tuple[Orchard, Member, list[bytes]]


def test_nothing_counts_of_who_signed_two_histories_from_where_they_part(
    tmp_path: Path, two_faces: Told
) -> None:
    team, dee, others = two_faces
    report = audit_lines(tmp_path, [*team.lines, *others])
    assert row(report, dee.replica).status.value == "pending"
    assert faults(report)[EVE][0] == "fork"


def test_a_revocation_that_stands_says_which_of_two_histories_counts(tmp_path: Path, two_faces: Told) -> None:
    team, dee, others = two_faces
    team.ada.revoke(team.eve)
    report = audit_lines(tmp_path, [*team.lines, *others])
    assert row(report, dee.replica).status.value == "member"
    assert (row(report, EVE).status.value, row(report, EVE).ops) == ("revoked", len(team.eve.ops))
    assert report.verified


def test_a_revocation_by_whom_one_of_two_histories_lets_in_stands_where_it_names_that_one(
    tmp_path: Path, two_faces: Told
) -> None:
    team, dee, others = two_faces
    team.eve.roster(SetRole(dee.replica, Role.ADMIN))
    dee.revoke(team.eve)
    report = audit_lines(tmp_path, [*team.lines, *others, *dee.lines])
    assert [row(report, each).status.value for each in (dee.replica, EVE)] == ["admin", "revoked"]


def test_of_two_roster_ops_where_histories_part_the_one_of_the_smaller_hash_counts(tmp_path: Path) -> None:
    team = Orchard()
    ann, dee = (Member(each, fill).announce() for each, fill in (("ann-0000000d", 6), ("dee-0000000d", 7)))
    team.ada.admit(team.eve, Role.ADMIN)
    before = [*team.eve.ops]
    one = team.eve.admit(ann)
    team.eve.ops = before
    other = team.eve.admit(dee)
    lines = [*team.lines, to_line(one), *ann.lines, *dee.lines]
    report = audit_lines(tmp_path, lines)
    first, second = (ann, dee) if one.hash < other.hash else (dee, ann)
    assert row(report, first.replica).status.value == "member"
    assert row(report, second.replica).status.value == "pending"


def _recover(member: Member, team: Orchard, seed: bytes) -> None:
    proof = recovery_proof(seed, team=team.team_id, replica=member.replica, sign_pub=member.key.sign_pub)
    member.roster(Recover(proof))


def test_who_recovers_is_an_admin_whom_nobody_admitted(tmp_path: Path) -> None:
    team, seed = Orchard(), b"r" * 32
    team.ada.roster(SetRecoveryKey(public_of(seed)))
    cy, dee = Member(CY, 3).announce(), Member("dee-0000000d", 4).announce()
    _recover(cy, team, seed)
    cy.admit(dee, Role.ADMIN)
    dee.tasks(1)
    for lines in ([*team.lines, *cy.lines, *dee.lines], [*dee.lines, *cy.lines, *team.lines]):
        report = audit_lines(tmp_path, lines)
        assert [row(report, each).status.value for each in (CY, "dee-0000000d")] == ["admin", "admin"]
        assert report.verified


def test_a_proof_of_another_code_leaves_its_publisher_waiting(tmp_path: Path) -> None:
    team = Orchard()
    _recover(team.eve, team, b"x" * 32)
    report = audit_lines(tmp_path, team.lines)
    assert row(report, EVE).status.value == "pending"


def test_of_two_keys_for_one_id_the_one_that_recovers_is_its_key(tmp_path: Path) -> None:
    team, seed = Orchard(), b"r" * 32
    team.ada.roster(SetRecoveryKey(public_of(seed)))
    cy, rival = Member(CY, 3).announce(), Member(CY, 9).announce()
    _recover(cy, team, seed)
    rival.tasks(1)
    report = audit_lines(tmp_path, [*team.lines, *rival.lines, *cy.lines])
    assert row(report, CY).status.value == "admin"
    assert row(report, CY).fingerprint == cy.key.fingerprint
