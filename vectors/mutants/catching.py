"""Runs vectors on the host with a fault planted, each in the runner's own way (section 12.4.9), and teams and tests."""

from collections.abc import Iterable, Iterator
from typing import Final

from core.gate_types import GATE_TYPES
from vectors.mutants.fault import ROOT, Fault
from vectors.mutants.planted import Planted
from vectors.runner.adapter import AdapterFault
from vectors.runner.running import CannotRun, Outcome, Result, Run
from vectors.runner.vector import Vector

SECONDS: Final = 10.0
"""The time a vector has; a fault may make the host go on for ever."""

CAUGHT: Final = (Outcome.FAIL, Outcome.ADAPTER_ERROR)

SEEDS: Final = 300
"""Simulated teams that may catch a fault: those that the tests run without one."""

SEED_SECONDS: Final = 60.0
"""The time a team has, which takes less than one; a fault may make it go on for ever."""

TEST_SECONDS: Final = 600.0
"""The time tests have: one that is known to fail takes a second or two, a whole folder minutes."""

_SIMULATION: Final = "tests.simulation.served"
_TESTS: Final = "tests.served"


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
        return Run(lambda: Planted(fault), SECONDS, tuple(GATE_TYPES))
    except CannotRun as error:
        raise CannotRun(f"with the fault {fault.name}, {error}") from None


def first_seed(fault: Fault, seeds: Iterable[int]) -> int | None:
    """The first of some seeds whose team breaks a promise by a fault, or comes to no end; None where each keeps all.

    Raises StaleError where the fault no longer fits, and CannotRun where the simulation does not start with it.
    """
    fault.plant((ROOT / fault.file).read_text("utf-8"))
    with Planted(fault, _SIMULATION) as simulation:
        try:
            simulation.ask({}, SEED_SECONDS)
        except AdapterFault as error:
            raise CannotRun(f"with the fault {fault.name}, the simulation does not start: {error}") from None
        return next((seed for seed in seeds if _breaks(simulation, seed)), None)


def _breaks(simulation: Planted, seed: int) -> bool:
    try:
        answer = simulation.ask({"seed": seed}, SEED_SECONDS)
    except AdapterFault:
        return True
    return answer != {"broken": None}


def first_test(fault: Fault, tests: Iterable[str]) -> str | None:
    """The id of the first test that fails by a fault, of those that ids, files and folders name; None where none does.

    Raises StaleError where the fault no longer fits, and CannotRun where the tests do not start with it.
    """
    fault.plant((ROOT / fault.file).read_text("utf-8"))
    with Planted(fault, _TESTS) as running:
        try:
            answer = running.ask({"tests": list(tests)}, TEST_SECONDS)
        except AdapterFault as error:
            raise CannotRun(f"with the fault {fault.name}, the tests do not end: {error}") from None
    if not isinstance(answer, dict) or answer.get("wrong") is not None:
        raise CannotRun(f"with the fault {fault.name}, the tests do not run: {answer}")
    failed = answer["failed"]
    return failed if isinstance(failed, str) else None
