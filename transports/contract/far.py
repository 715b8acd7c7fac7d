"""A far side of the kind under test, as whoever tests a transport writes it."""

from collections.abc import Callable

import pytest

from transports.base import Transport
from transports.contract.author import Author


class FarSide:
    """A far side where no author has said anything beyond what it begins with.

    What cannot be done to it is left out; the tests that need it are skipped, with a word that says so.
    """

    def author(self, replica: str) -> Author:
        """A replica that may publish there. A far side that lets in only whom it knows makes its own."""
        return Author.new(replica)

    def open(self, author: Author, machine: str) -> Transport:
        """Open a transport for an author.

        The name of a machine stands for what a transport keeps on this side: with the name of an earlier one of the
        same author, it finds what that one left there.
        """
        raise NotImplementedError

    def cut(self) -> None:
        """Let it answer nobody from now on, until `mend`."""
        pytest.skip("this far side cannot be cut off")

    def mend(self) -> None:
        """Let it answer again."""
        raise NotImplementedError

    def backup(self) -> Callable[[], None]:
        """Take a copy of what it holds, and return what puts that in place of what it will hold then."""
        pytest.skip("this far side cannot be put back to what it was")


class WritableFarSide(FarSide):
    """A far side that keeps whatever anybody puts there."""

    def put(self, replica: str, *raws: bytes) -> None:
        """Add lines to a lane as anybody with write access could."""
        raise NotImplementedError
