"""Vectors of the project's own, simulated teams or tests catch each planted fault: what they expect could go wrong."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

import pytest

from tests.vectors.in_process import run as run_unplanted
from vectors.mutants.catching import CAUGHT, SEEDS, first_seed, first_test, run
from vectors.mutants.fault import ROOT, Fault, StaleError, read_faults
from vectors.runner.files import OWN, read_vectors
from vectors.runner.running import CannotRun, Outcome

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
    "replica/api/": "what programs ask over HTTP, done by the rooms behind it; who may ask has some",
    "replica/audit/": "what is found of chains that crypto judges, told to a person; who is in the team has some",
    "replica/capabilities.py": "names alone",
    "replica/chain/__init__.py": "no code",
    "replica/cli/": "what a person types and reads",
    "replica/home/": "files and locks of one machine",
    "replica/host/__init__.py": "no code",
    "replica/host/attach.py": "a process that is a session, which no vector is",
    "replica/host/binding.py": "which bindings one machine has",
    "replica/host/boxes.py": "what programs read of it, whoever gives them that",
    "replica/host/config.py": "a file of one person's",
    "replica/host/desktop.py": "a notice on one machine's screen",
    "replica/host/doc_files.py": "files of one machine",
    "replica/host/doc_text.py": "texts compared for a person, by git",
    "replica/host/groups.py": "what programs read of it, whoever gives them that",
    "replica/host/hooks.py": "programs of one machine, which no vector starts",
    "replica/host/memory_shapes.py": "what programs read of it, whoever gives them that",
    "replica/host/place.py": "what one machine has",
    "replica/host/principals.py": "who may act on one machine, which a vector's steps say themselves",
    "replica/host/problems.py": "what people are told, which no vector says",
    "replica/host/registering.py": "what programs ask for, which the rooms behind it do",
    "replica/host/shapes.py": "what programs read of it, whoever gives them that",
    "replica/host/programs.py": "programs of one machine, which no vector starts",
    "replica/host/settings.py": "what one person may set",
    "replica/mail/__init__.py": "no code",
    "replica/mcp/": "what agents ask, done by the rooms behind it; who may ask, and what they are told, has some",
    "replica/passes.py": "pass after pass of one machine; what is in a pass has some",
    "replica/quoting.py": "what people are told, which no vector says",
    "replica/records/__init__.py": "no code",
    "replica/records/about_op.py": "what people are told, which no vector says",
    "replica/records/commits.py": "names alone",
    "replica/records/lanes.py": "what people are drawn, which no vector says",
    "replica/records/link.py": "the address of a far side, of which a vector has one",
    "replica/records/problems.py": "what people are told, which no vector says",
    "replica/records/schema.py": "tables alone",
    "replica/records/subjects.py": "what people are told, which no vector says",
    "replica/records/transports.py": "several transports, of which a vector's world has one",
    "replica/service/": "a process of one machine",
    "replica/shared/__init__.py": "no code",
    "replica/shared/docs/__init__.py": "no code",
    "replica/shared/memory/__init__.py": "no code",
    "replica/team/__init__.py": "no code",
    "replica/team/transport.py": "several transports, of which a vector's world has one",
    "replica/team/shown.py": "what programs read of it, whoever gives them that",
    "replica/ways.py": "several transports, of which a vector's world has one",
    "replica/web/": "what a person reads and clicks",
}
"""The files in which no fault is planted, and why; a folder stands for all in it in which there is none."""

WHOLE: Final = ("core", "crypto", "replica")
"""The packages of which every other file has a fault."""

PURE: Final = tuple(
    f"bindings/a2a/{name}.py"
    for name in ("envelope", "external", "fields", "inbound", "metadata", "parts", "projection", "work")
)
"""The files of bindings that are rules alone, and so have faults."""

ROOMS: Final = (
    "transports",
    "transports/git",
    "transports/relay",
    "transports/relay/client",
    "transports/relay/server",
)
"""The folders of transports, each of which has faults in several of its files."""


def test_something_catches_each_fault() -> None:
    away = [each.name for each in FAULTS if not each.caught_by and each.seed is None and each.test is None]
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


@pytest.mark.parametrize(
    "fault", [each for each in FAULTS if each.test is not None], ids=lambda fault: fault.name
)
def test_a_fault_fails_its_test(fault: Fault) -> None:
    assert not fault.caught_by, "vectors catch it as well; run make mutants"
    assert fault.seed is None
    assert fault.test is not None
    failed = first_test(fault, [fault.test])
    assert failed is not None
    assert failed.startswith(fault.test), "the first of a test's cases may fail for all"


def test_tests_that_are_not_there_are_no_tests_that_pass() -> None:
    with pytest.raises(CannotRun, match="the tests do not run"):
        first_test(FAULTS[0], ["tests/transports/test_memory.py::test_nobody_wrote_this"])


def test_a_test_that_a_fault_does_not_touch_passes() -> None:
    fault = next(each for each in FAULTS if each.file == "transports/git/turns.py")
    assert first_test(fault, ["tests/transports/test_memory.py"]) is None


def test_what_catches_faults_passes_without_them() -> None:
    recorded = {each for fault in FAULTS for each in fault.caught_by if each in VECTORS}
    results = run_unplanted(VECTORS[each] for each in sorted(recorded))
    assert [result.vector.id for result in results if result.outcome is not Outcome.PASS] == []


@pytest.mark.parametrize("package", WHOLE)
def test_every_file_with_a_rule_has_a_fault(package: str) -> None:
    files = {str(path.relative_to(ROOT)) for path in (ROOT / package).rglob("*.py")}
    named = {name for name in WITHOUT if name.startswith(f"{package}/")}
    having = {fault.file for fault in FAULTS if fault.file.startswith(f"{package}/")}
    assert having & named == set()
    without = {file for file in files if any(_is_in(file, name) for name in named)}
    assert having == (files - without) | (having & without)
    assert [name for name in named if not any(_is_in(file, name) for file in files)] == []


@pytest.mark.parametrize("file", PURE)
def test_every_file_of_rules_of_the_a2a_binding_has_faults(file: str) -> None:
    assert any(fault.file == file for fault in FAULTS)


@pytest.mark.parametrize("room", ROOMS)
def test_every_kind_of_transport_has_faults(room: str) -> None:
    assert len({fault.file for fault in FAULTS if fault.file.rpartition("/")[0] == room}) >= (
        1 if room == "transports/relay" else 3
    )


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
