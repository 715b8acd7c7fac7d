"""`dmp init`: make a replica."""

import click

from replica.cli.context import Cli, command, pass_cli
from replica.home.keyfile import read_key_file
from replica.node import create


@command("init")
@click.option("--handle", required=True, metavar="NAME", help="Your name in the team: teammates write to it.")
@click.option("--device", metavar="TEXT", help="What this machine is called; by default its host name.")
@pass_cli
def init(cli: Cli, handle: str, device: str | None) -> None:
    """Make a replica: keys, an id and an empty store.

    One replica is one machine of one person, in one team.
    """
    root = cli.root
    replica = create(root, handle, device)
    fingerprint = read_key_file(root / "keys" / "replica.json").fingerprint
    screen = cli.screen
    if cli.as_json:
        screen.document(
            {"replica": replica, "handle": handle, "fingerprint": fingerprint, "dir": str(root.absolute())}
        )
        return
    screen.say(
        f"Made {replica} in {root}. Its keys are in {root / 'keys'}: keep them to yourself.",
        f"Fingerprint: {fingerprint}",
        "",
        "Next, start a team or join one:",
    )
    screen.exact(f"  {cli.command('team found NAME --git REMOTE')}")
    screen.exact(f"  {cli.command('join CODE --git REMOTE')}")
