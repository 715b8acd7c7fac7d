"""One browser and one team for each module of tests of the page: both are too slow to make for every test.

A browser is driven by an event loop that runs until the browser is closed, so no other module may see it.
"""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from tests.replica.web.served import PATIENCE_MS, Desk, Place, Window, browser, desk
from tests.replica.world import Machine, world

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


@pytest.fixture(scope="module")
def team(place: Place) -> list[Machine]:
    """The machines of a team, the first of them its admin's; a module may have another one."""
    return place.team("ada", "bob")


@pytest.fixture(scope="module")
def ada(team: list[Machine]) -> Machine:
    return team[0]


@pytest.fixture(scope="module")
def bob(team: list[Machine]) -> Machine:
    return team[1]


@pytest.fixture(scope="module")
def served(ada: Machine, chromium: Browser) -> Iterator[Desk]:
    """The page of the first machine."""
    with desk(ada, chromium) as found:
        yield found


@pytest.fixture(scope="module")
def window(served: Desk) -> Iterator[Window]:
    """A window that tests share."""
    with served.window() as opened:
        yield opened
