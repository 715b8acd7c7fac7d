"""The contract of every transport, kept by client and relay joined by function calls."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.transports.far_sides import FAULTY_PASSES, Faulty
from tests.transports.relay.client.direct import DirectRelay
from tests.transports.relay.client.team import Members, Team
from transports.base import Transport
from transports.contract import Author, FarSide, TransportContract


class DirectFarSide(FarSide):
    def __init__(self, folder: Path) -> None:
        team = Team()
        self.relay = DirectRelay(folder / "relay.sqlite", team)
        self._members = Members(team, self.relay.transport, folder)

    def author(self, replica: str) -> Author:
        return self._members.author(replica)

    def open(self, author: Author, machine: str) -> Transport:
        return self._members.transport(author, machine)

    def cut(self) -> None:
        self.relay.cut()

    def mend(self) -> None:
        self.relay.mend()

    def backup(self) -> Callable[[], None]:
        return self.relay.backup()


class TestDirect(TransportContract):
    @pytest.fixture
    def far(self, tmp_path: Path) -> Iterator[FarSide]:
        side = DirectFarSide(tmp_path)
        yield side
        side.relay.close()


class TestDirectUnderFaults(TransportContract):
    tries = FAULTY_PASSES + 3

    @pytest.fixture
    def far(self, tmp_path: Path) -> Iterator[FarSide]:
        side = DirectFarSide(tmp_path)
        yield Faulty(side)
        side.relay.close()
