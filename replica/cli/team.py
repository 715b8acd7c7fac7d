"""`dmp team`: found a team, let people in, see who is in, and put machines out."""

from collections.abc import Callable
from typing import Final, TypeAlias

import click

from core.timestamp import timestamp
from crypto.canonical import JsonValue
from crypto.key_claims import Claim
from crypto.roster.bodies import Role
from crypto.roster.view import Member
from replica.cli import given
from replica.cli.connection import remembered_link, sync_pass, transport_to, typed_link
from replica.cli.context import Cli, group, pass_cli
from replica.cli.failures import Failure, failure_of
from replica.cli.text import counted, moment, quoted
from replica.node import Node
from replica.records import ops
from replica.records.meta import Meta, get
from replica.sync import SyncPass
from replica.team import commands
from replica.team.roster import Team, need_team, stored_claims

ROLE: Final = click.Choice([role.value for role in Role])

Change: TypeAlias = Callable[[SyncPass], None]
"""A command of `replica.team.commands`, with everything but the pass given."""


@group("team")
def team() -> None:
    """Found a team, let people in, see who is in it."""


@team.command("found")
@click.argument("name")
@click.option("--git", "remote", metavar="REMOTE", help="Where the team meets: a path, ssh or https address.")
@click.option("--branch", metavar="NAME", help="The branch to use; by default dmp-federation.")
@pass_cli
def found(cli: Cli, name: str, remote: str | None, branch: str | None) -> None:
    """Found a team, and show its recovery code once."""
    screen = cli.screen
    with cli.node() as node:
        link = typed_link(node, remote, branch)
        with transport_to(node, link) as transport, sync_pass(screen, node, transport) as sync:
            founded = commands.found_team(sync, name, link)
            shown = transport.url
    late = None if founded.unpublished is None else failure_of(founded.unpublished)
    document: dict[str, JsonValue] = {
        "team": founded.team_id,
        "name": founded.name,
        "recoveryCode": founded.recovery_code,
        "remote": shown,
        "branch": link.branch,
    }
    if late is not None and cli.as_json:
        raise Failure(late.code, late.message, hint=late.hint, details=document)
    if cli.as_json:
        screen.document(document)
        return
    screen.say(f"Founded {quoted(founded.name)} on the branch {link.branch} of {shown}.")
    if founded.recovery_code is not None:
        screen.say("", "Its recovery code, shown this once and kept nowhere:", "")
        screen.exact(f"  {founded.recovery_code}")
        screen.say(
            "",
            "Write it down on paper. By the protocol, whoever has it can take over the team when every admin's "
            "machine is lost, and nobody else can. This version cannot use it yet, so have a second admin: "
            "`dmp team role REPLICA admin`.",
        )
    if late is not None:
        raise Failure(
            late.code,
            f"{late.message}. The team is founded, but nobody can see it yet",
            hint=f"{late.hint + '; ' if late.hint else ''}try again with `{cli.command('sync')}`, or, if the "
            "address was wrong, with the same command and the right one",
        )
    screen.say("", "Next, invite somebody:")
    screen.exact(f"  {cli.command('team invite HANDLE')}")


@team.command("invite")
@click.argument("handle")
@pass_cli
def invite(cli: Cli, handle: str) -> None:
    """Make an invite code for a machine of HANDLE.

    It is valid for seven days, for one machine. The code alone goes to standard output. Give it to nobody but
    HANDLE: whoever has it can join.
    """
    with cli.node() as node:
        link = remembered_link(node)
        with transport_to(node, link) as transport, sync_pass(cli.screen, node, transport) as sync:
            code = commands.invite(sync, handle).encode()
            shown = transport.url
    screen = cli.screen
    if cli.as_json:
        screen.document({"code": code, "handle": handle, "remote": shown, "branch": link.branch})
        return
    screen.note(
        f"Give this code to {handle} over a channel only the two of you read. It admits one machine, "
        f"within {commands.INVITE_DAYS} days.",
        f"On that machine: dmp init --handle {handle}, then dmp join CODE --git {shown}"
        + ("" if link.branch == "dmp-federation" else f" --branch {link.branch}"),
        f"Then run `{cli.command('sync')}` here, which admits it.",
    )
    screen.exact(code)


@team.command("pending")
@pass_cli
def pending(cli: Cli) -> None:
    """List the machines that wait to be admitted."""
    with cli.node() as node:
        known = need_team(node.team)
        waiting = [
            _claim_json(known, replica, claim)
            for replica, claims in stored_claims(node.store.db).items()
            if replica not in known.view.members and replica not in known.view.revoked
            for claim in claims
        ]
        synced = get(node.store.db, Meta.SYNCED_AT)
    screen = cli.screen
    if cli.as_json:
        screen.document({"pending": [*waiting], "syncedAt": synced})
        return
    if not waiting:
        screen.say(f"No machine waits to be admitted, {_as_of(synced)}.")
        return
    screen.table(
        ("replica", "handle", "device", "fingerprint", "invited by"),
        [
            [str(each[name] or "nobody") for name in ("replica", "handle", "device", "fingerprint", "by")]
            for each in waiting
        ],
    )
    screen.say(
        "",
        "Handle and device are what each machine says of itself. Compare the fingerprint with its owner, by "
        "voice or in person, before you admit one:",
    )
    screen.exact(f"  {cli.command('team admit REPLICA --fingerprint XXXX-XXXX-XXXX-XXXX-XXXX-XXXX')}")


