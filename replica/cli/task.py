"""`dmp task`: the work items of this replica (section 2.2)."""

from collections.abc import Callable
from typing import Any, Final

import click

from core.errors import conflict, not_found
from core.message import State
from crypto.canonical import JsonValue
from replica.cli.context import Cli, group, pass_cli
from replica.cli.standing import reads_along
from replica.cli.text import listing, moment, quoted
from replica.host import items, raising
from replica.host.items import WorkItem
from replica.host.shapes import message_json
from replica.node import Node
from replica.records.commits import CommitPoint

_DROPPED: Final = ("landed", "dropped")


@group("task")
def task() -> None:
    """Work items: what is to be done, by whom, and how far it is."""


def _fields(command: Callable[..., None]) -> Callable[..., None]:
    """The options that `add` and `edit` share."""
    for option in reversed(
        (
            click.option("--status", type=click.Choice(items.STATUSES), help="How far it is."),
            click.option("--parent", metavar="ID", help="The epic it belongs to; none with an empty text."),
            click.option("--assignee", metavar="ADDRESS", help="Who does it; nobody with an empty text."),
            click.option("--priority", type=click.Choice(items.PRIORITIES), help="How much it matters."),
            click.option(
                "--label",
                "labels",
                multiple=True,
                metavar="TEXT",
                help="A label; may be repeated. Empty for none.",
            ),
        )
    ):
        command = option(command)
    return command


@task.command("add")
@click.argument("title")
@click.option("--epic", is_flag=True, help="Make an epic, to which other work items belong.")
@click.option("--draft", is_flag=True, help="Make a draft, to be proposed: the same as --status draft.")
@_fields
@pass_cli
def add(cli: Cli, /, title: str, epic: bool, draft: bool, **options: Any) -> None:
    """Make a work item. It is `ready` unless you say otherwise."""
    fields: dict[str, JsonValue] = {"title": title, **_given(options)}
    if epic:
        fields["kind"] = "epic"
    if draft:
        fields.setdefault("status", "draft")
    with cli.acting() as node, node.store.transaction(CommitPoint.WORK_ITEM) as db:
        made = items.add(db, node.random, fields, now=node.now())
    _tell(cli, made, f"Made {made.address}.")


@task.command("list", paged=True)
@click.option("--all", "everything", is_flag=True, help="Those that landed or were dropped, too.")
@pass_cli
def list_(cli: Cli, everything: bool) -> None:
    """List the work items."""
    with cli.node() as node:
        found = [each for each in items.every(node.store.db) if everything or each.status not in _DROPPED]
    if cli.as_json:
        cli.screen.document({"tasks": [each.to_json() for each in found]})
    elif found:
        cli.screen.table(
            ("id", "status", "parent", "assignee", "title"),
            [[each.id, each.status, each.parent or "", each.assignee or "", each.title] for each in found],
        )
    else:
        cli.screen.say("No work items." if everything else "No work items; --all shows those that are done.")


@task.command("show")
@click.argument("named", metavar="ID")
@pass_cli
def show(cli: Cli, named: str) -> None:
    """Show a work item and its live session."""
    with cli.node() as node:
        item = items.need(node.store.db, items.address_of(named))
        live = node.host.live_session(item.address)
        held = node.engine.count((item.address,), (State.HELD,))
    if cli.as_json:
        cli.screen.document({"task": item.to_json(), "session": live, "held": held})
        return
    cli.screen.say(f"{item.address}  {item.kind}, {item.status}  {quoted(item.title)}")
    for name, value in (
        ("parent", item.parent),
        ("assignee", item.assignee),
        ("priority", item.priority),
        ("labels", listing([quoted(label) for label in item.labels]) if item.labels else None),
        ("made", None if item.created is None else moment(item.created)),
        ("live session", live),
        ("mail held", str(held) if held else None),
    ):
        if value is not None:
            cli.screen.say(f"  {name}: {value}")


@task.command("edit")
@click.argument("named", metavar="ID")
@click.option("--title", metavar="TEXT", help="What it is about.")
@_fields
@pass_cli
def edit(cli: Cli, /, named: str, title: str | None, **options: Any) -> None:
    """Change a work item."""
    fields = _given(options)
    if title is not None:
        fields["title"] = title
    if not fields:
        raise click.UsageError("say what to change, such as --status working")
    _change(cli, named, fields, "Changed {}.")


@task.command("drop")
@click.argument("named", metavar="ID")
@pass_cli
def drop(cli: Cli, named: str) -> None:
    """Drop a work item. It stays listed with --all, and takes part in nothing any more."""
    _change(cli, named, {"status": "dropped"}, "Dropped {}.")


@task.command("remove")
@click.argument("named", metavar="ID")
@pass_cli
def remove(cli: Cli, named: str) -> None:
    """Remove a work item for the whole team, as if it had never been.

    It comes back when somebody writes to it who has not heard of that. What is done or given up is better dropped.
    """
    with cli.acting() as node:
        address = items.address_of(named)
        live = node.host.live_session(address)
        if live is not None:
            raise conflict("task", f"{address} has a live session, {live}; end that one first")
        with node.store.transaction(CommitPoint.WORK_ITEM) as db:
            removed = items.remove(db, address)
        heard = "" if reads_along(node) else " The team hears of it with the next sync."
    _tell(cli, removed, f"Removed {removed.address}.{heard}")


@task.command("propose")
@click.argument("named", metavar="ID")
@click.option(
    "--message",
    required=True,
    metavar="ID",
    help="The message that asked for it, such as an agent's handoff.",
)
@pass_cli
def propose(cli: Cli, named: str, message: str) -> None:
    """Ask yourself, by a gate, whether a draft is taken on.

    Approving it makes the draft ready, declining it drops it. A program does this when an agent hands over
    work.
    """
    with cli.acting() as node:
        item = items.need(node.store.db, items.address_of(named))
        asked = node.engine.message(message)
        if asked is None:
            raise not_found("message", "no message has that id; `dmp inbox` lists those you have")
        if item.status != "draft":
            raise conflict("task", f"{item.address} is no draft but {item.status}; only a draft is proposed")
        gate = raising.propose(node, item, asked)
    if cli.as_json:
        cli.screen.document({"gate": message_json(node.host, gate)})
        return
    cli.screen.say(f"Proposed {item.address}: {gate.id}. Answer it with:")
    cli.screen.exact(f"  {cli.command(f'answer {gate.id} approve')}")


def _change(cli: Cli, named: str, fields: dict[str, JsonValue], said: str) -> None:
    with cli.acting() as node:
        changed = _edited(node, items.address_of(named), fields)
    _tell(cli, changed, said.format(changed.address))


def _edited(node: Node, address: str, fields: dict[str, JsonValue]) -> WorkItem:
    with node.store.transaction(CommitPoint.WORK_ITEM) as db:
        return items.edit(db, address, fields)


def _given(options: dict[str, Any]) -> dict[str, JsonValue]:
    """The fields that were named on the command line; an empty text takes a value away."""
    fields: dict[str, JsonValue] = {
        name: options[name] or None
        for name in ("parent", "assignee", "priority")
        if options[name] is not None
    }
    if options["status"] is not None:
        fields["status"] = options["status"]
    if options["labels"]:
        fields["labels"] = [label for label in options["labels"] if label]
    return fields


def _tell(cli: Cli, item: WorkItem, said: str) -> None:
    if cli.as_json:
        cli.screen.document({"task": item.to_json()})
    else:
        cli.screen.say(said)
