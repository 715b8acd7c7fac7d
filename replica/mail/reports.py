"""State ops received: delivery reports, settlements and refusals, each from the replica that may give it (9.E)."""

import sqlite3
from dataclasses import replace

from core.errors import DmpError
from core.store.messages import message_by_id
from crypto.op import Op
from crypto.sealing import SealError
from replica.mail.missing import is_about_content, reported_gone, reported_missing
from replica.mail.notices import Announcement
from replica.mail.outcome import Outcome
from replica.mail.payloads import DeliveryReport, Refusal, Settle, parse_state
from replica.mail.receive import open_op
from replica.mail.refusals import apply_refusal
from replica.mail.settlement import apply_settle
from replica.node import Node
from replica.records import remote
from replica.shared.homes import homes
from replica.shared.runs import usable
from replica.team.roster import Team


def apply_state(
    db: sqlite3.Connection, node: Node, team: Team, op: Op, announcements: list[Announcement]
) -> Outcome:
    """Apply a state op addressed to this replica, inside an open transaction.

    Every entry is tolerated twice and out of order; one its publisher may not give changes nothing.
    """
    try:
        entries = parse_state(open_op(node, op))
    except (SealError, DmpError) as error:
        return Outcome.dropped(f"malformed:{op.replica}", f"a state op that cannot be read: {error}")
    changed = False
    for entry in entries:
        match entry:
            case DeliveryReport():
                changed |= _report(db, team, op.replica, entry)
            case Settle():
                changed |= apply_settle(db, node, op.replica, entry)
            case Refusal() if is_about_content(entry):
                changed |= reported_missing(db, node, op.replica, entry)
                changed |= reported_gone(db, op.replica, entry)
            case Refusal():
                changed |= apply_refusal(db, node, team, op.replica, entry, announcements)
    return Outcome.APPLIED if changed else Outcome.NOTHING


def _report(db: sqlite3.Connection, team: Team, publisher: str, entry: DeliveryReport) -> bool:
    """Raise a remote row to the state its home reports; states only rise, and any report lifts `refused`."""
    message = message_by_id(db, entry.message)
    if message is None:
        return False
    if publisher != message.origin and publisher not in remote.readers_of(db, message.id):
        return False
    changed = False
    for row in remote.rows_of(db, message.id):
        if row.recipient != entry.recipient or publisher not in row.homes:
            continue
        # A work item has other homes once it moves; its mail is where it was sent.
        moves = row.recipient.startswith("task:") and usable(team.view, publisher)
        if not moves and publisher not in homes(db, team.view, row.recipient):
            continue
        refused = {home: reason for home, reason in row.refused.items() if home != publisher}
        if remote.RANK[entry.state] > remote.RANK[row.state] or row.state == remote.REFUSED:
            remote.update(db, replace(row, state=entry.state, refused=refused, changed_at=entry.at))
            changed = True
    return changed
