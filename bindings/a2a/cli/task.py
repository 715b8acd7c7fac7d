"""`dmp a2a task`: what A2A clients ask, as the owner sees it (sections 8.6, 8.7). Whoever runs it decides here."""

import json
import sys
from pathlib import Path

import click

from core.errors import invalid
from crypto.canonical import JsonError, JsonValue, parse
from replica.cli.context import Cli, group, pass_cli
from replica.cli.text import moment, quoted

_MAX_RESULT = 1_000_000


@group("task")
def task() -> None:
    """What A2A clients ask of you and hand off. They are told of an answer and of work as it goes on."""


@task.command("list", paged=True, example="dmp a2a task list")
@click.option("--all", "everything", is_flag=True, help="Those that ended, too.")
@pass_cli
def list_(cli: Cli, everything: bool) -> None:
    """List the clients' tasks, each with the state that its client sees."""
    from bindings.a2a import clients, tasks
    from bindings.a2a.facts import know

    with cli.node() as node, node.store.reading() as db:
        known = [
            know(node, each)
            for client in clients.every(node)
            for each in tasks.all_opened(db, client.address)
        ]
    shown = [each for each in known if everything or not each.state.state.is_terminal]
    if cli.as_json:
        found: list[JsonValue] = [
            {
                "task": each.task.id,
                "client": each.task.client,
                "state": each.state.state.wire,
                "at": each.at,
                "workItem": None if each.task.handoff is None else each.task.handoff.work_item,
            }
            for each in shown
        ]
        cli.screen.document({"tasks": found})
    elif shown:
        rows = [
            [
                each.task.id,
                each.task.client.partition("/a2a.")[2],
                each.state.state.value.lower().replace("_", " "),
                moment(each.at),
                quoted(each.task.root.body.partition("\n")[0]),
            ]
            for each in shown
        ]
        cli.screen.table(("task", "client", "state", "since", "asks"), rows)
    else:
        cli.screen.say("No tasks." if everything else "No tasks; --all shows those that ended.")


@task.command("decline", example='dmp a2a task decline m-1c9k… --note "Ask again in May."')
@click.argument("message", metavar="ID")
@click.option("--note", default="", metavar="TEXT", help="Why, for the client to read.")
@pass_cli
def decline(cli: Cli, message: str, note: str) -> None:
    """Decline a client's question or handoff, by the id of its message. A handoff's draft is dropped.

    The client reads the note. Of an answer to the gate of a handoff it reads nothing but what was chosen.
    """
    from bindings.a2a import ending
    from replica.host.principals import sender

    with cli.acting() as node:
        ending.decline(node, sender(node, None), message, note)
    if cli.as_json:
        cli.screen.document({"task": message, "state": "TASK_STATE_REJECTED"})
    else:
        cli.screen.say(f"Declined {message}.")


@task.command("result", example="dmp a2a task result t-4a8cce pr.json")
@click.argument("named", metavar="WORK-ITEM")
@click.argument("file", metavar="FILE", default="-")
@pass_cli
def result(cli: Cli, named: str, file: str) -> None:
    """Show the client that handed off a work item what came of it. Nothing else of the work is shown to it.

    FILE, or with - standard input, is a JSON object with a `kind`, and takes the place of an earlier one of its kind.
    A `pr` has `url` and `number`, and may have `state`, open or merged. A `diffstat` has `files`, `insertions`,
    `deletions`, and in `perFile` a `path`, `insertions` and `deletions` for each file. An `evidence` has in `items` a
    `command`, `exitCode`, `durationMs` and `summary` for each check.
    """
    from bindings.a2a import artifacts
    from bindings.a2a.commits import CommitPoint
    from replica.host import items

    try:
        with sys.stdin.buffer if file == "-" else Path(file).open("rb") as stream:
            value = parse(stream.read(_MAX_RESULT).decode()).value
    except OSError as error:
        raise invalid("file", f"{file} cannot be read: {error.strerror or error}") from None
    except (UnicodeDecodeError, JsonError) as error:
        raise invalid("file", f"{file} is no JSON: {error}") from None
    with cli.acting() as node:
        address = items.address_of(named)
        with node.store.transaction(CommitPoint.RESULT):
            artifacts.keep_result(node, address, value)
    kind = value["kind"] if isinstance(value, dict) else None
    if cli.as_json:
        cli.screen.document({"workItem": address, "kind": kind})
    else:
        cli.screen.say(f"The client of {address} is shown {json.dumps(kind)}.")
