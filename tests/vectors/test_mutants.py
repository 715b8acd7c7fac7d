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
    "core/store/schema.py": "tables alone; no rule is left to a constraint",
    "crypto/__init__.py": "no code",
    "crypto/roster/__init__.py": "names alone",
    "crypto/roster/notes.py": "what people are told, which no vector says",
    "replica/__init__.py": "no code",
    "replica/abreast.py": "several transports, of which a vector's world has one",
    "replica/audit/": "what is found of chains that crypto judges, told to a person",
    "replica/capabilities.py": "names alone",
    "replica/chain/__init__.py": "no code",
    "replica/chain/unacknowledged.py": "what people are told, which no vector says",
    "replica/chain/faults.py": "what people are told, which no vector says",
    "replica/chain/prune.py": "a transport that takes content back, which a vector's world has not",
    "replica/chain/withheld.py": "what people are told, which no vector says",
    "replica/cli/": "what a person types and reads",
    "replica/elsewhere.py": "several transports, of which a vector's world has one",
    "replica/home/": "files and locks of one machine",
    "replica/host/__init__.py": "no code",
    "replica/host/attach.py": "a process that is a session, which no vector is",
    "replica/host/config.py": "a file of one person's",
    "replica/host/desktop.py": "a notice on one machine's screen",
    "replica/host/doc_files.py": "files of one machine",
    "replica/host/doc_text.py": "texts compared for a person, by git",
    "replica/host/hooks.py": "programs of one machine, which no vector starts",
    "replica/host/place.py": "what one machine has",
    "replica/host/principals.py": "who may act on one machine, which a vector's steps say themselves",
    "replica/host/programs.py": "programs of one machine, which no vector starts",
    "replica/mail/__init__.py": "no code",
    "replica/mail/newly_reading.py": "what people are told, which no vector says",
    "replica/moving.py": "several transports, of which a vector's world has one",
    "replica/quoting.py": "what people are told, which no vector says",
    "replica/records/__init__.py": "no code",
    "replica/records/commits.py": "names alone",
    "replica/records/link.py": "the address of a far side, of which a vector has one",
    "replica/records/problems.py": "what people are told, which no vector says",
    "replica/records/schema.py": "tables alone",
    "replica/records/subjects.py": "what people are told, which no vector says",
    "replica/records/transports.py": "several transports, of which a vector's world has one",
    "replica/shared/__init__.py": "no code",
    "replica/shared/docs/__init__.py": "no code",
    "replica/shared/memory/__init__.py": "no code",
    "replica/team/__init__.py": "no code",
    "replica/team/transport.py": "several transports, of which a vector's world has one",
}
"""The files in which no fault is planted, and why; a folder stands for all in it."""

WHOLE: Final = ("core", "crypto", "replica")
"""The packages of which every other file has a fault."""


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
    named = {name for name in WITHOUT if name.startswith(f"{package}/")}
    without = {file for file in files if any(_is_in(file, name) for name in named)}
    assert {fault.file for fault in FAULTS if fault.file.startswith(f"{package}/")} == files - without
    assert [name for name in named if not any(_is_in(file, name) for file in files)] == []


def _is_in(file: str, name: str) -> bool:
    """Whether a file is the one of a name, or in the folder of it."""
    return file.startswith(name) if name.endswith("/") else file == name


def test_faults_are_told_apart() -> None:
    assert len({fault.name for fault in FAULTS}) == len(FAULTS) >= 40
    assert len({(fault.file, fault.old, fault.new) for fault in FAULTS}) == len(FAULTS)
    assert all(fault.old != fault.new and fault.says.endswith(".") for fault in FAULTS)


@pytest.mark.parametrize("old", ["a rule nobody ever wrote", "\n"])
def test_a_fault_that_no_longer_fits_its_source_says_what_to_do(old: str) -> None:
    stale = replace(FAULTS[0], old=old)
    with pytest.raises(StaleError, match=r"no longer fits .*occurs \d+ times, not once"):
        list(run(stale, VECTORS.values()))
