"""Places for each test."""

import pytest

from tests.replica.transports.places import Places
from tests.replica.world import World


@pytest.fixture
def places(w: World) -> Places:
    return Places(w)
