"""`dmp audit` as people and programs run it: a process of its own, on real files and a real bare repository."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from crypto.roster.bodies import Admit, Role
from replica.cli.audit_source import Steps
from tests.e2e import forked
from tests.e2e.people import PATIENCE
from tests.replica.audit.orchard import ADA, BOB, CY, EVE, Member, Orchard
from tests.replica.audit.test_sources import repository

ROOT = Path(__file__).parents[3]
DMP = (sys.executable, "-m", "replica.cli.main")


def dmp(folder: Path, *arguments: str, stdin: bytes = b"") -> subprocess.CompletedProcess[str]:
    code, out, err = forked.run(
        arguments, env=environment(folder), stdin=stdin, seconds=PATIENCE, folder=folder
    )
    return subprocess.CompletedProcess(arguments, code, out.decode(), err.decode())


def environment(folder: Path) -> dict[str, str]:
    return {
        "PATH": f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin",
        "PYTHONPATH": str(ROOT),
        "HOME": str(folder),
        "DMP_DIR": str(folder / "ada"),
        "TMPDIR": str(folder),
        "COLUMNS": "200",
        "TZ": "UTC",
    }


def write(folder: Path, lines: Sequence[bytes]) -> str:
    (folder / "team.jsonl").write_bytes(b"".join(line + b"\n" for line in lines))
    return "team.jsonl"


def document(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    value = json.loads(done.stdout)
    assert isinstance(value, dict)
    return value


def test_a_tampered_op_on_a_real_branch_is_caught_at_its_seq(tmp_path: Path) -> None:
    team = Orchard()
    bare = repository(tmp_path, team.members)
    done = dmp(tmp_path, "audit", "--from", "git:team.git")
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("All 3 chains verify.\n")
    tamper(bare, BOB, b'"t-1"', b'"t-9"')
    done = dmp(tmp_path, "audit", "--from", "git:team.git")
    assert done.returncode == 1
    assert f"{BOB} stalls at seq 3 (bodyHash mismatch)" in done.stdout
    assert done.stdout.endswith("1 of 3 chains with a fault.\n")
    found = document(dmp(tmp_path, "audit", "--from", f"git:{bare}", "--json"))
    assert {each["replica"]: each["fault"] and each["fault"]["seq"] for each in found["replicas"]} == {
        ADA: None,
        BOB: 3,
        EVE: None,
    }


def tamper(bare: Path, replica: str, old: bytes, new: bytes) -> None:
    """Change bytes of a segment as anyone with write access could: by a commit on top."""
    place = f"fed/{replica}/000000000001.jsonl"
    git = ("git", f"--git-dir={bare}")
    data = subprocess.run([*git, "show", f"dmp-federation:{place}"], capture_output=True, check=True).stdout
    changed = data.replace(old, new)
    assert changed != data
    stream = (
        b"commit refs/heads/dmp-federation\ncommitter X <x@example.invalid> 1790000000 +0000\ndata 0\n\n"
        b"from refs/heads/dmp-federation^0\nM 100644 inline %s\ndata %d\n%s\n"
        % (place.encode(), len(changed), changed)
    )
    subprocess.run([*git, "fast-import", "--quiet"], input=stream, check=True)


def test_people_read_a_table_and_a_sentence_for_each_fault_and_remark(tmp_path: Path) -> None:
    team = Orchard()
    cy = Member(CY, 3).announce()
    team.ada.admit(cy)
    team.ada.revoke(cy)
    cy.tasks(2)
    del team.bob.ops[2]
    team.eve.tasks(1)
    thief = Member(ADA, 9).announce()
    done = dmp(
        tmp_path, "audit", "--from", write(tmp_path, [*team.lines, *cy.lines, *thief.lines, b"not an op"])
    )
    assert done.returncode == 1
    out = done.stdout
    assert re.search(rf"{ADA} +ada, desk +founder +7 .* verified\n", out)
    assert re.search(rf"{BOB} +bob, desk +member +2 .* gap at 4\n", out)
    assert f"{BOB} has a gap" in out
    assert f"{CY}: 2 ops after its cut at seq 1, without effect." in out
    assert f"{ADA}: 1 other key announced for this id, without effect." in out
    assert "1 line passed over as no op: team.jsonl line 18 (not JSON)." in out
    assert team.bob.key.fingerprint in out
    assert out.endswith("1 of 4 chains with a fault.\n")


def test_a_source_that_cannot_be_read_exits_2(tmp_path: Path) -> None:
    team, cy = Orchard(), Member(CY, 3).announce()
    cy.found("Vineyard")
    (tmp_path / "no.git").mkdir()
    file = write(tmp_path, [*team.lines, *cy.lines])
    for arguments in (
        (),
        ("--from", "missing.jsonl"),
        ("--from", "git:no.git"),
        ("--from", "git:ext::sh -c true"),
        ("--from", file),
        ("--from", file, "--team", "Meadow"),
        ("--from", file, "--team", "Orchard", "--replica", "nobody"),
        ("--from", "-"),
    ):
        done = dmp(tmp_path, "audit", *arguments)
        assert (done.returncode, done.stdout) == (2, ""), arguments
        assert done.stderr.startswith("dmp: ")
        assert "Traceback" not in done.stderr
        found = document(dmp(tmp_path, "audit", *arguments, "--json"))
        assert found["error"]["message"]


def test_an_interrupted_audit_leaves_nothing_behind(tmp_path: Path) -> None:
    pipe, temporary = tmp_path / "pipe", tmp_path / "temporary"
    os.mkfifo(pipe)
    temporary.mkdir()
    process = subprocess.Popen(
        [*DMP, "audit", "--from", str(pipe)],
        env=environment(tmp_path) | {"TMPDIR": str(temporary)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    with pipe.open("wb", buffering=0) as writer:  # returns once the audit reads
        writer.write(Orchard().lines[0])
        process.send_signal(signal.SIGINT)
    # A read that had begun sees the signal; one that was about to sees the end of the pipe, and then the signal.
    _, said = process.communicate()
    assert process.returncode == 130
    assert b"Traceback" not in said
    assert list(temporary.iterdir()) == []


def test_progress_is_shown_on_a_terminal_alone(tmp_path: Path) -> None:
    file = write(tmp_path, Orchard().lines)
    master, terminal = os.openpty()
    done = subprocess.run(
        [*DMP, "audit", "--from", file],
        cwd=tmp_path,
        env=environment(tmp_path) | {"TERM": "xterm"},
        stdout=subprocess.PIPE,
        stderr=terminal,
    )
    os.close(terminal)
    shown = os.read(master, 65536)
    os.close(master)
    assert b"reading" in shown
    assert b"reading" not in done.stdout
    assert dmp(tmp_path, "audit", "--from", file).stderr == ""


def test_progress_says_how_far_it_is() -> None:
    shown: list[str] = []
    steps = Steps(shown.append)
    steps.begin("verifying", 1200)
    for _ in range(1200):
        steps.advance()
    assert shown == [
        "verifying: ████████░░░░░░░░░░░░ 500 of 1,200 lines",
        "verifying: ████████████████░░░░ 1,000 of 1,200 lines",
    ]


def test_m6_text_of_others_never_acts_on_a_terminal(tmp_path: Path) -> None:
    evil = "\x1b]0;owned\x07\x1b[2J[bold red]All 9 chains verify.\u202e\r\n"
    team = Orchard()
    founder = Member(ADA, 1).announce(device="\u202e[link=x]desk")
    founder.key = team.ada.key
    founder.found(evil)
    founder.roster(Admit(BOB, evil, Role.MEMBER, team.bob.key.fingerprint))
    done = dmp(tmp_path, "audit", "--from", write(tmp_path, [*founder.lines, *team.bob.lines]))
    assert done.returncode == 0, done.stderr
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", done.stdout)
    assert "\\x1b[2J[bold red]" in done.stdout
    assert "[link=x]desk" in done.stdout
    assert not any(line.startswith("All 9") for line in done.stdout.splitlines())
    two = [*founder.lines, *Orchard().lines]
    refused = dmp(tmp_path, "audit", "--from", write(tmp_path, [*two, *other_founding(evil)]))
    assert refused.returncode == 2
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", refused.stderr)


def other_founding(name: str) -> list[bytes]:
    cy, dee = Member(CY, 3).announce(), Member("dee-0000000d", 4).announce()
    cy.found(name)
    dee.found("Plain")
    return [*cy.lines, *dee.lines]


def test_the_document_has_the_members_the_page_names(tmp_path: Path) -> None:
    found = document(dmp(tmp_path, "audit", "--json", "--from", write(tmp_path, [*Orchard().lines, b"{}"])))
    page = (ROOT / "docs" / "audit.md").read_text(encoding="utf-8")
    tables = page.split("## The JSON document")[1]
    named = set(re.findall(r"`(\w+)`", tables))
    (place,) = found["skipped"]["places"]
    for members in (found, found["team"], found["replicas"][0], found["unlisted"], found["skipped"], place):
        assert set(members) <= named
    assert set(re.findall(r"^\| `([\w-]+)` \|", page.split("## The report")[0], re.MULTILINE)) == {
        *("verified", "fork", "halt", "stall", "gap", "short", "clock", "undecided", "no-key"),
    }
