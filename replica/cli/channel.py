"""`dmp channel`: named groups of work items, agents and people (section 7.2)."""

import click

from core.errors import not_found
from crypto.canonical import JsonValue
from replica.cli.context import Cli, group, pass_cli
from replica.cli.text import counted
from replica.host import items
from replica.host.person import EPIC
from replica.node import Node

_SCHEME = "channel:"


@group("channel")
def channel() -> None:
    """Channels: mail to one reaches all its members."""


@channel.command("join")
@click.argument("name")
@click.argument("member", required=False, metavar="[ADDRESS]")
@pass_cli
def join(cli: Cli, name: str, member: str | None) -> None:
    """Make an address a member, by default yours. The first join makes the channel."""
    with cli.acting() as node:
        joined = member or node.address
        node.engine.join(_bare(name), joined)
    if cli.as_json:
        cli.screen.document({"channel": _bare(name), "member": joined})
    else:
        cli.screen.say(f"{joined} is a member of {_SCHEME}{_bare(name)}.")


@channel.command("leave")
@click.argument("name")
@click.argument("member", required=False, metavar="[ADDRESS]")
@pass_cli
def leave(cli: Cli, name: str, member: str | None) -> None:
    """Take an address out, by default yours. The work items of an epic stay in its channel."""
    with cli.acting() as node:
        left = member or node.address
        if not node.engine.leave(_bare(name), left):
            raise not_found("member", f"{left} never joined {_SCHEME}{_bare(name)}, or left it")
    if cli.as_json:
        cli.screen.document({"channel": _bare(name), "member": left})
    else:
        cli.screen.say(f"{left} left {_SCHEME}{_bare(name)}.")


@channel.command("list", paged=True)
@pass_cli
def list_(cli: Cli) -> None:
    """List the channels, those of epics too."""
    with cli.node() as node:
        found = [_json(node, name) for name in _names(node)]
    if cli.as_json:
        cli.screen.document({"channels": [*found]})
        return
    for each in found:
        count = len(_list(each["members"])) + len(_list(each["implicit"]))
        cli.screen.say(f"{_SCHEME}{each['channel']}  {counted(count, 'member')}")
    if not found:
        cli.screen.say("No channels.")


@channel.command("members", paged=True)
@click.argument("name")
@pass_cli
def members(cli: Cli, name: str) -> None:
    """List who is in a channel."""
    bare = _bare(name)
    with cli.node() as node:
        if bare not in _names(node):
            raise not_found(
                "channel", f"there is no channel {bare}; `dmp channel list` shows those there are"
            )
        found = _json(node, bare)
    if cli.as_json:
        cli.screen.document(found)
        return
    explicit, implicit = _list(found["members"]), _list(found["implicit"])
    cli.screen.say(*explicit, *(f"{each}  (of the epic)" for each in implicit))
    if not explicit and not implicit:
        cli.screen.say("No members.")


def _names(node: Node) -> list[str]:
    epics = (f"{EPIC}{each.id}" for each in items.every(node.store.db) if each.kind == "epic")
    return sorted({*node.engine.channels(), *epics})


def _json(node: Node, name: str) -> dict[str, JsonValue]:
    explicit = node.engine.members(name)
    implicit = [each for each in node.host.implicit_members(name) if each not in explicit]
    return {"channel": name, "members": [*explicit], "implicit": [*implicit]}


def _list(value: JsonValue) -> list[str]:
    return [str(each) for each in value] if isinstance(value, list) else []


def _bare(name: str) -> str:
    return name.removeprefix(_SCHEME)
