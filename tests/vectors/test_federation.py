"""The federation vectors hold here, have the kit's shape, and are what their script writes."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from vectors.authoring.files import contents
from vectors.federation_steps import STEPS, run

FOLDER = Path(__file__).parents[2] / "vectors" / "federation"
FILES = {path.name: json.loads(path.read_text(encoding="utf-8")) for path in sorted(FOLDER.glob("*.json"))}
VECTORS = [vector for file in FILES.values() for vector in file["vectors"]]

MEMBERS = {"id", "title", "class", "level", "profile", "sections", "given", "when", "then"}


def differences(expected: Any, actual: Any, place: str) -> Iterator[str]:
    """Where a result is not as expected: an object is matched as a subset, all else exactly (12.4.5)."""
    if isinstance(expected, dict) and isinstance(actual, dict):
        for name, value in expected.items():
            if name in actual:
                yield from differences(value, actual[name], f"{place}.{name}")
            else:
                yield f"{place} has no {name}"
    elif json.dumps(expected, sort_keys=True) != json.dumps(actual, sort_keys=True):
        yield f"{place} is {actual!r}, not {expected!r}"


@pytest.mark.parametrize("vector", [pytest.param(vector, id=vector["id"]) for vector in VECTORS])
def test_the_vector_holds(vector: dict[str, Any]) -> None:
    outcomes = run(vector)
    expected = vector["then"]["steps"]
    assert len(outcomes) == len(expected)
    assert [
        difference
        for number, (wanted, outcome) in enumerate(zip(expected, outcomes, strict=True), 1)
        if wanted is not None
        for difference in differences(wanted, outcome, f"step {number}")
    ] == []


PARSING = {
    "p1-line-breaks": ["fed.canonical.keeps-every-line-break-in-a-string", "fed.lane.reads-every-line-alike"],
    "p2-invalid-utf8": ["fed.canonical.reads-invalid-utf8-as-u-fffd", "fed.lane.reads-every-line-alike"],
    "p3-numbers": [
        "fed.canonical.writes-numbers-as-ecmascript",
        "fed.canonical.refuses-numbers-beyond-doubles",
    ],
    "p4-repeated-keys": ["fed.canonical.keeps-the-last-of-repeated-keys", "fed.lane.reads-every-line-alike"],
    "p5-full-matches": [
        "fed.entry.replica-grammar",
        "fed.entry.seq",
        "fed.entry.hlc",
        "fed.lane.null-is-not-absent",
    ],
    "p6-respellings": ["fed.entry.signature", "fed.lane.respelled-signatures-fork-nothing"],
    "p7-depth-and-size": [
        "fed.canonical.refuses-nesting-past-256",
        "fed.entry.size",
        "fed.lane.junk-is-skipped",
    ],
}


@pytest.mark.parametrize("ids", PARSING.values(), ids=PARSING.keys())
def test_p8_each_class_of_lines_that_readers_may_differ_on_is_a_vector(ids: list[str]) -> None:
    assert set(ids) <= {vector["id"] for vector in VECTORS}


def test_there_are_at_least_forty() -> None:
    assert len(VECTORS) >= 40


@pytest.mark.parametrize("name", FILES)
def test_a_file_has_the_kits_shape(name: str) -> None:
    file = FILES[name]
    assert set(file) == {"kit", "class", "area", "vectors"}
    assert file["kit"] == "1.0.0-draft.1"
    assert file["class"] == "federation" == FOLDER.name
    assert f"{file['area']}.json" == name
    assert re.fullmatch(r"[a-z0-9-]+", file["area"])
    for vector in file["vectors"]:
        assert set(vector) == MEMBERS
        assert re.fullmatch(r"fed(\.[a-z0-9-]+){2}", vector["id"])
        assert (vector["class"], vector["level"], vector["profile"]) == ("federation", "MUST", "core")
        assert all(re.fullmatch(r"F\.\d|\d+(\.\d+)*", section) for section in vector["sections"])
        assert {step["op"] for step in vector["when"]} <= set(STEPS)


def test_no_id_is_used_twice() -> None:
    ids = [vector["id"] for vector in VECTORS]
    assert len(set(ids)) == len(ids)


def test_every_step_is_used() -> None:
    assert {step["op"] for vector in VECTORS for step in vector["when"]} == set(STEPS)


def test_the_files_are_what_their_script_writes() -> None:
    written = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.json")}
    assert written == contents()
