"""Following a branch: what is new is told once, and what goes wrong when it does."""

import json
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from crypto.op import to_line
from replica.audit.news import news, to_json
from replica.cli import main
from tests.replica.audit.orchard import ADA, BOB, CY, EVE, Member, Orchard, audit_lines
from tests.replica.audit.test_command import DMP, environment
from transports.directory import DirectoryTransport


def told(folder: Path, before: list[bytes], after: list[bytes]) -> list[dict[str, Any]]:
    reports = [audit_lines(folder, lines) for lines in (before, after)]
    return [to_json(each) for each in news(*reports)]


def test_nothing_new_is_nothing_to_tell(tmp_path: Path) -> None:
    lines = Orchard().lines
    assert told(tmp_path, lines, lines[::-1]) == []


def test_new_ops_and_newcomers_are_told_with_their_types(tmp_path: Path) -> None:
    team = Orchard()
    before = team.lines
    team.bob.tasks(2)
    team.ada.admit(team.eve)
    cy = Member(CY, 3).announce()
    found = told(tmp_path, before, [*team.lines, *cy.lines])
    heads = {each["replica"]: each["head"]["seq"] for each in found if each["event"] == "ops"}
    assert heads == {ADA: 6, BOB: 7, CY: 1}
    assert [each["types"] for each in found if each["event"] == "ops" and each["replica"] == BOB] == [
        {"task": 2}
    ]
    states = {each["replica"]: (each["was"], each["status"]) for each in found if each["event"] == "status"}
    assert states == {EVE: ("pending", "member"), CY: (None, "pending")}


def test_a_fault_is_told_when_it_appears_and_when_it_is_gone(tmp_path: Path) -> None:
    team = Orchard()
    damaged = [line.replace(b'"t-2"', b'"t-9"') for line in team.lines]
    (first,) = [each for each in told(tmp_path, team.lines, damaged) if each["event"] == "fault"]
    assert (first["replica"], first["kind"], first["seq"], first["proof"]) == (BOB, "stall", 4, False)
    (lost,) = [each for each in told(tmp_path, team.lines, damaged) if each["event"] == "lost"]
    assert (lost["was"]["seq"], lost["head"]["seq"]) == (5, 3)
    assert {each["event"] for each in told(tmp_path, damaged, team.lines)} == {"ops", "mended"}
    rival = to_line(team.bob.rival(team.bob.ops[1], {"rival": True}))
    (fork,) = [each for each in told(tmp_path, team.lines, [*team.lines, rival]) if each["event"] == "fault"]
    assert (fork["kind"], fork["proof"]) == ("fork", True)


def test_k3_a_branch_that_is_set_back_is_told(tmp_path: Path) -> None:
    team = Orchard()
    found = told(tmp_path, team.lines, [*team.ada.lines, *team.bob.lines[:-1]])
    assert [(each["replica"], each["head"]) for each in found if each["event"] == "lost"] == [
        (BOB, {"seq": 4, "hash": team.bob.ops[3].hash}),
        (EVE, None),
    ]


@contextmanager
def watching(folder: Path, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [*DMP, "audit", "--watch", "--interval", "600", *arguments],
        cwd=folder,
        env=environment(folder),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def test_a_folder_is_followed_until_interrupted(tmp_path: Path) -> None:
    team = Orchard()
    place = tmp_path / "shared"
    place.mkdir()
    transport = DirectoryTransport(place)

    def publish(member: Member, *lines: bytes) -> None:
        transport.refresh()
        transport.publish(member.replica, lines or member.lines)

    for member in team.members:
        publish(member)
    with watching(tmp_path, "--json", "--from", f"dir:{place}") as process:
        assert process.stdout is not None

        def next_event() -> dict[str, Any]:
            assert process.stdout is not None
            value = json.loads(process.stdout.readline())
            assert isinstance(value, dict)
            return value

        first = next_event()
        assert (first["event"], first["verified"], len(first["replicas"])) == ("audit", True, 3)
        publish(team.bob, to_line(team.bob.say("task", {"task": "t-new"})))
        assert (next_event()["replica"], team.bob.head.seq) == (BOB, 6)
        publish(
            team.bob,
            to_line(team.bob.rival(team.bob.head, {})),
            to_line(team.bob.rival(team.bob.head, {"n": 1})),
        )
        events = [next_event()]
        while events[-1]["event"] != "fault":
            events.append(next_event())
        assert (events[-1]["kind"], events[-1]["proof"]) == ("fork", True)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
        assert process.returncode == 1  # not every chain verified in the end
        assert "Traceback" not in said


def test_what_cannot_be_followed_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "lines.jsonl").write_bytes(b"\n".join(Orchard().lines))
    for arguments in (
        ("--from", str(tmp_path / "lines.jsonl")),
        ("--from", f"dir:{tmp_path / 'none'}"),
        ("--replica", "bob", "--from", "git:team.git"),
    ):
        assert main.run(["audit", "--watch", *arguments]) == 2
        assert capsys.readouterr().err.startswith("dmp: ")
