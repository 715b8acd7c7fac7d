"""What an audit counts of each chain, and what it says each replica is."""

from pathlib import Path

from crypto.op import to_line
from crypto.roster.bodies import Role
from replica.audit.marks import MAX_TYPES, OTHER_TYPES
from tests.replica.audit.orchard import ADA, BOB, CY, EVE, Member, Orchard, audit_lines, faults, row


def test_a_sound_team_verifies(tmp_path: Path) -> None:
    team = Orchard()
    report = audit_lines(tmp_path, team.lines)
    assert report.verified
    assert report.team is not None
    assert (report.team.id, report.team.name, report.team.founder) == (team.team_id, "Orchard", ADA)
    assert report.team.notes == ()
    assert {each.replica: each.status.value for each in report.replicas} == {
        ADA: "founder",
        BOB: "member",
        EVE: "pending",
    }
    bob = row(report, BOB)
    assert (bob.handle, bob.device, bob.fingerprint) == ("bob", "desk", team.bob.key.fingerprint)
    assert (bob.ops, bob.types) == (5, {"key": 1, "task": 3, "mail": 1})
    assert bob.head is not None
    assert (bob.head.seq, bob.head.hash) == (5, team.bob.head.hash)
    assert (bob.first, bob.last) == (team.bob.ops[0].hlc, team.bob.head.hlc)
    assert (bob.stubs, bob.repeated_count, bob.unlinked, bob.junk, bob.rival_keys) == (0, 0, 0, 0, 0)


def test_each_standing_has_its_word(tmp_path: Path) -> None:
    team = Orchard()
    admin, observer = Member(CY, 3).announce(), Member("obs-0000000f", 6).announce()
    team.ada.admit(admin, Role.ADMIN)
    team.ada.admit(observer, observer=True)
    left = Member("left-0000000d", 7).announce()
    admin.admit(left)
    admin.revoke(left)
    lines = [*team.lines, *admin.lines, *observer.lines, *left.lines]
    report = audit_lines(tmp_path, lines)
    assert report.verified
    statuses = {each.replica: each.status.value for each in report.replicas}
    assert statuses[CY] == "admin"
    assert statuses["obs-0000000f"] == "observer"
    assert statuses["left-0000000d"] == "revoked"


def test_stubs_count_as_ops_and_are_told(tmp_path: Path) -> None:
    team = Orchard()
    mail = team.bob.head
    bob = row(audit_lines(tmp_path, [*team.lines[:-2], to_line(mail.stub()), *team.eve.lines]), BOB)
    assert (bob.ops, bob.stubs, bob.fault) == (5, 1, None)


def test_a_stub_and_its_op_are_one_op_with_content(tmp_path: Path) -> None:
    team = Orchard()
    stub = to_line(team.bob.head.stub())
    for lines in ([stub, *team.lines], [*team.lines, stub]):
        bob = row(audit_lines(tmp_path, lines), BOB)
        assert (bob.ops, bob.stubs, bob.junk, bob.fault) == (5, 0, 0, None)


def test_p4_a_line_that_repeats_a_key_is_flagged_and_counts_as_every_reader_reads_it(tmp_path: Path) -> None:
    team = Orchard()
    lines = team.bob.lines
    repeated = b'{"type":"mail",' + lines[1].removeprefix(b"{")
    bob = row(audit_lines(tmp_path, [*team.ada.lines, lines[0], repeated, *lines[2:]]), BOB)
    assert (bob.ops, bob.fault) == (5, None)
    assert (bob.repeated_count, bob.repeated) == (1, (2,))
    bob = row(audit_lines(tmp_path, [*team.ada.lines, lines[0], repeated, *lines[1:]]), BOB)
    assert (bob.repeated_count, bob.repeated) == (0, ())


def test_a_revoked_replica_that_went_on_is_counted_apart_and_is_no_fault(tmp_path: Path) -> None:
    team = Orchard()
    team.ada.revoke(team.bob)
    cut = team.bob.head.seq
    team.bob.tasks(4)
    report = audit_lines(tmp_path, team.lines)
    bob = row(report, BOB)
    assert report.verified
    assert (bob.cut, bob.ops, bob.past_cut) == (cut, cut, 4)
    assert bob.types == {"key": 1, "task": 3, "mail": 1}
    assert bob.last == team.bob.ops[cut - 1].hlc


def test_what_breaks_past_a_cut_is_nobodys_concern(tmp_path: Path) -> None:
    team = Orchard()
    team.ada.revoke(team.bob)
    last = team.bob.head
    rivals = [team.bob.rival(last, {"n": n}) for n in range(2)]
    report = audit_lines(tmp_path, [*team.lines, *map(to_line, rivals)])
    assert report.verified
    assert row(report, BOB).ops == last.seq


def test_a_replica_revoked_before_its_first_op_has_none_that_stand(tmp_path: Path) -> None:
    team = Orchard()
    team.ada.revoke(team.eve)
    report = audit_lines(tmp_path, team.lines)
    assert row(report, EVE).status.value == "revoked"
    assert report.verified


def test_a_founder_that_left_is_revoked_and_its_founding_stands(tmp_path: Path) -> None:
    team = Orchard()
    team.ada.admit(team.eve, Role.ADMIN)
    team.eve.revoke(team.ada)
    report = audit_lines(tmp_path, team.lines)
    assert report.team is not None
    assert row(report, ADA).status.value == "revoked"
    assert report.verified


def test_only_the_replica_asked_for_is_reported_and_judged(tmp_path: Path) -> None:
    team = Orchard()
    team.bob.ops[2] = team.bob.ops[1]
    assert not audit_lines(tmp_path, team.lines).verified
    report = audit_lines(tmp_path, team.lines, replica=ADA)
    assert [each.replica for each in report.replicas] == [ADA]
    assert report.verified
    report = audit_lines(tmp_path, team.lines, replica="bob")
    assert list(faults(report)) == [BOB]


def test_k6_types_made_up_by_a_publisher_are_counted_together_beyond_a_bound(tmp_path: Path) -> None:
    team = Orchard()
    for number in range(MAX_TYPES + 10):
        team.eve.say(f"made-up-{number}", {})
    eve = row(audit_lines(tmp_path, team.lines), EVE)
    assert eve.types is not None
    assert len(eve.types) == MAX_TYPES + 1
    assert eve.types[OTHER_TYPES] == 11
