"""What the commands that read a branch, a file or a store share: which one, and how far the reading is."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

import click

from replica.audit.engine import no_scratch
from replica.audit.open import STORE, open_source
from replica.audit.reading import Reading, read_source
from replica.audit.scratch import Scratch
from replica.audit.source import SourceError
from replica.cli.context import Cli
from replica.cli.failures import USAGE, Failure
from replica.cli.screen import Screen
from replica.node import wall_clock
from transports.remotes import DEFAULT_BRANCH

_STEP: Final = 500
"""Lines between two updates of what is shown."""

_BAR: Final = 20
"""Characters of a bar that fills."""

_OPTIONS: Final = (
    click.option("--team", metavar="TEAM", help="Which team, where several were founded: by id or name."),
    click.option(
        "--branch", metavar="BRANCH", default=DEFAULT_BRANCH, help=f"Of a git remote; else {DEFAULT_BRANCH}."
    ),
    click.option(
        "--from",
        "source",
        metavar="SOURCE",
        default=STORE,
        help="What to read: `store` (that of --dir; the default), `git:REMOTE`, another transport (`dir:PATH`, "
        "`wss://…`), a JSON Lines file, or `-`.",
    ),
)


def source_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options that say what to read: `source`, `branch` and `team`."""
    for option in _OPTIONS:
        command = option(command)
    return command


@contextmanager
def reading_of(
    cli: Cli, source: str, branch: str, team: str | None, *, keep_marks: bool = False
) -> Iterator[Reading]:
    """Read a source, which stays open for the block.

    Raises Failure for what cannot be read, also while the block goes on reading.
    """
    try:
        with (
            Scratch() as scratch,
            open_source(source, cli.root, branch, scratch) as opened,
            progress_on(cli.screen) as progress,
        ):
            yield read_source(
                opened, scratch, wall_clock(), team=team, progress=progress, keep_marks=keep_marks
            )
    except SourceError as error:
        raise unreadable(error) from error
    except sqlite3.Error as error:
        raise unreadable(no_scratch(error)) from error


def unreadable(error: SourceError) -> Failure:
    """What a command ends with where there is nothing that can be read."""
    return Failure("unreadable", error.message, hint=error.hint, exit=USAGE)


@contextmanager
def progress_on(screen: Screen) -> Iterator["Steps"]:
    """Tells on a terminal how far the reading of a source is."""
    with screen.working("reading") as step:
        yield Steps(step)


class Steps:
    """Says every now and then how far an audit is (`replica.audit.progress.Progress`)."""

    def __init__(self, step: Callable[[str], None]) -> None:
        self._step = step
        self._what = ""
        self._total: int | None = None
        self._done = 0

    def begin(self, what: str, total: int | None) -> None:
        self._what, self._total, self._done = what, total, 0

    def advance(self) -> None:
        self._done += 1
        if self._done % _STEP == 0:
            self._step(f"{self._what}: {self._how_far()} lines")

    def _how_far(self) -> str:
        if not self._total:
            return f"{self._done:,}"
        full = min(_BAR, self._done * _BAR // self._total)
        return f"{'█' * full}{'░' * (_BAR - full)} {self._done:,} of {self._total:,}"
