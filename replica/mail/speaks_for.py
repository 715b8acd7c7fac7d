"""Speaks-for: whose messages a replica's op may carry (F.5).

The answer comes from what is folded of the roster and of shared state, so it depends on the ops there are and not on
the pull that brought them. What cannot be told yet is asked again once more is known.
"""

import sqlite3
from enum import Enum, auto

from core.address import Address, parse_address
from core.errors import DmpError
from core.message import Absent, Message
from core.store import registers
from core.store.messages import message_by_id
from replica.addresses import SYSTEM_ADDRESS
from replica.records import remote
from replica.shared import agents, runs
from replica.shared.kinds import AGENT, SESSION
from replica.team.roster import Team


class Speech(Enum):
    """Whether a publisher speaks for a sender. UNKNOWN: nothing seen yet tells."""

    YES = auto()
    NO = auto()
    UNKNOWN = auto()


def speaks_for(
    db: sqlite3.Connection, team: Team, me: str, publisher: str, seq: int, message: Message
) -> Speech:
    """Judge `message`'s sender against the replica that published it at `seq`; `me` is this replica.

    A human is judged by the roster; a session by who claims it, which tells nothing while several do; an agent by
    its operator and by who registered it, whether it was approved or not.
    """
    try:
        sender = parse_address(message.sender, "from")
    except DmpError:
        return Speech.NO
    if sender.text == SYSTEM_ADDRESS:
        return Speech.YES if _is_fair_notice(db, publisher, message) else Speech.NO
    match sender.kind:
        case "human":
            said = team.view.speaks_for_handle(publisher, sender.handle or "", seq)
            return Speech.YES if said else Speech.NO
        case "run":
            return _of_session(db, publisher, sender.text)
        case "agent":
            return _of_agent(db, team, me, publisher, seq, sender)
    return Speech.NO


def is_believed(db: sqlite3.Connection, me: str, sender: str) -> bool:
    """Whether teammates will know a sender here for one of this machine's, `me`."""
    if sender == SYSTEM_ADDRESS or not sender.startswith(("run:", "agent:")):
        return True
    if sender.startswith("agent:"):
        return registers.fields_of(db, AGENT, sender).get("replica") == me
    if registers.fields_of(db, SESSION, sender).get("replica") != me:
        return False
    bound = runs.binding(db, sender)
    return not bound.contested if bound.claim is None else bound.claim.replica == me


def _of_session(db: sqlite3.Connection, publisher: str, session: str) -> Speech:
    bound = runs.binding(db, session)
    if bound.claim is not None:
        return Speech.YES if bound.claim.replica == publisher else Speech.NO
    if bound.contested and all(claim.replica != publisher for claim in runs.claimants(db, session)):
        return Speech.NO
    return Speech.UNKNOWN


def _of_agent(
    db: sqlite3.Connection, team: Team, me: str, publisher: str, seq: int, sender: Address
) -> Speech:
    if not team.view.speaks_for_handle(publisher, sender.operator or "", seq):
        return Speech.NO
    if registers.fields_of(db, AGENT, sender.text).get("replica") == me:
        return Speech.NO  # what is registered here is nobody else's
    known = agents.registered_at(db, sender.text)
    if known is None:
        return Speech.UNKNOWN
    return Speech.YES if known == publisher else Speech.NO


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
