"""What every command shares: the options that stand before or after it, the screen, and the opened replica."""

import logging
import os
import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from replica.cli.screen import Screen
from replica.cli.text import escaped

if TYPE_CHECKING:
    from replica.node import DirectoryNode

DIR_VARIABLE: Final = "DMP_DIR"
DEFAULT_DIR: Final = "~/.dmp"
_WHOSE_DIR: Final = f"The replica's directory; else ${DIR_VARIABLE}, else {DEFAULT_DIR}."

LINE_CHARACTERS: Final = 200
"""Characters of what the help says of a command where it lists them."""

_ROOMS: Final = ("bindings", "core", "crypto", "replica", "transports")
"""Whose logs `--verbose` shows. Libraries may log what must not be shown, an address with a password for one."""


@dataclass(slots=True)
class Cli:
    """The shared options of one run."""

    typed_dir: str | None = None
    as_json: bool = False
    verbose: bool = False

    @property
    def root(self) -> Path:
        """The replica's directory: `--dir`, else DMP_DIR, else `~/.dmp`."""
        text = self.typed_dir or os.environ.get(DIR_VARIABLE) or DEFAULT_DIR
        try:
            return Path(text).expanduser()
        except RuntimeError:
            raise click.UsageError(f"there is no home directory for {text}; name one with --dir") from None

    @property
    def screen(self) -> Screen:
        """Where the answer goes."""
        return Screen(as_json=self.as_json)

    def command(self, text: str) -> str:
        """A command to suggest, with the `--dir` that this one had."""
        suffix = f" --dir {shlex.quote(self.typed_dir)}" if self.typed_dir else ""
        return f"dmp {text}{suffix}"

    @contextmanager
    def node(self) -> "Iterator[DirectoryNode]":
        """The replica, opened. Raises DmpError as `replica.node.opened`."""
        from replica.node import opened

        with opened(self.root) as node:
            yield node

    @contextmanager
    def acting(self) -> "Iterator[DirectoryNode]":
        """The replica, opened by a command that sends or answers.

        What a process that is gone left undone is taken up before the command does anything (section 6.3). Where it
        changes what a team shares and this machine only reads along, its last line says that it stays here.
        """
        with self.node() as node:
            fault = node.host.config.fault
            if fault is not None:
                self.screen.note(f"dmp: {fault}; nothing in that file counts until it is mended")
            node.take_up()
            if self.as_json:
                yield node
                return
            from replica.cli.standing import READS_ALONG, reads_along, shared_edits

            if not reads_along(node):
                yield node
                return
            before = shared_edits(node)
            yield node
            if shared_edits(node) != before:
                click.get_current_context().call_on_close(lambda: self.screen.say(READS_ALONG))


def _setter(name: str) -> Callable[[click.Context, click.Parameter, Any], None]:
    def keep(ctx: click.Context, _: click.Parameter, value: Any) -> None:
        cli = ctx.find_object(Cli)
        if not value or cli is None:
            return
        setattr(cli, name, value)
        if name == "verbose":
            _show_logs()

    return keep


def shared_options(directory: str = _WHOSE_DIR) -> list[click.Parameter]:
    """The options that every command takes, before its name or after it; `directory` tells what `--dir` means."""
    return [
        click.Option(
            ["--dir"],
            metavar="DIR",
            expose_value=False,
            callback=_setter("typed_dir"),
            help=directory,
        ),
        click.Option(
            ["--json"],
            is_flag=True,
            is_eager=True,
            expose_value=False,
            callback=_setter("as_json"),
            help="Print one JSON document, also for an error.",
        ),
        click.Option(
            ["--verbose"],
            is_flag=True,
            expose_value=False,
            callback=_setter("verbose"),
            help="Log what is done on standard error.",
        ),
    ]


class _Ours:
    """What every command of `dmp` does: its help ends with an example, and what may be long is shown by pages."""

    paged: bool
    example: str | None

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the example of this command, if it has one."""
        from replica.cli.examples import EXAMPLES

        example = self.example or EXAMPLES.get(ctx.command_path)
        if example is not None:
            with formatter.section("Example"):
                formatter.write(f"{'':{formatter.current_indent}}$ {example}\n")

    def invoke(self, ctx: click.Context) -> Any:
        """Run this command."""
        run: Callable[[click.Context], Any] = super().invoke  # type: ignore[misc]
        if not self.paged or ctx.invoked_subcommand is not None:
            return run(ctx)
        with ctx.ensure_object(Cli).screen.paged():
            return run(ctx)


class Command(_Ours, click.Command):
    """A command that takes the shared options too.

    `directory` tells what `--dir` means, where it is no replica's; `paged` that its answer may be long. `example` is
    for one that another package adds; those of dmp's own stand in `replica.cli.examples`.
    """

    def __init__(
        self,
        *args: Any,
        directory: str = _WHOSE_DIR,
        paged: bool = False,
        example: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self.params += shared_options(directory)
        self.paged = paged
        self.example = example


class Group(_Ours, click.Group):
    """Commands that belong together, listed in the order in which they were written."""

    command_class = Command

    def __init__(self, *args: Any, paged: bool = False, example: str | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.paged = paged
        self.example = example

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(self.commands)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """List the commands, each with the whole first sentence of its help."""
        lines = [
            (name, each.get_short_help_str(limit=LINE_CHARACTERS))
            for name, each in self.commands.items()
            if not each.hidden
        ]
        with formatter.section("Commands"):
            formatter.write_dl(lines)


def group(name: str, **settings: Any) -> Callable[[Callable[..., Any]], Group]:
    """Make a group of commands, which takes the shared options too."""
    return click.group(name, cls=Group, params=shared_options(), **settings)


command = partial(click.command, cls=Command)
pass_cli = click.make_pass_decorator(Cli)


class _Escaping(logging.Formatter):
    """Writes a record as one line that cannot act on a terminal."""

    def format(self, record: logging.LogRecord) -> str:
        return escaped(super().format(record))


def _show_logs() -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Escaping("%(asctime)s %(name)s: %(message)s"))
    for name in _ROOMS:
        room = logging.getLogger(name)
        room.setLevel(logging.DEBUG)
        room.handlers = [handler]
