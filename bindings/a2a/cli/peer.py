"""`dmp a2a peer`: the A2A agents that this host sends to (section 8.9). Whoever runs it decides here."""

import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from core.errors import Code, DmpError, invalid
from crypto.canonical import JsonValue
from replica.cli.context import Cli, group, pass_cli
from replica.cli.text import moment, quoted

if TYPE_CHECKING:
    from bindings.a2a.peers.peer import Peer
    from replica.node import DirectoryNode

_MAX_CREDENTIAL = 10_000

_TO_DO = {
    "active": "",
    "no-credential": "dmp a2a peer credential {alias}",
    "failed": "dmp a2a peer credential {alias}",
    "disabled": "dmp a2a peer enable {alias}",
}
"""What makes a peer get mail again, by its state."""

_credential_file = click.option(
    "--credential-file",
    metavar="FILE",
    help="Read the bearer token or API key from a file, or with - from standard input.",
)
_origin = click.option(
    "--origin",
    metavar="ORIGIN",
    help="Where the agent is called, if you know that this is not where its card is.",
)
_set = click.option(
    "--set",
    "options",
    multiple=True,
    metavar="NAME=VALUE",
    help="What an extension of the agent needs to be told.",
)


@group("peer")
def peer() -> None:
    """A2A agents that you send to, as a2a:ALIAS. Mail goes to them while `dmp serve` runs."""


@peer.command("add", example="dmp a2a peer add acme https://acme.example/.well-known/agent-card.json")
@click.argument("alias")
@click.argument("card_url", metavar="CARD-URL")
@_credential_file
@_origin
@_set
@pass_cli
def add(
    cli: Cli,
    alias: str,
    card_url: str,
    credential_file: str | None,
    origin: str | None,
    options: tuple[str, ...],
) -> None:
    """Add an agent by the URL of its card.

    Nothing is sent to it before it has a credential: with --credential-file, or later by `dmp a2a peer credential`.
    """
    from bindings.a2a.peers import adding, peer, records

    alias = peer.check_alias(peer.alias_of(alias))
    secret = None if credential_file is None else _read(credential_file)
    with cli.acting() as node:
        if records.find(node.store.db, alias) is not None:
            raise adding.is_there(alias)
        made = _fetched(
            adding.add(
                alias, card_url, node.host.config.peers.private_hosts, origin=origin, options=_pairs(options)
            )
        )
        kept = adding.keep(node, made, secret)
    _show_changed(cli, kept, "is a peer now")


@peer.command("list", paged=True, example="dmp a2a peer list")
@pass_cli
def list_(cli: Cli) -> None:
    """List the peers, whether mail goes to them, and what to do where it does not."""
    from bindings.a2a.peers import records

    with cli.node() as node:
        found = records.every(node.store.db)
    if cli.as_json:
        cli.screen.document({"peers": [_json(each) for each in found]})
    elif not found:
        cli.screen.say(f"No peers; `{cli.command('a2a peer add ALIAS CARD-URL')}` adds one.")
    else:
        rows = [
            [each.address, quoted(each.about.name, 40), str(each.state), _to_do(cli, each)] for each in found
        ]
        cli.screen.table(("peer", "calls itself", "state", "to do"), rows)


@peer.command("show", paged=True, example="dmp a2a peer show acme")
@click.argument("alias")
@pass_cli
def show(cli: Cli, alias: str) -> None:
    """Show a peer, and what its card says of it. In quotation marks are its words, which nobody has checked."""
    from bindings.a2a.peers import adding, records
    from bindings.a2a.peers.peer import alias_of

    with cli.node() as node:
        found = adding.need(node, alias_of(alias))
        tasks = records.open_tasks(node.store.db, found.alias)
    if cli.as_json:
        cli.screen.document({"peer": {**_json(found), "openTasks": tasks}})
        return
    cli.screen.say(f"{found.address}  {found.state}{f': {quoted(found.why)}' if found.why else ''}")
    if to_do := _to_do(cli, found):
        cli.screen.say(f"  to do: {to_do}")
    called = found.interface
    cli.screen.say(
        f"  card: {found.card_url}",
        f"  called at: {called.url} ({called.binding})",
        f"  shown who asks by: {called.header}",
        f"  added: {moment(found.added_at)}",
        f"  open tasks: {tasks}",
        f"  calls itself: {quoted(found.about.name)}",
        f"  says of itself: {quoted(found.about.description, 2_000)}",
        *(f"  skill: {quoted(each.name)}: {quoted(each.description)}" for each in found.about.skills),
        *(f"  extension: {quoted(each.uri)}" for each in found.about.extensions),
        *(f"  {name} = {quoted(value)}" for name, value in found.options.items()),
    )


@peer.command("credential", example="dmp a2a peer credential acme < token")
@click.argument("alias")
@_credential_file
@pass_cli
def credential(cli: Cli, alias: str, credential_file: str | None) -> None:
    """Give a peer its bearer token or API key, from standard input or a file. It is not shown again.

    It is kept in a file of its own, which you alone can read; not in the store, and not in backups.
    """
    from bindings.a2a.peers import adding, credentials
    from bindings.a2a.peers.peer import PeerState, alias_of

    bare = alias_of(alias)
    with cli.node() as node:
        adding.need(node, bare)
    secret = _asked(credential_file)
    with cli.acting() as node:
        found = adding.need(node, bare)
        credentials.write(node.directory.root, bare, secret)
        if found.state is not PeerState.DISABLED:
            found = adding.changed(node, bare, found)
    _show_changed(cli, found, "has a credential")


