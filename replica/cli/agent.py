"""`dmp agent`: agents that run outside sessions, and whether they may send (sections 6.7, 9.1, C.3)."""

import click

from core.gate_types import GATE_TYPES
from core.inputs import ReplyInput
from core.message import Message
from crypto.canonical import JsonValue
from replica.cli.context import Cli, group, pass_cli
from replica.cli.messages import message_json, replica_text
from replica.cli.text import quoted
from replica.host import agents, raising
from replica.host.agents import Agent
from replica.host.principals import sender
from replica.node import Node
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
        gate = _gate(node, made)
    if cli.as_json:
        cli.screen.document({"agent": _json(made), "gate": message_json(gate)})
        return
    cli.screen.say(f"{made.address} is registered, and waits to be approved:")
    cli.screen.exact(f"  {cli.command(f'answer {gate.id} approve')}")


@agent.command("approve")
@click.argument("named", metavar="AGENT")
@pass_cli
def approve(cli: Cli, named: str) -> None:
    """Let an agent send and receive: the answer to its registration's gate."""
    with cli.acting() as node:
        found = agents.need(node.store.db, agents.own_address(named, node.handle))
        if found.status == "revoked":
            raise agents.not_pending(found)
        if found.status == "pending":
            agents.need_registered_at(found, node.me)
            _answer(node, found, "approve")
        now = agents.need(node.store.db, found.address)
    _tell(cli, now, f"{now.address} is {now.status}.")


@agent.command("revoke")
@click.argument("named", metavar="AGENT")
@pass_cli
def revoke(cli: Cli, named: str) -> None:
    """Let an agent send no more. It may be registered again."""
    with cli.acting() as node:
        found = agents.need(node.store.db, agents.own_address(named, node.handle))
        if found.status == "pending" and found.replica == node.me:
            _answer(node, found, "deny")
        elif found.status != "revoked":
            with node.store.transaction(CommitPoint.AGENT) as db:
                agents.decide(db, found.address, "revoked")
        now = agents.need(node.store.db, found.address)
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
        cli.screen.document({"agents": [_json(each) for each in found]})
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


def _gate(node: Node, found: Agent) -> Message:
    return raising.registration_gate(node, GATE_TYPES["agent-registration"], found)


def _answer(node: Node, found: Agent, choice: str) -> None:
    """Decide a registration as its gate does, which is raised first where a crash kept it from being."""
    node.engine.reply(sender(node, None), _gate(node, found).id, ReplyInput("", choice=choice))


def _mute(cli: Cli, named: str, *, muted: bool) -> None:
    with cli.acting() as node:
        found = agents.need(node.store.db, agents.address_of(named, node.handle))
        with node.store.transaction(CommitPoint.AGENT) as db:
            agents.mute(db, found.address, muted)
        now = agents.need(node.store.db, found.address)
    _tell(cli, now, f"{now.address} is {'muted' if muted else 'heard'}.")


def _tell(cli: Cli, found: Agent, said: str) -> None:
    if cli.as_json:
        cli.screen.document({"agent": _json(found)})
    else:
        cli.screen.say(said)


def _json(found: Agent) -> dict[str, JsonValue]:
    return {
        "address": found.address,
        "client": found.client,
        "status": found.status,
        "muted": found.muted,
        "replica": found.replica,
    }
