"""`dmp audit --watch`: follow what a transport holds, and tell what is new and what goes wrong as it appears."""

import signal
import sqlite3
import time
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Final

import click

from replica.audit.chains import EverySignature
from replica.audit.engine import no_scratch, report_on
from replica.audit.from_git import TransportSource
from replica.audit.news import Became, Broke, Lost, Mended, NewOps, News, Noted, news, to_json
from replica.audit.open import open_source
from replica.audit.reading import read_source
from replica.audit.report import Report, Trouble
from replica.audit.scratch import Scratch
from replica.audit.source import SourceError
from replica.cli.audit_source import unreadable
from replica.cli.context import Cli
from replica.cli.failures import REFUSED
from replica.cli.text import counted, quoted
from replica.node import wall_clock
from transports.base import TransportError

REMEMBERED: Final = 500_000
"""Signatures that are remembered from one look to the next: then a look costs parsing alone."""

_LONGEST_PAUSE: Final = 60.0


def follow(
    cli: Cli, source: str, branch: str, team: str | None, interval: float, show: Callable[[Report], None]
) -> int:
    """Audit a transport, and again whenever it has something new, until interrupted.

    `show` shows the first report to people. The exit code tells whether all chains verified in the end. Raises Failure
    where the source cannot be read at first; later it is tried again.
    """
    before_this = signal.signal(signal.SIGTERM, _interrupt)
    screen, last = cli.screen, None
    try:
        with Scratch() as scratch, open_source(source, cli.root, branch, scratch) as opened:
            if not isinstance(opened, TransportSource):
                raise click.UsageError(
                    "--watch follows a branch, a folder or a relay: --from git:REMOTE, dir:PATH or wss://…"
                )
            for report in _reports(cli, opened, team, interval):
                before, last = last, report  # an interruption from here on ends with what this one says
                if before is not None:
                    _tell(cli, before, report)
                elif screen.as_json:
                    screen.document({"event": "audit", **report.to_json()})
                else:
                    show(report)
                    screen.note("Following it until interrupted (Ctrl-C).")
    except KeyboardInterrupt:
        screen.note("Stopped following.")
    except SourceError as error:
        raise unreadable(error) from error
    except sqlite3.Error as error:
        raise unreadable(no_scratch(error)) from error
    finally:
        signal.signal(signal.SIGTERM, before_this)
    return 0 if last is None or last.verified else REFUSED


def _interrupt(_signal: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _reports(cli: Cli, opened: TransportSource, team: str | None, interval: float) -> Iterator[Report]:
    """A report on the source, and another one whenever it may say something else.

    Raises SourceError where it cannot be read the first time.
    """
    memory = EverySignature(REMEMBERED)
    last: Report | None = None
    tip, pause = "", 1.0
    while True:
        try:
            now = opened.transport.refresh()
            if last is None or now != tip or _waits_for_time(last):
                with Scratch() as scratch:
                    reading = read_source(opened, scratch, wall_clock(), team=team, memory=memory)
                    last = report_on(reading)
                tip = now
                yield last
            pause = 1.0
        except (SourceError, TransportError) as error:
            failed = error if isinstance(error, SourceError) else SourceError(error.message, error.hint)
            if last is None:
                raise failed from error
            _tell_failure(cli, failed)
            time.sleep(pause)
            pause = min(_LONGEST_PAUSE, pause * 2)
        else:
            opened.transport.watch(interval)


def _waits_for_time(report: Report) -> bool:
    """Whether a chain waits for this machine's clock: then it may go on although nothing is new there."""
    return any(each.fault is not None and each.fault.trouble is Trouble.CLOCK for each in report.replicas)


def _tell_failure(cli: Cli, error: SourceError) -> None:
    if cli.as_json:
        cli.screen.document({"event": "unreadable", "message": error.message, "hint": error.hint})
    else:
        cli.screen.note(f"dmp: {error.message}; trying again")


def _tell(cli: Cli, before: Report, after: Report) -> None:
    for one in news(before, after):
        if cli.as_json:
            cli.screen.document(to_json(one))
        else:
            cli.screen.say(_text(one))


def _text(one: News) -> str:
    match one:
        case NewOps():
            types = ", ".join(f"{name} {count:,}" for name, count in one.types.items())
            of = f" ({types})" if types else ""
            whose = f", of {quoted(one.handle)}" if one.handle else ""
            return f"{one.replica}{whose}: {counted(one.ops, 'new op')}, up to op {one.head.seq}{of}."
        case Became():
            return f"{one.replica} is {one.status.value} now{'' if one.was is None else f', and was {one.was.value}'}."
        case Lost():
            end = (
                "nothing of it is there"
                if one.head is None
                else f"it ends at op {one.head.seq}, {one.head.hash}"
            )
            return f"LOST: op {one.was.seq} of {one.replica} was there, and is there no more: {end}."
        case Broke():
            proof = " `dmp audit proof` exports a proof of it." if one.proves else ""
            return f"FAULT: {one.fault.text}{proof}"
        case Mended():
            return f"{one.replica} verifies again: the {one.was.trouble.value} is gone."
        case Noted():
            return one.text
