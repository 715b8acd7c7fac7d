"""How the tests of a contract speak to a transport that may need several tries."""

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

import pytest

from transports.base import Transport, TransportError
from transports.contract.author import Author
from transports.contract.far import FarSide

T = TypeVar("T")


class _NotYetError(Exception):
    """A pass did not show what it must; the next may."""


class Speaking:
    """Authors and their transports, and passes over them. A subclass has a fixture `far`.

    With `tries` above 1 the tests are for transports whose faults come to an end: a call may fail and a pass may
    show less, as long as one of that many passes does and shows what it must.
    """

    tries = 1

    @pytest.fixture
    def far(self) -> FarSide:
        raise NotImplementedError("a subclass has a fixture `far`, which makes a far side")

    @pytest.fixture
    def ada(self, far: FarSide) -> Author:
        return far.author("ada-0000000a")

    @pytest.fixture
    def bob(self, far: FarSide) -> Author:
        return far.author("bob-0000000b")

    @pytest.fixture
    def cal(self, far: FarSide) -> Author:
        return far.author("cal-0000000c")

    @pytest.fixture
    def near(self, far: FarSide, ada: Author) -> Iterator[Transport]:
        """Ada's transport."""
        transport = far.open(ada, "first")
        yield transport
        transport.close()

    @pytest.fixture
    def other(self, far: FarSide, bob: Author) -> Iterator[Transport]:
        """Bob's transport."""
        transport = far.open(bob, "first")
        yield transport
        transport.close()

    def persist(self, deed: Callable[[], T]) -> T:
        """Do something, again while it fails and there are tries left."""
        for _ in range(self.tries - 1):
            try:
                return deed()
            except TransportError:
                continue
        return deed()

    def fails(self, deed: Callable[[], object]) -> TransportError:
        """Do something that must not succeed, and return how it failed."""
        for _ in range(self.tries):
            try:
                deed()
            except TransportError as error:
                return error
        pytest.fail("it succeeded, and cannot have")

    def publish(
        self, near: Transport, author: Author, lines: Sequence[bytes], acks: bytes | None = None
    ) -> None:
        """Publish in a pass of its own."""

        def deed() -> None:
            near.refresh()
            near.publish(author.replica, lines, acks=acks)

        self.persist(deed)

    def expect(self, look: Callable[[], object], wanted: object) -> None:
        """Compare what a look shows with what it must show."""

        def deed() -> None:
            if look() != wanted:
                raise _NotYetError

        for _ in range(self.tries - 1):
            try:
                deed()
            except (_NotYetError, TransportError):
                continue
            return
        assert look() == wanted
