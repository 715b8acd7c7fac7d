"""`dmp relay bench`: what a relay of this machine carries."""

from typing import TYPE_CHECKING

import click

from crypto.canonical import JsonValue
from replica.cli.context import Cli, command, pass_cli
from replica.cli.failures import Failure

if TYPE_CHECKING:
    from transports.bench.relay import Delays, Figures


@command("bench")
@click.option(
    "--replicas",
    type=click.IntRange(1),
    default=1_000,
    show_default=True,
    metavar="N",
    help="How many are connected.",
)
@click.option(
    "--teams",
    type=click.IntRange(1),
    default=100,
    show_default=True,
    metavar="M",
    help="How many teams they are of.",
)
@click.option(
    "--rate",
    type=click.FloatRange(1),
    default=2_000,
    show_default=True,
    metavar="OPS",
    help="What all together publish in a second.",
)
@click.option("--seconds", type=click.FloatRange(0.1), default=8, show_default=True, help="For how long.")
@click.option(
    "--ops",
    type=click.IntRange(1),
    default=6_000,
    show_default=True,
    metavar="N",
    help="What is published as fast as possible after that.",
)
@click.option(
    "--processes",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    metavar="N",
    help="How many processes load the relay; it is another one.",
)
@pass_cli
def bench(cli: Cli, replicas: int, teams: int, rate: float, seconds: float, ops: int, processes: int) -> None:
    """Measure what a relay on this machine carries. It is made for that, and thrown away.

    First connected replicas publish at a rate, each op in a frame of its own, and half of them sealed mail. Then a few
    publish as fast as the relay takes it, and the same to a server that does only what every relay must: aiohttp, and
    the same verification and transactions.
    """
    from transports.bench.load import LoadError
    from transports.bench.relay import Size, measure

    if replicas < teams:
        raise click.UsageError("there are at least as many --replicas as --teams")
    size = Size(replicas, teams, rate, seconds, ops, processes)
    try:
        with cli.screen.working("the relay starts") as step:
            figures = measure(size, step)
    except (LoadError, TimeoutError, OSError, EOFError) as error:
        why = str(error) or "a process that takes part in it ended too soon"
        raise Failure("unavailable", f"the relay could not be measured: {why}") from error
    if cli.as_json:
        cli.screen.document(_figures_json(figures))
        return
    cli.screen.table(("what", "measured", "aimed at"), _rows(figures))
    if figures.loaded.late > figures.loaded.to_others.p50:
        cli.screen.say(
            f"The load itself was late by up to {_ms(figures.loaded.late)}: this machine is too busy for it, or it "
            "wants more --processes."
        )


def _figures_json(figures: "Figures") -> dict[str, JsonValue]:
    loaded, most = figures.loaded, figures.capacity
    return {
        "loaded": {
            "replicas": loaded.replicas,
            "teams": loaded.teams,
            "rate": loaded.rate,
            "ops": loaded.ops,
            "stored": loaded.stored,
            "seen": loaded.seen,
            "expected": loaded.expected,
            "opsPerSecond": loaded.ops_per_second,
            "toOthers": _delays_json(loaded.to_others),
            "toAnswer": _delays_json(loaded.to_answer),
            "memory": loaded.memory,
            "cpu": loaded.cpu,
            "loadCpu": loaded.load_cpu,
            "late": loaded.late,
        },
        "capacity": {
            "relay": most.relay,
            "relayCpu": most.relay_cpu,
            "bare": most.bare,
            "bareCpu": most.bare_cpu,
            "ratio": most.ratio,
        },
    }


def _delays_json(delays: "Delays") -> dict[str, JsonValue]:
    return {"p50": delays.p50, "p99": delays.p99, "longest": delays.longest}


def _rows(figures: "Figures") -> list[tuple[str, str, str]]:
    from transports.bench.relay import MEMORY_BYTES, P99_SECONDS, RATIO

    loaded, most = figures.loaded, figures.capacity
    missing = loaded.expected - loaded.seen
    return [
        ("replicas connected, teams", f"{loaded.replicas:,}, {loaded.teams:,}", ""),
        ("ops stored and pushed in a second", f"{loaded.ops_per_second:,.0f}", f"{loaded.rate:,.0f}"),
        ("from publish to another replica", _delays(loaded.to_others), f"p99 {_ms(P99_SECONDS)}"),
        ("from publish to the answer", _delays(loaded.to_answer), ""),
        ("frames that a pull has to make up for", f"{missing:,} of {loaded.expected:,}", ""),
        ("memory of the relay", f"{loaded.memory / 2**20:.0f} MiB", f"{MEMORY_BYTES // 2**20} MiB"),
        ("share of one processor: the relay, the load", f"{loaded.cpu:.0%}, {loaded.load_cpu:.0%}", ""),
        ("ops a second as fast as possible", f"{most.relay:,.0f}", ""),
        ("the same to a bare server", f"{most.bare:,.0f}", ""),
        ("the relay's share of that", f"{most.ratio:.2f}", f"{RATIO} or more"),
        (
            "time of the processor for an op: the relay, a bare server",
            f"{most.relay_cpu * 1e6:.0f} µs, {most.bare_cpu * 1e6:.0f} µs",
            "",
        ),
    ]


def _delays(delays: "Delays") -> str:
    return f"p50 {_ms(delays.p50)}, p99 {_ms(delays.p99)}, {_ms(delays.longest)} at most"


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:,.1f} ms"
