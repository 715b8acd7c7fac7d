"""`dmp log --since` takes a while ago, a day or a moment, and says so of anything else."""

import json
import re
from pathlib import Path

import pytest

from replica.cli.main import run
from replica.node import create, opened
from replica.records import problems
from replica.records.commits import CommitPoint
from replica.records.problems import Problem


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A replica with a problem of long ago."""
    create(tmp_path / "ada", "ada", "laptop")
    with opened(tmp_path / "ada") as node, node.store.transaction(CommitPoint.PROBLEM) as db:
        problems.note(db, Problem("halt:bob-00000000", "it broke\x1b[31m", at="2026-03-01T12:00:00.000Z"))
    return tmp_path / "ada"


@pytest.mark.parametrize(
    ("since", "count"),
    [
        *((None, 1), ("2026-03-01", 1), ("2026-03-01T12:00:00.000Z", 1), ("2026-03-01T12:00:00.001Z", 0)),
        *(("2026-03-01T14:00+02:00", 1), ("9999w", 1), ("1m", 0)),
    ],
)
def test_only_what_happened_since_then_is_listed(
    root: Path, capsys: pytest.CaptureFixture[str], since: str | None, count: int
) -> None:
    assert run(["log", "--dir", str(root), "--json", *([] if since is None else ["--since", since])]) == 0
    assert len(json.loads(capsys.readouterr().out)["log"]) == count


@pytest.mark.parametrize("since", ["", "yesterday", "7", "2026-13-01", "999999w", "-1d"])
def test_what_is_no_time_is_refused_with_an_example(
    root: Path, capsys: pytest.CaptureFixture[str], since: str
) -> None:
    assert run(["log", "--dir", str(root), f"--since={since}"]) == 2
    assert "write 30m, 2h, 7d" in capsys.readouterr().err


def test_people_are_told_times_in_their_own_zone_and_programs_exact_ones(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place, root = tmp_path / "place", str(tmp_path / "ada")
    place.mkdir()
    create(tmp_path / "ada", "ada", "laptop")
    assert run(["team", "found", "Orchard", "--git", f"dir:{place}", "--dir", root]) == 0
    assert run(["team", "invite", "bob", "--dir", root]) == 0
    capsys.readouterr()
    exact = re.compile(r"invited bob, until \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")
    assert run(["log", "--dir", root, "--json"]) == 0
    assert any(exact.search(each["text"]) for each in json.loads(capsys.readouterr().out)["log"])
    assert run(["log", "--dir", root]) == 0
    told = capsys.readouterr().out
    assert re.search(r"invited bob, until \d{4}-\d\d-\d\d \d\d:\d\d$", told, re.MULTILINE)
    assert "declared that logs without signatures" in told


def test_what_others_wrote_does_not_act_on_the_terminal(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["log", "--dir", str(root)]) == 0
    assert "halt     it broke\\x1b[31m" in capsys.readouterr().out
