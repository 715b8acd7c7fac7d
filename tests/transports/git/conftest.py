"""Fixtures for tests of the git transport."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.transports.git.repo import GitFarSide
from transports.git import GitTransport


@pytest.fixture
def far(tmp_path: Path) -> GitFarSide:
    return GitFarSide(tmp_path)


@pytest.fixture
def near(far: GitFarSide) -> Iterator[GitTransport]:
    """A transport that has refreshed once."""
    transport = far.open()
    transport.refresh()
    yield transport
    transport.close()
