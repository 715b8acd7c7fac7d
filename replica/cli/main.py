"""`dmp`: the command line of a replica. This file finds the commands and reports how each one ended."""

import importlib
import logging
import os
import sys
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NoReturn, TextIO

import click

from replica.cli.context import LINE_CHARACTERS, Cli, shared_options
from replica.cli.failures import BUG, INTERRUPTION, USAGE, Failure, failure_of
from replica.cli.lines import LINES
from replica.cli.text import escaped

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

COMMANDS: Final[Mapping[str, str]] = {
    "init": "replica.cli.init:init",
    "team": "replica.cli.team:team",
    "join": "replica.cli.join:join",
    "send": "replica.cli.send:send",
    "reply": "replica.cli.send:reply",
    "sync": "replica.cli.sync:sync",
    "transport": "replica.cli.transport:transport",
    "inbox": "replica.cli.inbox:inbox",
    "read": "replica.cli.read:read",
    "thread": "replica.cli.read:thread",
    "open": "replica.cli.inbox:open_questions",
    "task": "replica.cli.task:task",
    "session": "replica.cli.session:session",
    "agent": "replica.cli.agent:agent",
    "channel": "replica.cli.channel:channel",
    "doc": "replica.cli.doc:doc",
    "memory": "replica.cli.memory:memory",
    "gates": "replica.cli.gates:gates",
    "answer": "replica.cli.send:answer",
    "close": "replica.cli.send:close",
    "problems": "replica.cli.health:problems",
    "resume": "replica.cli.health:resume",
    "serve": "replica.cli.serve:serve",
    "token": "replica.cli.token:token",
    "web": "replica.cli.web:web",
    "mcp": "replica.cli.mcp:mcp",
    "backup": "replica.cli.backup:backup",
    "restore": "replica.cli.backup:restore",
    "service": "replica.cli.service:service",
    "log": "replica.cli.log:log",
    "doctor": "replica.cli.doctor:doctor",
    "audit": "replica.cli.audit:audit",
    "op": "replica.cli.op:op",
    "export": "replica.cli.export:export_log",
    "import": "replica.cli.export:import_log",
    "relay": "replica.cli.relay:relay",
    "completion": "replica.cli.completion:completion",
}
"""Where each command is. A module is imported when its command is used, so that `dmp` starts quickly."""


class Commands(click.Group):
    """A group whose commands are imported when they are used: its own, and those that packages add."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        from replica.cli import added

        return [*COMMANDS, *(name for name in added.commands() if name not in COMMANDS)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in COMMANDS:
            from replica.cli import added

            return added.command(cmd_name)
        module, _, name = COMMANDS[cmd_name].partition(":")
        found = getattr(importlib.import_module(module), name)
        assert isinstance(found, click.Command)
        return found

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if not name[:1].isalpha() or ctx.resilient_parsing:
            return super().resolve_command(ctx, args)
        command = self.get_command(ctx, name)
        if command is None:
            import difflib  # late: most names are typed well

            close = difflib.get_close_matches(name, self.list_commands(ctx))
            near = " or ".join(f"`dmp {each}`" for each in close)
            ctx.fail(f"there is no command {name}{f'; did you mean {near}?' if near else ''}")
        return name, command, args[1:]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(self._lines(ctx).items()))

    def shell_complete(self, ctx: click.Context, incomplete: str) -> "list[CompletionItem]":
        from click.shell_completion import CompletionItem

        listed = self._lines(ctx).items()
        commands = [CompletionItem(name, help=line) for name, line in listed if name.startswith(incomplete)]
        return commands + click.Command.shell_complete(self, ctx, incomplete)

    def _lines(self, ctx: click.Context) -> dict[str, str]:
        """What each command is for, in the order in which they are listed."""
        from replica.cli import added

        lines = {name: LINES.get(name) or _line(self.get_command(ctx, name)) for name in COMMANDS}
        for name, command in added.commands().items():
            lines.setdefault(name, _line(command))
        return lines

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            if ctx.ensure_object(Cli).as_json:
                raise INTERRUPTION from None  # click would end the line of the `^C` on standard error
            raise


def _line(command: click.Command | None) -> str:
    assert command is not None
    return command.get_short_help_str(limit=LINE_CHARACTERS)


@click.group(
    cls=Commands,
    params=shared_options(),
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Exit codes: 0 done; 1 refused by the protocol, the far side or this machine; 2 not a valid "
    "command; 3 `dmp doctor` found something to look at; 70 a bug in dmp; 130 interrupted.",
)
@click.version_option(package_name="dmp-replica", prog_name="dmp")
def dmp() -> None:
    """Signed, end-to-end encrypted mail and questions between teammates, over a git branch, a shared folder or a relay.

    Start with `dmp init --handle NAME`.
    """


def run(arguments: Sequence[str]) -> int:
    """Run one command and return its exit code. No exception leaves this function but SystemExit."""
    cli = Cli()
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    logging.getLogger().addHandler(logging.NullHandler())
    try:
        code = dmp.main(list(arguments), prog_name="dmp", standalone_mode=False, obj=cli)
        sys.stdout.flush()
    except click.exceptions.NoArgsIsHelpError as error:
        cli.screen.note(*error.format_message().splitlines())
        return USAGE
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - a person never sees a traceback
        failure = failure_of(error)
        if failure is None or isinstance(error, click.ClickException | click.Abort | KeyboardInterrupt):
            cli.as_json |= "--json" in arguments  # it may have failed before its options were read
        return _report(cli, failure or _bug(error, traced="--verbose" in arguments))
    return code if isinstance(code, int) else 0


def main() -> NoReturn:
    """The entry point."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # it was closed before the command started
            setattr(sys, name, _nowhere())
    sys.exit(run(sys.argv[1:]))


def _nowhere() -> TextIO:
    return Path(os.devnull).open("w")


def _report(cli: Cli, failure: Failure) -> int:
    try:
        if cli.as_json:
            cli.screen.document(failure.to_json())
        else:
            cli.screen.note(failure.sentence(), *([f"  {failure.hint}"] if failure.hint else []))
        sys.stdout.flush()
    except OSError:  # nobody reads it, or the disk it goes to is full
        sys.stdout = sys.stderr = _nowhere()  # what is left is not written at the exit either
    return failure.exit


def _bug(error: BaseException, *, traced: bool) -> Failure:
    if traced:
        from transports.remotes import redact

        for line in redact("".join(traceback.format_exception(error))).splitlines():
            print(escaped(line), file=sys.stderr)
    return Failure(
        "bug",
        f"this is a bug in dmp ({type(error).__name__}); nothing that was done is lost",
        hint="run the same command with --verbose to see where it happened, and report that to whoever "
        "maintains dmp",
        exit=BUG,
    )


if __name__ == "__main__":
    main()
