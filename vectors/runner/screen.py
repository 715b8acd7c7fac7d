"""What people see of a run: progress and the adapter's log on standard error, the outcome on standard output."""

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, Protocol

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.text import Text

from replica.cli import screen as terminal
from replica.cli.text import escaped
from vectors.runner.claims import EXPERIMENTAL, Claim, Status, wording
from vectors.runner.report import Report
from vectors.runner.running import Outcome, Result

_MOST: Final = 20
"""Vectors told of one by one; the report has them all."""


class Watching(Protocol):
    """Told of a run as it goes on."""

    def log(self, line: str) -> None:
        """The adapter wrote this to its standard error. Called from another thread."""

    def done(self, result: Result) -> None:
        """A vector ended."""


class _Quiet:
    """For a standard error that is no terminal."""

    def log(self, line: str) -> None:
        with suppress(OSError):  # nobody reads it; the adapter must be read on
            print(_logged(line), file=sys.stderr, flush=True)

    def done(self, result: Result) -> None:
        pass


class _Bar:
    """A bar on a terminal, with the log above it."""

    def __init__(self, progress: Progress, total: int) -> None:
        self._progress = progress
        self._task = progress.add_task("", total=total)

    def log(self, line: str) -> None:
        self._progress.console.print(Text(_logged(line)))

    def done(self, result: Result) -> None:
        self._progress.update(self._task, advance=1, description=result.vector.id)


@contextmanager
def watching(total: int) -> Iterator[Watching]:
    """Show the progress of a run of that many vectors for as long as the block runs."""
    if not sys.stderr.isatty():
        yield _Quiet()
        return
    columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}", markup=False))
    with Progress(*columns, console=Console(stderr=True, highlight=False), transient=True) as progress:
        yield _Bar(progress, total)


def tell(report: Report, path: Path) -> None:
    """Print what a run came to."""
    screen = terminal.Screen(as_json=False)
    screen.say(f"{report.hello.name} {report.hello.version}", "")
    rows = [[name, *map(str, report.counts(name).values())] for name in report.classes]
    screen.table(["class", "pass", "fail", "skipped", "not applicable", "SHOULD failures"], rows)
    _tell_vectors(screen, report.results, path)
    screen.say("")
    for verdict in report.verdicts:
        screen.say(f"{verdict.claim}: {verdict.status}{_mark(verdict.claim)}")
        screen.say(*(f"  {reason}" for reason in verdict.reasons))
    words = wording(report.verdicts, deviates=bool(report.deviations))
    if words is not None:
        screen.say("", f"{report.hello.name} {words}")
    if any(each.status is Status.FAIL for each in report.verdicts):
        screen.say("", f"The report is {path}")


def _tell_vectors(screen: terminal.Screen, results: Sequence[Result], path: Path) -> None:
    failed = [each for each in results if each.outcome in (Outcome.FAIL, Outcome.ADAPTER_ERROR)]
    for result in failed[:_MOST]:
        screen.say("", f"{result.outcome}  {result.vector.level}  {result.vector.id}")
        screen.say(*(f"  {reason}" for reason in result.reasons))
    if len(failed) > _MOST:
        screen.say("", f"… and {len(failed) - _MOST} more, in {path}")
    left_out = Counter(
        (str(each.outcome), each.vector.level, "; ".join(each.reasons))
        for each in results
        if each.outcome in (Outcome.SKIPPED, Outcome.NOT_APPLICABLE)
    )
    for (outcome, level, reasons), times in left_out.items():
        screen.say("", f"{outcome}  {level}  {times} vector{'s' if times > 1 else ''}", f"  {reasons}")


def _mark(claim: Claim) -> str:
    return (
        " (experimental: the document reserves this claim, and it may not be quoted)"
        if claim in EXPERIMENTAL
        else ""
    )


def _logged(line: str) -> str:
    return f"adapter: {escaped(line.rstrip())}"
