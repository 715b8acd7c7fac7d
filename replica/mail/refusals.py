"""Refusals, both ways: telling an origin that a message was refused here, and hearing that one was there."""

import sqlite3
from dataclasses import replace
from typing import Final

from core.answering import withdraw
from core.message import Message, Standing
from core.store.messages import message_by_id
from replica.mail.notices import Announcement, notice
from replica.mail.payloads import Refusal
from replica.node import Node
from replica.quoting import quoted
from replica.records import outbox, remote
from replica.team.roster import Team

NOTICES: Final = 3
"""Notices about one message's refusals: homes that refuse, report and refuse again do not fill a mailbox."""


def queue_refusal(db: sqlite3.Connection, node: Node, message: str, origin: str, reason: str) -> None:
    """Tell a message's origin that it was refused here, with the error's code and sentence."""
    entry = {"t": "refused", "message": message, "reason": reason, "at": node.now()}
    outbox.add(db, outbox.Kind.STATE, entry, [origin])


def apply_refusal(
    db: sqlite3.Connection,
    node: Node,
    team: Team,
    publisher: str,
    entry: Refusal,
    announcements: list[Announcement],
) -> bool:
    """A home refused a message created here: its row says so once every home did, and the sender is told."""
    message = message_by_id(db, entry.message)
    if message is None or message.origin is not None:
        return False
    refused = home_refused(db, node, team, message, publisher, entry.reason, announcements)
    question = None if message.reply_to is None else message_by_id(db, message.reply_to)
    if question is not None and question.origin == publisher and message.standing in _OPEN:
        # The settler refused an answer that was pending here (9.E7).
        withdraw(db, node.engine.federation, message, question, node.now())
        refused = True
    return refused


_OPEN: Final = (Standing.PENDING, Standing.CANDIDATE)


def home_refused(
    db: sqlite3.Connection,
    node: Node,
    team: Team,
    message: Message,
    home: str,
    reason: str,
    announcements: list[Announcement],
) -> bool:
    """Note that `home` will not deliver a message created here."""
    changed = False
    for row in remote.rows_of(db, message.id):
        if home not in row.homes or home in row.refused:
            continue
        refused = {**row.refused, home: reason}
        all_refused = refused.keys() >= set(row.homes) and row.state == remote.FORWARDED
        state = remote.REFUSED if all_refused else row.state
        remote.update(db, replace(row, refused=refused, state=state, changed_at=node.now()))
        changed = True
        if all_refused and _notices_so_far(db, node, message.id) < NOTICES:
            body = (
                f"Your message {message.id} to {row.recipient} was refused by {team.describe(home)}: "
                f"{quoted(reason)}"
            )
            announcements.append(notice(db, node.engine, message.sender, body, message, reply=True))
    return changed


def _notices_so_far(db: sqlite3.Connection, node: Node, message: str) -> int:
    (count,) = db.execute(
        "SELECT count(*) FROM messages WHERE thread = (SELECT thread FROM messages WHERE id = ?) "
        "AND reply_to = ? AND kind = 'notice' AND sender = ? AND origin IS NULL",
        (message, message, node.engine.host.system_address),
    ).fetchone()
    return int(count)
