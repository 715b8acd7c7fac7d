"""Whose mail somebody has, and as whom they are a member of channels (sections 2.2, 7.1, 7.3)."""

from core.host import Host
from core.participation import acts_for


def boxes(host: Host, address: str) -> dict[str, str | None]:
    """Whose deliveries a mailbox holds, each with the session they must be bound to, or None for all of them.

    A session's are also its work item's, and of that one's other sessions what is bound to it.
    """
    own, *others = acts_for(host, address)
    work_item = others[0] if others else None
    return {each: None if each in (own, work_item) else own for each in (*others, own)}


def member_of(host: Host, address: str) -> str:
    """As whom an address is in a channel: a session as its work item."""
    return (host.work_item(address) if address.startswith("run:") else None) or address
