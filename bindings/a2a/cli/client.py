"""`dmp a2a client`: A2A agents of others that may ask this host (section 8.1). Whoever runs it decides here."""

from typing import TYPE_CHECKING

import click

from crypto.canonical import JsonValue
from replica.cli.context import Cli, group, pass_cli

if TYPE_CHECKING:
    from bindings.a2a.clients import Client


@group("client")
def client() -> None:
    """A2A agents that may ask you, each with a token of its own. `serve.a2a` says where they reach this host."""


@client.command("add", example="dmp a2a client add acme")
@click.argument("name")
@click.option("--about", metavar="TEXT", help="What it is, for whoever approves it.")
@pass_cli
def add(cli: Cli, name: str, about: str | None) -> None:
    """Add a client and show its token, once. The token is good once you approve the client.

    A client that was revoked, or is not approved yet, gets a new token; its old one is good no more.
    """
    from bindings.a2a import clients
    from replica.host.shapes import message_json

    with cli.acting() as node:
        made = clients.add(node, clients.address_of(name, node.handle), about or clients.PROGRAM)
    if cli.as_json:
        cli.screen.document(
            {"client": _json(made.client), "token": made.secret, "gate": message_json(node.host, made.gate)}
        )
        return
    cli.screen.say(f"{made.client.address} is added. Its bearer token, which is not shown again:")
    cli.screen.exact(f"  {made.secret}")
    cli.screen.say("The token is good once you approve the client:")
    cli.screen.exact(f"  {cli.command(f'a2a client approve {_name(made.client)}')}")


@client.command("approve", example="dmp a2a client approve acme")
@click.argument("name")
@click.option(
    "--recipient",
    "recipients",
    multiple=True,
    metavar="PERSON",
    help="Whom it may address, again for each; without, you alone.",
)
@pass_cli
def approve(cli: Cli, name: str, recipients: tuple[str, ...]) -> None:
    """Let a client ask. Done again with recipients, it changes whom the client may address."""
    from bindings.a2a import clients
    from replica.host.principals import sender

    with cli.acting() as node:
        address = clients.address_of(name, node.handle)
        now = clients.approve(node, sender(node, None), address, recipients)
    _tell(cli, now, f"{now.address} may ask {', '.join(now.recipients)}.")


@client.command("revoke", example="dmp a2a client revoke acme")
@click.argument("name")
@pass_cli
def revoke(cli: Cli, name: str) -> None:
    """Let a client ask no more: its token is good no more, its streams end, and what it asks is closed."""
    from bindings.a2a import clients
    from replica.host.principals import sender

    with cli.acting() as node:
        now = clients.revoke(node, sender(node, None), clients.address_of(name, node.handle))
    _tell(cli, now, f"{now.address} is {now.status}.")


@client.command("list", paged=True, example="dmp a2a client list")
@pass_cli
def list_(cli: Cli) -> None:
    """List the clients, whether they may ask, and whom."""
    from bindings.a2a import clients

    with cli.node() as node:
        found = clients.every(node)
    if cli.as_json:
        cli.screen.document({"clients": [_json(each) for each in found]})
    elif not found:
        cli.screen.say(f"No clients; `{cli.command('a2a client add NAME')}` adds one.")
    else:
        rows = [[_name(each), each.status, ", ".join(each.recipients)] for each in found]
        cli.screen.table(("client", "status", "may address"), rows)


def _name(found: "Client") -> str:
    return found.address.partition("/a2a.")[2]


def _tell(cli: Cli, found: "Client", said: str) -> None:
    if cli.as_json:
        cli.screen.document({"client": _json(found)})
    else:
        cli.screen.say(said)


def _json(found: "Client") -> dict[str, JsonValue]:
    return {
        "name": _name(found),
        "address": found.address,
        "status": found.status,
        "recipients": [*found.recipients],
        "addedAt": found.made_at,
    }
