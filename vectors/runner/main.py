"""`dmp-conformance`: judges a DMP implementation by test vectors, through its adapter (section 12.4.9).

Exit codes: 0 every claim passes, or is vectors-only; 1 a claim fails, or the run cannot complete; 2 a usage
error; 130 interrupted.
"""

import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import FrameType
from typing import Final, NoReturn, TextIO

import click

from replica.cli.text import escaped
from vectors.registries import Status as Registered
from vectors.registries import registries
from vectors.runner import files
from vectors.runner.adapter import Adapter
from vectors.runner.attestation import Attestation, Deviation, read_attestation, read_deviations
from vectors.runner.claims import Claim, Rules, Status
from vectors.runner.files import BadFile, read_vectors
from vectors.runner.junit import junit
from vectors.runner.output import write_whole
from vectors.runner.report import Report, written
from vectors.runner.running import CannotRun, Run
from vectors.runner.screen import tell, watching
from vectors.runner.vector import Vector

FAILED: Final = 1
USAGE: Final = 2
INTERRUPTED: Final = 130

_PACKAGE: Final = "dmp-replica"
_COMMAND: Final = "dmp-conformance"
_DAY_MS: Final = 86_400_000
"""The longest time a vector may have: waiting takes no number of milliseconds beyond 24 days."""

_PATH: Final = click.Path(path_type=Path)


@click.command(
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Exit codes: 0 every claim passes, or is vectors-only; 1 a claim fails, or the run cannot complete; "
    "2 a usage error; 130 interrupted.",
)
@click.option(
    "--adapter", "command", required=True, metavar="COMMAND", help="Starts the adapter, in a shell."
)
@click.option(
    "--claim",
    "claims",
    multiple=True,
    default=[str(Claim.CORE)],
    show_default="core",
    type=click.Choice([str(each) for each in Claim]),
    help="What the implementation claims; may be repeated.",
)
@click.option(
    "--vectors",
    type=_PATH,
    show_default="those of this kit",
    help="A directory of vectors: a kit, or one class of a kit.",
)
@click.option(
    "--report",
    "report_path",
    type=_PATH,
    default=Path(f"{_COMMAND}.json"),
    show_default=True,
    help="Where the JSON report goes.",
)
@click.option("--junit", "junit_path", type=_PATH, help="Where a JUnit file goes, if one is wanted.")
@click.option("--tck-attest", type=_PATH, help="A JSON file about an attested run of the A2A TCK.")
@click.option("--deviations", type=_PATH, help="A JSON list of declared deviations.")
@click.option("--vectors-only", is_flag=True, help="Judge an A2A binding claim on its vectors alone.")
@click.option(
    "--timeout-ms",
    type=click.IntRange(min=1, max=_DAY_MS),
    default=10_000,
    show_default=True,
    help="Milliseconds that each vector has.",
)
@click.version_option(package_name=_PACKAGE, prog_name=_COMMAND)
def conformance(
    command: str,
    claims: Sequence[str],
    vectors: Path | None,
    report_path: Path,
    junit_path: Path | None,
    tck_attest: Path | None,
    deviations: Path | None,
    vectors_only: bool,
    timeout_ms: int,
) -> int:
    """Judge an implementation of the Dispatch Messaging Protocol by test vectors, through its adapter."""
    gate_types = registries().gate_types
    attestation: Attestation | None = None if tck_attest is None else read_attestation(tck_attest)
    declared: list[Deviation] = [] if deviations is None else read_deviations(deviations)
    rules = Rules(
        claims={Claim(each) for each in claims},
        permanent_gate_types=[each.value for each in gate_types if each.status is Registered.PERMANENT],
        attestation=attestation,
        vectors_only=vectors_only,
    )
    judged = rules.judged(read_vectors(*(files.OWN if vectors is None else (vectors,))))
    for path in (report_path, junit_path):
        if path is not None and (path.is_dir() or not path.absolute().parent.is_dir()):
            raise BadFile(path, "no file can be written there")
    if junit_path is not None and junit_path.absolute() == report_path.absolute():
        raise BadFile(junit_path, "the JSON report goes there; give the JUnit file a name of its own")
    offered = (Registered.PERMANENT, Registered.PROVISIONAL)
    report = _run(
        command,
        judged,
        rules,
        seconds=timeout_ms / 1000,
        gate_types=[each.value for each in gate_types if each.status in offered],
        declared=declared,
    )
    write_whole(report_path, written(report.to_json()))
    if junit_path is not None:
        write_whole(junit_path, junit(report.classes, report.results))
    tell(report, report_path)
    return FAILED if any(each.status is Status.FAIL for each in report.verdicts) else 0


def _run(
    command: str,
    vectors: Sequence[Vector],
    rules: Rules,
    *,
    seconds: float,
    gate_types: Sequence[str],
    declared: Sequence[Deviation],
) -> Report:
    results = []
    with (
        watching(len(vectors)) as watcher,
        Run(lambda: Adapter(command, watcher.log), seconds, gate_types) as run,
    ):
        for result in run.results(vectors):
            results.append(result)
            watcher.done(result)
        fault = run.bye()
    if fault is not None:
        _note(f"warning: {fault}")
    return Report(
        hello=run.hello,
        verdicts=rules.verdicts(results, run.hello),
        classes=rules.classes(),
        results=results,
        deviations=declared,
        attestation=rules.attestation,
        runner=_runner(),
        moment=datetime.now(UTC),
    )


def run(arguments: Sequence[str]) -> int:
    """Run the command and return its exit code."""
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        code = conformance.main(list(arguments), prog_name=_COMMAND, standalone_mode=False)
        sys.stdout.flush()
    except click.ClickException as error:
        _note(error.format_message(), f"{_COMMAND} --help tells how it is used")
        return USAGE
    except BadFile as error:
        _note(str(error))
        return USAGE
    except CannotRun as error:
        _note(f"the run cannot complete: {error}")
        return FAILED
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        with suppress(OSError):
            _note(f"the run cannot complete: {place}{error.strerror or error}")
        sys.stdout = sys.stderr = _nowhere()  # one of them may be what failed; the exit must not try again
        return FAILED
    except (click.Abort, KeyboardInterrupt):
        _note("interrupted; the adapter was ended, and no report written")
        return INTERRUPTED
    return code if isinstance(code, int) else 0


def main() -> NoReturn:
    """The entry point."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # it was closed before the command started
            setattr(sys, name, _nowhere())
    sys.exit(run(sys.argv[1:]))


def _nowhere() -> TextIO:
    return Path(os.devnull).open("w")


def _interrupt(_signal: int, _frame: FrameType | None) -> NoReturn:
    raise KeyboardInterrupt


def _note(*lines: str) -> None:
    for line in lines:
        print(f"{_COMMAND}: {escaped(line)}", file=sys.stderr, flush=True)


def _runner() -> str:
    try:
        return f"{_PACKAGE}@{version(_PACKAGE)}"
    except PackageNotFoundError:  # run from a checkout that is not installed
        return _PACKAGE


if __name__ == "__main__":
    main()
