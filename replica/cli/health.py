"""`dmp problems` and `dmp resume`: what a person should know, and their word that all is well."""

import click

from replica.chain.clock import accept_wall_clock
from replica.chain.guard import resume as resume_signing
from replica.cli.context import Cli, command, pass_cli
from replica.cli.text import moment
from replica.node import Node
from replica.records import problems as records
from replica.records import subjects
from replica.records.commits import CommitPoint
from replica.records.meta import Meta, get


@command("problems")
@pass_cli
def problems(cli: Cli) -> None:
    """List what is wrong here, and where in whose log."""
    with cli.node() as node:
        found = all_problems(node)
    screen = cli.screen
    if cli.as_json:
        screen.document(
            {
                "problems": [
                    {
                        "subject": each.subject,
                        "text": each.text,
                        "replica": each.replica,
                        "seq": each.seq,
                        "at": each.at,
                    }
                    for each in found
                ]
            }
        )
        return
    if not found:
        screen.say("No problems.")
        return
    screen.table(
        ("kind", "where", "since", "what"),
        [
            [each.subject.partition(":")[0], _place(each), moment(each.at) if each.at else "", each.text]
            for each in found
        ],
    )


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


def all_problems(node: Node) -> list[records.Problem]:
    """What is wrong: what the store remembers, and a configuration that counts for nothing."""
    fault = node.host.config.fault
    own = [] if fault is None else [records.Problem(subjects.CONFIG.of(), fault, None, None, "")]
    return [*own, *records.all_problems(node.store.db)]


def _place(problem: records.Problem) -> str:
    if problem.replica is None:
        return ""
    return problem.replica if problem.seq is None else f"{problem.replica} op {problem.seq}"
