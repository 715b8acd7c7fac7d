"""A relay that says what a test says, and a transport to it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.transports.relay.client.me import transport_to
from tests.transports.relay.client.standin import Logs, Network, StandIn
from transports.relay.client.transport import RelayTransport


@pytest.fixture
def logs() -> Logs:
    return Logs()


@pytest.fixture
def relay(logs: Logs) -> Iterator[StandIn]:
    standin = StandIn(logs)
    yield standin
    standin.close()


@pytest.fixture
def near(relay: StandIn, tmp_path: Path) -> Iterator[RelayTransport]:
    transport = transport_to(relay.url, tmp_path)
    yield transport
    transport.close()


@pytest.fixture
def impatient(relay: StandIn, tmp_path: Path) -> Iterator[RelayTransport]:
    """A transport that gives a relay a quarter of a second."""
    transport = transport_to(relay.url, tmp_path, request_seconds=0.25)
    yield transport
    transport.close()


@pytest.fixture
def network(relay: StandIn) -> Iterator[Network]:
    made = Network(relay.port)
    yield made
    made.close()
