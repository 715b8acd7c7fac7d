"""A person's machine for each test, and a peer."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.bindings.a2a.peers.stage import ScriptedPeer
from tests.replica.world import Machine, World, world


@pytest.fixture(autouse=True)
def state_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Markers are written below the test's folder."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture
def ada(tmp_path: Path) -> Iterator[Machine]:
    """A person's machine, in no team."""
    with world(tmp_path / "machines") as made:
        yield made.machine("ada")


@pytest.fixture(params=[False, True], ids=["http-json", "json-rpc"])
def peer(request: pytest.FixtureRequest) -> ScriptedPeer:
    """A peer, over each of the protocol's bindings."""
    return ScriptedPeer(rpc=request.param)


@pytest.fixture
def one_peer() -> ScriptedPeer:
    """A peer, where the binding does not matter."""
    return ScriptedPeer()


@pytest.fixture
def w(tmp_path: Path) -> Iterator[World]:
    """A world with one far side in memory."""
    with world(tmp_path / "machines") as made:
        yield made
