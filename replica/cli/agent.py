"""`dmp agent`: agents that run outside sessions, and whether they may send (sections 6.7, 9.1, C.3)."""

import click

from replica.cli.context import Cli, group, pass_cli
from replica.cli.messages import replica_text
from replica.cli.text import quoted
from replica.host import agents, registering
from replica.host.agents import Agent
from replica.host.principals import sender
from replica.host.shapes import agent_json, message_json
from replica.records.commits import CommitPoint


@group("agent")
def agent() -> None:
    """Agents of yours: programs that send and receive under a name of their own."""


@agent.command("register")
@click.argument("named", metavar="AGENT")
@click.option("--client", required=True, metavar="TEXT", help="The program it runs in.")
@pass_cli
def register(cli: Cli, named: str, client: str) -> None:
    """Register an agent, as agent:YOU/NAME or just NAME, and ask you to approve it."""
    with cli.acting() as node:
        address = agents.own_address(named, node.handle)
        with node.store.transaction(CommitPoint.AGENT) as db:
            made = agents.register(db, node.random, address, client, node.me)
        gate = registering.gate(node, made)
    if cli.as_json:
        cli.screen.document({"agent": agent_json(made), "gate": message_json(node.host, gate)})
        return
    cli.screen.say(f"{made.address} is registered, and waits to be approved:")
    cli.screen.exact(f"  {cli.command(f'answer {gate.id} approve')}")


@agent.command("approve")
@click.argument("named", metavar="AGENT")
@pass_cli
def approve(cli: Cli, named: str) -> None:
    """Let an agent send and receive: the answer to its registration's gate."""
    with cli.acting() as node:
        now = registering.approve(node, sender(node, None), agents.own_registration(named, node.handle))
    _tell(cli, now, f"{now.address} is {now.status}.")


@agent.command("revoke")
@click.argument("named", metavar="AGENT")
@pass_cli
def revoke(cli: Cli, named: str) -> None:
    """Let an agent send no more. It may be registered again."""
    with cli.acting() as node:
        now = registering.revoke(node, sender(node, None), agents.own_registration(named, node.handle))
    _tell(cli, now, f"{now.address} is {now.status}.")


@agent.command("mute")
@click.argument("address", metavar="AGENT")
@pass_cli
def mute(cli: Cli, address: str) -> None:
    """Keep an agent's mail without its being pushed or told of: it starts as read."""
    _mute(cli, address, muted=True)


@agent.command("unmute")
@click.argument("address", metavar="AGENT")
@pass_cli
def unmute(cli: Cli, address: str) -> None:
    """End a mute."""
    _mute(cli, address, muted=False)


@agent.command("list", paged=True)
@pass_cli
def list_(cli: Cli) -> None:
    """List the agents that are registered, those of teammates too."""
    with cli.node() as node:
        found = agents.every(node.store.db)
        where = [replica_text(node, each.replica or node.me) for each in found]
    if cli.as_json:
        cli.screen.document({"agents": [agent_json(each) for each in found]})
    elif found:
        cli.screen.table(
            ("agent", "status", "client", "machine"),
            [
                [
                    each.address,
                    f"{each.status}{', muted' if each.muted else ''}",
                    quoted(each.client),
                    machine,
                ]
                for each, machine in zip(found, where, strict=True)
            ],
        )
    else:
        cli.screen.say("No agents.")


def _mute(cli: Cli, named: str, *, muted: bool) -> None:
    with cli.acting() as node:
        now = registering.mute(node, agents.address_of(named, node.handle), muted=muted)
    _tell(cli, now, f"{now.address} is {'muted' if muted else 'heard'}.")


def _tell(cli: Cli, found: Agent, said: str) -> None:
    if cli.as_json:
        cli.screen.document({"agent": agent_json(found)})
    else:
        cli.screen.say(said)
