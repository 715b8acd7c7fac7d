"""Every vector on its own, judged as the runner does and run without a process: the quick way to a failure.

A vector of the core profile is run under both grammars, since its ids are valid under both (section 12.3).
"""

import os
from pathlib import Path

import pytest

from core.address import CORE, DISPATCH, Grammar
from tests.conftest import PUBLIC_VECTORS
from tests.vectors.in_process import run
from vectors.adapter.run import CLASSES, FEDERATION
from vectors.runner.files import OWN, read_vectors
from vectors.runner.running import Outcome
from vectors.runner.vector import Vector


def _cases() -> list[tuple[Vector, Grammar]]:
    found = read_vectors(*OWN)
    folder = os.environ.get(PUBLIC_VECTORS)
    if folder:
        found += read_vectors(Path(folder) / "kit" / "vectors")
    grammars = {"core": (CORE, DISPATCH), "dispatch": (DISPATCH,)}
    return [
        (vector, grammar)
        for vector in found
        if vector.vector_class in CLASSES
        for grammar in ((DISPATCH,) if vector.vector_class == FEDERATION else grammars[vector.profile])
    ]


def _name(value: Vector | Grammar) -> str:
    return value.id if isinstance(value, Vector) else {CORE: "core", DISPATCH: "dispatch"}[value]


@pytest.mark.parametrize(("vector", "grammar"), _cases(), ids=_name)
def test_the_host_does_what_the_vector_expects(vector: Vector, grammar: Grammar) -> None:
    (result,) = run([vector], grammar)
    if result.outcome is Outcome.NOT_APPLICABLE:
        pytest.skip(f"not applicable: {result.reasons[0]}")
    assert (result.outcome, list(result.reasons)) == (Outcome.PASS, [])
