"""`dmp export` and `dmp import`: the log of a team as lines of JSON, out and in."""

import os
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final

import click

from crypto.canonical import JsonValue
from replica.audit.engine import no_scratch
from replica.audit.from_file import FileSource, open_file, spooled
from replica.audit.scratch import Scratch
from replica.audit.source import SourceError
from replica.cli.audit_source import Steps, unreadable
from replica.cli.context import Cli, command, pass_cli
from replica.cli.failures import REFUSED, Failure
from replica.cli.text import counted
from replica.exporting import exported, extent
from replica.home.working import working_folder
from replica.importing import Imported, Refused, import_file
from replica.passes import LOCK_SECONDS

_STDIO: Final = Path("-")
_NAMED: Final = 12


@command("export")
@click.argument("file", type=click.Path(path_type=Path, allow_dash=True), default="-")
@pass_cli
def export_log(cli: Cli, file: Path) -> None:
    """Write the log of the team as it is known here to FILE, or to standard output: one op a line.

    Mail stays sealed, and what is in the clear for the team is in the clear there. `dmp audit --from FILE` reads it,
    and `dmp import` takes it in on another machine of the team.
    """
    screen = cli.screen
    if cli.as_json and file == _STDIO:
        raise click.UsageError("with --json the log needs a FILE of its own")
    with cli.node() as node, screen.working("exporting") as step:
        there, count, size = extent(node.store.db), 0, 0
        progress = Steps(step)
        progress.begin("exporting", there.lines)
        with _writing(file) as out:
            for line in exported(node):
                out.write(line + b"\n")
                count, size = count + 1, size + len(line) + 1
                progress.advance()
    if cli.as_json:
        screen.document({"file": str(file), "lines": count, "replicas": there.replicas, "bytes": size})
    elif file != _STDIO:
        screen.say(f"Wrote {counted(count, 'line')} of {counted(there.replicas, 'replica')} to {file}.")


@contextmanager
def _writing(file: Path) -> Iterator[BinaryIO]:
    """Standard output, a pipe or a device; or a file that is there whole once the block is done, and not before."""
    if file == _STDIO:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    place = file.resolve()  # a link is written through, and stays
    try:
        if place.exists() and not place.is_file():
            with place.open("wb") as out:
                yield out
            return
        with working_folder(place.parent, ".dmp-export-") as folder:
            part = folder / "whole"
            with part.open("xb") as out:
                yield out
                out.flush()
                os.fsync(out.fileno())
            part.replace(place)
    except OSError as error:
        raise Failure("refused", f"cannot write {file}: {error.strerror}") from error


@command("import")
@click.argument("file", type=click.Path(path_type=Path, allow_dash=True))
@pass_cli
def import_log(cli: Cli, file: Path) -> int:
    """Take in the log of a team from FILE, or from standard input with `-`.

    Every line is verified and applied as if a transport had shown it. What does not hold is refused line by line, and
    the rest goes in; what is known already changes nothing. An import that was interrupted goes on where it was. Exits
    1 when lines were refused.
    """
    screen = cli.screen
    with cli.acting() as node, screen.working("reading") as step:
        try:
            with (
                Scratch() as scratch,
                _reading(file, scratch) as source,
                node.directory.sync_lock(LOCK_SECONDS),
            ):
                done = import_file(node, source, scratch, Steps(step))
        except SourceError as error:
            raise unreadable(error) from error
        except sqlite3.OperationalError as error:
            raise unreadable(no_scratch(error)) from error
    if cli.as_json:
        screen.document(_json(done))
    else:
        screen.say(*_told(done))
    return REFUSED if done.refused_count else 0


@contextmanager
def _reading(file: Path, scratch: Scratch) -> Iterator[FileSource]:
    opened = (
        spooled(sys.stdin.buffer, "standard input", scratch) if file == _STDIO else open_file(file, scratch)
    )
    with opened as source:
        yield source


def _told(done: Imported) -> Iterator[str]:
    known = done.lines - done.refused_count - done.taken
    if not done.lines:
        yield "There are no lines in it."
        return
    yield f"Took in {counted(done.taken, 'op')}; {max(known, 0):,} were known."
    if done.dropped:
        yield f"Of what they say, {counted(done.dropped, 'message')} broke a rule and came to nothing."
    for each in done.refused[:_NAMED]:
        yield f"Refused line {each.line}{_place(each)}: {each.reason}."
    if done.refused_count > _NAMED:
        yield f"Refused {done.refused_count - _NAMED:,} more lines; --json lists the first hundred."
    for problem in done.problems[:_NAMED]:
        yield f"{problem.subject}: {problem.text}"


def _place(refused: Refused) -> str:
    return "" if refused.replica is None else f", op {refused.seq} of {refused.replica}"


def _json(done: Imported) -> dict[str, JsonValue]:
    return {
        "lines": done.lines,
        "taken": done.taken,
        "applied": done.applied,
        "dropped": done.dropped,
        "refused": done.refused_count,
        "refusedLines": [
            {"line": each.line, "replica": each.replica, "seq": each.seq, "reason": each.reason}
            for each in done.refused
        ],
        "problems": [
            {"subject": each.subject, "text": each.text, "replica": each.replica, "seq": each.seq}
            for each in done.problems
        ],
    }
