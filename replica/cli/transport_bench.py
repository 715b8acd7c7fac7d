"""`dmp transport bench`: transports side by side."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from crypto.canonical import JsonValue
from replica.cli.context import Cli, command, pass_cli
from replica.cli.failures import REFUSED, Failure, failure_of
from transports.base import TransportError
from transports.opening import typed_address
from transports.remotes import RemoteError, redact

if TYPE_CHECKING:
    from transports.bench.measure import Figures


@command("bench")
@click.argument("addresses", nargs=-1, required=True, metavar="ADDRESS...")
@click.option(
    "--ops",
    type=click.IntRange(1, 100_000),
    default=1_000,
    show_default=True,
    metavar="N",
    help="Ops that go through in groups.",
)
@click.option(
    "--samples",
    type=click.IntRange(1, 1_000),
    default=10,
    show_default=True,
    metavar="N",
    help="How often an op goes alone.",
)
@click.option("--token", metavar="TEXT", help="What a relay asks for to take a new team, if anything.")
@click.option(
    "--picture",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Draw it too: a file that ends in .svg or .png.",
)
@pass_cli
def bench(
    cli: Cli, addresses: tuple[str, ...], ops: int, samples: int, token: str | None, picture: Path | None
) -> None:
    """Measure transports side by side, from this machine.

    ADDRESS is as with `dmp transport add`. Two throw-away replicas meet there in a place of their own: a branch or a
    folder named dmp-bench-…, which is removed in the end, or a team that a relay takes in for good. Nothing of yours is
    read or changed, and no replica is needed here.
    """
    from transports.bench.measure import Effort, Figures, measure

    for address in addresses:
        _check(address)
    if picture is not None:
        _check_picture(picture)
    found: list[Figures] = []
    failed: list[tuple[str, Failure]] = []
    for address in addresses:
        try:
            with cli.screen.working(redact(address)) as step:
                found.append(measure(address, Effort(ops, samples), token, step))
        except (TransportError, RemoteError) as error:
            failed.append((redact(address), _failure(error)))
    if picture is not None and found:
        _draw(found, picture)
    if cli.as_json:
        cli.screen.document(
            {
                "transports": [_figures_json(each) for each in found],
                "failed": [{"address": address, **failure.to_json()} for address, failure in failed],
            }
        )
    else:
        if found:
            cli.screen.table(
                ("transport", "one op", "longest", "ops a second", "processor/op", "bytes/op", "coming back"),
                [_row(each) for each in found],
            )
        for _, failure in failed:
            cli.screen.note(failure.sentence(), *([f"  {failure.hint}"] if failure.hint else []))
    if failed:
        click.get_current_context().exit(REFUSED)


def _check(address: str) -> None:
    try:
        typed_address(address)
    except RemoteError as error:
        raise click.BadParameter(str(error), param_hint="ADDRESS") from None


def _check_picture(picture: Path) -> None:
    from transports.bench.picture import FORMATS, can_draw

    if picture.suffix.lower() not in FORMATS:
        raise click.BadParameter("a picture is a file that ends in .svg or .png", param_hint="--picture")
    if not can_draw():
        raise Failure(
            "unavailable",
            "a picture is drawn with matplotlib, which is not installed",
            hint="pip install 'dmp-replica[plots]', or leave out --picture",
        )


def _draw(found: "list[Figures]", picture: Path) -> None:
    from transports.bench.picture import draw

    try:
        draw(found, picture)
    except OSError as error:
        raise Failure("unavailable", f"the picture cannot be written: {error}") from error


def _failure(error: TransportError | RemoteError) -> Failure:
    failure = failure_of(error)
    return Failure("refused", str(error)) if failure is None else failure


def _figures_json(each: "Figures") -> dict[str, JsonValue]:
    return {
        "address": each.url,
        "seconds": {"median": each.p50, "longest": each.longest},
        "opsPerSecond": each.ops_per_second,
        "cpuPerOp": each.cpu_per_op,
        "bytesPerOp": each.bytes_per_op,
        "recovery": each.recovery,
    }


def _row(each: "Figures") -> list[str]:
    return [
        each.url,
        _ms(each.p50),
        _ms(each.longest),
        f"{each.ops_per_second:,.0f}",
        f"{each.cpu_per_op * 1000:.2f} ms",
        "not seen" if each.bytes_per_op is None else f"{each.bytes_per_op:,.0f}",
        _ms(each.recovery),
    ]


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:,.1f} ms"
