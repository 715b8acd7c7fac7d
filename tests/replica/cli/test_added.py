"""Commands that other packages add to `dmp`: found by entry point, and harmless where they are broken."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from replica.cli import main

MODULE = """
import click

@click.command(short_help="Say hello.")
def hello():
    click.echo("hello from a package")

@click.command("init")
def impostor():
    raise AssertionError("a package's command in place of dmp's own")

not_a_command = 7
"""


@pytest.fixture(autouse=True)
def _package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package that adds commands, some of which cannot be loaded."""
    (tmp_path / "dmp_greeter.py").write_text(MODULE)
    metadata = tmp_path / "dmp_greeter-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: dmp-greeter\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(
        "[dmp.commands]\n"
        "hello = dmp_greeter:hello\n"
        "init = dmp_greeter:impostor\n"
        "gone = dmp_greeter:removed\n"
        "number = dmp_greeter:not_a_command\n"
        "absent = dmp_greeter_that_is_not_there:command\n"
    )
    monkeypatch.syspath_prepend(tmp_path)


def test_an_added_command_runs_under_its_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.run(["hello"]) == 0
    assert capsys.readouterr().out == "hello from a package\n"


def test_help_lists_the_added_commands_that_can_be_loaded(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.run(["--help"]) == 0
    told = capsys.readouterr().out
    listed = [line.split()[0] for line in told.partition("Commands:")[2].splitlines() if line.strip()]
    assert {"hello", "conformance-adapter", *main.COMMANDS} <= set(listed)
    assert not {"gone", "number", "absent"} & set(listed)
    assert listed.count("init") == 1


@pytest.mark.parametrize(
    ("name", "reason"),
    [("gone", "AttributeError"), ("absent", "ModuleNotFoundError"), ("number", "is no command")],
)
def test_a_command_that_cannot_be_loaded_says_why_and_who_brought_it(
    name: str, reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main.run(["--json", name]) == 1
    error = json.loads(capsys.readouterr().out)["error"]
    assert (error["code"], reason in error["message"]) == ("unavailable", True)
    assert "dmp-greeter" in error["hint"]


def test_an_added_command_never_takes_the_place_of_one_of_dmps_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main.run(["init", "--handle", "ada", "--dir", str(tmp_path / "home")]) == 0
    capsys.readouterr()


def test_a_mistyped_added_command_is_suggested(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.run(["helo"]) == 2
    assert "did you mean `dmp hello`" in capsys.readouterr().err


def test_dmps_own_commands_start_without_looking_for_others(tmp_path: Path) -> None:
    """The look-up reads the metadata of every installed package."""
    script = (
        "import sys; from replica.cli import main; "
        f"main.run(['init', '--handle', 'ada', '--dir', {str(tmp_path / 'home')!r}]); "
        "print('replica.cli.added' in sys.modules)"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines()[-1] == "False"
