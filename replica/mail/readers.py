"""Who reads a message that leaves, besides the homes of its recipients (federation wire 9.C3)."""

from collections.abc import Iterable

from crypto.roster.view import View


def all_readers(view: View, me: str, sender: str, homes_elsewhere: Iterable[str]) -> tuple[str, ...]:
    """Every replica a message goes to: its recipients' homes, the sender's own machines, observers; never me."""
    reached = set(homes_elsewhere)
    if not reached:
        return ()
    scheme, _, handle = sender.partition(":")
    if scheme == "human":  # each machine of a person keeps a copy of what that person sends
        reached.update(view.replicas_of(handle))
    reached.update(name for name, member in view.members.items() if member.observer)
    reached.discard(me)
    return tuple(sorted(reached))
