"""Which replica delivers a recipient of one message: its homes, and what the message itself adds (9.1, 9.3)."""

import sqlite3

from core.message import Message
from core.store import registers
from crypto.roster.view import View
from replica.addresses import SYSTEM_ADDRESS
from replica.mail.payloads import MailTarget
from replica.shared import runs
from replica.shared.homes import homes, live_replica
from replica.shared.kinds import SESSION
from replica.team.roster import Team


def homes_of_target(
    db: sqlite3.Connection, view: View, me: str, recipient: str, message: Message, replied: Message | None
) -> tuple[str, ...]:
    """The replicas that deliver a recipient of a message sent here.

    A session has no homes; but a reply to its message goes where that was sent from, and what a host's system has to
    say to where it runs.
    """
    if not recipient.startswith("run:") or _is_own_session(db, me, recipient):
        return homes(db, view, recipient)
    at: str | None = None
    if replied is not None and replied.sender == recipient:
        at = replied.origin
    elif message.sender == SYSTEM_ADDRESS:
        claim = runs.binding(db, recipient).claim
        at = None if claim is None else claim.replica
    return (at,) if at is not None and runs.usable(view, at) else ()


def placed(
    db: sqlite3.Connection, team: Team, me: str, origin: str, target: MailTarget
) -> tuple[bool, tuple[str, ...]]:
    """Whether this replica delivers a received target, by its own computation, and which others do.

    The mail of a work item is held wherever its origin sent it, so that none is lost while the work item moves, and
    delivered where its live session is, whether or not its origin knew.
    """
    view, recipient = team.view, target.recipient
    named = {home for home in target.homes if runs.usable(view, home)}
    computed = homes(db, view, recipient)
    if origin in computed:
        named.add(origin)
    elsewhere = tuple(sorted(named - {me}))
    if recipient.startswith("task:"):
        live = live_replica(db, view, recipient)
        return me in named or live == me, elsewhere
    return me in named and (me in computed or _is_own_session(db, me, recipient)), elsewhere


def is_home(db: sqlite3.Connection, team: Team, me: str, recipient: str) -> bool:
    """Whether this replica delivers to an address, as far as it knows."""
    return _is_own_session(db, me, recipient) or me in homes(db, team.view, recipient)


def _is_own_session(db: sqlite3.Connection, me: str, address: str) -> bool:
    return address.startswith("run:") and registers.fields_of(db, SESSION, address).get("replica") == me
