"""`dmp session`: make sessions, be one, end one (section 2.2)."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Final

import click

from core.errors import Code, DmpError, conflict, forbidden
from core.timestamp import timestamp
from crypto.canonical import JsonValue
from replica.cli.context import Cli, group, pass_cli
from replica.cli.messages import replica_text
from replica.cli.outlet import Outlet
from replica.cli.text import moment, quoted
from replica.home.private import write_private
from replica.host import items, sessions
from replica.host.attach import Ending, Signals, attend, living
from replica.host.sessions import Session
from replica.node import Node
from replica.records import tokens
from replica.records.commits import CommitPoint
from replica.shared import runs
from replica.shared.runs import Claim
from replica.shared.waiting import waiting_sessions
from replica.team.roster import need_team

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
@click.option(
    "--token-file",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Put a token there by which a program uses the API as the session, while it lives.",
)
@pass_cli
def attach(
    cli: Cli, named: str | None, task: str | None, command: str | None, token_file: Path | None
) -> None:
    """Be a session: print the mail it gets, at once, until it ends.

    It ends with Ctrl-C, with SIGTERM, with `dmp session end`, and when the other end of standard input or
    output is closed. Mail that was not given on waits for the next session.
    """
    if (named is None) == (task is None):
        raise click.UsageError("name a session, or make one with --task; not both")
    if command is None and sys.__stdout__ is None:
        raise click.UsageError("standard output is closed: the mail would go nowhere")
    signals = Signals()
    with cli.acting() as node, signals.watched():

        def find() -> Session:
            if named is not None:
                return node.host.sessions_here.need(sessions.address_of(named))
            made = _make(node, task, None)
            if made.task is not None:
                node.host.sessions_here.need_free(made.task)
            return made

        node.host.ended = signals.seen
        with living(node, find) as one, _token_in(node, one, token_file):
            outlet = Outlet(cli, node, one, command, signals.seen)
            if cli.as_json:
                outlet.document({"session": _json(one, live=True)})
            outlet.note(f"This is {one.address}{_stands_for(one)} (Ctrl-C ends it).")
            ending = attend(node, one, outlet.give, signals)
    if ending is Ending.INTERRUPTED:
        raise KeyboardInterrupt
    outlet.note(_FAREWELL[ending])


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


@session.command("resolve")
@click.argument("named", metavar="ID")
@click.argument("replica")
@pass_cli
def resolve(cli: Cli, named: str, replica: str) -> None:
    """Say, as an admin, which of the replicas that claim a session it belongs to."""
    with cli.acting() as node:
        address = sessions.address_of(named)
        if not need_team(node.team).view.is_admin(node.me):
            raise forbidden("session", "only an admin of the team says whose a session is")
        with node.store.transaction(CommitPoint.SESSION) as db:
            runs.resolve(db, address, replica)
    if cli.as_json:
        cli.screen.document({"session": address, "replica": replica})
    else:
        cli.screen.say(f"{address} belongs to {replica}. The team hears of it with the next sync.")


@session.command("list", paged=True)
@pass_cli
def list_(cli: Cli) -> None:
    """List the sessions of this machine, and then those that teammates tell of, each by age, the newest last."""
    with cli.node() as node:
        here = node.host.sessions_here
        found = [(each, here.is_live(each.address)) for each in here.every()]
        told_of = [
            _told_of(claim) for claim in runs.listed(node.store.db, node.wall()) if claim.replica != node.me
        ]
        found += [(each, each.marked_live) for each in told_of]
        waiting = waiting_sessions(node.store.db)
        found = [
            (replace(each, waiting_on=waiting.get(each.address, each.waiting_on)), live)
            for each, live in found
        ]
        where = [replica_text(node, each.replica or node.me) for each, _ in found]
    if cli.as_json:
        cli.screen.document({"sessions": [_json(each, live=live) for each, live in found]})
    elif found:
        cli.screen.table(
            ("session", "work item", "state", "made", "machine"),
            [
                [
                    *(each.address, each.task or "(auxiliary)", _state(each, live)),
                    *(moment(each.started_at or ""), machine),
                ]
                for (each, live), machine in zip(found, where, strict=True)
            ],
        )
    else:
        cli.screen.say("No sessions.")


def _told_of(claim: Claim) -> Session:
    """A teammate's session, by what its machine tells of it."""
    ended = None if claim.live else timestamp(claim.latest.ms)
    started = timestamp(claim.first.ms)
    return Session(claim.run, claim.task, claim.replica, claim.live, started, ended, claim.waiting_on)


@contextmanager
def _token_in(node: Node, one: Session, file: Path | None) -> Iterator[None]:
    """Keep a token of a live session's in a file for the length of a block."""
    if file is None:
        yield
        return
    from replica.api import tokens as making  # most sessions have none

    made = making.make(node, one.address, label="while it is attached")
    try:
        write_private(file, made.secret)
        yield
    finally:
        file.unlink(missing_ok=True)
        with node.store.transaction(CommitPoint.TOKEN) as db:
            tokens.remove(db, made.token.id)


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
        return "live" if one.waiting_on is None else f"live, waits on {quoted(one.waiting_on)}"
    return "not begun" if one.ended_at is None and not one.marked_live else "ended"


def _json(one: Session, *, live: bool) -> dict[str, JsonValue]:
    return {
        "address": one.address,
        "task": one.task,
        "live": live,
        "waitingOn": one.waiting_on if live else None,
        "replica": one.replica,
        "startedAt": one.started_at,
        "endedAt": one.ended_at,
    }
