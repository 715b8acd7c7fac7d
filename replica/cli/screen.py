"""Where a command's answer goes: sentences and tables for people, or one JSON document for programs.

Everything printed here is escaped on its way out, so no caller can forget to. A line is never left to the
terminal to break: what would be its second half starts with an indent, so nothing inside it can look like a
line of its own.
"""

import io
import json
import logging
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from typing import Final, TextIO

from crypto.canonical import JsonValue
from replica.cli.text import QUOTE, body_lines, escaped, folded

_CONTINUED: Final = "    "
_NARROWEST: Final = 20
_PIPED_WIDTH: Final = 10_000
"""Columns of a table that goes to no terminal: enough that nothing is folded."""

_WHOLE: Final = frozenset(("fingerprint", "replica"))
"""Columns of a table that are never folded: people copy and compare them."""

_FOLDED: Final = 8
"""Characters to which the other columns of a table may be folded before its rows become blocks of lines."""

_log = logging.getLogger(__name__)


class Screen:
    """Standard output and error of one command."""

    def __init__(self, *, as_json: bool) -> None:
        self.as_json = as_json

    def say(self, *lines: str) -> None:
        """Print lines of the program's own."""
        for line in lines:
            _print_folded(line, sys.stdout)

    def note(self, *lines: str) -> None:
        """Print lines of the program's own beside the answer: on standard error, and never as JSON."""
        if not self.as_json:
            for line in lines:
                _print_folded(line, sys.stderr)

    def exact(self, line: str) -> None:
        """Print a line to be copied, which is not folded: a code, a command."""
        print(escaped(line))

    def quote(self, body: str) -> None:
        """Print somebody's words, each line marked as theirs."""
        width = _width(sys.stdout)
        for line in body_lines(body):
            parts = [line] if width is None else folded(line, max(width - len(QUOTE), _NARROWEST))
            for part in parts:
                print(f"{QUOTE}{part}".rstrip())

    def table(self, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """Print a table."""
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text

        width = _width(sys.stdout) or _PIPED_WIDTH
        if _narrowest(header, rows) > width:
            self._stack(header, rows)
            return
        table = Table(box=None, pad_edge=False, header_style="bold")
        for name in header:
            table.add_column(name, overflow="fold", no_wrap=name in _WHOLE)
        for row in rows:
            table.add_row(*(Text(escaped(cell)) for cell in row))
        console = Console(file=sys.stdout, width=width, highlight=False, markup=False, emoji=False)
        with console.capture() as drawn:
            console.print(table)
        for line in drawn.get().splitlines():
            print(line.rstrip(" "))

    def _stack(self, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """Print each row as a block of lines, one for each cell."""
        longest = max(map(len, header))
        for index, row in enumerate(rows):
            self.say(*([""] if index else []))
            self.say(*(f"{name:<{longest}}  {cell}" for name, cell in zip(header, row, strict=True)))

    def document(self, value: JsonValue) -> None:
        """Print one JSON document on one line, in ASCII: every line break of section 1.4 is escaped."""
        print(json.dumps(value), flush=True)

    @contextmanager
    def paged(self) -> Iterator[None]:
        """Show what the block prints with the person's pager, where it is more than their terminal shows at once."""
        if self.as_json or sys.stdin is None or not (sys.stdin.isatty() and sys.stdout.isatty()):
            yield
            return
        shown = _Kept()
        try:
            with redirect_stdout(shown):
                yield
        finally:
            text = shown.getvalue()
            if text.count("\n") < shutil.get_terminal_size().lines:
                sys.stdout.write(text)
            else:
                import click

                click.echo_via_pager(text.removesuffix("\n"))

    @contextmanager
    def working(self, text: str) -> Iterator[Callable[[str], None]]:
        """Show on a terminal what is being done, for as long as the block runs; its value changes the text."""
        if self.as_json or not sys.stderr.isatty():
            _log.debug("%s", text)
            yield lambda step: _log.debug("%s", step)
            return
        from rich.console import Console
        from rich.text import Text

        console = Console(stderr=True)
        with console.status(Text(escaped(text))) as status:

            def show(step: str) -> None:
                _log.debug("%s", step)
                status.update(Text(escaped(step)))

            yield show


class _Kept(io.StringIO):
    """Keeps what is printed as it would be for a terminal."""

    def isatty(self) -> bool:
        return True


def _narrowest(header: Sequence[str], rows: Sequence[Sequence[str]]) -> int:
    """The columns of a terminal that a table takes at least."""
    longest = [max(map(len, cells)) for cells in zip(header, *rows, strict=True)]
    kept = [
        size if name in _WHOLE else min(size, _FOLDED) for name, size in zip(header, longest, strict=True)
    ]
    return sum(kept) + 2 * (len(kept) - 1)


def _width(stream: TextIO) -> int | None:
    return max(shutil.get_terminal_size().columns, _NARROWEST) if stream.isatty() else None


def _print_folded(line: str, stream: TextIO) -> None:
    shown = escaped(line)
    width = _width(stream)
    if width is None:
        print(shown, file=stream, flush=True)
        return
    text = shown.lstrip(" ")
    indent = shown[: len(shown) - len(text)]
    first, *rest = folded(text, max(width - len(indent) - len(_CONTINUED), _NARROWEST))
    print(indent + first.rstrip(), file=stream, flush=True)
    for part in rest:
        print(indent + _CONTINUED + part.strip(), file=stream, flush=True)
