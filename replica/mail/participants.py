"""Who takes part in a message, of those who write from another replica (section 4.6, federation wire 9.D4)."""

import sqlite3

from core.engine import Engine
from core.errors import not_found
from core.message import Message
from core.participation import participates
from replica.addresses import SYSTEM_ADDRESS
from replica.records import remote


def need_participant(
    db: sqlite3.Connection, engine: Engine, message: Message, origin: str, joined: Message
) -> None:
    """Check that the sender of a message takes part in the one it joins. Raises DmpError `not-found` on `replyTo`.

    What it says does not tell whether that message is here.
    """
    if not takes_part(db, engine, message, origin, joined):
        raise not_found("replyTo", "the sender takes no part in the message it replies to")


def takes_part(
    db: sqlite3.Connection, engine: Engine, message: Message, origin: str, joined: Message
) -> bool:
    """Whether the sender of a message from `origin` takes part in the one it joins, counting remote rows too.

    A session takes part for its work item and that one's other sessions, wherever they run. A person at a machine
    that is a home of the message may join it as one who decides there may. Another host's system joins its own
    messages alone: others' share an address with it.
    """
    sender = message.sender
    if sender == SYSTEM_ADDRESS:
        return joined.sender == SYSTEM_ADDRESS and joined.origin == origin
    if participates(db, engine.host, engine.federation, sender, joined):
        return True
    return sender.startswith("human:") and any(origin in row.homes for row in remote.rows_of(db, joined.id))
