"""`dmp team`: found a team, let people in, see who is in, and put machines out."""

import click

from crypto.canonical import JsonValue
from crypto.roster.view import Member
from replica.cli.compact import compact_now
from replica.cli.connection import MEETING, remembered_link, sync_pass, transport_to, typed_link
from replica.cli.context import Cli, group, pass_cli
from replica.cli.failures import Failure, failure_of
from replica.cli.recovery import new_code, recover, trust
from replica.cli.roster_changes import admit, dismiss, hosts, observer, revoke, role
from replica.cli.team_transport import transport
from replica.cli.text import counted, moment, quoted
from replica.moving import is_relay
from replica.records.meta import Meta, get
from replica.team import commands, shown
from replica.team.roster import named, need_team


@group("team")
def team() -> None:
    """Found a team, let people in, see who is in it."""


@team.command("found")
@click.argument("name")
@click.option(
    "--git",
    "remote",
    metavar="REMOTE",
    help=MEETING,
)
@click.option("--branch", metavar="NAME", help="The branch to use; by default dmp-federation.")
@pass_cli
def found(cli: Cli, name: str, remote: str | None, branch: str | None) -> None:
    """Found a team, and show its recovery code once."""
    screen = cli.screen
    with cli.node() as node:
        link = typed_link(node, remote, branch)
        if is_relay(link):
            raise click.UsageError(
                "a team is founded over a git remote or a directory; `dmp team transport relay URL` then moves it"
            )
        with transport_to(node, link) as way, sync_pass(screen, node, way) as sync:
            founded = commands.found_team(sync, name, link)
            shown = way.url
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
    branch_of = "" if shown.startswith("dir:") else f"the branch {link.branch} of "
    screen.say(f"Founded {quoted(founded.name)} on {branch_of}{shown}.")
    if founded.recovery_code is not None:
        screen.say("", "Its recovery code, shown this once and kept nowhere:", "")
        screen.exact(f"  {founded.recovery_code}")
        screen.say(
            "",
            "Write it down on paper, and keep it where you would keep a spare key: whoever has it can take over the "
            "team (`dmp team recover`), and when every admin's machine is lost, nobody else can.",
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
@click.option("--observer", is_flag=True, help="For a machine that only reads along, and reads all mail.")
@pass_cli
def invite(cli: Cli, handle: str, observer: bool) -> None:
    """Make an invite code for a machine of HANDLE.

    It is valid for seven days, for one machine. The code alone goes to standard output. Give it to nobody but
    HANDLE: whoever has it can join.
    """
    with cli.node() as node:
        link = remembered_link(node)
        with transport_to(node, link) as way, sync_pass(cli.screen, node, way) as sync:
            code = commands.invite(sync, handle, observer=observer).encode()
            shown = way.url
    screen = cli.screen
    if cli.as_json:
        screen.document(
            {"code": code, "handle": handle, "observer": observer, "remote": shown, "branch": link.branch}
        )
        return
    screen.note(
        f"Give this code to {handle} over a channel only the two of you read. It admits one machine, "
        f"within {commands.INVITE_DAYS} days.",
        f"On that machine: dmp init --handle {handle}, then dmp join CODE"
        + ("" if is_relay(link) else f" --git {shown}")
        + ("" if link.branch == "dmp-federation" else f" --branch {link.branch}"),
        f"Then run `{cli.command('sync')}` here, which admits it"
        + (
            " as an observer: it gets a copy of all mail that leaves any machine of the team, and sends none."
            if observer
            else "."
        ),
    )
    screen.exact(code)


@team.command("pending")
@pass_cli
def pending(cli: Cli) -> None:
    """List the machines that wait to be admitted."""
    with cli.node() as node:
        waiting = shown.pending(node)
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


@team.command("roster", paged=True)
@pass_cli
def roster(cli: Cli) -> None:
    """List who is in the team and who was put out."""
    with cli.node() as node:
        known = need_team(node.team)
        everyone = sorted(known.view.members.values(), key=lambda each: (each.handle, each.replica))
        members = [shown.member_json(node, known, member) for member in everyone]
        document = shown.roster(node)
        synced = get(node.store.db, Meta.SYNCED_AT)
        me = node.me
    screen = cli.screen
    if cli.as_json:
        screen.document(document)
        return
    screen.say(f"Team {quoted(known.view.name)} ({known.view.team_id}), {_as_of(synced)}.", "")
    screen.table(
        ("handle", "device", "replica", "role", "fingerprint", "last heard"),
        [
            [
                ", ".join((named(member.handle), *(f"for {named(handle)}" for handle in member.hosts))),
                str(each["device"]),
                str(each["replica"]),
                _role(member),
                str(each["fingerprint"]),
                "this machine" if each["replica"] == me else moment(str(each["lastHeard"] or "never")),
            ]
            for member, each in zip(everyone, members, strict=True)
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


def _role(member: Member) -> str:
    """What a machine may do: admins with their rank, by which removals that contradict each other are decided."""
    if member.observer:
        return "observer, reads all mail"
    if member.rank is None:
        return "member"
    return f"admin {member.rank + 1}{', let itself in by the recovery code' if member.recovered else ''}"


def _as_of(synced: str | None) -> str:
    return "before any sync" if synced is None else f"as of the sync at {moment(synced)}"


for each in (admit, observer, role, hosts, revoke, recover, new_code, trust, dismiss, transport, compact_now):
    team.add_command(each)
