"""Runs vectors on the host with a fault planted, each in the runner's own way (section 12.4.9)."""

import shlex
import sys
from collections.abc import Iterable, Iterator
from typing import Final

from core.gate_types import GATE_TYPES
from vectors.mutants.fault import ROOT, Fault
from vectors.runner.adapter import Adapter
from vectors.runner.running import CannotRun, Outcome, Process, Result, Run
from vectors.runner.vector import Vector

SECONDS: Final = 10.0
"""The time a vector has; a fault may make the host go on for ever."""

CAUGHT: Final = (Outcome.FAIL, Outcome.ADAPTER_ERROR)


def run(fault: Fault, vectors: Iterable[Vector]) -> Iterator[Result]:
    """Run vectors on the host with a fault, started anew after each vector that takes it down.

    Raises StaleError where the fault no longer fits, and CannotRun where the host does not start with it.
    """
    fault.plant((ROOT / fault.file).read_text("utf-8"))
    left = list(vectors)
    while left:
        with _running(fault) as running:
            for result in running.results(tuple(left)):
                left.pop(0)
                yield result
                if result.outcome is Outcome.ADAPTER_ERROR:
                    break


def _running(fault: Fault) -> Run:
    try:
        return Run(lambda: _start(fault), SECONDS, tuple(GATE_TYPES))
    except CannotRun as error:
        raise CannotRun(f"with the fault {fault.name}, {error}") from None


def _start(fault: Fault) -> Process:
    command = shlex.join([sys.executable, "-m", "vectors.mutants.plant", fault.name])
    return Adapter(f"cd {shlex.quote(str(ROOT))} && exec {command}", lambda _: None)
