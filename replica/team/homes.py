"""Who reads mail besides its recipients' homes, and which addresses take part in nothing that leaves (F.5)."""

from collections.abc import Iterable
from typing import Final

from crypto.roster.view import View

SYSTEM_ADDRESS: Final = "agent:dispatch"
"""The system address every replica's host announces (2.3); another replica's is an ordinary agent here."""


def own_devices(view: View, sender: str) -> tuple[str, ...]:
    """The machines of a human sender: each keeps a copy of what that human sends."""
    scheme, _, handle = sender.partition(":")
    return view.replicas_of(handle) if scheme == "human" else ()


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
