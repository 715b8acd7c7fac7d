"""The federation vectors cover what they must, and are what their script writes."""

import pytest

from vectors.authoring.federation.files import FOLDER, contents
from vectors.runner.federation_shape import GIVEN, STEPS, THEN
from vectors.runner.files import read_vectors

VECTORS = [vector.raw for vector in read_vectors(FOLDER)]

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


def test_every_step_is_used() -> None:
    assert set(STEPS) <= {step["op"] for vector in VECTORS for step in vector["when"]}


@pytest.mark.parametrize("name", [*STEPS, *GIVEN, *THEN])
def test_the_page_says_what_each_step_and_member_is(name: str) -> None:
    page = (FOLDER.parents[1] / "docs" / "vectors.md").read_text(encoding="utf-8")
    assert f"`{name}`" in page.partition("## Federation vectors")[2]


def test_the_files_are_what_their_script_writes() -> None:
    written = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.json")}
    assert written == contents()
