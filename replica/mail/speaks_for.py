"""Speaks-for: whose messages a replica's op may carry (F.5)."""

import sqlite3
from enum import Enum, auto

from core.address import parse_address
from core.errors import DmpError
from core.message import Absent, Message
from core.store.messages import message_by_id
from crypto.op import Op
from replica.records import remote
from replica.team.homes import SYSTEM_ADDRESS
from replica.team.roster import Team


class Speech(Enum):
    """Whether a publisher speaks for a sender. UNKNOWN: nothing seen yet tells."""

    YES = auto()
    NO = auto()
    UNKNOWN = auto()


def speaks_for(db: sqlite3.Connection, team: Team, op: Op, message: Message) -> Speech:
    """Judge `message`'s sender against the replica that published `op`, at the op's seq.

    A human is judged by the roster. A session or an agent needs presence or a registration that this build
    does not read yet, so its mail is kept until one does.
    """
    try:
        sender = parse_address(message.sender, "from")
    except DmpError:
        return Speech.NO
    if sender.kind == "human":
        said = team.view.speaks_for_handle(op.replica, sender.handle or "", op.seq)
        return Speech.YES if said else Speech.NO
    if sender.text == SYSTEM_ADDRESS:
        return Speech.YES if _is_fair_notice(db, op.replica, message) else Speech.NO
    return Speech.UNKNOWN if sender.kind in ("run", "agent") else Speech.NO


def _is_fair_notice(db: sqlite3.Connection, publisher: str, message: Message) -> bool:
    """Whether another host's system address says only what it may: a notice about messages exchanged with it."""
    if message.kind != "notice" or not isinstance(message.data, Absent) or not message.refs:
        return False
    return all(ref.type == "message" and _exchanged(db, publisher, ref.id) for ref in message.refs)


def _exchanged(db: sqlite3.Connection, publisher: str, message_id: str) -> bool:
    known = message_by_id(db, message_id)
    if known is None:
        return False
    return known.origin == publisher or publisher in remote.readers_of(db, message_id)
