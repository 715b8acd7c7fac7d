"""Whether a peer gets a message, decided inside the transaction of the send (sections 8.8, 8.9)."""

from sqlite3 import Connection

from bindings.a2a.peers import records, schedule
from bindings.a2a.peers.peer import PeerState, alias_of
from core.errors import Code, DmpError, not_found
from core.message import Message
from core.timestamp import milliseconds, timestamp
from replica.addresses import SYSTEM_ADDRESS
from replica.host.config import Config


def admit(db: Connection, config: Config, recipient: str, message: Message, *, direct: bool) -> bool:
    """Whether a peer is delivered to; one that is not active is skipped, and its owner told of it later.

    Raises DmpError for a peer that was addressed itself: `not-found` for one that is absent or not active, and
    `limited` for one that was sent as much within an hour as its owner allows. A channel's message waits then.
    """
    if message.sender == SYSTEM_ADDRESS:  # the host's own words never leave
        return False
    alias = alias_of(recipient)
    if records.state_of(db, alias) is not PeerState.ACTIVE:
        now = milliseconds(message.created_at)
        if not direct:
            records.skipped(db, alias, now)
            return False
        raise not_found(None, "no active peer has that address; `dmp a2a peer list` shows those there are")
    if direct and is_over_quota(db, config, alias, milliseconds(message.created_at)):
        raise DmpError(
            Code.LIMITED,
            f"this peer was sent {config.peers.messages_per_hour} messages within an hour; wait, or raise "
            "a2a.peer_messages_per_hour",
        )
    return True


def is_over_quota(db: Connection, config: Config, alias: str, now: int) -> bool:
    """Whether a peer was sent as much within the hour before `now`, in milliseconds, as its owner allows."""
    since = now - schedule.HOUR
    return records.sent_since(db, alias, since, timestamp(since)) >= config.peers.messages_per_hour
