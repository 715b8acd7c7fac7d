"""`dmp audit`: what was signed, and whether it verifies."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import click

from core.timestamp import timestamp
from replica.audit.drawing import Drawing
from replica.audit.engine import report_on
from replica.audit.report import ReplicaReport, Report
from replica.cli.audit_proof import check_proof, proof
from replica.cli.audit_source import reading_of, source_options
from replica.cli.context import Cli, group
from replica.cli.failures import REFUSED, USAGE, Failure
from replica.cli.screen import Screen
from replica.cli.text import counted, moment, quoted
from replica.node import wall_clock
from transports.base import Skipped

_NAMED: Final = 12
"""Seqs, places and notes that a person is shown; `--json` has more."""


@group("audit", invoke_without_command=True)
@click.option("--replica", metavar="ID", help="Only this replica; the beginning of its id will do.")
@source_options
@click.option(
    "--html",
    type=click.Path(path_type=Path, dir_okay=False, writable=True),
    metavar="FILE",
    help="Write a report there too: one page that stands by itself, with the chains drawn over time.",
)
@click.option("--watch", is_flag=True, help="Follow a branch, a folder or a relay until interrupted.")
@click.option(
    "--interval",
    type=click.FloatRange(1, 3600),
    default=30.0,
    show_default=True,
    metavar="SECONDS",
    help="With --watch: the longest time between two looks.",
)
@click.pass_context
def audit(
    context: click.Context,
    replica: str | None,
    team: str | None,
    source: str,
    branch: str,
    html: Path | None,
    watch: bool,
    interval: float,
) -> int:
    """Verify what a team has signed.

    Says for each replica how far its chain verifies, and why it ends there. Needs no replica of its own: a
    branch or a file will do. Exits 0 when every chain verifies, 1 when one does not, and 2 when there is
    nothing that can be read.
    """
    cli = context.find_object(Cli)
    assert cli is not None
    if context.invoked_subcommand is not None:
        return 0
    if watch:
        if replica is not None or html is not None:
            raise click.UsageError("--watch follows every replica, and writes no report")
        from replica.cli.audit_watch import follow

        return follow(cli, source, branch, team, interval, lambda report: _show(cli.screen, report))
    drawing = None if html is None else Drawing()
    with reading_of(cli, source, branch, team, keep_marks=drawing is not None) as reading:
        report = report_on(reading, replica, drawing)
    if html is not None and drawing is not None:
        _write(html, report, drawing)
    if cli.as_json:
        cli.screen.document(report.to_json())
    else:
        _show(cli.screen, report)
        if html is not None:
            cli.screen.say(f"The report is in {html}.")
    return 0 if report.verified else REFUSED


def _write(file: Path, report: Report, drawing: Drawing) -> None:
    from replica.audit.html import page

    try:
        file.write_text(page(report, drawing, wall_clock()), encoding="utf-8")
    except OSError as error:
        raise Failure("refused", f"cannot write {file}: {error.strerror}", exit=USAGE) from error


audit.add_command(proof)
audit.add_command(check_proof)


def _show(screen: Screen, report: Report) -> None:
    screen.say(_title(report))
    screen.say("")
    screen.table(
        ("replica", "whose", "status", "ops", "from", "to", "chain"), [_chain(row) for row in report.replicas]
    )
    screen.say("")
    screen.table(("replica", "fingerprint", "types"), [_content(row) for row in report.replicas])
    screen.say("")
    for row in report.faulty:
        assert row.fault is not None
        screen.say(row.fault.text)
    for row in report.replicas:
        screen.say(*_remarks(row))
    screen.say(*_others(report), _verdict(report))


def _title(report: Report) -> str:
    if report.team is None:
        return f"No team was founded in {report.source}: each key is only what its holder says."
    return f"{quoted(report.team.name)}, team {report.team.id}, founded by {report.team.founder}; from {report.source}"


def _chain(row: ReplicaReport) -> tuple[str, ...]:
    whose = ", ".join(part for part in (row.handle, row.device) if part)
    ends = "" if row.first is None or row.last is None else moment(timestamp(row.last.ms))
    begins = "" if row.first is None else moment(timestamp(row.first.ms))
    state = "verified"
    if row.fault is not None:
        place = "" if row.fault.seq is None else f" at {row.fault.seq}"
        state = f"{row.fault.trouble.value}{place}"
    return row.replica, whose, row.status.value, f"{row.ops:,}", begins, ends, state


def _content(row: ReplicaReport) -> tuple[str, ...]:
    types = ", ".join(f"{name} {count:,}" for name, count in sorted((row.types or {}).items()))
    stubs = f"; {counted(row.stubs, 'stub')} among them" if row.stubs else ""
    return row.replica, row.fingerprint or "", types + stubs


def _remarks(row: ReplicaReport) -> Iterator[str]:
    """What is worth knowing of a chain and is no fault of it."""
    if row.past_cut:
        yield f"{row.replica}: {counted(row.past_cut, 'op')} after its cut at seq {row.cut}, without effect."
    if row.rival_keys and row.fingerprint is not None:
        yield f"{row.replica}: {counted(row.rival_keys, 'other key')} announced for this id, without effect."
    if row.repeated_count:
        seqs = _some([str(seq) for seq in row.repeated], row.repeated_count)
        yield (
            f"{row.replica}: {counted(row.repeated_count, 'line')} with a repeated key, at seq {seqs}; of two values "
            "every reader takes the last."
        )
    if row.unlinked:
        yield f"{row.replica}: {counted(row.unlinked, 'line')} past its last op, without a link to it."
    if row.junk:
        yield f"{row.replica}: {counted(row.junk, 'line')} passed over as no part of its chain."


def _others(report: Report) -> Iterator[str]:
    notes = () if report.team is None else report.team.notes
    yield from notes[:_NAMED]
    if len(notes) > _NAMED:
        yield f"{counted(len(notes) - _NAMED, 'more note')} on the roster; --json has them all."
    if report.skipped_count:
        places = _some([_place(each) for each in report.skipped], len(report.skipped))
        yield f"{counted(report.skipped_count, 'line')} passed over as no op: {places}."
    if report.unlisted.replicas:
        yield (
            f"{counted(report.unlisted.replicas, 'more replica')} outside the roster, not listed here: "
            f"{counted(report.unlisted.ops, 'op')}, {counted(report.unlisted.faulty, 'chain')} with a fault."
        )


def _place(skipped: Skipped) -> str:
    line = f" line {skipped.line}" if skipped.line else ""
    lane = f" of {skipped.replica}" if skipped.replica and skipped.replica not in skipped.place else ""
    times = f", {skipped.count} times" if skipped.count > 1 else ""
    return f"{skipped.place}{line}{lane} ({skipped.reason}{times})"


def _some(parts: list[str], count: int) -> str:
    """The first parts, and how many there are besides."""
    named = ", ".join(parts[:_NAMED])
    return named if count <= _NAMED else f"{named} and {count - _NAMED} more"


def _verdict(report: Report) -> str:
    count = len(report.replicas) + report.unlisted.replicas
    faulty = len(report.faulty) + report.unlisted.faulty
    if faulty:
        return f"{faulty} of {counted(count, 'chain')} with a fault."
    return "The chain verifies." if count == 1 else f"All {count} chains verify."
