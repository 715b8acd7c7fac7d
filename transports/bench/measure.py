"""Transports side by side: how soon one replica sees what another publishes, how much goes through, at what cost.

Two replicas of a throw-away team, each with a transport of its own, do what `dmp sync --watch` does with it.
"""

import resource
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, SimpleQueue
from random import random
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Final

from transports.base import Behind, Transport, TransportError, Unreachable
from transports.bench.places import Place, place
from transports.lines import seq_of

OPS_A_PUBLISH: Final = 100
"""How many ops are published together where as much as possible is to go through."""

SEEN_SECONDS: Final = 120.0
"""How long something may take from one replica to the other before a transport counts as not working."""

_TRIES: Final = 5
_WATCH_SECONDS: Final = 5.0
_IDLE_SECONDS: Final = 0.002
_APART_SECONDS: Final = 0.5


@dataclass(frozen=True, slots=True)
class Figures:
    """What was measured of one transport. Times are in seconds."""

    url: str
    p50: float
    """From the publish of one op until the other replica had it, in the middle of several times."""
    longest: float
    ops_per_second: float
    """Published in groups and read by the other."""
    cpu_per_op: float
    """Of the processor of this machine, for both replicas and what they start."""
    bytes_per_op: float | None
    """What the far side keeps of an op; None where that cannot be seen."""
    recovery: float
    """From the return of a replica that was away until it has what was published meanwhile."""


@dataclass(frozen=True, slots=True)
class Effort:
    """How much is measured: ops that go through together, and how often one op alone."""

    ops: int = 1_000
    samples: int = 10


Say = Callable[[str], None]


def measure(url: str, effort: Effort, token: str | None = None, say: Say = lambda _: None) -> Figures:
    """Measure the transport at an address, and leave nothing there. Raises RemoteError, TransportError."""
    with TemporaryDirectory(prefix="dmp-bench-") as folder, place(url, Path(folder), token, say) as made:
        say(f"{made.shown}: a team of two meets")
        with _Pair(made) as pair:
            say(f"{made.shown}: {effort.ops} ops in groups")
            ops_per_second, cpu, size = pair.throughput(effort.ops)
            say(f"{made.shown}: one was away")
            recovery = pair.recovery()
            delays = []
            with pair.reading() as seen:
                for number in range(effort.samples):
                    say(f"{made.shown}: one op alone, {number + 1} of {effort.samples}")
                    delays.append(pair.delay(seen))
    return Figures(made.shown, median(delays), max(delays), ops_per_second, cpu, size, recovery)


class _StoppedError(Exception):
    """The replica that reads has nothing more to wait for."""


class _Pair:
    """The two replicas of a place. `held` is the last op of the writer that the reader has."""

    def __init__(self, made: Place) -> None:
        self._place = made
        self._stop = threading.Event()
        self._ending = ExitStack()
        self._held = 0

    def __enter__(self) -> "_Pair":
        made = self._place
        self._writer = made.open(made.writer)
        self._ending.callback(self._writer.close)
        self._reader = made.open(made.reader, self._sleep)
        self._ending.callback(lambda: self._reader.close())
        self._publish(self._writer, made.writer.replica, made.founding.chain)
        self._publish(self._reader, made.reader.replica, [made.reader_key])
        self._read_up_to(made.writer.seq)
        return self

    def __exit__(self, *_: object) -> None:
        self._ending.close()

    def throughput(self, ops: int) -> tuple[float, float, float | None]:
        """Let so many ops through; return ops a second, time of the processor and bytes for each."""
        lines = [self._place.writer.speaks() for _ in range(ops)]
        held, cpu, start = self._place.stored_bytes(self._reader), _cpu(), perf_counter()
        for at in range(0, ops, OPS_A_PUBLISH):
            self._publish(self._writer, self._place.writer.replica, lines[at : at + OPS_A_PUBLISH])
        self._read_up_to(self._place.writer.seq)
        spent, used = perf_counter() - start, _cpu() - cpu
        holds = self._place.stored_bytes(self._reader)
        size = None if held is None or holds is None else (holds - held) / ops
        return ops / spent, used / ops, size

    def recovery(self) -> float:
        """Cut the reader off, publish, and return how long it takes from when it comes back until it has it all."""
        self._reader.close()
        lines = [self._place.writer.speaks() for _ in range(OPS_A_PUBLISH)]
        self._publish(self._writer, self._place.writer.replica, lines)
        start = perf_counter()
        self._reader = self._place.open(self._place.reader, self._sleep)
        self._read_up_to(self._place.writer.seq)
        return perf_counter() - start

    @contextmanager
    def reading(self) -> Iterator["SimpleQueue[tuple[int, float] | TransportError]"]:
        """Let the reader watch, for the length of a `with` block, and tell what it sees and when."""
        seen: SimpleQueue[tuple[int, float] | TransportError] = SimpleQueue()
        thread = threading.Thread(target=self._watch, args=(seen,), daemon=True)
        thread.start()
        try:
            yield seen
        finally:
            self._stop.set()
            thread.join()

    def delay(self, seen: "SimpleQueue[tuple[int, float] | TransportError]") -> float:
        """How long one op takes, published at a moment that has nothing to do with when the reader looks."""
        time.sleep(_APART_SECONDS * (1 + random()))
        line, seq = self._place.writer.speaks(), self._place.writer.seq
        start = perf_counter()
        self._publish(self._writer, self._place.writer.replica, [line])
        try:
            while True:
                told = seen.get(timeout=SEEN_SECONDS)
                if isinstance(told, TransportError):
                    raise told
                if told[0] >= seq:
                    return told[1] - start
        except Empty:
            raise _not_seen(self._place.shown) from None

    def _watch(self, seen: "SimpleQueue[tuple[int, float] | TransportError]") -> None:
        try:
            while not self._stop.is_set():
                self._read()
                seen.put((self._held, perf_counter()))
                if not self._reader.watch(_WATCH_SECONDS):
                    self._sleep(_IDLE_SECONDS)  # one that does not wait must not take the whole processor
        except _StoppedError:
            return
        except TransportError as error:
            seen.put(error)

    def _sleep(self, seconds: float) -> None:
        if self._stop.wait(seconds):
            raise _StoppedError

    def _read_up_to(self, seq: int) -> None:
        until = perf_counter() + SEEN_SECONDS
        self._read()
        while self._held < seq:
            if perf_counter() > until:
                raise _not_seen(self._place.shown)
            self._read()

    def _read(self) -> None:
        """Do what a pass does to get news."""
        writer = self._place.writer.replica
        self._reader.refresh()
        for line in self._reader.pull({writer: self._held + 1}):
            if line.replica == writer and (seq := seq_of(writer, line.raw)) == self._held + 1:
                self._held = seq

    def _publish(self, transport: Transport, replica: str, lines: Sequence[bytes]) -> None:
        """Publish, once more where somebody else was first: on some far sides only one at a time may."""
        for _ in range(_TRIES):
            try:
                transport.refresh()
                transport.publish(replica, lines)
            except Behind as error:
                behind = error
                continue
            return
        raise behind


def _not_seen(shown: str) -> Unreachable:
    return Unreachable(
        f"{shown}: what one replica published did not reach the other within {SEEN_SECONDS:.0f} s",
        "the transport drops ops, or is too slow to be measured",
    )


def _cpu() -> float:
    return sum(
        used.ru_utime + used.ru_stime
        for used in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    )
