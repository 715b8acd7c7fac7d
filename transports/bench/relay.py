"""A relay under load: how fast, how late, how large, and how much of what is possible at all.

    figures = measure(Size(replicas=1000, teams=100, rate=2000, seconds=10))

The relay is a process of its own, and so are those who load it. First many connected replicas publish at a rate.
Then some publish as fast as they are answered, and the same to a server that only does what every relay must.
"""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import chain
from multiprocessing.process import BaseProcess
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Final

from transports.bench.load import Load, LoadError, Outcome, run
from transports.bench.processes import SPAWN, Served, bare, relay

P99_SECONDS: Final = 0.1
MEMORY_BYTES: Final = 400 * 1024 * 1024
RATIO: Final = 0.4
"""What is aimed at: the 99th percentile from publish to another replica, the relay's memory, its share of the bare."""


@dataclass(frozen=True, slots=True)
class Size:
    """How large a load is. `rate` is in ops a second, `ops` is how many are published as fast as possible."""

    replicas: int = 1_000
    teams: int = 100
    rate: float = 2_000
    seconds: float = 8.0
    ops: int = 6_000
    processes: int = 1


@dataclass(frozen=True, slots=True)
class Delays:
    """Of many delays the middle one, that which 1 in 100 is above, and the longest, in seconds."""

    p50: float
    p99: float
    longest: float

    @classmethod
    def of(cls, delays: Sequence[float]) -> "Delays":
        """Sort them; of none everything is 0."""
        ordered = sorted(delays) or [0.0]
        last = len(ordered) - 1
        return cls(ordered[last // 2], ordered[round(last * 0.99)], ordered[last])


@dataclass(frozen=True, slots=True)
class Loaded:
    """What a relay did at a rate. `seen` counts the frames in which somebody else's op came."""

    replicas: int
    teams: int
    rate: float
    """Ops a second that were to be published."""
    ops: int
    stored: int
    seen: int
    expected: int
    """Frames that would be seen if each op were in a frame to each other replica."""
    ops_per_second: float
    to_others: Delays
    to_answer: Delays
    memory: int
    """Bytes the relay took at most."""
    cpu: float
    """The relay's share of one processor while it was loaded."""
    load_cpu: float
    """The same of whoever loads it."""
    late: float
    """By how many seconds the load fell behind at most: what it could not do itself."""


@dataclass(frozen=True, slots=True)
class Capacity:
    """Ops a second, each alone in its frame, as fast as they are answered."""

    relay: float
    relay_cpu: float
    """Seconds of the processor for an op."""
    bare: float
    bare_cpu: float

    @property
    def ratio(self) -> float:
        """The relay's throughput as a share of the bare server's."""
        return self.relay / self.bare if self.bare else 0.0


@dataclass(frozen=True, slots=True)
class Figures:
    """Both."""

    loaded: Loaded
    capacity: Capacity


Say = Callable[[str], None]


def measure(size: Size, say: Say = lambda _: None) -> Figures:
    """Measure all of it, telling what is done. Raises LoadError."""
    with TemporaryDirectory(prefix="dmp-bench-") as folder:
        loaded = _loaded(size, Path(folder) / "loaded", say)
        return Figures(loaded, _capacity(size, Path(folder), say))


def _loaded(size: Size, directory: Path, say: Say) -> Loaded:
    say(f"{size.replicas} replicas of {size.teams} teams get ready")
    people = max(1, size.replicas // size.teams)
    ops = round(size.rate * size.seconds)
    with relay(directory) as served:
        loads = _parts(served.url, size.teams, people, ops, size.rate, size.processes)
        outcomes, spent, cpu = _run(loads, served, lambda: say(f"they publish {size.rate:g} ops a second"))
        memory = served.usage().memory
    seconds = max(each.seconds for each in outcomes)
    stored = sum(each.stored for each in outcomes)
    return Loaded(
        replicas=people * size.teams,
        teams=size.teams,
        rate=size.rate,
        ops=sum(each.sent for each in outcomes),
        stored=stored,
        seen=sum(len(each.to_others) for each in outcomes),
        expected=stored * (people - 1),
        ops_per_second=stored / seconds if seconds else 0.0,
        to_others=Delays.of([*chain.from_iterable(each.to_others for each in outcomes)]),
        to_answer=Delays.of([*chain.from_iterable(each.to_answer for each in outcomes)]),
        memory=memory,
        cpu=cpu / spent,
        load_cpu=sum(each.cpu for each in outcomes) / spent,
        late=max(each.late for each in outcomes),
    )


def _capacity(size: Size, folder: Path, say: Say) -> Capacity:
    """The relay and the bare server with the same people, who publish as much."""
    people, teams = max(1, size.replicas // size.teams), max(1, min(size.teams, 10))
    found: list[tuple[float, float]] = []
    for name, serve in (("relay", relay), ("bare", bare)):
        say(
            f"as fast as possible: {'the relay' if serve is relay else 'a server that only does what it must'}"
        )
        with serve(folder / name) as served:
            load = Load(served.url, teams, people, size.ops, bare=serve is bare)
            outcomes, _, cpu = _run([load], served, lambda: None)
        (outcome,) = outcomes
        found.append(
            (outcome.stored / outcome.seconds if outcome.seconds else 0.0, cpu / max(1, outcome.stored))
        )
    (of_relay, relay_cpu), (of_bare, bare_cpu) = found
    return Capacity(of_relay, relay_cpu, of_bare, bare_cpu)


def _parts(url: str, teams: int, people: int, ops: int, rate: float, processes: int) -> list[Load]:
    """Divide a load among processes, team by team."""
    shares = [teams // processes + (number < teams % processes) for number in range(processes)]
    return [
        Load(url, share, people, ops * share // teams, rate * share / teams, seed=number)
        for number, share in enumerate(shares)
        if share
    ]


def _run(
    loads: Sequence[Load], served: Served, begun: Callable[[], None]
) -> tuple[list[Outcome], float, float]:
    """Let processes load a server; return what they saw, how long it took and what the server used meanwhile."""
    with ExitStack() as ending:
        pipes = []
        for load in loads:
            here, there = SPAWN.Pipe()
            process = SPAWN.Process(target=run, args=(load, there), daemon=True)
            process.start()
            there.close()
            ending.callback(here.close)
            ending.callback(_end, process)
            pipes.append(here)
        for pipe in pipes:
            _answer(pipe.recv())
        before, start = served.usage(), perf_counter()
        begun()
        for pipe in pipes:
            pipe.send("go on")
        answers = [_answer(pipe.recv()) for pipe in pipes]
        spent, cpu = perf_counter() - start, served.usage().cpu - before.cpu
        return [each for each in answers if isinstance(each, Outcome)], spent, cpu


def _answer(said: object) -> object:
    if isinstance(said, LoadError):
        raise said
    if isinstance(said, Outcome) and said.refused:
        raise LoadError(f"the relay refused: {said.refused}")
    return said


def _end(process: BaseProcess) -> None:
    process.join(5)
    if process.is_alive():
        process.terminate()
        process.join()