@peer.command("enable", example="dmp a2a peer enable acme")
@click.argument("alias")
@_origin
@pass_cli
def enable(cli: Cli, alias: str, origin: str | None) -> None:
    """Let mail go to a peer again, once its card is looked at anew."""
    from bindings.a2a.peers.peer import alias_of

    with cli.acting() as node:
        kept = _looked_at(node, alias_of(alias), origin, None)
    _show_changed(cli, kept, "is enabled")


@peer.command("disable", example="dmp a2a peer disable acme")
@click.argument("alias")
@pass_cli
def disable(cli: Cli, alias: str) -> None:
    """Send a peer nothing until it is enabled again. What waits for it waits for a day."""
    from bindings.a2a.peers import adding
    from bindings.a2a.peers.peer import alias_of

    with cli.acting() as node:
        kept = adding.switch_off(node, alias_of(alias))
    _show_changed(cli, kept, "is disabled")


@peer.command("set", example="dmp a2a peer set acme recipientInstanceId=scribe")
@click.argument("alias")
@click.argument("options", nargs=-1, required=True, metavar="NAME=VALUE...")
@pass_cli
def set_(cli: Cli, alias: str, options: tuple[str, ...]) -> None:
    """Tell an extension of a peer what it needs; an empty value takes it back."""
    from bindings.a2a.peers.peer import alias_of

    with cli.acting() as node:
        kept = _looked_at(node, alias_of(alias), None, _pairs(options))
    _show_changed(cli, kept, "is changed")


@peer.command("remove", example="dmp a2a peer remove acme")
@click.argument("alias")
@pass_cli
def remove(cli: Cli, alias: str) -> None:
    """Forget a peer and its credential. Questions that it has not answered are closed."""
    from bindings.a2a.peers import adding
    from bindings.a2a.peers.peer import alias_of

    bare = alias_of(alias)
    with cli.acting() as node:
        adding.remove(node, bare)
    if cli.as_json:
        cli.screen.document({"removed": bare})
    else:
        cli.screen.say(f"a2a:{bare} is no peer any more.")


def _looked_at(
    node: "DirectoryNode", alias: str, origin: str | None, options: Mapping[str, str] | None
) -> "Peer":
    """Fetch a peer's card anew, and keep what it says."""
    from bindings.a2a.peers import adding

    before = adding.need(node, alias)
    given = before.options if options is None else {**before.options, **options}
    fresh = _fetched(
        adding.add(
            alias,
            before.card_url,
            node.host.config.peers.private_hosts,
            origin=origin or adding.origin_of(before),
            options={name: value for name, value in given.items() if value},
        )
    )
    return adding.changed(node, alias, replace(fresh, added_at=before.added_at))


def _fetched(coroutine: object) -> "Peer":
    import asyncio
    from typing import Any, cast

    return cast("Peer", asyncio.run(cast("Any", coroutine)))


def _pairs(options: tuple[str, ...]) -> dict[str, str]:
    found = {}
    for each in options:
        name, equals, value = each.partition("=")
        if not name or not equals or not each.isprintable() or len(each) > 500:
            raise invalid("set", "write NAME=VALUE, with at most 500 printable characters")
        found[name] = value
    return found


def _asked(file: str | None) -> str:
    """A credential from a file, from a terminal that does not show it, or from standard input."""
    if file is None and sys.stdin.isatty():
        return str(click.prompt("Credential", hide_input=True, err=True))
    return _read(file or "-")


def _read(file: str) -> str:
    try:
        if file == "-":
            return sys.stdin.read(_MAX_CREDENTIAL)
        with Path(file).expanduser().open(encoding="utf-8") as opened:
            return opened.read(_MAX_CREDENTIAL)
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else "it is no text"
        raise DmpError(
            Code.INVALID, f"the credential cannot be read from {file}: {why}", "credential"
        ) from None


def _to_do(cli: Cli, found: "Peer") -> str:
    to_do = _TO_DO[str(found.state)]
    return cli.command(to_do.format(alias=found.alias).removeprefix("dmp ")) if to_do else ""


def _show_changed(cli: Cli, found: "Peer", what: str) -> None:
    if cli.as_json:
        cli.screen.document({"peer": _json(found)})
        return
    cli.screen.say(f"{found.address} {what}. It calls itself {quoted(found.about.name)}.")
    if to_do := _to_do(cli, found):
        cli.screen.say(f"Nothing is sent to it yet. To do: {to_do}")


def _json(found: "Peer") -> dict[str, JsonValue]:
    return {
        "alias": found.alias,
        "address": found.address,
        "state": str(found.state),
        "why": found.why,
        "cardUrl": found.card_url,
        "url": found.interface.url,
        "binding": found.interface.binding,
        "header": found.interface.header,
        "name": found.about.name,
        "description": found.about.description,
        "skills": [
            {"id": each.id, "name": each.name, "description": each.description} for each in found.about.skills
        ],
        "extensions": [each.uri for each in found.about.extensions],
        "options": dict(found.options),
        "addedAt": found.added_at,
    }
