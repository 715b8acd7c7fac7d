"""The public conformance vectors, as far as this host goes; every other one is skipped by name."""

import os
from pathlib import Path

import pytest

from core.address import CORE, DISPATCH, Grammar
from tests.conftest import PUBLIC_VECTORS
from tests.core.kit_harness import Run, Vector, load, needs


def _vectors() -> list[Vector]:
    folder = os.environ.get(PUBLIC_VECTORS)
    return load(Path(folder) / "kit" / "vectors") if folder else []


@pytest.mark.parametrize("vector", _vectors(), ids=lambda vector: vector["id"])
@pytest.mark.parametrize("grammar", [CORE, DISPATCH], ids=["core", "dispatch"])
def test_the_engine_does_what_the_kit_expects(vector: Vector, grammar: Grammar) -> None:
    missing = needs(vector)
    if missing is not None:
        pytest.skip(f"NOT RUN, needs {missing}")
    if vector["profile"] == "dispatch" and grammar is CORE:
        pytest.skip("a vector of the Dispatch profile is run under its own grammar")
    assert Run(vector, grammar).failures() == []


def test_the_kit_was_found(public_vectors: Path) -> None:
    assert len(load(public_vectors / "kit" / "vectors")) > 100
