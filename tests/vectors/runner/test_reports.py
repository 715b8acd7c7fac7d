"""The JSON report and the JUnit file, compared whole (section 12.4.8)."""

import json
import os
import stat
from datetime import UTC, datetime
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.vectors.runner.samples import hello, vector, vectors
from vectors.runner.attestation import Attestation, Deviation
from vectors.runner.claims import Claim, Status, Verdict
from vectors.runner.junit import junit
from vectors.runner.output import write_whole
from vectors.runner.report import Report, written
from vectors.runner.running import Outcome, Result

MAY = {"level": "MAY", "capability": "muted-senders"}
RAW = vectors(
    vector("env.sample.passes"),
    vector("env.sample.fails"),
    vector("env.sample.is-skipped"),
    vector("env.sample.errs", profile="dispatch"),
    vector("env.sample.does-not-apply"),
    vector("core.sample.should-pass", level="SHOULD"),
    vector("core.sample.should-fail", level="SHOULD"),
    vector("core.sample.should-err", level="SHOULD"),
    vector("core.sample.may-be-skipped", **MAY),
    vector("core.sample.may-fail", **MAY),
)
RESULTS = [
    Result(vector, outcome, reasons)
    for vector, (outcome, reasons) in zip(
        RAW,
        [
            (Outcome.PASS, []),
            (Outcome.FAIL, ['steps[0]: expected "a<b>&\u0000", got 1', "calls[0]: no"]),
            (Outcome.SKIPPED, ["unsupported: no clock"]),
            (Outcome.ADAPTER_ERROR, ["the adapter exited with 1"]),
            (Outcome.NOT_APPLICABLE, ["the adapter implements every registered gate type"]),
            (Outcome.PASS, []),
            (Outcome.FAIL, ["$notice1 names no message"]),
            (Outcome.ADAPTER_ERROR, ["the adapter exited with 1"]),
            (Outcome.SKIPPED, ["the adapter does not declare the capability muted-senders"]),
            (Outcome.FAIL, ["deliveries of m-1: no"]),
        ],
        strict=True,
    )
]
CLASSES = ["envelope", "host-core"]
ATTESTED = Attestation("c0ffee", "HTTP+JSON", "MUST", "pass", ("application-json",))


def report(*verdicts: Verdict, attestation: Attestation | None = None) -> Report:
    return Report(
        hello=hello(),
        verdicts=verdicts,
        classes=CLASSES,
        results=RESULTS,
        deviations=[Deviation("9.3", "one surface tells too much")],
        attestation=attestation,
        runner="dmp-replica@0.1.0",
        moment=datetime(2026, 10, 1, 12, 0, 0, 7_999, UTC),
    )


def test_the_report_is_this_document() -> None:
    verdicts = (Verdict(Claim.CORE, Status.FAIL, ["x"]), Verdict(Claim.DISPATCH_PROFILE, Status.PASS))
    document = report(*verdicts, attestation=ATTESTED).to_json()
    rows = document.pop("vectors")
    assert document == {
        "dmp": "1.0.0-draft.1",
        "kit": "1.0.0-draft.1",
        "implementation": {"name": "sample", "version": "3.1"},
        "claims": {"core": "fail", "dispatch-profile": "pass"},
        "classes": {
            "envelope": {"pass": 1, "fail": 2, "skipped": 1, "notApplicable": 1, "shouldFailures": 0},
            "host-core": {"pass": 1, "fail": 3, "skipped": 1, "notApplicable": 0, "shouldFailures": 2},
        },
        "declaredDeviations": [{"section": "9.3", "summary": "one surface tells too much"}],
        "runner": "dmp-replica@0.1.0",
        "date": "2026-10-01T12:00:00.007Z",
    }
    assert [row["id"] for row in rows] == [each.id for each in RAW]
    assert rows[3] == {
        "id": "env.sample.errs",
        "class": "envelope",
        "level": "MUST",
        "profile": "dispatch",
        "outcome": "adapter-error",
        "reasons": ["the adapter exited with 1"],
    }
    assert rows[4]["outcome"] == "not-applicable"
    assert rows[0]["reasons"] == []


def test_an_a2a_claim_adds_the_attested_run() -> None:
    verdict = Verdict(Claim.A2A_BINDING, Status.PASS)
    assert report(verdict, attestation=ATTESTED).to_json()["a2a"] == {
        "commit": "c0ffee",
        "transport": "HTTP+JSON",
        "level": "MUST",
        "result": "pass",
        "attested": True,
        "deviations": ["application-json"],
    }
    assert "a2a" not in report(Verdict(Claim.A2A_BINDING, Status.VECTORS_ONLY)).to_json()


