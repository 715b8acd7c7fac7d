"""What the relay's transport stands on: one connection at a time, made when needed, and questions over it."""

from dataclasses import dataclass
from typing import Protocol

from transports.relay.client.conversation import Answer, Login, Request


@dataclass(frozen=True, slots=True)
class Mark:
    """How things stand: `connection` is like no other connection's, and `news` counts what it told of.

    News is also what the next `connect` would say: that the relay turns this replica away.
    """

    connection: str
    news: int


class Link(Protocol):
    """Connections to a relay, one at a time. Calls come from one thread at a time."""

    def connect(self, login: Login) -> None:
        """Be connected, as `login` says. Raises Unreachable."""

    def ask(self, request: Request) -> Answer:
        """Ask, and return the answer. Raises Unreachable: what was asked may have been done all the same."""

    def tell(self, request: Request) -> None:
        """Ask without waiting for the answer: whether it arrived is not known."""

    def mark(self) -> Mark:
        """How things stand."""

    def wait(self, mark: Mark, seconds: float) -> None:
        """Wait until things stand otherwise than `mark` says, at most so long.

        Where the connection is gone, another is sought meanwhile.
        """

    def close(self) -> None:
        """Let go of connections and threads."""
