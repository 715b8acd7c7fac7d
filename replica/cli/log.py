"""`dmp log`: what was refused, what came to a halt, and who changed the roster."""

import re
import time
from datetime import UTC, datetime, timedelta
from typing import Final, NoReturn

import click

from core.timestamp import timestamp
from replica.cli.context import Cli, command, pass_cli
from replica.cli.text import in_own_zone, moment
from replica.node import DirectoryNode
from replica.service.trail import Entry, entries

_AGO: Final = re.compile(r"([0-9]{1,6})([mhdw])")
_UNITS: Final = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_LOOK_SECONDS: Final = 0.1


class _Since(click.ParamType[str]):
    name = "time"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> str:
        text = str(value)
        ago = _AGO.fullmatch(text)
        try:
            if ago is not None:
                when = datetime.now(UTC) - timedelta(**{_UNITS[ago[2]]: int(ago[1])})
            else:
                when = datetime.fromisoformat(text).astimezone(UTC)
        except (ValueError, OverflowError):
            self.fail(f"{text} is no time; write 30m, 2h, 7d, 2026-11-30 or 2026-11-30T12:00", param, ctx)
        return timestamp(max(0, int(when.timestamp() * 1000)))


@command("log")
@click.option("--since", type=_Since(), metavar="TIME", help="Only from then on: 2h, 7d, 2026-11-30.")
@click.option("--follow", is_flag=True, help="Go on, and print what is new, until interrupted.")
@pass_cli
def log(cli: Cli, since: str | None, follow: bool) -> None:
    """List what was refused, what came to a halt, and who changed the roster, the newest last.

    Roster changes have the time that their author's clock said. Problems are listed also when they are over; of what
    was long ago only the newest are kept.
    """
    with cli.node() as node:
        if follow:
            _follow(cli, node, since or "")
        found = entries(node, since or "")
    if cli.as_json:
        cli.screen.document({"log": [each.to_json() for each in found]})
        return
    with cli.screen.paged():
        for each in found:
            _show(cli, each)
        if not found:
            cli.screen.say("Nothing was refused, halted or changed.")


def _follow(cli: Cli, node: DirectoryNode, since: str) -> NoReturn:
    """Print what there is, and what is new, until interrupted."""
    shown: set[Entry] = set()
    while True:
        seen = _version(node)
        found = entries(node, since)
        for each in found:
            if each not in shown:
                _show(cli, each)
        shown = set(found)
        while _version(node) == seen:
            time.sleep(_LOOK_SECONDS)


def _version(node: DirectoryNode) -> int:
    (version,) = node.store.db.execute("PRAGMA data_version").fetchone()
    return int(version)


def _show(cli: Cli, entry: Entry) -> None:
    if cli.as_json:
        cli.screen.document(entry.to_json())
        return
    over = "over: " if entry.over else ""
    cli.screen.say(f"{moment(entry.at)}  {entry.event:<8} {over}{in_own_zone(entry.text)}")
