"""Towns: an empty one, and one where ada and bob are a team already."""

from pathlib import Path

import pytest

from tests.e2e.people import Person, Town


@pytest.fixture
def town(tmp_path: Path) -> Town:
    """A town with a repository and nobody in it."""
    made = Town(tmp_path / "town")
    made.build()
    return made


@pytest.fixture(scope="session")
def settled_town(tmp_path_factory: pytest.TempPathFactory) -> Town:
    """A town where ada founded a team and bob joined it, to be copied."""
    made = Town(tmp_path_factory.mktemp("settled") / "town")
    made.build()
    made.invited(made.founder(), "bob")
    return made


@pytest.fixture
def orchard(settled_town: Town, tmp_path: Path) -> Town:
    """A town of one's own where ada and bob are a team."""
    return settled_town.moved_to(tmp_path / "orchard")


@pytest.fixture
def ada(orchard: Town) -> Person:
    """The founder, an admin."""
    return orchard.person("ada", init=False)


@pytest.fixture
def bob(orchard: Town) -> Person:
    """A member."""
    return orchard.person("bob", init=False)
