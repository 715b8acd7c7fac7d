"""A world of replicas for each test, with its markers kept inside the test's own folder."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.replica.world import World, world


@pytest.fixture(autouse=True)
def state_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Markers are written below the test's folder."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state"


@pytest.fixture
def w(tmp_path: Path) -> Iterator[World]:
    """A world with one far side in memory."""
    with world(tmp_path / "machines") as made:
        yield made
