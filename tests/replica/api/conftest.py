"""Ada's machine, served."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.replica.api.host import Host, User, served


@pytest.fixture
def host(tmp_path: Path) -> Iterator[Host]:
    """A new replica of Ada's, on a socket."""
    with served(tmp_path) as made:
        yield made


@pytest.fixture
def ada(host: Host) -> User:
    """Ada, with her own token."""
    return host.user()
