"""The one service of a directory: a lock file that its process holds, and that says who it is."""

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from core.errors import Code, DmpError
from replica.home import locks


@dataclass(frozen=True, slots=True)
class Holder:
    """The process that serves a directory: its id, since when (a timestamp), and its URL, None while it starts."""

    pid: int
    since: str
    url: str | None


@contextmanager
def serving(path: Path, since: str) -> Iterator[Callable[[str], None]]:
    """Be the one service of the directory whose lock file is at `path`; what it gives is told the service's URL.

    Raises DmpError `conflict` where another process is.
    """
    lock = locks.take(path)
    if lock is None:
        raise DmpError(Code.CONFLICT, f"{_whose(path)} serves {path.parent} already; stop that one first")
    try:

        def listening(url: str | None) -> None:
            path.write_text(json.dumps(asdict(Holder(os.getpid(), since, url))), encoding="utf-8")

        listening(None)
        yield listening
    finally:
        lock.release()


def holder(path: Path) -> Holder | None:
    """Who serves the directory whose lock file is at `path`; None where nobody does."""
    if not locks.is_held(path):
        return None
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
        url = told["url"]
        return Holder(int(told["pid"]), str(told["since"]), None if url is None else str(url))
    except (OSError, ValueError, KeyError, TypeError):  # it starts or ends in this moment
        return Holder(0, "", None)


def _whose(path: Path) -> str:
    found = holder(path)
    if found is None or not found.pid:
        return "another process"
    return f"process {found.pid}" if found.url is None else f"process {found.pid}, at {found.url},"
