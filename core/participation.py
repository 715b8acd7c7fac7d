"""Who may send, and who takes part in a message (sections 4.6, 9.1-9.3)."""

import sqlite3
from collections.abc import Collection

from core.address import SENDING_SCHEMES, parse_address
from core.errors import forbidden
from core.federation import Federation
from core.host import Host
from core.inputs import Sender
from core.message import Message
from core.store.deliveries import deliveries_of


def authorize(host: Host, sender: Sender, received: bool = False) -> None:
    """Check that a principal may send at all: step 1 of a send. Raises DmpError `forbidden` on `from`.

    Nobody sends as a peer, but what the host `received` from one it records as the peer's own (section 8.9).
    """
    if sender.address == host.system_address:
        return
    if sender.can_decide and not sender.address.startswith("human:"):  # whether or not it is an address
        raise forbidden("from", "only a human decides; send without the claim to decide")
    kind = parse_address(sender.address, "from", host.grammar).kind
    if received and host.external(sender.address) == "peer":
        return
    if kind not in SENDING_SCHEMES:
        raise forbidden(
            "from", "a work item, a channel or a peer never sends; send as a human, an agent or a session"
        )
    if kind == "agent" and host.agent_status(sender.address) != "approved":
        raise forbidden("from", "this agent has no approved registration; ask a human to approve it")


def decides(host: Host, sender: Sender) -> bool:
    """Whether a principal is a deciding one (section 9.2); the system address always is."""
    if sender.address == host.system_address:
        return True
    return sender.can_decide and sender.address.startswith("human:")


def acts_for(host: Host, address: str) -> Collection[str]:
    """Return the addresses a principal acts for: a session also for its work item and that one's sessions."""
    work_item = host.work_item(address) if address.startswith("run:") else None
    return (address,) if work_item is None else (address, work_item, *host.sessions(work_item))


def participates(
    db: sqlite3.Connection, host: Host, federation: Federation, address: str, message: Message
) -> bool:
    """Whether an address takes part in a message: as its sender, or as a recipient here or elsewhere.

    A session counts as every address it acts for, and as the recipient of every delivery bound to it
    (section 4.6). Those who decide are exempt from the need to take part; that is the caller's to know.
    """
    own = acts_for(host, address)
    if message.sender in own:
        return True
    if any(d.recipient in own or d.session == address for d in deliveries_of(db, message.id)):
        return True
    return any(federation.participates(each, message.id) for each in own)


def may_see(
    db: sqlite3.Connection, host: Host, federation: Federation, principal: Sender, message: Message
) -> bool:
    """Whether a principal may reply to a message and read it (sections 4.6, 9.3)."""
    return decides(host, principal) or participates(db, host, federation, principal.address, message)
