"""Where an address lives: the replicas that store and deliver its mail (F.5).

Homes are computed from the roster every replica folds alike, so every replica computes the same ones.
"""

from collections.abc import Iterable
from typing import Final

from core.address import parse_address
from crypto.roster.view import View

SYSTEM_ADDRESS: Final = "agent:dispatch"
"""The system address every replica's host announces (2.3); another replica's is an ordinary agent here."""


def homes(view: View, address: str) -> tuple[str, ...]:
    """The replicas that home `address`, sorted; none for an address that stays where it is."""
    parsed = parse_address(address, "recipient")
    if parsed.kind == "human" and parsed.handle is not None:
        return tuple(view.replicas_of(parsed.handle))
    return ()


def own_devices(view: View, sender: str) -> tuple[str, ...]:
    """The machines of a human sender: each keeps a copy of what that human sends."""
    return homes(view, sender) if sender.startswith("human:") else ()


def observers(view: View) -> tuple[str, ...]:
    """The machines that get a copy of all mail that leaves (federation wire 9.C3)."""
    return tuple(sorted(name for name, member in view.members.items() if member.observer))


def readers(view: View, me: str, sender: str, homes_elsewhere: Iterable[str]) -> tuple[str, ...]:
    """Every replica a message goes to: its recipients' homes, the sender's own machines, observers; never me."""
    reached = set(homes_elsewhere)
    if not reached:
        return ()
    reached.update(own_devices(view, sender), observers(view))
    reached.discard(me)
    return tuple(sorted(reached))


def never_federates(address: str) -> bool:
    """Whether an address takes part in nothing that leaves its host: the overseer, A2A clients and peers (9.1)."""
    scheme, _, name = address.partition(":")
    last = name.rpartition("/")[2]
    return scheme == "a2a" or (scheme == "agent" and (last == "overseer" or last.startswith("a2a.")))
