"""How a command ends: exit codes, errors for people and programs, and never a traceback."""

import json
import logging
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from core.errors import Code, DmpError
from replica.cli import main
from replica.cli.context import Command
from replica.cli.failures import failure_of
from transports.base import Behind, Refused, Unreachable


@pytest.fixture(autouse=True)
def _no_logs_afterwards() -> Iterator[None]:
    """Take back what `--verbose` set up: a process ends with its command, and a test does not."""
    yield
    for name in ("core", "crypto", "replica", "transports"):
        room = logging.getLogger(name)
        room.handlers = []
        room.setLevel(logging.NOTSET)


def run(*arguments: str) -> int:
    return main.run(arguments)


def break_with(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    """Let `dmp inbox` raise `error`."""

    def fail(_group: object, _ctx: click.Context, _name: str) -> click.Command:
        def raise_it() -> None:
            raise error

        return Command("inbox", callback=raise_it)

    monkeypatch.setattr(main.Commands, "get_command", fail)


@pytest.mark.parametrize(
    ("error", "code", "exit_"),
    [
        (DmpError(Code.CONFLICT, "twice"), "conflict", 1),
        (Unreachable("gone", "look"), "unreachable", 1),
        (Behind("late"), "behind", 1),
        (Refused("no"), "refused", 1),
        (sqlite3.DatabaseError("malformed"), "unavailable", 1),
        (PermissionError(13, "Permission denied", "/x"), "unavailable", 1),
        (click.UsageError("what"), "usage", 2),
        (KeyboardInterrupt(), "interrupted", 130),
    ],
)
def test_every_expected_end_has_its_code(error: BaseException, code: str, exit_: int) -> None:
    failure = failure_of(error)
    assert failure is not None
    assert (failure.code, failure.exit) == (code, exit_)


def test_a_text_that_is_no_utf_8_is_not_shown() -> None:
    db = sqlite3.connect(":memory:")
    with pytest.raises(sqlite3.OperationalError) as damaged:
        db.execute("SELECT cast(x'6d7920736563726574ff' AS TEXT) AS body").fetchone()
    db.close()
    assert "my secret" in str(damaged.value)  # which is why
    failure = failure_of(damaged.value)
    assert failure is not None
    assert (failure.code, failure.exit) == ("unavailable", 1)
    assert "my secret" not in failure.message


@pytest.mark.parametrize("error", [KeyError("x"), sqlite3.ProgrammingError("x"), AssertionError()])
def test_any_other_exception_is_a_bug(error: BaseException) -> None:
    assert failure_of(error) is None


def test_a_bug_is_told_in_a_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    break_with(monkeypatch, RuntimeError("inner"))
    assert run("inbox") == 70
    err = capsys.readouterr().err
    assert "a bug in dmp (RuntimeError)" in err
    assert "--verbose" in err
    assert "Traceback" not in err


def test_a_bug_is_traced_when_asked_for_without_passwords(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    break_with(monkeypatch, RuntimeError("https://ada:hunter2@example.org\x1b[2J"))
    assert run("inbox", "--verbose") == 70
    err = capsys.readouterr().err
    assert "Traceback" in err
    assert "RuntimeError: https://example.org\\x1b[2J" in err


def test_an_interruption_says_that_nothing_is_lost(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    break_with(monkeypatch, KeyboardInterrupt())
    assert run("inbox") == 130
    assert "Nothing is lost" in capsys.readouterr().err


def test_m6_an_error_message_cannot_act_on_the_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    break_with(monkeypatch, DmpError(Code.INVALID, "bad\x1b[2J\nname", "to[0]"))
    assert run("inbox") == 1
    assert capsys.readouterr().err == "dmp: bad\\x1b[2J\\x0aname [invalid on to[0]]\n"


@pytest.mark.parametrize("arguments", [["--json", "inbox"], ["inbox", "--json"]])
def test_a_program_gets_an_error_as_one_document(
    arguments: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(*arguments, "--dir", str(tmp_path)) == 1
    told = capsys.readouterr()
    assert json.loads(told.out)["error"]["code"] == "not-found"
    assert told.err == ""


def test_a_wrong_option_is_a_document_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("inbox", "--json", "--bogus") == 2
    assert json.loads(capsys.readouterr().out)["error"]["code"] == "usage"


def test_the_directory_is_taken_from_before_or_after_the_command_or_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("--dir", str(tmp_path / "a"), "init", "--handle", "ada") == 0
    assert run("inbox", "--dir", str(tmp_path / "a")) == 0
    assert run("--dir", str(tmp_path / "other"), "inbox", "--dir", str(tmp_path / "a")) == 0
    monkeypatch.setenv("DMP_DIR", str(tmp_path / "a"))
    assert run("inbox") == 0
    assert run("inbox", "--dir", str(tmp_path / "other")) == 1


def test_a_suggested_command_repeats_the_directory(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = tmp_path / "a b"
    run("init", "--handle", "ada", "--dir", str(root))
    assert f"dmp join CODE --git REMOTE --dir '{root}'" in capsys.readouterr().out


def test_every_command_is_there_and_explains_itself(capsys: pytest.CaptureFixture[str]) -> None:
    for name in main.COMMANDS:
        assert run(name, "--help") == 0
        assert f"Usage: dmp {name}" in capsys.readouterr().out


def test_help_tells_the_exit_codes(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--help") == 0
    assert "Exit codes: 0 done; 1 refused" in capsys.readouterr().out
    assert run() == 2
    assert "Usage: dmp" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        (["snyc"], "there is no command snyc; did you mean `dmp sync`?"),
        (["walk"], "there is no command walk ["),
        (["send", "human:bob"], "say for whom it is, and then what: ADDRESS... BODY"),
        (["send"], "'ADDRESS... BODY'"),
        (["completion"], "Choose from: bash, zsh, fish [usage]"),
        (["team", "role", "bob-1", "amdin"], "'ROLE': 'amdin' is not one of 'member', 'admin'"),
    ],
)
def test_what_was_mistyped_is_said_in_the_words_of_the_help(
    typed: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(*typed) == 2
    assert told in capsys.readouterr().err


def test_an_interruption_leaves_a_program_nothing_but_its_document(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    break_with(monkeypatch, KeyboardInterrupt())
    assert run("inbox", "--json") == 130
    told = capsys.readouterr()
    assert json.loads(told.out)["error"]["code"] == "interrupted"
    assert told.err == ""


def options_without_help(group: click.Command, ctx: click.Context, path: str) -> list[str]:
    """The options of a command, and of those under it, that say nothing of themselves."""
    silent = [
        f"{path} {option.opts[0]}"
        for option in group.params
        if isinstance(option, click.Option) and not option.help and not option.hidden
    ]
    if not isinstance(group, click.Group):
        return silent
    for name in group.list_commands(ctx):
        each = group.get_command(ctx, name)
        assert each is not None
        assert each.help, f"{path} {name} says nothing of itself"
        silent += options_without_help(each, ctx, f"{path} {name}")
    return silent


def test_every_command_and_every_option_says_what_it_is_for() -> None:
    assert options_without_help(main.dmp, click.Context(main.dmp), "dmp") == []


def test_what_a_group_lists_of_its_commands_is_whole() -> None:
    ctx = click.Context(main.dmp)
    groups = [
        each for name in main.COMMANDS if isinstance(each := main.dmp.get_command(ctx, name), click.Group)
    ]
    cut = [
        line for each in groups for line in each.get_help(click.Context(each)).splitlines() if "..." in line
    ]
    assert len(groups) > 10
    assert [line for line in cut if "Usage:" not in line] == []


def test_help_of_the_service_says_of_each_setting_what_it_is_as_it_is_typed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run("serve", "--help") == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "Whether notify-send, where there is one, tells of new mail" in told
    assert "[default: false]" in told
    assert "[default: 127.0.0.1:7440]" in told


@pytest.mark.parametrize("command", ["serve", "backup"])
def test_help_says_that_a_relay_s_directory_is_no_replica_s(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("relay", command, "--help") == 0
    told = capsys.readouterr().out
    assert "The relay's directory" in told
    assert "DMP_RELAY_DIR" in told
    assert "~/.dmp" not in told


def test_a_program_is_told_in_json_that_a_command_was_interrupted_before_its_options_were_read(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(_group: object, _ctx: click.Context, _name: str) -> click.Command:
        raise KeyboardInterrupt

    monkeypatch.setattr(main.Commands, "get_command", interrupted)
    assert run("inbox", "--json") == 130
    told = capsys.readouterr()
    assert json.loads(told.out)["error"]["code"] == "interrupted"
    assert told.err.strip() == ""
