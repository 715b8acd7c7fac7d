"""`dmp problems` and `dmp resume`: what a person should know, and their word that all is well."""

import re
from typing import Final

import click

from core.errors import Code, DmpError
from crypto.canonical import JsonValue
from replica.chain.clock import accept_wall_clock
from replica.chain.guard import resume as resume_signing
from replica.cli.context import Cli, command, group, pass_cli
from replica.cli.text import moment, quoted
from replica.node import Node
from replica.records import problems as records
from replica.records import subjects
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
        found = all_problems(node, seen=every)
    screen = cli.screen
    if cli.as_json:
        screen.document({"problems": [_problem_json(each) for each in found]})
        return
    if not found:
        screen.say("No problems.")
    for index, each in enumerate(found):
        since = f", since {moment(each.at)}" if each.at else ""
        screen.say(
            *([""] if index else []), f"{_subject(each)}{_place(each)}{since}{', seen' if each.seen else ''}"
        )
        screen.say(f"  {each.text}", f"  To do: {each.kind.remedy}.")


@problems.command("ack")
@click.argument("subject")
@pass_cli
def acknowledge(cli: Cli, subject: str) -> None:
    """Show a problem no more, until there is something new to say about it.

    SUBJECT is what `dmp problems` shows first. What would go on hurting while nobody sees it can only be mended.
    """
    with cli.node() as node, node.store.transaction(CommitPoint.PROBLEM) as db:
        _refuse_derived(node, subject)
        done = records.acknowledge(db, subject)
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


def all_problems(node: Node, *, seen: bool = False) -> list[records.Problem]:
    """What is wrong; with `seen`, also what somebody here has seen."""
    return [*_derived(node), *(each for each in records.all_problems(node.store.db) if seen or not each.seen)]


def _derived(node: Node) -> list[records.Problem]:
    """What is wrong as long as it is so: a configuration that counts for nothing, and what the roster says."""
    fault, team = node.host.config.fault, node.team
    own = [] if fault is None else [records.Problem(subjects.CONFIG.of(), fault)]
    # What strangers published concerns nobody, and anybody could make thousands of them.
    notes = [] if team is None else [each for each in team.view.problems if team.knows(each.replica or "")]
    return [*own, *(records.Problem(each.subject, each.text, each.replica, each.seq) for each in notes)]


def _refuse_derived(node: Node, subject: str) -> None:
    """Raise DmpError `conflict` for what goes away only when it is so no more."""
    for each in _derived(node):
        if each.subject == subject:
            raise DmpError(
                Code.CONFLICT, f"that goes away only when it is mended: {each.kind.remedy}", "subject"
            )


def _problem_json(problem: records.Problem) -> dict[str, JsonValue]:
    return {
        "subject": problem.subject,
        "text": problem.text,
        "replica": problem.replica,
        "seq": problem.seq,
        "at": problem.at,
        "remedy": problem.kind.remedy,
        "mayBeSeen": problem.kind.seen,
        "seen": problem.seen,
    }


def _subject(problem: records.Problem) -> str:
    """A subject as it is to be typed; in quotation marks where it holds what could be read as more than a name."""
    return problem.subject if _PLAIN.fullmatch(problem.subject) else quoted(problem.subject)


def _place(problem: records.Problem) -> str:
    """Where in whose log it was met, as far as its subject does not say."""
    return "" if problem.seq is None or problem.subject.endswith(f":{problem.seq}") else f", op {problem.seq}"
