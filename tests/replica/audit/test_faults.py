"""Where and why a chain does not verify: every trouble is named with its replica and seq, and no other chain's."""

from dataclasses import replace
from pathlib import Path

import pytest

from crypto.clock import MAX_CLOCK_LEAD_MS, Reading
from crypto.op import to_line
from crypto.walk import GAP_TRIES
from replica.audit.report import Report
from tests.replica.audit.orchard import ADA, BOB, EVE, NOW_MS, Member, Orchard, audit_lines, faults, row


def sentence(report: Report, replica: str) -> str:
    fault = row(report, replica).fault
    assert fault is not None
    return fault.text


def test_a_damaged_op_stalls_its_chain_at_its_seq(tmp_path: Path) -> None:
    team = Orchard()
    lines = [line.replace(b'"task":"t-1"', b'"task":"t-9"') for line in team.bob.lines]
    report = audit_lines(tmp_path, [*team.ada.lines, *lines, *team.eve.lines])
    assert faults(report) == {BOB: ("stall", 3, "bodyHash mismatch")}
    assert row(report, BOB).ops == 2
    assert f"{BOB} stalls at seq 3 (bodyHash mismatch)" in sentence(report, BOB)
    mended = audit_lines(tmp_path, [*team.ada.lines, *lines, *team.lines])
    assert faults(mended) == {}


def test_a_missing_op_is_a_gap_before_the_op_that_follows_it(tmp_path: Path) -> None:
    team = Orchard()
    del team.bob.ops[2]
    report = audit_lines(tmp_path, team.lines)
    assert faults(report) == {BOB: ("gap", 4, "an op is missing")}
    assert (row(report, BOB).ops, row(report, BOB).unlinked) == (2, 2)


def test_a_skipped_seq_is_no_gap(tmp_path: Path) -> None:
    team = Orchard()
    team.bob.ops.append(team.bob.rival(team.bob.head, {}, seq=20))
    assert audit_lines(tmp_path, team.lines).verified


@pytest.mark.parametrize("late", [False, True])
def test_two_signed_ops_at_one_seq_are_a_fork_whichever_comes_first(tmp_path: Path, late: bool) -> None:
    team = Orchard()
    rival = to_line(team.bob.rival(team.bob.ops[1], {"rival": True}))
    lines = [*team.lines, rival] if late else [rival, *team.lines]
    report = audit_lines(tmp_path, lines)
    assert faults(report) == {BOB: ("fork", 3, "two ops share this seq")}
    assert row(report, BOB).ops == 2
    assert f"{BOB} forks at seq 3" in sentence(report, BOB)


@pytest.mark.parametrize("late", [False, True])
def test_two_signed_ops_after_one_op_are_a_fork_whichever_comes_first(tmp_path: Path, late: bool) -> None:
    team = Orchard()
    rival = to_line(team.bob.rival(team.bob.ops[1], {}, seq=9))
    lines = [*team.lines, rival] if late else [rival, *team.lines]
    assert faults(audit_lines(tmp_path, lines)) == {BOB: ("fork", 9, "prev does not match")}


def test_a_rule_broken_under_ones_own_key_halts(tmp_path: Path) -> None:
    team = Orchard()
    back = team.bob.publisher.sign(team.bob.head, body={}, hlc=team.bob.ops[0].hlc)
    team.bob.ops.append(back)
    report = audit_lines(tmp_path, team.lines)
    assert faults(report) == {BOB: ("halt", back.seq, "hlc must rise")}
    assert f"{BOB} halts at seq {back.seq} (hlc must rise)" in sentence(report, BOB)


def test_an_op_ahead_of_this_machines_clock_waits(tmp_path: Path) -> None:
    team = Orchard()
    ahead = Reading(NOW_MS + 20 * 60_000, 0, BOB)
    last = team.bob.head.seq
    team.bob.ops.append(team.bob.publisher.sign(team.bob.head, body={}, hlc=ahead))
    report = audit_lines(tmp_path, team.lines)
    assert faults(report) == {BOB: ("clock", last, "clock ahead")}
    assert "about 20 minutes ahead" in sentence(report, BOB)
    later = audit_lines(tmp_path, team.lines, now_ms=ahead.ms - MAX_CLOCK_LEAD_MS)
    assert later.verified


