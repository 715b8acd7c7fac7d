"""Whether mail for an external recipient is delivered, skipped or refused (sections 2.1, 8.8, 8.9)."""

from sqlite3 import Connection

from core.errors import DmpError, not_found
from core.message import Message
from replica.host import agents, binding
from replica.host.config import Config


def admit(db: Connection, config: Config, recipient: str, message: Message, *, direct: bool) -> bool:
    """Whether a recipient is delivered to, inside the transaction of the send.

    A client is while it is approved. Raises DmpError `not-found` for one that was addressed itself and is not, and
    for a peer as `peers.admission.admit`.
    """
    if binding.external(recipient) == "peer":
        from bindings.a2a.peers import admission as peers  # late: few hosts have peers

        return peers.admit(db, config, recipient, message, direct=direct)
    if binding.external(recipient) == "client":
        found = agents.find(db, recipient)
        if found is not None and found.status == "approved":
            return True
    return _absent(direct)


def _absent(direct: bool) -> bool:
    if direct:
        raise no_such_recipient()
    return False


def no_such_recipient() -> DmpError:
    """The refusal of mail for a client or a peer that is not there, or not any more: one text for both."""
    return not_found(None, "nobody is reached at that address; `dmp a2a` lists clients and peers")
