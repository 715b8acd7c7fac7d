"""Who a person may send as on their own machine: themselves, a live session of theirs, an agent of theirs.

It is attribution, and no boundary: whoever may run `dmp` here may use any of them (section 13.16).
"""

from core.address import DISPATCH, parse_address
from core.errors import forbidden, invalid
from core.inputs import Sender
from replica.host import agents, items
from replica.node import Node


def sender(node: Node, address: str | None) -> Sender:
    """The principal of an address, None for the person; an agent's approval is for the core to check.

    Raises DmpError: `forbidden` on `from` for another's address or a session that is not live, `invalid` there
    for what is no address.
    """
    if address is None or address == node.address:
        return Sender(node.address, can_decide=True)
    parsed = parse_address(address, "from", DISPATCH)
    match parsed.kind:
        case "run":
            if not node.host.is_live(address):
                raise forbidden(
                    "from", f"{address} is no live session of this machine; a session sends while it lives"
                )
        case "agent":
            if parsed.operator != node.handle or address == node.host.system_address:
                raise forbidden("from", f"you are {node.address}; your agents are agent:{node.handle}/NAME")
            found = agents.find(node.store.db, address)
            if found is not None and found.replica not in (None, node.me):
                raise forbidden("from", f"{address} is registered on another machine, and sends from there")
        case _:
            raise forbidden(
                "from", f"you are {node.address}; send as yourself, a session or an agent of yours"
            )
    return Sender(address)


def correspondent(node: Node, address: str | None) -> Sender:
    """The principal who writes mail: as `sender`, and whoever this machine stands in for, who decides nothing here.

    Raises DmpError as `sender` does.
    """
    return Sender(address) if address is not None and _is_hosted(node, address) else sender(node, address)


def mailboxes(node: Node, address: str | None) -> tuple[str, ...]:
    """The addresses whose mail somebody reads here: a session's work item goes with it, and of other people
    those whom this machine stands in for.

    Raises DmpError: `not-found` on `as` for what this machine does not know, `invalid` there for what has no
    mailbox.
    """
    if address is None or address == node.address:
        return (node.address,)
    parsed = parse_address(address, "as", DISPATCH)
    match parsed.kind:
        case "run":
            session = node.host.sessions_here.need(address)
            return (address,) if session.task is None else (address, session.task)
        case "task":
            items.need(node.store.db, address)
        case "agent":
            agents.need(node.store.db, agents.own_address(address, node.handle))
        case "human" if _is_hosted(node, address):
            pass
        case "human":
            raise forbidden("as", f"you are {node.address}; the mail of others is on their machines")
        case _:
            raise invalid("as", "a channel has no mailbox; its members do")
    return (address,)


def _is_hosted(node: Node, address: str) -> bool:
    """Whether an admin let this machine stand in for somebody (section F.3)."""
    team = node.team
    member = None if team is None else team.view.members.get(node.me)
    return member is not None and address in {f"human:{handle}" for handle in member.hosts}