def test_an_id_with_rival_keys_rests_on_an_undecided_key_until_one_is_admitted(tmp_path: Path) -> None:
    team = Orchard()
    thief = Member(EVE, 9).announce().tasks(1)
    lines = [*team.lines, *thief.lines]
    report = audit_lines(tmp_path, lines)
    assert faults(report) == {EVE: ("undecided", None, "undecided key")}
    assert row(report, EVE).status.value == "disputed"
    assert team.eve.key.fingerprint in sentence(report, EVE)
    assert thief.key.fingerprint in sentence(report, EVE)
    team.ada.admit(team.eve)
    report = audit_lines(tmp_path, [*team.lines, *thief.lines])
    assert report.verified
    assert (row(report, EVE).fingerprint, row(report, EVE).rival_keys) == (team.eve.key.fingerprint, 1)


def test_a_rival_key_cannot_touch_who_is_admitted(tmp_path: Path) -> None:
    team = Orchard()
    thieves = [Member(replica, 9).announce().tasks(3) for replica in (ADA, BOB)]
    report = audit_lines(tmp_path, [line for each in thieves for line in each.lines] + team.lines)
    assert report.verified
    assert [row(report, each).ops for each in (ADA, BOB)] == [5, 5]


def test_a_chain_without_its_key_op_is_reported(tmp_path: Path) -> None:
    team = Orchard()
    lines = [*team.ada.lines, *team.bob.lines[1:]]
    assert faults(audit_lines(tmp_path, lines)) == {BOB: ("no-key", None, "no key op")}


def test_a_damaged_key_op_is_reported_at_its_seq(tmp_path: Path) -> None:
    team = Orchard()
    damaged = team.bob.lines[0].replace(b'"device":"desk"', b'"device":"disk"')
    lines = [*team.ada.lines, damaged, *team.bob.lines[1:]]
    assert faults(audit_lines(tmp_path, lines)) == {BOB: ("no-key", 1, "bodyHash mismatch")}


def test_a_damaged_founding_takes_the_team_with_it_and_no_other_chain(tmp_path: Path) -> None:
    team = Orchard()
    lines = [line.replace(b"Orchard", b"orchard") for line in team.lines]
    report = audit_lines(tmp_path, lines)
    assert report.team is None
    assert faults(report) == {ADA: ("stall", 2, "bodyHash mismatch")}
    assert row(report, BOB).status.value == "announced"


def test_a_history_other_than_its_revocation_names_is_a_fault(tmp_path: Path) -> None:
    team = Orchard()
    team.ada.revoke(team.bob, hash="ab" * 32)
    report = audit_lines(tmp_path, team.lines)
    assert faults(report) == {BOB: ("halt", 5, "another history than its revocation names")}


def test_k3_a_revoked_chain_that_does_not_reach_its_cut_is_a_fault(tmp_path: Path) -> None:
    team = Orchard()
    team.ada.revoke(team.bob)
    del team.bob.ops[3:]
    report = audit_lines(tmp_path, team.lines)
    assert faults(report) == {BOB: ("short", 5, "ends before its cut")}
    assert "revoked after seq 5" in sentence(report, BOB)


def test_k3_junk_in_front_of_a_gap_does_not_hide_it(tmp_path: Path) -> None:
    team = Orchard()
    missing = team.bob.ops.pop(2)
    junk = [to_line(replace(missing, prev=f"{number:064x}", hash="")) for number in range(2 * GAP_TRIES)]
    report = audit_lines(tmp_path, [*junk, *team.lines])
    assert faults(report) == {BOB: ("gap", 4, "an op is missing")}


@pytest.mark.parametrize("change", [(b'"v":2', b'"v":3'), (b'"sig":"', b'"sog":"')])
def test_a_chain_of_which_nothing_can_be_read_is_reported(
    tmp_path: Path, change: tuple[bytes, bytes]
) -> None:
    team = Orchard()
    lines = [line.replace(*change) for line in team.eve.lines]
    assert lines != team.eve.lines
    report = audit_lines(tmp_path, [*team.ada.lines, *team.bob.lines, *lines])
    assert faults(report)[EVE][0] == "no-key"
