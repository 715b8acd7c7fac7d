"""`dmp backup` and `dmp restore`: all of a replica in one file, and a replica from it."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from core.errors import Code, DmpError
from replica.cli.context import Cli, command, pass_cli
from replica.cli.screen import Screen
from replica.cli.text import moment

_FILE = click.Path(path_type=Path, dir_okay=False)


@command("backup")
@click.argument("file", type=_FILE)
@click.option("--force", is_flag=True, help="Write over FILE where it is there already.")
@pass_cli
def backup(cli: Cli, file: Path, force: bool) -> None:
    """Copy all of this replica into FILE, whatever runs meanwhile.

    FILE holds the private keys: whoever has it can sign as this machine and read its mail. It is made readable by you
    alone (mode 0600); keep it where nobody else comes. Make one often, and after anything you would not lose: a
    replica that is restored from one that is older than what it published signs nothing any more.
    """
    from replica.home.directory import Directory
    from replica.service.backup import backup as copy

    try:
        with _bar(cli.screen, "backing up") as progress:
            about = copy(Directory(cli.root), file.absolute(), progress, over=force)
    except sqlite3.Error as error:
        raise DmpError(Code.UNAVAILABLE, f"the backup was not made: {error}") from error
    if cli.as_json:
        cli.screen.document(
            {"file": str(file), "bytes": file.stat().st_size, "replica": about.replica, "seq": about.seq}
        )
        return
    cli.screen.say(
        f"{file} holds all of {about.replica}, up to its op {about.seq}, and its private keys: keep it to yourself."
    )


@command("restore")
@click.argument("file", type=_FILE)
@pass_cli
def restore(cli: Cli, file: Path) -> None:
    """Make a replica from a backup, in a directory where there is none.

    It signs nothing before `dmp sync` has read back what it published. If that is more than the backup holds, it signs
    nothing ever again: make a new replica then, join with it, and have the old one revoked; the mail in it stays
    readable. Stop the replica the backup was made of for good first: two of one key contradict each other.
    """
    from replica.service.backup import restore as make

    with _bar(cli.screen, "restoring") as progress:
        about = make(file, cli.root, progress)
    if cli.as_json:
        cli.screen.document(
            {
                "replica": about.replica,
                "handle": about.handle,
                "at": about.at,
                "seq": about.seq,
                "dir": str(cli.root),
            }
        )
        return
    if (
        other := _other_place(cli.root, about.replica)
    ) is not None:  # the first thing that is said: it matters most
        cli.screen.note(
            f"dmp: {other} holds this replica too. Use one of the two alone, and delete the other before you do "
            "anything else: what both sign contradicts itself, which can never be mended"
        )
    cli.screen.say(
        f"Restored {about.replica} in {cli.root}, as it was on {moment(about.at)}, up to its op {about.seq}.",
        "It signs nothing before it has read back what it published:",
    )
    cli.screen.exact(f"  {cli.command('sync')}")


def _other_place(root: Path, replica: str) -> Path | None:
    """Where else on this machine a replica is, as far as the machine remembers."""
    from replica.home.directory import Directory
    from replica.home.marker import MachineMarkers

    marker = MachineMarkers(root).read(replica)
    if marker is None or Path(marker.directory) == root.resolve():
        return None
    return Path(marker.directory) if Directory(Path(marker.directory)).exists else None


@contextmanager
def _bar(screen: Screen, what: str) -> Iterator[Callable[[int, int], None]]:
    """Show on a terminal how far it is."""
    import sys

    if screen.as_json or not sys.stderr.isatty():
        yield lambda _done, _of: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as shown:
        task = shown.add_task(what, total=None)
        yield lambda done, of: shown.update(task, completed=done, total=of)
