"""This implementation passes the conformance kit: the real runner, and the real adapter as its process (section 12)."""

import json
import shlex
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

ADAPTER = shlex.join([sys.executable, "-m", "replica.cli.main", "conformance-adapter"])
CLAIMS = ("core", "dispatch-profile", "a2a-binding")
UNATTESTED = "a2a-binding"
"""The claim that is judged on vectors alone here: its run of the A2A TCK is a file of its own (section 12.6)."""


def report_of(vectors: Path | None, folder: Path, *claims: str) -> dict[str, Any]:
    """Run the vectors in a folder, or those that come with the runner, for some claims; return its report."""
    report = folder / "report.json"
    command = [sys.executable, "-m", "vectors.runner.main", "--adapter", ADAPTER]
    for claim in claims:
        command += ["--claim", claim]
    command += ["--report", str(report), "--vectors-only"]
    if vectors is not None:
        command += ["--vectors", str(vectors)]
    started = time.perf_counter()
    ran = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    print(f"{vectors}: {time.perf_counter() - started:.1f} s")
    assert ran.returncode == 0, ran.stdout[-4000:] + ran.stderr[-4000:]
    found: dict[str, Any] = json.loads(report.read_bytes())
    return found


def judge(report: dict[str, Any], *claims: str) -> None:
    assert report["claims"] == {claim: "vectors-only" if claim == UNATTESTED else "pass" for claim in claims}
    assert len(report["vectors"]) > 100
    missed = [each for each in report["vectors"] if each["outcome"] not in ("pass", "not-applicable")]
    assert missed == [], "a vector of any level that did not pass"


def test_every_claim_passes_on_the_projects_own_vectors(tmp_path: Path) -> None:
    claims = (*CLAIMS, "federation")
    report = report_of(None, tmp_path, *claims)
    judge(report, *claims)
    assert report["experimental"] == ["federation"]


def test_the_claims_of_the_document_pass_on_the_public_vectors(public_vectors: Path, tmp_path: Path) -> None:
    judge(report_of(public_vectors / "kit" / "vectors", tmp_path, *CLAIMS), *CLAIMS)
