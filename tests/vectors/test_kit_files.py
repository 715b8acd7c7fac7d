"""The project's own vectors: well formed, written one way, and nobody else's."""

import json
import os
import re
from pathlib import Path

import pytest

from tests.conftest import PUBLIC_VECTORS
from vectors.authoring.host_files import FOLDER, contents
from vectors.authoring.layout import write_json
from vectors.runner.files import read_vectors

VECTORS = read_vectors(FOLDER)
STATED = contents()


@pytest.mark.parametrize(
    "path", sorted(FOLDER.rglob("*.json")), ids=lambda path: path.relative_to(FOLDER).as_posix()
)
def test_a_file_is_laid_out_one_way(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text == write_json(json.loads(text))


def test_the_files_are_what_their_modules_state() -> None:
    assert {name: (FOLDER / name).read_text(encoding="utf-8") for name in STATED} == STATED


def test_every_file_is_stated() -> None:
    assert {path.relative_to(FOLDER).as_posix() for path in FOLDER.glob("*/*.json")} == set(STATED)


def test_no_title_is_used_twice() -> None:
    titles = [vector.raw["title"] for vector in VECTORS]
    assert sorted(titles) == sorted(set(titles))


def test_limits_are_explicit_where_agents_send() -> None:
    """The defaults are the profile's, and a vector of profile core depends on none of its values (12.3)."""
    assert [
        vector.id
        for vector in VECTORS
        if vector.vector_class == "host-core"
        and vector.profile == "core"
        and "limits" not in vector.raw["given"]
        and any(step["op"] in ("send", "reply") for step in vector.raw["when"])
    ] == []


def test_core_vectors_name_no_system_address() -> None:
    for vector in VECTORS:
        if vector.profile == "core":
            assert "agent:dispatch" not in json.dumps(vector.raw)


def test_the_example_of_the_docs_is_its_vector() -> None:
    page = (FOLDER.parents[1] / "docs" / "vectors.md").read_text(encoding="utf-8")
    examples = [json.loads(block) for block in re.findall(r"```json\n(.*?)```", page, re.DOTALL)]
    assert examples
    by_id = {vector.id: vector.raw for vector in VECTORS}
    assert examples == [by_id[example["id"]] for example in examples]


@pytest.mark.skipif(PUBLIC_VECTORS not in os.environ, reason=f"{PUBLIC_VECTORS} is not set")
def test_no_id_and_no_title_is_the_protocols_own() -> None:
    public = read_vectors(Path(os.environ[PUBLIC_VECTORS]) / "kit" / "vectors")
    assert not {vector.id for vector in public} & {vector.id for vector in VECTORS}
    assert not {vector.raw["title"] for vector in public} & {vector.raw["title"] for vector in VECTORS}
    topics = {vector.id.rpartition(".")[0] for vector in public}
    assert not topics & {vector.id.rpartition(".")[0] for vector in VECTORS}