@team.command("admit")
@click.argument("replica")
@click.option("--fingerprint", required=True, metavar="TEXT", help="As its owner read it to you.")
@click.option("--role", type=ROLE, default="member", show_default=True)
@pass_cli
def admit(cli: Cli, replica: str, fingerprint: str, role: str) -> None:
    """Admit a machine whose fingerprint you compared."""
    read_out = given.fingerprint(fingerprint)
    _change(
        cli,
        f"Admitted {replica} as {role}.",
        lambda sync: commands.admit(sync, replica, read_out, Role(role)),
    )


@team.command("revoke")
@click.argument("replica")
@click.option("--reason", required=True, metavar="TEXT", help="Why; the whole team can read it.")
@pass_cli
def revoke(cli: Cli, replica: str, reason: str) -> None:
    """Put a machine out of the team.

    Nothing more is sealed to it, and nothing more that it says counts. What it has, it keeps.
    """
    done = (
        f"Revoked {replica}. It keeps what it has already received; nothing more is sealed to it, by this "
        "machine now and by the others once they have synced."
    )
    _change(cli, done, lambda sync: commands.revoke(sync, replica, reason))


@team.command("role")
@click.argument("replica")
@click.argument("role", type=ROLE, metavar="ROLE")
@pass_cli
def role(cli: Cli, replica: str, role: str) -> None:
    """Make a machine an admin, or a plain member.

    ROLE is admin or member.
    """
    _change(cli, f"{replica} is {role} now.", lambda sync: commands.set_role(sync, replica, Role(role)))


@team.command("roster")
@pass_cli
def roster(cli: Cli) -> None:
    """List who is in the team and who was put out."""
    with cli.node() as node:
        known = need_team(node.team)
        members = [_member_json(node, known, member) for member in known.view.members.values()]
        synced = get(node.store.db, Meta.SYNCED_AT)
        me = node.me
    revoked: list[JsonValue] = [
        {"replica": cut.replica, "handle": cut.handle, "reason": cut.reason, "by": cut.by}
        for cut in known.view.revoked.values()
    ]
    screen = cli.screen
    if cli.as_json:
        screen.document(
            {
                "team": known.view.team_id,
                "name": known.view.name,
                "founder": known.view.founder,
                "members": [*members],
                "revoked": revoked,
                "pending": [*known.view.pending],
                "syncedAt": synced,
            }
        )
        return
    screen.say(f"Team {quoted(known.view.name)} ({known.view.team_id}), {_as_of(synced)}.", "")
    screen.table(
        ("handle", "device", "replica", "role", "fingerprint", "last heard"),
        [
            [
                str(each["handle"]),
                str(each["device"]),
                str(each["replica"]),
                f"{each['role']}{', observer' if each['observer'] else ''}",
                str(each["fingerprint"]),
                "this machine" if each["replica"] == me else moment(str(each["lastHeard"] or "never")),
            ]
            for each in members
        ],
    )
    for cut in known.view.revoked.values():
        who = f"{cut.replica} (of {cut.handle})" if cut.handle else cut.replica
        screen.say(f"{who} was revoked by {known.describe(cut.by)}: {quoted(cut.reason)}")
    if known.view.pending:
        screen.say(
            f"{counted(len(known.view.pending), 'machine')} to be admitted: see `{cli.command('team pending')}`."
        )


@team.command("fingerprint")
@pass_cli
def fingerprint(cli: Cli) -> None:
    """Show this machine's fingerprint and the founder's."""
    with cli.node() as node:
        own = {"replica": node.me, "handle": node.handle, "fingerprint": node.identity.fingerprint}
        founder = get(node.store.db, Meta.FOUNDER)
        founders = get(node.store.db, Meta.FOUNDER_FINGERPRINT)
    screen = cli.screen
    if cli.as_json:
        document: dict[str, JsonValue] = {**own}
        document["founder"] = None if founder is None else {"replica": founder, "fingerprint": founders}
        screen.document(document)
        return
    screen.say(f"this machine  {own['fingerprint']}  {own['replica']}")
    if founder is not None and founder != own["replica"]:
        screen.say(f"the founder   {founders}  {founder}")


def _change(cli: Cli, done: str, change: Change) -> None:
    """Make one change to the roster, and publish it."""
    with cli.node() as node:
        link = remembered_link(node)
        with transport_to(node, link) as transport, sync_pass(cli.screen, node, transport) as sync:
            change(sync)
    if cli.as_json:
        cli.screen.document({"done": True})
    else:
        cli.screen.say(done)


def _claim_json(known: Team, replica: str, claim: Claim) -> dict[str, JsonValue]:
    """A key that claims a waiting machine's id. Usually an id has one; where it has more, one is an impostor's."""
    invited = known.view.invited_by(replica, claim.key)
    return {
        "replica": replica,
        "handle": claim.key.handle,
        "device": claim.key.device,
        "fingerprint": claim.fingerprint,
        "by": None if invited is None else known.describe(invited.by),
    }


def _member_json(node: Node, known: Team, member: Member) -> dict[str, JsonValue]:
    key = known.keys.get(member.replica)
    heard = ops.position(node.store.db, member.replica)
    head = None if heard is None else heard.cursor.head
    return {
        "replica": member.replica,
        "handle": member.handle,
        "device": None if key is None else key.device,
        "role": str(member.role),
        "hosts": [*member.hosts],
        "observer": member.observer,
        "fingerprint": member.fingerprint,
        "lastHeard": None if head is None else timestamp(head.hlc.ms),
    }


def _as_of(synced: str | None) -> str:
    return "before any sync" if synced is None else f"as of the sync at {moment(synced)}"
