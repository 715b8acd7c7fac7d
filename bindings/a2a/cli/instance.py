"""`dmp a2a instance`: agents of yours that A2A clients may write to by an id."""

from typing import TYPE_CHECKING

import click

from replica.cli.context import Cli, group, pass_cli
from replica.cli.text import quoted

if TYPE_CHECKING:
    from bindings.instance_routing.instances import Instance
    from crypto.canonical import JsonValue


@group("instance")
def instance() -> None:
    """Agents of yours that approved A2A clients may write to, each by an id. `instance_routing.listen` says where."""


@instance.command("expose", example="dmp a2a instance expose scribe")
@click.argument("named", metavar="AGENT")
@click.option("--name", metavar="TEXT", help="What clients see it called; else the last part of its address.")
@click.option(
    "--wakes", metavar="TASK", help="The work item that a client's wake is for; else nobody is woken."
)
@pass_cli
def expose(cli: Cli, named: str, name: str | None, wakes: str | None) -> None:
    """Let A2A clients write to an agent of yours. Done again, it changes the name and the wake.

    Every approved client may. A wake is ruled on as other agents' are, by `wake.policy`.
    """
    from bindings.instance_routing import instances
    from bindings.instance_routing.commits import CommitPoint
    from replica.host import agents

    with cli.acting() as node:
        address = agents.own_address(named, node.handle)
        with node.store.transaction(CommitPoint.EXPOSED) as db:
            made = instances.expose(db, node.random, node.me, address, name=name, wakes=wakes)
    if cli.as_json:
        cli.screen.document({"instance": _json(made)})
        return
    cli.screen.say(f"{made.address} is an instance now, by the id")
    cli.screen.exact(f"  {made.id}")


@instance.command("hide", example="dmp a2a instance hide scribe")
@click.argument("named", metavar="AGENT")
@pass_cli
def hide(cli: Cli, named: str) -> None:
    """Let no A2A client write to an agent any more. Exposed again, it has the same id."""
    from bindings.instance_routing import instances
    from bindings.instance_routing.commits import CommitPoint
    from replica.host import agents

    with cli.acting() as node:
        address = agents.own_address(named, node.handle)
        with node.store.transaction(CommitPoint.EXPOSED) as db:
            made = instances.hide(db, address)
    if cli.as_json:
        cli.screen.document({"instance": _json(made)})
    else:
        cli.screen.say(f"{made.address} is hidden.")


@instance.command("list", paged=True, example="dmp a2a instance list")
@pass_cli
def list_(cli: Cli) -> None:
    """List the agents that are exposed, and whether they receive mail."""
    from bindings.instance_routing import instances

    with cli.node() as node:
        found = [
            (each, instances.receives(node.store.db, node.me, each))
            for each in instances.every(node.store.db)
        ]
    if cli.as_json:
        cli.screen.document({"instances": [{**_json(each), "receives": gets} for each, gets in found]})
    elif not found:
        cli.screen.say(f"No instances; `{cli.command('a2a instance expose AGENT')}` makes one.")
    else:
        rows = [
            [each.address, each.id, quoted(each.name), each.wakes or "nobody", "yes" if gets else "no"]
            for each, gets in found
        ]
        cli.screen.table(("agent", "id", "called", "wakes", "receives mail"), rows)


def _json(found: "Instance") -> "dict[str, JsonValue]":
    return {
        "id": found.id,
        "agent": found.address,
        "name": found.name,
        "wakes": found.wakes,
        "exposed": found.exposed,
    }
