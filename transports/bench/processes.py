"""A server in a process of its own, and what it uses."""

import logging
import multiprocessing
import os
import re
import resource
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Final

import structlog

from transports.bench.bare import serve_bare
from transports.relay.server.settings import Settings
from transports.relay.server.shell.serve import Address, Place, serve

SPAWN: Final = multiprocessing.get_context("spawn")
"""New interpreters: a copy of this one would share its threads and sockets."""

_START_SECONDS: Final = 60.0
_END_SECONDS: Final = 20.0
_ANY: Final = Address("127.0.0.1", 0)


@dataclass(frozen=True, slots=True)
class Usage:
    """What a process and those it began have used: seconds of the processor, and bytes of memory at most."""

    cpu: float
    memory: int


@dataclass(slots=True)
class Served:
    """A server that runs at a URL."""

    url: str
    pid: int
    _pipe: Connection

    def usage(self) -> Usage:
        """Ask what it has used so far."""
        self._pipe.send(None)
        answer: Usage = self._pipe.recv()
        return answer


@contextmanager
def relay(directory: Path) -> Iterator[Served]:
    """Run a relay that asks for no work and takes any number of ops, for the length of a `with` block."""
    with _served(_relay, directory) as served:
        yield served


@contextmanager
def bare(directory: Path) -> Iterator[Served]:
    """Run a server that does nothing but what every relay must."""
    with _served(_bare, directory) as served:
        yield served


@contextmanager
def _served(run: Callable[[Path, Connection], None], directory: Path) -> Iterator[Served]:
    here, there = SPAWN.Pipe()
    process = SPAWN.Process(target=run, args=(directory, there), daemon=True)
    process.start()
    there.close()
    try:
        if not here.poll(_START_SECONDS):
            raise TimeoutError("the server did not start")
        assert process.pid is not None
        yield Served(here.recv(), process.pid, here)
    finally:
        process.terminate()
        process.join(_END_SECONDS)
        if process.is_alive():
            process.kill()
            process.join()
        here.close()


def _relay(directory: Path, parent: Connection) -> None:
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    settings = Settings(
        "", difficulty=0, registrations_per_source=1_000_000, ops_per_minute=1_000_000, max_teams=1_000_000
    )
    serve(settings, Place(directory, _ANY, max_connections=100_000), lambda _, url: _ready(parent, url))


def _bare(directory: Path, parent: Connection) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    serve_bare(directory, lambda url: _ready(parent, url))


def _ready(parent: Connection, url: str) -> None:
    parent.send(url)
    threading.Thread(target=_answer, args=(parent,), daemon=True).start()


def _answer(parent: Connection) -> None:
    with suppress(EOFError, OSError):
        while True:
            parent.recv()
            used = resource.getrusage(resource.RUSAGE_SELF)
            unit = 1 if sys.platform == "darwin" else 1024
            begun = [*_children()]
            cpu = used.ru_utime + used.ru_stime + sum(each.cpu for each in begun)
            parent.send(Usage(cpu, used.ru_maxrss * unit + sum(each.memory for each in begun)))


def _children() -> Iterator[Usage]:
    """What each process that this one began has used, where the system tells as Linux does."""
    for listed in Path("/proc/self/task").glob("*/children"):
        for pid in listed.read_text().split():
            with suppress(OSError):
                ticks = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]
                most = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
                cpu = sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")
                yield Usage(cpu, int(most[1]) * 1024 if most else 0)
