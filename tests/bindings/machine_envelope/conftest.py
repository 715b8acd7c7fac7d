from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.bindings.machine_envelope.host import Host, host


@pytest.fixture
def ada(tmp_path: Path) -> Iterator[Host]:
    with host(tmp_path / "ada") as found:
        yield found
