"""What `--help` shows: an example of every command, which is a valid command."""

import shlex
from collections.abc import Iterator

import click
import pytest

from replica.cli import main
from replica.cli.context import Cli
from replica.cli.examples import EXAMPLES


def commands(group: click.Group, path: str) -> Iterator[str]:
    """The whole names of a group's commands that do something when nothing follows."""
    ctx = click.Context(group)
    for name in group.list_commands(ctx) if path != "dmp" else main.COMMANDS:
        found = group.get_command(ctx, name)
        if isinstance(found, click.Group):
            if found.invoke_without_command:
                yield f"{path} {name}"
            yield from commands(found, f"{path} {name}")
        else:
            yield f"{path} {name}"


def test_every_command_has_an_example_and_nothing_else_has() -> None:
    assert set(commands(main.dmp, "dmp")) == set(EXAMPLES)


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_is_a_valid_command_of_that_name(name: str) -> None:
    group: click.Command = main.dmp
    _, *words = shlex.split(EXAMPLES[name])
    ctx = group.make_context("dmp", words, obj=Cli())
    while isinstance(group, click.Group):
        words = [*ctx._protected_args, *ctx.args]
        if not words:
            break
        called, found, rest = group.resolve_command(ctx, words)
        assert found is not None
        group, ctx = found, found.make_context(called, rest, parent=ctx)
    assert ctx.command_path == name


def test_the_help_of_a_command_ends_with_its_example(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.run(["team", "invite", "--help"]) == 0
    assert capsys.readouterr().out.endswith("\nExample:\n  $ dmp team invite bob\n")
