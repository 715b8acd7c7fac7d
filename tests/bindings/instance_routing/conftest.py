"""Ada's machine."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.bindings.instance_routing.gateway import Machine, machine


@pytest.fixture
def ada(tmp_path: Path) -> Iterator[Machine]:
    with machine(tmp_path / "ada") as made:
        yield made
