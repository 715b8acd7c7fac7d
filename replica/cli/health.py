"""`dmp problems` and `dmp resume`: what a person should know, and their word that all is well."""

import re
from typing import Final

import click

from replica.chain.clock import accept_wall_clock
from replica.chain.guard import resume as resume_signing
from replica.cli.context import Cli, command, group, pass_cli
from replica.cli.text import moment, quoted
from replica.host import problems as known
from replica.records import fork_proofs
from replica.records import problems as records
from replica.records.commits import CommitPoint
from replica.records.meta import Meta, get

_PLAIN: Final = re.compile(r"[A-Za-z0-9._:/-]+")


@group("problems", invoke_without_command=True, paged=True)
@click.option("--all", "every", is_flag=True, help="Show those too that somebody here has seen.")
@click.pass_context
def problems(context: click.Context, every: bool) -> None:
    """List what is wrong here, where in whose log, and what to do about it."""
    cli = context.find_object(Cli)
    assert cli is not None
    if context.invoked_subcommand is not None:
        return
    with cli.node() as node:
        found = known.all_problems(node, seen=every)
        proven = fork_proofs.proven(node.store.db, found)
    screen = cli.screen
    if cli.as_json:
        screen.document(
            {"problems": [known.problem_json(each) | {"proof": each.subject in proven} for each in found]}
        )
        return
    if not found:
        screen.say("No problems.")
    for index, each in enumerate(found):
        since = f", since {moment(each.at)}" if each.at else ""
        screen.say(
            *([""] if index else []), f"{_subject(each)}{_place(each)}{since}{', seen' if each.seen else ''}"
        )
        screen.say(f"  {each.text}", f"  To do: {each.kind.remedy}.")
        if each.subject in proven:
            screen.say(f"  A proof of it for anybody: {cli.command(f'audit proof {each.replica}')}")


@problems.command("ack")
@click.argument("subject")
@pass_cli
def acknowledge(cli: Cli, subject: str) -> None:
    """Show a problem no more, until there is something new to say about it.

    SUBJECT is what `dmp problems` shows first. What would go on hurting while nobody sees it can only be mended.
    """
    with cli.node() as node:
        done = known.acknowledge(node, subject)
    if cli.as_json:
        cli.screen.document({"done": True, "already": not done})
    else:
        cli.screen.say("It is shown no more, until its text changes." if done else "That was said before.")


@command("resume")
@click.option("--clock", is_flag=True, help="Say that this machine's clock is right, however far it moved.")
@pass_cli
def resume(cli: Cli, clock: bool) -> None:
    """Sign again after a pause, on your word.

    Your word is that nothing signed here was lost. A replica pauses when it looks restored from an older
    backup. If it is, use the newest copy instead: what was signed after the backup would be contradicted, and
    a second history can never be mended.
    """
    with cli.node() as node:
        paused = get(node.store.db, Meta.PAUSED)
        if clock:
            with node.store.transaction(CommitPoint.RESUMED) as db:
                accept_wall_clock(db, node.wall())
        else:
            resume_signing(node)
    if cli.as_json:
        cli.screen.document({"resumed": "clock" if clock else "signing", "wasPaused": paused is not None})
    elif clock:
        cli.screen.say("This machine's clock is taken as right.")
    elif paused is None:
        cli.screen.say("Nothing was paused.")
    else:
        cli.screen.say(f"Signing again. Next: {cli.command('sync')}")


def _subject(problem: records.Problem) -> str:
    """A subject as it is to be typed; in quotation marks where it holds what could be read as more than a name."""
    return problem.subject if _PLAIN.fullmatch(problem.subject) else quoted(problem.subject)


def _place(problem: records.Problem) -> str:
    """Where in whose log it was met, as far as its subject does not say."""
    return "" if problem.seq is None or problem.subject.endswith(f":{problem.seq}") else f", op {problem.seq}"
