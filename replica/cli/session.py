"""`dmp session`: make sessions, be one, end one (section 2.2)."""

import os
import sys
from typing import Final

import click

from core.errors import Code, DmpError, conflict
from crypto.canonical import JsonValue
from replica.cli.context import Cli, group, pass_cli
from replica.cli.messages import message_json
from replica.cli.text import body_lines, moment
from replica.host import items, sessions
from replica.host.attach import Ending, Given, Signals, attend, living
from replica.host.programs import ProgramError, directory_variables, run_program
from replica.host.sessions import Session
from replica.node import Node
from replica.records.commits import CommitPoint

EXEC_SECONDS: Final = 60.0
"""How long a command may take over one message before it counts as failed."""

END_SECONDS: Final = 10.0
"""How long `dmp session end` waits for the process that is the session; it may be giving a message on."""


@group("session")
def session() -> None:
    """Be a session that takes a work item's mail, or see which there are."""


@session.command("start")
@click.option("--task", metavar="ID", help="The work item it stands for; without one it is auxiliary.")
@click.option("--id", "named", metavar="ID", help="Its id, r- and 6 to 12 digits of lowercase hex.")
@pass_cli
def start(cli: Cli, task: str | None, named: str | None) -> None:
    """Make a session, to be attached to.

    It lives while `dmp session attach` runs for it.
    """
    with cli.acting() as node:
        address = None if named is None else sessions.address_of(named)
        with node.store.transaction(CommitPoint.SESSION):
            made = _make(node, task, address)
    if cli.as_json:
        cli.screen.document({"session": _json(made, live=False)})
        return
    cli.screen.say(f"Made {made.address}{_stands_for(made)}. It takes mail while this runs:")
    cli.screen.exact(f"  {cli.command(f'session attach {made.id}')}")


@session.command("attach")
@click.argument("named", required=False, metavar="[ID]")
@click.option("--task", metavar="ID", help="Make a session of this work item, and attach to that.")
@click.option(
    "--exec",
    "command",
    metavar="COMMAND",
    help="Give each message to this line of the shell, on its standard input. If it fails, the message is "
    "held for the next session.",
)
@pass_cli
def attach(cli: Cli, named: str | None, task: str | None, command: str | None) -> None:
    """Be a session: print the mail it gets, at once, until it ends.

    It ends with Ctrl-C, with SIGTERM, with `dmp session end`, and when the other end of standard input or
    output is closed. Mail that was not given on waits for the next session.
    """
    if (named is None) == (task is None):
        raise click.UsageError("name a session, or make one with --task")
    signals = Signals()
    with signals.watched(), cli.acting() as node:

        def find() -> Session:
            if named is not None:
                return node.host.sessions_here.need(sessions.address_of(named))
            made = _make(node, task, None)
            if made.task is not None:
                node.host.sessions_here.need_free(made.task)
            return made

        with living(node, find) as one:
            outlet = _Outlet(cli, node, one, command, signals)
            outlet.begin()
            ending = attend(node, one, outlet.give, signals)
    if ending is Ending.INTERRUPTED:
        raise KeyboardInterrupt
    cli.screen.note(_FAREWELL[ending])


_FAREWELL: Final = {
    Ending.STOPPED: "Stopped. Mail that comes now waits for the next session.",
    Ending.ENDED: "The session was ended. Mail that comes now waits for the next one.",
    Ending.LEFT: "Nobody is at the other end any more; the session ended. Mail that comes now waits for the next.",
}


@session.command("end")
@click.argument("named", metavar="ID")
@pass_cli
def end(cli: Cli, named: str) -> None:
    """End a session, and wait until the process that is it has ended.

    A session that has ended may be attached to again.
    """
    with cli.acting() as node:
        here = node.host.sessions_here
        with node.store.transaction(CommitPoint.SESSION):
            found = here.need(sessions.address_of(named))
            here.need_own(found)
            live = here.is_live(found.address)
            here.end(found, now=node.now())
        if not here.wait_until_free(found.address, END_SECONDS):
            raise DmpError(
                Code.UNAVAILABLE,
                f"{found.address} takes no mail any more, but its process goes on; stop that one",
            )
        node.take_up()
        ended = here.need(found.address)
    if cli.as_json:
        cli.screen.document({"session": _json(ended, live=False), "wasLive": live})
    else:
        cli.screen.say(f"{found.address} has ended." if live else f"{found.address} was not live.")


