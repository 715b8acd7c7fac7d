"""`dmp team recover`, `recovery-key` and `trust`: what helps where nobody is left, or it is unclear who is meant."""

import click

from replica.cli import given
from replica.cli.connection import remembered_link, sync_pass, transport_to, typed_link
from replica.cli.context import Cli, command, pass_cli
from replica.cli.failures import Failure, failure_of
from replica.cli.roster_changes import late
from replica.cli.text import quoted
from replica.team.recovery import new_recovery_key
from replica.team.recovery import recover as recover_team
from replica.team.trust import trust as trust_founder
from transports.base import TransportError


@command("recover")
@click.option("--git", "remote", metavar="REMOTE", help="Where the team meets: a path, ssh or https address.")
@click.option("--branch", metavar="NAME", help="The branch the team uses; by default dmp-federation.")
@click.option(
    "--code", metavar="CODE", help="The code, where any list of processes shows it; better leave it out."
)
@pass_cli
def recover(cli: Cli, remote: str | None, branch: str | None, code: str | None) -> None:
    """Let this machine into the team as an admin, with the recovery code.

    For when every admin's machine is lost: on a new machine, after `dmp init`. The code is asked for on the
    terminal, or read from a line of standard input. It lets one machine in, once.
    """
    screen = cli.screen
    with cli.node() as node:
        link = typed_link(node, remote, branch)
        code = given.recovery_code() if code is None else code
        with transport_to(node, link) as transport, sync_pass(screen, node, transport) as sync:
            try:
                recovered = recover_team(sync, code, link)
            except TransportError as error:
                raise late(cli, node, error) from None
        view, me = recovered.team.view, node.me
    if cli.as_json:
        screen.document(
            {"team": view.team_id, "name": view.name, "replica": me, "already": recovered.already}
        )
        return
    if recovered.already:
        screen.say(
            f"This machine let itself into the team {quoted(view.name)} before, and is an admin of it."
        )
    else:
        screen.say(f"This machine is an admin of the team {quoted(view.name)} now. Everybody is told.")
    screen.say(
        "",
        "The code is used up. Make a new one, and put out every machine that is lost:",
    )
    screen.exact(f"  {cli.command('team recovery-key')}")
    screen.exact(f"  {cli.command('team roster')}")
    screen.exact(f"  {cli.command('team revoke REPLICA --reason lost')}")


@command("recovery-key")
@pass_cli
def new_code(cli: Cli) -> None:
    """Make a new recovery code, and show it once.

    The one before opens nothing any more. Only admins may.
    """
    screen = cli.screen
    with cli.node() as node:
        link = remembered_link(node)
        with transport_to(node, link) as transport, sync_pass(screen, node, transport) as sync:
            made = new_recovery_key(sync)
    trouble = None if made.unpublished is None else failure_of(made.unpublished)
    if trouble is not None and cli.as_json:
        raise Failure(trouble.code, trouble.message, hint=trouble.hint, details={"recoveryCode": made.code})
    if cli.as_json:
        screen.document({"recoveryCode": made.code})
        return
    screen.say("The team's new recovery code, shown this once and kept nowhere:", "")
    screen.exact(f"  {made.code}")
    screen.say("", "Write it down on paper, and destroy the one before: it opens nothing any more.")
    if trouble is not None:
        raise Failure(
            trouble.code,
            f"{trouble.message.rstrip('.')}. The new code is signed, and counts once it is published; until then the "
            "one before does",
            hint=f"{trouble.hint + '; ' if trouble.hint else ''}`{cli.command('sync')}` publishes it",
        )


@command("trust")
@click.argument("fingerprint")
@click.option("--git", "remote", metavar="REMOTE", help="Where the team meets: a path, ssh or https address.")
@click.option("--branch", metavar="NAME", help="The branch the team uses; by default dmp-federation.")
@pass_cli
def trust(cli: Cli, fingerprint: str, remote: str | None, branch: str | None) -> None:
    """Say which founder is meant, by their FINGERPRINT.

    For when more than one team was founded on a branch. Have the founder read it out to you; `dmp problems` lists
    the ones there are. This machine then follows that founder for good.
    """
    read_out = given.fingerprint(fingerprint)
    screen = cli.screen
    with cli.node() as node:
        link = typed_link(node, remote, branch)
        with transport_to(node, link) as transport, sync_pass(screen, node, transport) as sync:
            trusted = trust_founder(sync, read_out, link)
        team = trusted.team
        asked = node.me in team.view.members or node.me in team.view.pending
    if cli.as_json:
        screen.document(
            {
                "team": team.view.team_id,
                "name": team.view.name,
                "founder": {"replica": team.view.founder, "fingerprint": read_out},
                "already": trusted.already,
            }
        )
        return
    screen.say(
        f"This machine follows the team {quoted(team.view.name)}, founded by {team.describe(team.view.founder)}, "
        "and no other."
    )
    if not asked:
        screen.say("Next, ask to be let in:")
        screen.exact(f"  {cli.command('join')}")
