"""`dmp team transport`: move the whole team to a relay, or to a git remote."""

from collections.abc import Callable

import click

from core.errors import Code, DmpError
from replica.cli.connection import remembered_link, sync_pass
from replica.cli.context import Cli, group, pass_cli
from replica.cli.roster_changes import Change, late
from replica.cli.screen import Screen
from replica.moving import follows_already, place_of
from replica.passes import catch_up
from replica.sync import SyncPass
from replica.team.roster import need_team
from replica.team.transport import DISCLOSURE, Register, use_git, use_relay
from replica.ways import Ways
from transports.base import TransportError


@group("transport", invoke_without_command=True)
@click.pass_context
def transport(context: click.Context) -> None:
    """Show where the team meets, or move it."""
    cli = context.find_object(Cli)
    assert cli is not None
    if context.invoked_subcommand is not None:
        return
    with cli.node() as node:
        said = need_team(node.team).view.transport
        here = remembered_link(node)
    if cli.as_json:
        cli.screen.document(
            {"kind": str(said.kind), "url": said.url, "here": here.shown, "branch": here.branch}
        )
    else:
        cli.screen.say(
            f"The team meets over {_where(place_of(said))}; this machine is on {here.shown}.",
        )


@transport.command("relay")
@click.argument("url")
@click.option("--token", metavar="TEXT", help="What the relay asks for to take a new team, if anything.")
@click.option("--yes", is_flag=True, help="Say that you read what whoever runs the relay can see.")
@pass_cli
def relay(cli: Cli, url: str, token: str | None, yes: bool) -> None:
    """Move the team to the relay at URL, which begins with wss://.

    The relay is told of the team first, and lets this machine in; where it does not, nothing is done. Each machine
    follows with its next sync, once what waits there has gone out where the team is now, and leaves its whole log on
    the relay. What was on the branch stays there.
    """
    cli.screen.note(DISCLOSURE)
    if not yes:
        confirmed = not cli.as_json and _asked("Move the team to the relay?")
        if not confirmed:
            raise DmpError(
                Code.FORBIDDEN,
                f"nobody confirmed it, so nothing was done. {DISCLOSURE} To confirm it in a program, give --yes",
            )
    _move(
        cli,
        lambda sync: use_relay(sync, url, _register_at(cli.screen, sync, token), confirmed=True),
        {"disclosure": DISCLOSURE},
    )


@transport.command("git")
@click.argument("remote", required=False)
@pass_cli
def git(cli: Cli, remote: str | None) -> None:
    """Move the team to a git remote, or back to where each machine met it before.

    REMOTE is an https or ssh address: it is for every machine of the team.
    """
    _move(cli, lambda sync: use_git(sync, remote), {})


def _move(cli: Cli, what: Change, details: dict[str, str]) -> None:
    with cli.node() as node:
        link = remembered_link(node)
        with Ways(node) as ways, sync_pass(cli.screen, node, ways.open(link), ways) as sync:
            try:
                changed = what(sync)
            except TransportError as error:
                raise late(cli, node, error) from None
            try:
                catch_up(sync)
            except TransportError as error:
                raise late(cli, node, error) from None
        here = remembered_link(node)
        said = need_team(node.team).view.transport
        followed = follows_already(node, said)
    if cli.as_json:
        cli.screen.document(
            {
                "done": True,
                "already": not changed,
                "kind": str(said.kind),
                "url": said.url,
                "here": here.shown,
                **details,
            }
        )
        return
    where = _where(place_of(said))
    cli.screen.say(f"The team meets over {where}." if changed else f"The team meets over {where} already.")
    if followed:
        cli.screen.say(f"This machine is on {here.shown}. The others follow with their next sync.")
    else:
        cli.screen.say(
            f"This machine is still on {here.shown}; why it cannot follow, and the others perhaps no more than it:"
        )
        cli.screen.exact(f"  {cli.command('problems')}")


def _asked(question: str) -> bool:
    """What a person answers; no where there is nobody to ask."""
    try:
        return click.confirm(question, err=True)
    except click.Abort:
        return False


def _register_at(screen: Screen, sync: SyncPass, token: str | None) -> Register:
    """How a relay is told of the team, which may take a minute's work."""

    def register(url: str, key: bytes, found: bytes, chain: object) -> None:
        # It brings an HTTP client with it, which no other command need wait for.
        from transports.relay.client.registration import register as at_relay

        assert isinstance(chain, list)
        screen.note("Telling the relay of the team.")
        at_relay(url, key, found, chain, token=token, progress=_worked(sync.step))

    return register


def _worked(show: Callable[[str], None]) -> Callable[[int, int], None]:
    """Show how much of the work that a relay asks for is done. It is luck when it ends: often sooner, or later."""
    shown = ""

    def progress(tried: int, expected: int) -> None:
        nonlocal shown
        text = f"doing the work that the relay asks for: {tried / expected:.0%} of what it takes on average"
        if text != shown:
            shown = text
            show(text)

    return progress


def _where(place: str) -> str:
    kind, _, url = place.partition(" ")
    if kind == "relay":
        return f"the relay {url}"
    return f"the git remote {url}" if url else "a git remote, where each machine met it first"