def test_a_federation_claim_is_marked_as_experimental() -> None:
    document = report(Verdict(Claim.CORE, Status.PASS), Verdict(Claim.FEDERATION, Status.PASS)).to_json()
    assert document["experimental"] == ["federation"]
    assert "experimental" not in report(Verdict(Claim.CORE, Status.PASS)).to_json()


def test_a_report_is_json_whatever_its_reasons_hold() -> None:
    document = {"a": "é 📬 \ud800 \u2028 \x00"}
    text = written(document)
    assert json.loads(text.encode()) == document
    assert "é 📬" in text


JUNIT = """\
<?xml version="1.0" encoding="UTF-8"?>
<testsuites>
  <testsuite name="envelope" tests="5" failures="3" skipped="1" errors="0">
    <testcase classname="envelope" name="env.sample.passes" />
    <testcase classname="envelope" name="env.sample.fails">
      <failure message="fail: steps[0]: expected &quot;a&lt;b&gt;&amp;\\u0000&quot;, got 1; calls[0]: no" \
type="fail">steps[0]: expected "a&lt;b&gt;&amp;\\u0000", got 1
calls[0]: no</failure>
    </testcase>
    <testcase classname="envelope" name="env.sample.is-skipped">
      <failure message="skipped: unsupported: no clock" type="skipped">unsupported: no clock</failure>
    </testcase>
    <testcase classname="envelope" name="env.sample.errs">
      <failure message="adapter-error: the adapter exited with 1" type="adapter-error">\
the adapter exited with 1</failure>
    </testcase>
    <testcase classname="envelope" name="env.sample.does-not-apply">
      <skipped message="not-applicable: the adapter implements every registered gate type" />
    </testcase>
  </testsuite>
  <testsuite name="host-core" tests="5" failures="0" skipped="4" errors="0">
    <testcase classname="host-core" name="core.sample.should-pass" />
    <testcase classname="host-core" name="core.sample.should-fail">
      <skipped message="SHOULD not met: $notice1 names no message" />
    </testcase>
    <testcase classname="host-core" name="core.sample.should-err">
      <skipped message="adapter-error: the adapter exited with 1" />
    </testcase>
    <testcase classname="host-core" name="core.sample.may-be-skipped">
      <skipped message="skipped: the adapter does not declare the capability muted-senders" />
    </testcase>
    <testcase classname="host-core" name="core.sample.may-fail">
      <skipped message="fail: deliveries of m-1: no" />
    </testcase>
  </testsuite>
</testsuites>
"""


def test_the_junit_file_is_this_document() -> None:
    assert junit(CLASSES, RESULTS) == JUNIT


@pytest.mark.parametrize("character", ["\x00", "\x1b", "\ufffe", "\ud800"])
def test_a_junit_file_is_xml_whatever_its_reasons_hold(character: str) -> None:
    document = junit(CLASSES, [Result(RAW[0], Outcome.FAIL, [f"a{character}b"])])
    case = ElementTree.fromstring(document.encode()).find("testsuite/testcase/failure")
    assert case is not None
    assert case.text == f"a\\u{ord(character):04x}b"


# Files


def test_a_file_is_replaced_whole_and_is_like_any_other(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    path.write_text("old")
    write_whole(path, "new é\n")
    assert path.read_bytes() == "new é\n".encode()
    mask = os.umask(0)
    os.umask(mask)
    assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~mask
    assert list(tmp_path.iterdir()) == [path]


def test_what_cannot_be_written_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    path.write_text("old")
    with pytest.raises(UnicodeEncodeError):
        write_whole(path, "\ud800")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_stays_one(tmp_path: Path) -> None:
    link = tmp_path / "latest.json"
    link.symlink_to(tmp_path / "report.json")
    write_whole(link, "x")
    assert link.is_symlink()
    assert (tmp_path / "report.json").read_text() == "x"


def test_a_pipe_is_written_to_and_never_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_whole(pipe, "whole")
        assert os.read(reader, 100) == b"whole"
    finally:
        os.close(reader)
    assert pipe.is_fifo()


def test_a_link_that_leads_to_itself_gives_way_to_the_file(tmp_path: Path) -> None:
    link = tmp_path / "report.json"
    link.symlink_to(link)
    write_whole(link, "x")
    assert link.read_text() == "x"


def test_a_pipe_may_be_named_by_its_descriptor() -> None:
    read, written = os.pipe()
    try:
        write_whole(Path(f"/dev/fd/{written}"), "x")
        assert os.read(read, 9) == b"x"
    finally:
        os.close(read)
        os.close(written)
