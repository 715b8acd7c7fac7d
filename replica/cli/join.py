"""`dmp join`: ask to be let into a team."""

from contextlib import closing
from typing import Final

import click

from core.errors import Code, DmpError, invalid
from crypto.canonical import JsonValue
from crypto.invites import CodeError, InviteCode
from replica.cli import given
from replica.cli.connection import MEETING, sync_pass, transport_to, typed_link
from replica.cli.context import Cli, command, pass_cli
from replica.cli.failures import failure_of
from replica.cli.screen import Screen
from replica.cli.standing import no_part
from replica.cli.text import quoted
from replica.moving import relay_link
from replica.node import DirectoryNode, Node
from replica.passes import catch_up, passes
from replica.records.link import Link
from replica.records.meta import Meta, get
from replica.sync import Report, SyncPass
from replica.team import commands
from replica.team.roster import Team, need_team, stored_claims
from transports.base import TransportError
from transports.remotes import RemoteError

WAIT_SECONDS: Final = 30.0
"""The longest time between two looks for the admission, in seconds."""


@command("join")
@click.argument("code", required=False)
@click.option(
    "--git",
    "remote",
    metavar="REMOTE",
    help=MEETING,
)
@click.option("--branch", metavar="NAME", help="The branch the team uses; by default dmp-federation.")
@click.option("--wait", is_flag=True, help="Stay until this machine is admitted.")
@pass_cli
def join(cli: Cli, code: str | None, remote: str | None, branch: str | None, wait: bool) -> None:
    """Ask to join a team, with an invite CODE or without one.

    Without a code an admin admits this machine by its fingerprint. Running it again does no harm. A CODE of
    `-` is read from standard input, where no list of processes shows it.
    """
    code = None if code is None else given.invite_code(code)

    def ask(sync: SyncPass) -> Report:
        return commands.join(sync, code, link)

    screen = cli.screen
    with cli.node() as node:
        link = _link(node, code, remote, branch)
        with transport_to(node, link) as transport, sync_pass(screen, node, transport) as sync:
            catch_up(sync, ask)
        team = need_team(node.team)
        if not cli.as_json:
            _show(cli, node, team)
        if wait and not team.ready(node.me):
            team = _wait(screen, node, link)
            if not cli.as_json:
                screen.say("Admitted.")
        if cli.as_json:
            screen.document(_join_json(node, team))


def _link(node: Node, code: str | None, remote: str | None, branch: str | None) -> Link:
    """Where to ask: what was typed, else the relay that the code names, else where this machine asked before."""
    if remote is None and code is not None:
        try:
            relay = InviteCode.decode(code).relay
            if relay is not None:
                return relay_link(relay)
        except CodeError as error:
            raise invalid("code", str(error)) from None
        except RemoteError as error:
            raise invalid("code", f"the invite leads to an address that is not used: {error}") from None
    return typed_link(node, remote, branch)


def _wait(screen: Screen, node: DirectoryNode, link: Link) -> Team:
    """Sync until this machine is admitted. Raises DmpError `forbidden` when it is refused instead."""
    screen.note("Waiting to be admitted. Ctrl-C does no harm: the request stays.")
    last = ""
    with closing(passes(node, link, WAIT_SECONDS, show=screen.working)) as outcomes:
        for outcome in outcomes:
            if isinstance(outcome, TransportError | DmpError):
                failure = failure_of(outcome)
                if failure is not None and failure.message != last:
                    last = failure.message
                    screen.note(failure.sentence())
                continue
            team = need_team(node.team)
            if team.ready(node.me):
                return team
            if node.me in team.view.revoked:
                raise DmpError(Code.FORBIDDEN, f"{no_part(node)}; make another one with `dmp init`")
    raise AssertionError("passes never end by themselves")


def _show(cli: Cli, node: Node, team: Team) -> None:
    screen = cli.screen
    founder = get(node.store.db, Meta.FOUNDER) or ""
    name, who = quoted(team.view.name), team.describe(founder)
    if team.ready(node.me):
        screen.say(f"This machine is in the team {name}, founded by {who}.")
        return
    screen.say(
        f"Asked to join the team {name}, founded by {who}.",
        "",
        f"  this machine  {node.identity.fingerprint}  {node.me}",
        f"  the founder   {get(node.store.db, Meta.FOUNDER_FINGERPRINT)}  {founder}",
        "",
        "Compare both with the founder, by voice or in person: each of you reads out their own. If one "
        "differs, somebody stands between you; do not go on.",
        "",
    )
    invited, useless = _invite(node, team)
    if invited and not useless:
        screen.say("The machine that invited you admits this one when it syncs. Then, here:")
    else:
        screen.say(*([useless] if useless else []), "Next, an admin of the team runs:")
        screen.exact(f"  dmp team admit {node.me} --fingerprint {node.identity.fingerprint}")
        screen.say("Then, here:")
    screen.exact(f"  {cli.command('sync')}")


def _invite(node: Node, team: Team) -> tuple[bool, str]:
    """Whether this machine asked with an invite, and why that admits it nowhere; empty when it may.

    Whether another machine used it before is for the inviter to say.
    """
    keys = [claim.key for claim in stored_claims(node.store.db).get(node.me, ())]
    proof = keys[0].invite if keys else None
    if proof is None:
        return False, ""
    invite = team.view.invites.get(proof.id)
    if invite is None:
        return True, "The team knows no invite with this code."
    if invite.handle != node.handle:
        return True, f"The invite is for the handle {quoted(invite.handle)}; this machine's is {node.handle}."
    return True, "The invite has expired." if invite.expires < node.now() else ""


def _join_json(node: Node, team: Team) -> dict[str, JsonValue]:
    db = node.store.db
    return {
        "team": team.view.team_id,
        "name": team.view.name,
        "admitted": team.ready(node.me),
        "replica": node.me,
        "fingerprint": node.identity.fingerprint,
        "founder": {"replica": get(db, Meta.FOUNDER), "fingerprint": get(db, Meta.FOUNDER_FINGERPRINT)},
    }
