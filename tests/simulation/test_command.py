"""The command that runs many seeds, as docs/simulation.md has it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.simulation import __main__ as command
from tests.simulation.acts import Script
from tests.simulation.run import Outcome, run

ROOT = Path(__file__).parents[2]


def test_make_runs_as_many_seeds_as_it_is_told() -> None:
    said = subprocess.run(
        ["make", "--dry-run", "--assume-old=setup", "simulate", "SEEDS=4"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "MAKEFLAGS": ""},
    )
    assert "-m tests.simulation --seeds 4" in said.stdout


def test_seeds_are_run_on_several_processes_and_told_as_json() -> None:
    said = subprocess.run(
        [sys.executable, "-m", "tests.simulation", "--seeds", "12", "--processes", "2", "--json"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert said.returncode == 0, said.stdout + said.stderr
    told = json.loads(said.stdout)
    assert (told["seeds"], told["failed"]) == (12, [])
    assert told["happened"]["sync"] > 0


def test_one_seed_is_told_as_text() -> None:
    said = CliRunner().invoke(command.main, ["--seed", "3"])
    assert said.exit_code == 0
    assert "every promise was kept" in said.output


def test_a_run_that_was_interrupted_says_how_far_it_came_and_is_no_success(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def stops_at_once(wanted: range, processes: int, over: str, tally: command.Tally) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "_run_all", stops_at_once)
    said = CliRunner().invoke(command.main, ["--seeds", "4"])
    assert said.exit_code == 130
    assert "interrupted after 0 of 4 seeds" in said.output


def test_no_seeds_at_all_are_refused() -> None:
    assert CliRunner().invoke(command.main, ["--seeds", "0"]).exit_code == 2


def test_a_broken_promise_is_told_with_a_script_that_shows_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def breaks(script: Script, over: str) -> Outcome:
        found = run(Script(script.seed, script.size, ()))
        needed = [act for act in script.acts if act.what == "begin a session"]
        return Outcome(script, found.happened, f"{script.seed} lost something" if needed else None)

    monkeypatch.setattr(command, "run", breaks)
    said = CliRunner().invoke(command.main, ["--seed", "5"])
    assert said.exit_code == 1
    assert "5 lost something" in said.output
    assert said.output.count("Act('") == 1
    assert "outcome = run(Script(seed=5" in said.output
