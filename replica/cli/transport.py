"""`dmp transport`: where this machine meets its team, at several places at once if need be."""

import click

from core.errors import Code, DmpError
from replica.cli.connection import new_link, remembered_link, sync_pass, used_link
from replica.cli.context import Cli, group, pass_cli
from replica.cli.text import counted, listing, moment
from replica.cli.transport_bench import bench
from replica.moving import arriving, carry, is_relay, settle
from replica.records import transports
from replica.records.commits import CommitPoint
from replica.records.link import Link, Role
from replica.team import shown
from replica.team.roster import need_team
from replica.team.transport import DISCLOSURE
from replica.ways import Ways
from transports.opening import directory_of, scheme_of


@group("transport")
def transport() -> None:
    """See, add and remove the places where this machine meets its team."""


transport.add_command(bench)


@transport.command("add")
@click.argument("address")
@click.option(
    "--branch", metavar="NAME", help="The branch to use, where there are any; by default dmp-federation."
)
@click.option(
    "--main", "main", is_flag=True, help="Use it in the place of the main one, for this machine alone."
)
@pass_cli
def add(cli: Cli, address: str, branch: str | None, main: bool) -> None:
    """Use one more transport besides the main one.

    ADDRESS is that of a git remote, dir:PATH for a directory, or wss:// for a relay. What the main transport has goes
    there too, with every `dmp sync`, and what others leave there is read.

    With --main it takes the place of the main one on this machine: for a repository that moved, or goes by another
    address from here. It gets this machine's whole log first. What the team uses is for its admins to say: see `dmp
    team transport`.
    """
    link = new_link(address, branch, "ADDRESS")
    with cli.node() as node:
        need_team(node.team)
        remembered_link(node)
        known = transports.record(node.store.db, link)
        already = known is not None and known.role is (Role.MAIN if main else Role.OTHER)
        if known is not None and known.role is Role.MAIN and not main:
            raise DmpError(Code.CONFLICT, f"{link.shown} is the main transport already", "address")
        if not already:
            _see_directory(link)
        if is_relay(link) and not already:
            cli.screen.note(DISCLOSURE)
        if main and not already:
            with Ways(node) as ways, sync_pass(cli.screen, node, ways.open(link)) as sync:
                carry(node, node.team, sync.transport)
                settle(node, node.team, link)
        elif not already:
            with node.store.transaction(CommitPoint.VISITED) as db:
                transports.add(db, link)
    if cli.as_json:
        cli.screen.document({"address": link.shown, "branch": link.branch, "done": True, "already": already})
    elif already:
        cli.screen.say("It is used already.")
    else:
        use = " as the main transport of this machine" if main else ""
        cli.screen.say(f"Added {link.shown}{_host(link)}{use}. Next:")
        cli.screen.exact(f"  {cli.command('sync')}")


def _see_directory(link: Link) -> None:
    """Refuse a directory of this machine that is not there. Raises DmpError `not-found`."""
    place = directory_of(link.remote)
    if place is not None and not place.is_dir():
        raise DmpError(
            Code.NOT_FOUND,
            f"there is no directory {place}: make it, or plug in what it is on, and add it then. `dmp` makes none, so "
            "that a stick that is not plugged in is not taken for an empty one",
            "address",
        )


def _host(link: Link) -> str:
    """How git's `host:path` was understood, which is short for much else too."""
    if scheme_of(link.remote) != "ssh" or "://" in link.remote:
        return ""
    return f" (a git repository on the host {link.remote.partition(':')[0]})"


@transport.command("remove")
@click.argument("address")
@click.option("--branch", metavar="NAME", help="Its branch, where there are any; by default dmp-federation.")
@pass_cli
def remove(cli: Cli, address: str, branch: str | None) -> None:
    """Use a transport no more. What is there stays there, and nothing is lost here."""
    link = used_link(address, branch, "ADDRESS")
    with cli.node() as node:
        found = transports.record(node.store.db, link)
        if found is None:
            raise DmpError(
                Code.NOT_FOUND, "no such transport is used here; see `dmp transport list`", "address"
            )
        if found.role is Role.MAIN:
            raise DmpError(
                Code.CONFLICT,
                "that is the main transport; an admin moves the team with `dmp team transport`, and `dmp transport add "
                "ADDRESS --main` puts another in its place on this machine",
                "address",
            )
        waiting = 0 if found.role is Role.FORMER else shown.not_there(node, found)
        absent = sorted(arriving(node)) if found.role is Role.FORMER else []
        with node.store.transaction(CommitPoint.VISITED) as db:
            transports.remove(db, link)
        names = [need_team(node.team).describe(replica) for replica in absent]
    if cli.as_json:
        cli.screen.document(
            {"address": link.shown, "branch": link.branch, "waiting": waiting, "absent": [*absent]}
        )
        return
    cli.screen.say(f"Removed {link.shown}.")
    if waiting:
        cli.screen.say(
            f"{counted(waiting, 'op')} of this machine had not been read back there; the main one has them."
        )
    if names:
        cli.screen.say(
            f"{listing(names)} may still say something there, which is not read here any more until they have followed "
            "the team."
        )


@transport.command("list")
@pass_cli
def list_(cli: Cli) -> None:
    """List the transports, and how each fared last."""
    with cli.node() as node:
        remembered_link(node)
        found = [shown.transport_json(node, each) for each in transports.records(node.store.db)]
        absent = sorted(arriving(node))
        names = [need_team(node.team).describe(replica) for replica in absent]
    if cli.as_json:
        cli.screen.document({"transports": [*found], "absent": [*absent]})
        return
    cli.screen.table(
        ("transport", "branch", "use", "reached", "last seen", "waiting"),
        [
            [
                str(each["address"]),
                str(each["branch"]),
                str(each["use"]),
                {True: "yes", False: "no", None: "not yet"}[each["reachable"]],  # type: ignore[index]
                moment(str(each["seenAt"])) if each["seenAt"] else "never",
                "" if each["waiting"] is None else counted(int(str(each["waiting"])), "op"),
            ]
            for each in found
        ],
    )
    for each in found:
        if each["error"]:
            cli.screen.say(f"{each['address']}, {moment(str(each['failedAt']))}: {each['error']}")
    if names:
        cli.screen.say(f"Not seen on the main transport since this machine came there: {listing(names)}.")
