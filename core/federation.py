"""The seam a replica of a team fills (Appendix F). A host without teammates uses `Alone`.

Every method is called inside the transaction that stores what it is about, on the same connection, so what
it writes there stands or falls with it. Any of them may raise DmpError to refuse the whole operation.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from core.message import Delivery, Message, Via


@dataclass(frozen=True, slots=True)
class Target:
    """A resolved recipient of a send and the route that reached it (section 3.5).

    `field` is the caller's own `to[i]`, for errors about this recipient.
    """

    recipient: str
    via: Via
    field: str


@dataclass(frozen=True, slots=True)
class Placement:
    """Where a target is delivered: by this host, by the replicas `homes` names, or both."""

    local: bool
    homes: tuple[str, ...] = ()


LOCAL: Final = Placement(local=True)


class Federation(Protocol):
    """What a replica adds to the core."""

    def stamp(self) -> str | None:
        """Return the `hlc` of a message created here now; None for a host with no clock of its own."""

    def place(self, message: Message, target: Target, /) -> Placement:
        """Return who delivers a target of a local send.

        Raises DmpError where the message must not leave this host (section F.5): `forbidden` on `data`
        or on the target's field.
        """

    def stored(self, message: Message, placements: Sequence[tuple[Target, Placement]], /) -> None:
        """Record what a local send asks of other replicas. Not called for a close, which never travels."""

    def may_wake(self, message: Message, recipient: str, /) -> bool:
        """Return whether this host is the one that may wake a recipient of a local send (section F.4)."""

    def take_over(self, work_item: str, /) -> Sequence[tuple[Message, Via]]:
        """Return mail that other replicas hold for a work item whose session starts here, with its route.

        From here on it is this host's to deliver.
        """

    def moved(self, delivery: Delivery, message: Message, /) -> None:
        """Note a delivery in a new state, its first one included; never called for `sending`."""

    def settles(self, question: Message, /) -> bool:
        """Return whether this host decides which answer a question takes (section F.6)."""

    def answered(self, question: Message, answer: Message, /) -> None:
        """Note an answer sent here, or a close made here, once it is stored."""

    def participates(self, address: str, message_id: str, /) -> bool:
        """Return whether an address is among a message's recipients on other replicas (section F.5)."""


class Alone:
    """A host with no teammates: everything is delivered and settled here."""

    def stamp(self) -> str | None:
        return None

    def place(self, _message: Message, _target: Target) -> Placement:
        return LOCAL

    def stored(self, _message: Message, _placements: Sequence[tuple[Target, Placement]]) -> None:
        """Do nothing: nobody else needs it."""

    def may_wake(self, _message: Message, _recipient: str) -> bool:
        return True

    def take_over(self, _work_item: str) -> Sequence[tuple[Message, Via]]:
        return ()

    def moved(self, _delivery: Delivery, _message: Message) -> None:
        """Do nothing: nobody else waits for it."""

    def settles(self, _question: Message) -> bool:
        return True

    def answered(self, _question: Message, _answer: Message) -> None:
        """Do nothing: the answer is here."""

    def participates(self, _address: str, _message_id: str) -> bool:
        return False
