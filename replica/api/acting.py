"""For whom a caller may act: whose mailbox it may read, and whom it may make join a channel (sections 2.2, A.2)."""

from core.address import parse_address
from core.errors import DmpError
from core.participation import acts_for
from replica.api.credentials import Caller
from replica.host.principals import mailboxes
from replica.node import Node


def may_act_for(node: Node, caller: Caller, address: str) -> bool:
    """Whether a caller acts for an address: its own, a session also its work item's and that one's other sessions.

    Whoever runs this machine also acts for whatever of theirs is on it, as on the command line: their work items,
    sessions and agents, and people whom the machine stands in for.
    """
    own = caller.sender.address
    if address == own or (own.startswith("run:") and address in acts_for(node.host, own)):
        return True
    if not (caller.operates and own == node.address):
        return False
    try:
        parse_address(address, "address", node.host.grammar)
        mailboxes(node, address)
    except DmpError:
        return False
    return True
