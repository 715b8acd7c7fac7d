"""What went wrong, as a person and as a program read it, and the exit code it means.

0    done
1    refused: by the protocol, by the far side, or by this machine (a store that cannot be used)
2    the command was not written as it must be
70   a bug in this program
130  interrupted
"""

import dataclasses
import sqlite3
from collections.abc import Mapping
from typing import Final

import click

from core.errors import Code, DmpError
from crypto.canonical import JsonValue
from transports.base import Behind, Refused, TransportError

REFUSED: Final = 1
USAGE: Final = 2
BUG: Final = 70
INTERRUPTED: Final = 130


@dataclasses.dataclass(eq=False)  # not frozen: Python itself sets where an exception passed
class Failure(Exception):  # noqa: N818 - named for what it is to whoever called
    """A failed command. `details` are members of the JSON document beside `error`."""

    code: str
    message: str
    field: str | None = None
    hint: str = ""
    exit: int = REFUSED
    details: Mapping[str, JsonValue] = dataclasses.field(default_factory=dict)

    def to_json(self) -> dict[str, JsonValue]:
        """The JSON document of a failed command."""
        error: dict[str, JsonValue] = {"code": self.code, "message": self.message}
        if self.field:
            error["field"] = self.field
        if self.hint:
            error["hint"] = self.hint
        return {"error": error, **self.details}

    def sentence(self) -> str:
        """The failure in a line for a person."""
        place = f" on {self.field}" if self.field else ""
        return f"dmp: {self.message} [{self.code}{place}]"


INTERRUPTION: Final = Failure(
    "interrupted",
    "interrupted. Nothing is lost: what was done is kept, and the next run goes on from there",
    exit=INTERRUPTED,
)


def failure_of(error: BaseException) -> Failure | None:
    """Return what an exception means; None for one that no command expects, which is a bug."""
    match error:
        case Failure():
            return error
        case DmpError():
            return Failure(str(error.code), error.message, error.field)
        case TransportError():
            return Failure(_name_of(error), error.message, hint=error.hint)
        case click.UsageError():
            return Failure("usage", _one_line(error), hint=_usage(error), exit=USAGE)
        case click.ClickException():
            return Failure("usage", _one_line(error), exit=USAGE)
        case click.Abort() | KeyboardInterrupt():
            return INTERRUPTION
        case sqlite3.OperationalError() | sqlite3.DatabaseError() if not _is_misuse(error):
            return Failure(
                str(Code.UNAVAILABLE),
                f"the store cannot be used: {_said_by_sqlite(error)}",
                hint="look at the disk; a damaged state.db is replaced by its newest backup, see docs/operating.md",
            )
        case OSError():
            place = f"cannot use {error.filename}: " if error.filename else ""
            return Failure(str(Code.UNAVAILABLE), f"{place}{error.strerror or error}")
    return None


def _said_by_sqlite(error: sqlite3.Error) -> str:
    """What is wrong, without what the store holds: of a text that is no UTF-8, the driver shows the text."""
    return "a text in it is no UTF-8" if "UTF-8" in str(error) else str(error)


def _is_misuse(error: sqlite3.Error) -> bool:
    """Whether this program is at fault, and not the file or the disk."""
    return isinstance(error, sqlite3.ProgrammingError | sqlite3.IntegrityError | sqlite3.InterfaceError)


def _name_of(error: TransportError) -> str:
    match error:
        case Behind():
            return "behind"
        case Refused():
            return "refused"
    return "unreachable"


def _one_line(error: click.ClickException) -> str:
    """What is wrong, in a line: click lists what may be typed below one another."""
    return error.format_message().replace("\n\t", " ")


def _usage(error: click.UsageError) -> str:
    return "" if error.ctx is None else f"{error.ctx.command_path} --help tells how it is used"
