"""Line order means nothing: the report is a function of the set of lines, in memory or beyond it."""

import tempfile
from pathlib import Path
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from crypto.op import to_line
from replica.audit.report import Report
from tests.replica.audit.orchard import BOB, CY, EVE, Member, Orchard, audit_lines, faults, row

TINY_KIB = 1


def troubled_lines() -> list[bytes]:
    """A team in which nearly everything has gone wrong somewhere."""
    team = Orchard()
    team.bob.tasks(12)
    team.ada.tasks(4)
    gone = Member(CY, 3).announce().tasks(3)
    team.ada.admit(gone)
    team.ada.revoke(gone)
    gone.tasks(2)
    thief = Member(EVE, 9).announce()
    stalled = Member("sam-0000000d", 4).announce().tasks(6)
    lines = [*team.lines, *gone.lines, *thief.lines, *stalled.lines]
    lines.remove(to_line(stalled.ops[3]))
    lines.append(to_line(team.bob.rival(team.bob.ops[8], {"rival": True})))
    lines += [to_line(team.bob.ops[4].stub()), b'{"replica":"bob-0000000b","seq":3}', b"{}", b"\xff"]
    return lines


LINES = troubled_lines()


def audited(lines: list[bytes]) -> Report:
    with tempfile.TemporaryDirectory() as folder:
        return audit_lines(Path(folder), lines)


EXPECTED = audited(LINES)


def same(report: Report) -> bool:
    """Whether a report is the expected one, but for where the file lies and which line came first."""
    return (report.team, report.replicas, report.skipped_count) == (
        EXPECTED.team,
        EXPECTED.replicas,
        EXPECTED.skipped_count,
    )


def test_the_troubled_lines_hold_a_fork_a_gap_and_a_dispute() -> None:
    assert {replica: trouble for replica, (trouble, *_) in faults(EXPECTED).items()} == {
        BOB: "fork",
        EVE: "undecided",
        "sam-0000000d": "gap",
    }
    assert row(EXPECTED, CY).past_cut == 2


@settings(max_examples=25, deadline=None)
@given(st.permutations(LINES))
def test_any_order_of_lines_gives_the_same_report(lines: list[bytes]) -> None:
    assert same(audited(lines))


@settings(max_examples=10, deadline=None)
@given(st.randoms(use_true_random=False))
def test_repeated_lines_change_nothing_but_how_much_there_is(random: Random) -> None:
    lines = LINES + random.choices(LINES[:20], k=10)
    random.shuffle(lines)
    report = audited(lines)
    assert (report.team, report.replicas) == (EXPECTED.team, EXPECTED.replicas)


def test_lines_beyond_the_look_ahead_give_the_same_report(tmp_path: Path) -> None:
    team = Orchard()
    for number in range(60):
        team.bob.say("task", {"task": f"t-{number}", "note": "x" * 40_000})
    in_order = audit_lines(tmp_path, team.lines)
    assert in_order.verified
    lines = team.lines
    for seed in range(3):
        Random(seed).shuffle(lines)
        spilled = audit_lines(tmp_path, lines, look_ahead_kib=TINY_KIB)
        assert (spilled.team, spilled.replicas) == (in_order.team, in_order.replicas)
    reverse = audit_lines(tmp_path, team.lines[::-1], look_ahead_kib=TINY_KIB)
    assert (reverse.team, reverse.replicas) == (in_order.team, in_order.replicas)
