"""One browser and one team for each module of tests: both are too slow to make for every test."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from tests.replica.web.served import PATIENCE_MS, Place, browser
from tests.replica.world import world

expect.set_options(timeout=PATIENCE_MS)


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """A browser."""
    with browser() as started:
        yield started


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """Where machines meet, with their markers kept beside them."""
    folder = tmp_path_factory.mktemp("world")
    with pytest.MonkeyPatch.context() as patch, world(folder / "machines") as made:
        patch.setenv("XDG_STATE_HOME", str(folder / "state"))
        yield Place(made, folder / "place")
