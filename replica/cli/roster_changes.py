"""`dmp team admit`, `observer`, `role`, `hosts`, `revoke`, `dismiss`: changes of who is in the team, and as what."""

from collections.abc import Callable
from typing import Final, TypeAlias

import click

from crypto.roster.bodies import Role
from replica.cli import given
from replica.cli.connection import remembered_link, sync_pass, transport_to
from replica.cli.context import Cli, command, pass_cli
from replica.cli.failures import Failure, failure_of
from replica.cli.text import listing
from replica.node import Node
from replica.sync import SyncPass
from replica.team import commands
from replica.team.roster import named, need_team
from transports.base import TransportError

ROLE: Final = click.Choice([role.value for role in Role])

Change: TypeAlias = Callable[[SyncPass], bool]
"""A command of `replica.team.commands`, with everything but the pass given: False where it stands already."""


@command("admit")
@click.argument("replica")
@click.option("--fingerprint", required=True, metavar="TEXT", help="As its owner read it to you.")
@click.option("--role", type=ROLE, default="member", show_default=True, help="What it may do in the team.")
@pass_cli
def admit(cli: Cli, replica: str, fingerprint: str, role: str) -> None:
    """Admit a machine whose fingerprint you compared."""
    read_out = given.fingerprint(fingerprint)
    change(
        cli,
        f"Admitted {replica} as {role}.",
        f"{replica} was admitted as {role} before.",
        lambda sync: commands.admit(sync, replica, read_out, Role(role)),
    )


@command("observer")
@click.argument("replica")
@click.option("--fingerprint", required=True, metavar="TEXT", help="As its owner read it to you.")
@pass_cli
def observer(cli: Cli, replica: str, fingerprint: str) -> None:
    """Admit a machine that only reads along.

    An observer gets a copy of all mail that leaves any machine of the team from then on, and sends none; senders
    are told that it reads. `dmp team invite HANDLE --observer` invites one. A machine that is in the team as
    something else never becomes one, nor an observer something else.
    """
    read_out = given.fingerprint(fingerprint)
    change(
        cli,
        f"Admitted {replica} as an observer: it gets a copy of all mail that leaves any machine of the team once the "
        "others have synced.",
        f"{replica} was admitted as an observer before.",
        lambda sync: commands.admit(sync, replica, read_out, observer=True),
    )


@command("role")
@click.argument("replica")
@click.argument("role", type=ROLE, metavar="ROLE")
@pass_cli
def role(cli: Cli, replica: str, role: str) -> None:
    """Make a machine an admin, or a plain member.

    ROLE is admin or member. What an admin did before it became a plain member stands.
    """
    change(
        cli,
        f"{replica} is {role} now.",
        f"{replica} is {role} already.",
        lambda sync: commands.set_role(sync, replica, Role(role)),
    )


@command("hosts")
@click.argument("replica")
@click.option(
    "--add", multiple=True, metavar="HANDLE", help="Somebody it is to stand in for; may be repeated."
)
@click.option("--drop", multiple=True, metavar="HANDLE", help="Somebody it no longer stands in for.")
@pass_cli
def hosts(cli: Cli, replica: str, add: tuple[str, ...], drop: tuple[str, ...]) -> None:
    """Say for whom a machine stands in besides its own person.

    It receives the mail of those it stands in for, and may speak for them. Without --add and --drop it shows who
    they are.
    """
    if not add and not drop:
        _show_hosts(cli, replica)
        return
    change(
        cli,
        f"Done. {_hosts_text(replica, add, drop)}",
        "Nothing changed: it is so already.",
        lambda sync: commands.set_hosts(sync, replica, add, drop),
    )


def _show_hosts(cli: Cli, replica: str) -> None:
    with cli.node() as node:
        member = commands.member(need_team(node.team), replica)
    if cli.as_json:
        cli.screen.document({"replica": replica, "handle": member.handle, "hosts": [*member.hosts]})
    elif member.hosts:
        hosted = listing([named(handle) for handle in member.hosts])
        cli.screen.say(f"{replica} is {named(member.handle)}'s, and stands in for {hosted}.")
    else:
        cli.screen.say(f"{replica} is {named(member.handle)}'s, and stands in for nobody else.")


def _hosts_text(replica: str, add: tuple[str, ...], drop: tuple[str, ...]) -> str:
    said = []
    if add:
        said.append(
            f"{replica} stands in for {listing([*add])}: their mail goes there too, once the others have synced."
        )
    if drop:
        said.append(
            f"{replica} stands in for {listing([*drop])} no more. What it has received, it keeps; what it said for "
            "them stands."
        )
    return " ".join(said)


@command("revoke")
@click.argument("replica")
@click.option("--reason", required=True, metavar="TEXT", help="Why; the whole team can read it.")
@pass_cli
def revoke(cli: Cli, replica: str, reason: str) -> None:
    """Put a machine out of the team.

    Nothing more is sealed to it, and nothing more that it says counts. What it has, it keeps.
    """
    change(
        cli,
        f"Revoked {replica}. It keeps what it has already received; nothing more is sealed to it, by this "
        "machine now and by the others once they have synced.",
        f"{replica} was revoked before.",
        lambda sync: commands.revoke(sync, replica, reason),
    )


@command("dismiss")
@click.argument("replica")
@click.argument("seq", type=click.IntRange(min=1))
@click.argument("op", metavar="HASH")
@pass_cli
def dismiss(cli: Cli, replica: str, seq: int, op: str) -> None:
    """Take out a roster op that this version cannot read.

    For when nobody can upgrade: what it was meant to do is then not done, on every machine. `dmp problems` names
    the op.
    """
    change(
        cli,
        f"Dismissed op {seq} of {replica}. The team goes on without it.",
        f"Op {seq} of {replica} was dismissed before.",
        lambda sync: commands.dismiss(sync, replica, seq, op.lower()),
    )


def change(cli: Cli, done: str, already: str, what: Change) -> None:
    """Make one change to the roster, publish it, and say which of the two it was."""
    with cli.node() as node:
        link = remembered_link(node)
        with transport_to(node, link) as transport, sync_pass(cli.screen, node, transport) as sync:
            try:
                changed = what(sync)
            except TransportError as error:
                raise late(cli, node, error) from None
    if cli.as_json:
        cli.screen.document({"done": True, "already": not changed})
    else:
        cli.screen.say(done if changed else already)


def late(cli: Cli, node: Node, error: TransportError) -> Failure:
    """What to say of a far side that failed, where what was to be published is signed already."""
    failure = failure_of(error)
    assert failure is not None
    if not commands.unpublished_changes(node):
        return failure
    return Failure(
        failure.code,
        f"{failure.message.rstrip('.')}. The change is signed, but nobody can see it yet",
        hint=f"{failure.hint + '; ' if failure.hint else ''}`{cli.command('sync')}` publishes it",
    )
