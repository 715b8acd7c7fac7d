"""Anyone who can write to a source can change any byte of it: only the chain it is in is touched, and it shows."""

import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from replica.audit.report import Report
from tests.replica.audit.orchard import ADA, BOB, EVE, Member, Orchard, audit_lines, faults, row
from transports.base import LINE_BYTES

TEAM = Orchard()
LINES = TEAM.lines
OWNERS = [member.replica for member in TEAM.members for _ in member.ops]


def audited(lines: list[bytes]) -> Report:
    with tempfile.TemporaryDirectory() as folder:
        return audit_lines(Path(folder), lines)


CLEAN = audited(LINES)


@st.composite
def changes(draw: st.DrawFn) -> tuple[int, int, bytes]:
    """A line, a place in it, and a byte that was not there."""
    at = draw(st.integers(0, len(LINES) - 1))
    place = draw(st.integers(0, len(LINES[at]) - 1))
    byte = draw(st.integers(0, 255).filter(lambda byte: byte != LINES[at][place]))
    return at, place, bytes([byte])


@settings(max_examples=150, deadline=None)
@given(changes())
def test_a_changed_byte_of_any_op_touches_its_own_chain_alone(change: tuple[int, int, bytes]) -> None:
    at, place, byte = change
    owner = OWNERS[at]
    lines = list(LINES)
    lines[at] = lines[at][:place] + byte + lines[at][place + 1 :]
    report = audited(lines)
    assert accepted(report, owner) < accepted(CLEAN, owner)
    assert is_told(report, owner)
    for replica in {ADA, BOB, EVE} - {owner}:
        assert counts(report, replica) == counts(CLEAN, replica)
        assert row(report, replica).fault is None


def accepted(report: Report, replica: str) -> int:
    return sum(each.ops for each in report.replicas if each.replica == replica)


def counts(report: Report, replica: str) -> dict[str, object]:
    """What was read of a chain. What its replica is depends on the founder's ops, and so is left out."""
    whole = next((each for each in report.replicas if each.replica == replica), None)
    if whole is None:
        return {"ops": 0}
    return {name: value for name, value in whole.to_json().items() if name not in ("status", "fault")}


def is_told(report: Report, replica: str) -> bool:
    """Whether somebody who reads the report learns that something is wrong with a chain, or with a line.

    The last op of a chain can be damaged so that nothing tells it from junk, since a chain may end anywhere.
    """
    whole = next((each for each in report.replicas if each.replica == replica), None)
    if report.skipped_count or set(faults(report)) - {ADA, BOB, EVE}:
        return True
    return whole is not None and (whole.fault is not None or whole.unlinked + whole.junk > 0)


def test_a_line_cut_off_in_the_middle_is_passed_over(tmp_path: Path) -> None:
    for at in range(len(LINES)):
        lines = [*LINES[:at], LINES[at][: len(LINES[at]) // 2], *LINES[at + 1 :]]
        report = audit_lines(tmp_path, lines)
        assert report.skipped_count == 1
        assert report.skipped[0].line == at + 1
        assert set(faults(report)) <= {OWNERS[at]}


def test_a_file_cut_off_anywhere_keeps_what_came_before(tmp_path: Path) -> None:
    path = tmp_path / "lines.jsonl"
    whole = b"".join(line + b"\n" for line in LINES)
    for cut in range(1, len(whole), 97):
        path.write_bytes(whole[:cut])
        kept = whole[:cut].count(b"\n")
        report = audit_lines(tmp_path, LINES[:kept]) if kept else None
        if report is not None:
            assert report.verified


def test_foreign_lines_are_counted_and_touch_nothing(tmp_path: Path) -> None:
    foreign = [
        *(b"hello", b"[1]", b"7", b"", b"  \t", b'{"replica":"../etc-00000000"}', b"\xff\xfe", b"[" * 5000),
        b'{"replica":"bob-0000000b","seq":1}',
        b'{"replica":"zed-0000000f"}',
    ]
    report = audit_lines(tmp_path, [*foreign, *LINES, *foreign])
    assert report.verified
    assert [counts(report, each)["ops"] for each in (ADA, BOB, EVE)] == [5, 5, 1]
    assert row(report, BOB).junk == 2
    assert {(each.reason, each.line, each.count) for each in report.skipped} == {
        ("not JSON", 1, 6),
        ("not a JSON object", 2, 4),
        ("names no replica", 6, 2),
        ("no op", 0, 2),
    }


def test_p7_a_huge_line_is_passed_over_and_never_held(tmp_path: Path) -> None:
    huge = b'{"x":"' + b"x" * (5 * LINE_BYTES) + b'"}'
    report = audit_lines(tmp_path, [LINES[0], huge, *LINES[1:], huge])
    assert report.verified
    (place,) = report.skipped
    assert (place.line, place.count, place.reason) == (2, 2, "longer than 1 MiB")


def test_a_line_of_exactly_the_limit_is_read(tmp_path: Path) -> None:
    line = LINES[-1]
    for size, skipped in ((LINE_BYTES, 0), (LINE_BYTES + 1, 1)):
        padded = b" " * (size - len(line)) + line
        report = audit_lines(tmp_path, [*LINES[:-1], padded])
        assert report.skipped_count == skipped
        assert counts(report, EVE)["ops"] == 1 - skipped


def test_p1_lines_are_split_at_line_feeds_alone(tmp_path: Path) -> None:
    team = Orchard()
    team.eve.say("task", {"text": "a\u2028b\u0085c\u2029d\x0be\x1cf\rg\ng"})
    report = audit_lines(tmp_path, team.lines)
    assert report.verified
    assert row(report, EVE).ops == 2


def test_k8_ids_that_differ_in_case_or_begin_like_options_have_chains_of_their_own(tmp_path: Path) -> None:
    ids = ["Bob-0000000b", "--rm-00000001", "..-00000002"]
    strangers = [Member(each, 20 + at).announce(handle="bob") for at, each in enumerate(ids)]
    report = audit_lines(tmp_path, LINES + [line for each in strangers for line in each.lines])
    assert report.verified
    assert {each.replica for each in report.replicas} == {ADA, BOB, EVE, *ids}
