"""One person's replica, opened."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from replica.node import DirectoryNode, create, opened
from tests.replica.world import Clock


@pytest.fixture
def node(tmp_path: Path) -> Iterator[DirectoryNode]:
    """The replica of ada."""
    clock = Clock()
    create(tmp_path / "ada", "ada", "laptop", wall=clock)
    with opened(tmp_path / "ada", wall=clock) as made:
        yield made
