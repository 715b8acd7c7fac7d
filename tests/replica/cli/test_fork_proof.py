"""From a fork to a file that convinces somebody else: `dmp audit proof`, `dmp audit check-proof`, `dmp problems`."""

import io
import json
import sys
from pathlib import Path

import pytest

from crypto.op import to_line
from replica.cli import main
from tests.replica.audit.orchard import ADA, BOB, Orchard
from tests.replica.forge import Forger
from tests.replica.world import World


def dmp(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> str:
    assert main.run(arguments) == code
    told = capsys.readouterr()
    return told.out or told.err


def forked(folder: Path) -> tuple[Orchard, str]:
    """A file in which bob's key has signed two ops 3."""
    team = Orchard()
    rival = team.bob.rival(team.bob.ops[1], {"rival": True})
    path = folder / "team.jsonl"
    path.write_bytes(b"\n".join([*team.lines, to_line(rival)]) + b"\n")
    return team, str(path)


def test_a_fork_in_a_file_is_exported_and_checked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    team, path = forked(tmp_path)
    out = str(tmp_path / "fork.json")
    assert f"dmp audit check-proof {out}" in dmp(
        capsys, "audit", "proof", "bob", "--from", path, "--output", out
    )
    text = dmp(capsys, "audit", "check-proof", out)
    assert f"two different ops at seq 3 for {BOB}" in text
    assert team.bob.key.fingerprint in text
    found = json.loads(dmp(capsys, "audit", "check-proof", out, "--json"))
    assert (found["proves"], found["replica"], found["seq"]) == ("fork", BOB, 3)
    (listed,) = json.loads(dmp(capsys, "audit", "proof", "--from", path, "--json"))["proofs"]
    assert listed["replica"] == BOB
    assert "signed one history" in dmp(capsys, "audit", "proof", ADA, "--from", path, code=1)


def test_a_revocation_that_names_one_history_does_not_undo_the_proof(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    team = Orchard()
    rival = team.bob.rival(team.bob.ops[1], {"rival": True})
    team.ada.revoke(team.bob)
    path = tmp_path / "team.jsonl"
    path.write_bytes(b"\n".join([*team.lines, to_line(rival)]) + b"\n")
    assert BOB in dmp(capsys, "audit", "proof", "--from", str(path))


def test_what_proves_nothing_is_refused_with_a_reason(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, path = forked(tmp_path)
    out = tmp_path / "fork.json"
    dmp(capsys, "audit", "proof", "bob", "--from", path, "--output", str(out))
    value = json.loads(out.read_bytes())
    value["entries"][1] = value["entries"][0]
    out.write_text(json.dumps(value, separators=(",", ":"), sort_keys=True))
    assert "this proves nothing: it is the same op twice" in dmp(
        capsys, "audit", "check-proof", str(out), code=1
    )
    assert (
        json.loads(dmp(capsys, "audit", "check-proof", str(out), "--json", code=1))["error"]["code"]
        == "invalid"
    )
    assert "cannot read" in dmp(capsys, "audit", "check-proof", str(tmp_path / "none"), code=2)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"\x1b]0;owned\x07")))
    assert "it is not JSON" in dmp(capsys, "audit", "check-proof", "-", code=1)


def test_a_replica_tells_of_the_proof_it_has(w: World, capsys: pytest.CaptureFixture[str]) -> None:
    ada, bob = w.team("ada", "bob")
    one, other = Forger(bob), Forger(bob)
    other.ms += 500
    one.publish(one.state(ada))
    other.publish(other.state(ada))
    ada.sync()
    where = ("--dir", str(ada.directory.root))
    assert f"A proof of it for anybody: dmp audit proof {bob.me}" in dmp(capsys, "problems", *where)
    found = json.loads(dmp(capsys, "problems", "--json", *where))["problems"]
    assert {each["subject"]: each["proof"] for each in found}[f"halt:{bob.me}"] is True
    raw = dmp(capsys, "audit", "proof", bob.me, *where)
    file = w.folder / "proof.json"
    file.write_text(raw)
    assert bob.me in dmp(capsys, "audit", "check-proof", str(file))
