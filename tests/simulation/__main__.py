"""Many seeds by hand: `python -m tests.simulation --seeds 10000`, on as many processes as there are cores."""

import json
import os
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from replica.cli.text import counted
from tests.simulation.acts import Script, draw
from tests.simulation.run import NETWORKS, Outcome, run
from tests.simulation.shrink import as_code, shrink

_BATCH = 10
"""Seeds that one process runs before it tells how it went."""


@dataclass
class Tally:
    """How a run of many seeds went so far."""

    done: int = 0
    happened: Counter[str] = field(default_factory=Counter)
    failed: list[Outcome] = field(default_factory=list)

    def add(self, outcomes: list[Outcome]) -> None:
        for outcome in outcomes:
            self.done += 1
            self.happened += outcome.happened
            if outcome.broken is not None:
                self.failed.append(outcome)


@click.command()
@click.option(
    "--seeds", type=click.IntRange(1), default=300, show_default=True, help="How many seeds to run."
)
@click.option("--first", default=0, show_default=True, help="The first of them.")
@click.option("--seed", type=int, help="Run this one alone, and shrink it if it fails.")
@click.option("--processes", default=os.cpu_count() or 1, show_default=True, help="How many at a time.")
@click.option(
    "--over",
    type=click.Choice(list(NETWORKS)),
    default="memory",
    show_default=True,
    help="What they meet over.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def main(seeds: int, first: int, seed: int | None, processes: int, over: str, as_json: bool) -> None:
    """Run teams of replicas through random networks, clocks and crashes, and check what they promise.

    Stops with 1 when a promise was broken, and prints a short script that shows it again.
    """
    begun = time.monotonic()
    tally = Tally()
    interrupted = False
    wanted = range(first, first + seeds) if seed is None else range(seed, seed + 1)
    try:
        _run_all(wanted, processes, over, tally)
    except KeyboardInterrupt:
        interrupted = True
        Console(stderr=True).print(f"interrupted after {tally.done} of {len(wanted)} seeds")
    tell = _as_json if as_json else _as_text
    tell(tally, over, time.monotonic() - begun)
    sys.exit(1 if tally.failed else 130 if interrupted else 0)


def _run_all(wanted: range, processes: int, over: str, tally: Tally) -> None:
    batches = [wanted[at : at + _BATCH] for at in range(0, len(wanted), _BATCH)]
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
    )
    with bar:
        shown = bar.add_task("seeds", total=len(wanted))
        for outcomes in _outcomes(batches, processes, over):
            tally.add(outcomes)
            failed = f", [red]{len(tally.failed)} failed" if tally.failed else ""
            bar.update(shown, completed=tally.done, description=f"seeds{failed}")


def _outcomes(batches: list[range], processes: int, over: str) -> Iterator[list[Outcome]]:
    if processes == 1 or len(batches) == 1:
        yield from (_run_batch(batch, over) for batch in batches)
        return
    with ProcessPoolExecutor(processes) as pool:
        try:
            for done in as_completed([pool.submit(_run_batch, batch, over) for batch in batches]):
                yield done.result()
        except KeyboardInterrupt:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _run_batch(batch: range, over: str) -> list[Outcome]:
    with suppress(KeyboardInterrupt):  # whoever began this is told too
        return [run(draw(seed), over) for seed in batch]
    return []


def smallest(outcome: Outcome, over: str = "memory") -> Script:
    """A short script that breaks a promise with the same first words as a failed one."""
    assert outcome.broken is not None
    return shrink(outcome.script, partial(_fails_alike, _kind(outcome.broken), over))


def _fails_alike(kind: str, over: str, script: Script) -> bool:
    broken = run(script, over).broken
    return broken is not None and _kind(broken) == kind


def _kind(broken: str) -> str:
    """What is left of a broken promise without the names in it."""
    return " ".join(word for word in broken.split() if word.isalpha())[:40]


def _as_text(tally: Tally, over: str, seconds: float) -> None:
    console = Console()
    for outcome in tally.failed[:3]:
        console.print(f"[red]seed {outcome.script.seed}[/red]: ", end="")
        console.print(outcome.broken, markup=False, highlight=False)
        if outcome.where:
            console.print(outcome.where, markup=False, highlight=False)
        click.echo(as_code(smallest(outcome, over)))
    table = Table("what happened", "times", title=f"{tally.done} seeds in {seconds:.0f} s")
    for what, times in sorted(tally.happened.items()):
        table.add_row(what, str(times))
    console.print(table)
    others = [str(outcome.script.seed) for outcome in tally.failed]
    console.print(
        f"{len(others)} failed: {', '.join(others)}"
        if others
        else f"every promise was kept in {counted(tally.done, 'seed')}"
    )


def _as_json(tally: Tally, over: str, seconds: float) -> None:
    failed = [
        {"seed": each.script.seed, "broken": each.broken, "script": as_code(smallest(each, over))}
        for each in tally.failed
    ]
    found = {
        "seeds": tally.done,
        "seconds": round(seconds, 1),
        "happened": dict(sorted(tally.happened.items())),
        "failed": failed,
    }
    click.echo(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
