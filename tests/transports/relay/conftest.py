"""A relay of functions alone, with a team on it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.transports.relay.people import Desk


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    desk = Desk(tmp_path / "relay.db")
    desk.register()
    yield desk
    desk.store.close()
