"""The commands that measure: what they tell, and that they leave nothing behind. How fast anything is fails no test."""

import json
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from replica.cli import main
from tests.transports.relay.process import served
from transports.base import Pull, PullReport
from transports.bench import measure, picture
from transports.memory import MemoryTransport

Run = Callable[..., Any]
SMALL = ("--ops", "20", "--samples", "1")
SIX = ("--replicas", "6", "--teams", "2", "--rate", "40", "--seconds", "0.5", "--ops", "30")


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where temporary files are made."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], temporary: Path) -> Run:
    """Run a command, and read its document. It has to leave no temporary file."""

    def run_(*arguments: str, code: int = 0) -> Any:
        assert main.run([*arguments, "--json"]) == code
        assert [*temporary.iterdir()] == []
        return json.loads(capsys.readouterr().out)

    return run_


@pytest.fixture
def stick(tmp_path: Path) -> Iterator[Path]:
    """A directory, which is as empty afterwards."""
    made = tmp_path / "stick"
    made.mkdir()
    yield made
    assert [*made.iterdir()] == []


@pytest.fixture
def repository(tmp_path: Path) -> Iterator[Path]:
    """A bare repository, which has no branch afterwards."""
    made = tmp_path / "team.git"
    subprocess.run(["git", "init", "-q", "--bare", str(made)], check=True)
    yield made
    assert subprocess.check_output(["git", "-C", str(made), "for-each-ref"]) == b""


def test_transports_are_measured_side_by_side_and_keep_nothing(
    run: Run, stick: Path, repository: Path, tmp_path: Path
) -> None:
    with served(tmp_path / "relay", difficulty=4) as relay:
        addresses = ("memory:bench", f"dir:{stick}", str(repository), relay.url)
        told = run("transport", "bench", *addresses, *SMALL)
    assert [each["address"] for each in told["transports"]] == [*addresses]
    assert told["failed"] == []
    for each in told["transports"]:
        assert 0 < each["seconds"]["median"] <= each["seconds"]["longest"]
        assert each["opsPerSecond"] > 0
        assert each["recovery"] > 0
    sizes = [each["bytesPerOp"] for each in told["transports"]]
    assert [size is None for size in sizes] == [True, False, False, True]
    assert sizes[1] > sizes[2] > 0  # git compresses


def test_a_relay_that_wants_a_token_is_measured_with_one_and_others_are_without(
    run: Run, tmp_path: Path
) -> None:
    tokens = tmp_path / "tokens"
    tokens.write_text("open-sesame\n")
    with served(tmp_path / "relay", "--token-file", str(tokens), "--token-required") as relay:
        told = run("transport", "bench", relay.url, "memory:bench", *SMALL, code=1)
        assert [each["address"] for each in told["transports"]] == ["memory:bench"]
        (failed,) = told["failed"]
        assert (failed["address"], failed["error"]["code"]) == (relay.url, "refused")
        assert run("transport", "bench", relay.url, "--token", "open-sesame", *SMALL)["failed"] == []


def test_a_transport_that_drops_ops_is_told_from_a_slow_one(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measure, "SEEN_SECONDS", 0.1)
    monkeypatch.setattr(MemoryTransport, "pull", lambda *_, **__: Pull(iter(()), PullReport()))
    (failed,) = run("transport", "bench", "memory:bench", *SMALL, code=1)["failed"]
    assert "did not reach the other" in failed["error"]["message"]


def test_interrupting_cleans_up(
    run: Run, monkeypatch: pytest.MonkeyPatch, stick: Path, repository: Path
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(measure._Pair, "delay", interrupt)
    for address in (f"dir:{stick}", str(repository)):
        told = run("transport", "bench", address, *SMALL, code=130)
        assert told["error"]["code"] == "interrupted"


def test_people_get_a_table_and_a_picture_that_a_browser_shows(
    temporary: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    drawn = tmp_path / "bench.svg"
    assert main.run(["transport", "bench", "memory:costs-$5", *SMALL, "--picture", str(drawn)]) == 0
    header, row = capsys.readouterr().out.splitlines()
    assert header.split()[:3] == ["transport", "one", "op"]
    assert row.startswith("memory:costs-$5 ")
    assert ElementTree.parse(drawn).getroot().tag == "{http://www.w3.org/2000/svg}svg"
    assert [*temporary.iterdir()] == []


def test_a_picture_that_cannot_be_drawn_is_told_before_anything_is_measured(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(measure, "measure", None)
    wrong = run("transport", "bench", "memory:bench", "--picture", str(tmp_path / "bench.gif"), code=2)
    assert ".svg or .png" in wrong["error"]["message"]
    monkeypatch.setattr(picture, "can_draw", lambda: False)
    told = run("transport", "bench", "memory:bench", "--picture", str(tmp_path / "bench.png"), code=1)
    assert "dmp-replica[plots]" in told["error"]["hint"]


def test_a_wrong_address_is_told_before_anything_is_measured(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measure, "measure", None)
    assert run("transport", "bench", "memory:bench", "ext::sh", code=2)["error"]["code"] == "usage"


def test_a_relay_is_loaded_and_every_op_is_seen_by_everybody_else(run: Run) -> None:
    told = run("relay", "bench", *SIX)
    loaded, capacity = told["loaded"], told["capacity"]
    assert (loaded["replicas"], loaded["ops"], loaded["stored"]) == (6, 20, 20)
    assert loaded["seen"] == loaded["expected"] == 40
    assert 0 < loaded["toOthers"]["p50"] <= loaded["toOthers"]["p99"] <= loaded["toOthers"]["longest"]
    assert loaded["memory"] > 2**20
    assert capacity["ratio"] == pytest.approx(capacity["relay"] / capacity["bare"])


def test_a_team_has_somebody_in_it(run: Run) -> None:
    assert run("relay", "bench", "--replicas", "1", "--teams", "2", code=2)["error"]["code"] == "usage"
