"""Ada's machine, with agents that call tools."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.replica.mcp.office import Office, office


@pytest.fixture
def ada(tmp_path: Path) -> Iterator[Office]:
    with office(tmp_path) as made:
        yield made