@session.command("list")
@pass_cli
def list_(cli: Cli) -> None:
    """List the sessions of this machine, the newest last."""
    with cli.node() as node:
        here = node.host.sessions_here
        found = [(each, here.is_live(each.address)) for each in here.every()]
    if cli.as_json:
        cli.screen.document({"sessions": [_json(each, live=live) for each, live in found]})
    elif found:
        cli.screen.table(
            ("session", "work item", "state", "made"),
            [
                [each.id, each.task or "(auxiliary)", _state(each, live), moment(each.started_at or "")]
                for each, live in found
            ],
        )
    else:
        cli.screen.say("No sessions.")


class _Outlet:
    """Where a session's mail goes: to standard output, or to a command for each."""

    def __init__(self, cli: Cli, node: Node, one: Session, command: str | None, signals: Signals) -> None:
        self._cli = cli
        self._session = one
        self._command = command
        self._signals = signals
        self._root = node.directory.root

    def begin(self) -> None:
        if self._cli.as_json:
            self._cli.screen.document({"session": _json(self._session, live=True)})
        self._cli.screen.note(
            f"This is {self._session.address}{_stands_for(self._session)} (Ctrl-C ends it)."
        )

    def give(self, given: Given) -> None:
        """Give a message on. Raises where that fails, which leaves it for the next session."""
        if self._signals.seen():
            raise ProgramError("the session ended")
        failed: ProgramError | None = None
        if self._command is not None:
            try:
                self._run(self._command, given)
            except ProgramError as error:
                failed = error
        if self._cli.as_json:
            self._cli.screen.document(
                {
                    "form": _form(given),
                    "text": given.text,
                    "message": message_json(given.message),
                    "failed": None if failed is None else str(failed),
                }
            )
        elif self._command is None:
            _print(given)
        if failed is not None:
            self._cli.screen.note(f"dmp: {given.message.id} waits, since the command failed: {failed}")
            raise failed

    def _run(self, command: str, given: Given) -> None:
        variables = {
            "DMP_SESSION": self._session.address,
            "DMP_WORK_ITEM": self._session.task or "",
            "DMP_MESSAGE": given.message.id,
            "DMP_FORM": _form(given),
            **directory_variables(self._root),
        }
        sys.stdout.flush()
        run_program(
            command,
            f"{given.text}\n",
            variables,
            seconds=EXEC_SECONDS,
            ended=self._signals.seen,
            quiet=self._cli.as_json,
        )


def _form(given: Given) -> str:
    return "push" if given.pushed else "digest"


def _print(given: Given) -> None:
    """Print what a session is given: as it is, but on a terminal, where nothing in it may act."""
    text = given.text
    if os.isatty(1):
        text = "\n".join(body_lines(text))
    print(f"{text}\n" if given.pushed else text, flush=True)


def _make(node: Node, task: str | None, address: str | None) -> Session:
    """Make a session, inside an open transaction. Raises DmpError `not-found` or `conflict` on `task`."""
    work_item = None if task is None else items.address_of(task)
    if work_item is not None:
        reason = items.why_not_worked_on(items.need(node.store.db, work_item))
        if reason is not None:
            raise conflict("task", f"{work_item} is {reason}; a session stands for a work item that goes on")
    return node.host.sessions_here.make(node.random, work_item, address, now=node.now())


def _stands_for(one: Session) -> str:
    return ", an auxiliary session" if one.task is None else f", a session of {one.task}"


def _state(one: Session, live: bool) -> str:
    if live:
        return "live"
    return "not begun" if one.ended_at is None and not one.marked_live else "ended"


def _json(one: Session, *, live: bool) -> dict[str, JsonValue]:
    return {
        "address": one.address,
        "task": one.task,
        "live": live,
        "startedAt": one.started_at,
        "endedAt": one.ended_at,
    }
