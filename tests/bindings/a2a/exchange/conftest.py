"""A desk for each test."""

from collections.abc import Iterator

import pytest

from tests.bindings.a2a.exchange.desk import Desk, make


@pytest.fixture
def desk() -> Iterator[Desk]:
    """Ada's host, and the client acme at its desk, which activates every extension."""
    made = make()
    yield made
    made.node.close()
