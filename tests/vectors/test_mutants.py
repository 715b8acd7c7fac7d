"""The project's own vectors, or simulated teams, catch each planted fault: what they expect could go wrong here."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

import pytest

from tests.vectors.in_process import run as run_unplanted
from vectors.mutants.catching import CAUGHT, SEEDS, first_seed, run
from vectors.mutants.fault import ROOT, Fault, StaleError, read_faults
from vectors.runner.files import OWN, read_vectors
from vectors.runner.running import Outcome

FAULTS: Final = read_faults()
VECTORS: Final = {vector.id: vector for vector in read_vectors(*OWN)}

WITHOUT: Final[Mapping[str, str]] = {
    "core/__init__.py": "no code",
    "core/store/__init__.py": "no code",
    "core/commits.py": "names alone",
    "core/dispatchers.py": "a kit's host is one process",
    "core/federation.py": "a kit's host has no teammates",
    "core/host.py": "questions, which the kit's own host answers",
    "core/received.py": "a kit's host has no teammates",
    "core/store/schema.py": "tables alone; no rule is left to a constraint",
    "crypto/__init__.py": "no code",
    "crypto/roster/__init__.py": "names alone",
    "crypto/roster/notes.py": "what people are told, which no vector says",
}
"""The files in which no fault is planted, and why."""

WHOLE: Final = ("core", "crypto")
"""The packages of which every file with a rule has a fault."""


def test_something_catches_each_fault() -> None:
    away = [fault.name for fault in FAULTS if not fault.caught_by and fault.seed is None]
    assert not away, "nothing is recorded; run make mutants, and write the vector that is missing"


@pytest.mark.parametrize("fault", [each for each in FAULTS if each.caught_by], ids=lambda fault: fault.name)
def test_a_fault_is_caught_by_its_vectors(fault: Fault) -> None:
    gone = [each for each in fault.caught_by if each not in VECTORS]
    assert not gone, "a recorded vector is no longer in the kit; run make mutants"
    results = list(run(fault, [VECTORS[each] for each in fault.caught_by]))
    assert [result.vector.id for result in results if result.outcome not in CAUGHT] == []


@pytest.mark.parametrize(
    "fault", [each for each in FAULTS if each.seed is not None], ids=lambda fault: fault.name
)
def test_a_fault_breaks_a_promise_of_its_simulated_team(fault: Fault) -> None:
    assert not fault.caught_by, "vectors catch it, which is faster; run make mutants"
    assert fault.seed is not None
    assert fault.seed in range(SEEDS)
    assert first_seed(fault, [fault.seed]) == fault.seed


def test_what_catches_faults_passes_without_them() -> None:
    recorded = {each for fault in FAULTS for each in fault.caught_by if each in VECTORS}
    results = run_unplanted(VECTORS[each] for each in sorted(recorded))
    assert [result.vector.id for result in results if result.outcome is not Outcome.PASS] == []


@pytest.mark.parametrize("package", WHOLE)
def test_every_file_with_a_rule_has_a_fault(package: str) -> None:
    files = {str(path.relative_to(ROOT)) for path in (ROOT / package).rglob("*.py")}
    without = {file for file in WITHOUT if file.startswith(f"{package}/")}
    assert {fault.file for fault in FAULTS if fault.file.startswith(f"{package}/")} == files - without
    assert without <= files


def test_faults_are_told_apart() -> None:
    assert len({fault.name for fault in FAULTS}) == len(FAULTS) >= 40
    assert len({(fault.file, fault.old, fault.new) for fault in FAULTS}) == len(FAULTS)
    assert all(fault.old != fault.new and fault.says.endswith(".") for fault in FAULTS)


@pytest.mark.parametrize("old", ["a rule nobody ever wrote", "\n"])
def test_a_fault_that_no_longer_fits_its_source_says_what_to_do(old: str) -> None:
    stale = replace(FAULTS[0], old=old)
    with pytest.raises(StaleError, match=r"no longer fits .*occurs \d+ times, not once"):
        list(run(stale, VECTORS.values()))
