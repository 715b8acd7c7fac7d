"""State ops received: delivery reports, settlements and refusals, each from the replica that may give it (9.E)."""

import sqlite3
from dataclasses import replace

from core.delivering import move
from core.errors import DmpError
from core.message import Message, State
from core.store.deliveries import deliveries_of, remove_held
from core.store.messages import message_by_id
from crypto.op import Op
from crypto.roster.view import View
from crypto.sealing import SealError
from replica.chain.outcome import Outcome
from replica.mail.missing import is_about_content, reported_gone, reported_missing
from replica.mail.notices import Announcement
from replica.mail.opened import Contents
from replica.mail.payloads import DeliveryReport, Refusal, Settle
from replica.mail.refusals import apply_refusal
from replica.mail.settlement import apply_settle
from replica.node import Node
from replica.records import remote, subjects
from replica.shared import runs
from replica.shared.homes import homes
from replica.team.roster import Team


def apply_state(
    db: sqlite3.Connection, contents: Contents, team: Team, op: Op, announcements: list[Announcement]
) -> Outcome:
    """Apply a state op addressed to this replica, inside an open transaction.

    Every entry is tolerated twice and out of order; one its publisher may not give changes nothing.
    """
    try:
        entries = contents.state(op)
    except (SealError, DmpError) as error:
        return Outcome.dropped(subjects.MALFORMED.of(op.replica), f"a state op that cannot be read: {error}")
    node, changed = contents.node, False
    for entry in entries:
        match entry:
            case DeliveryReport():
                changed |= _report(db, node, team, op, entry)
            case Settle():
                changed |= apply_settle(db, node, op.replica, entry, op.hash)
            case Refusal() if is_about_content(entry):
                changed |= reported_missing(db, node, op.replica, entry)
                changed |= reported_gone(db, op.replica, entry)
            case Refusal():
                changed |= apply_refusal(db, node, team, op.replica, entry, announcements)
    return Outcome.APPLIED if changed else Outcome.NOTHING


def _report(db: sqlite3.Connection, node: Node, team: Team, op: Op, entry: DeliveryReport) -> bool:
    """Raise a remote row to the state its home reports; states only rise, and any report lifts `refused`."""
    message, publisher = message_by_id(db, entry.message), op.replica
    if message is None:
        return False
    changed = _taken_over(db, publisher, message, entry) or _read_elsewhere(
        db, node, team, op, message, entry
    )
    if publisher != message.origin and publisher not in remote.readers_of(db, message.id):
        return changed
    row = remote.row_of(db, message.id, entry.recipient)
    if row is None or publisher not in row.homes:
        return changed
    if not _homed(db, team.view, op, row.recipient):
        return changed
    refused = {home: reason for home, reason in row.refused.items() if home != publisher}
    if remote.RANK[entry.state] > remote.RANK[row.state] or row.state == remote.REFUSED:
        remote.update(db, replace(row, state=entry.state, refused=refused, changed_at=entry.at))
        changed = True
    return changed


def _homed(db: sqlite3.Connection, view: View, op: Op, recipient: str) -> bool:
    """Whether the publisher of an op was a home of a recipient there: a cut above the op takes nothing back."""
    scheme, _, handle = recipient.partition(":")
    if scheme == "human":
        return view.speaks_for_handle(op.replica, handle, op.seq)
    if scheme == "task":  # it has other homes once it moves; its mail is where it was sent
        held = view.members.get(op.replica) or view.revoked.get(op.replica)
        return held is not None and not held.observer and view.standing(op.replica, op.seq)
    return op.replica in homes(db, view, recipient)


def _taken_over(db: sqlite3.Connection, publisher: str, message: Message, entry: DeliveryReport) -> bool:
    """A replica that ran a work item gave it mail that other homes hold, or were never to hold (9.E6).

    It is one of the recipient's homes from here on, and what is held here is not given to the next session again.
    """
    if not entry.recipient.startswith("task:"):
        return False
    if not runs.has_run(db, publisher, entry.recipient):
        return False
    changed = False
    row = remote.row_of(db, message.id, entry.recipient)
    if remote.RANK[entry.state] >= remote.RANK["pushed"]:
        for held in deliveries_of(db, message.id):
            if held.recipient == entry.recipient and held.state is State.HELD and remove_held(db, held):
                changed = True
                if row is None:
                    row = remote.forwarded(message.id, held.recipient, held.via, [publisher], entry.at)
                    remote.insert(db, row)
    if row is not None and publisher not in row.homes:
        remote.update(db, replace(row, homes=tuple(sorted({*row.homes, publisher}))))
        changed = True
    if row is not None and publisher != message.origin:
        remote.set_readers(db, message.id, [publisher])
    return changed


def _read_elsewhere(
    db: sqlite3.Connection, node: Node, team: Team, op: Op, message: Message, entry: DeliveryReport
) -> bool:
    """What a person read on one machine is read on the others; but no question that waits is hidden by that (M5)."""
    if entry.state != "read" or not entry.recipient.startswith("human:") or message.takes_answer:
        return False
    if not _homed(db, team.view, op, entry.recipient):
        return False
    changed = False
    for delivery in deliveries_of(db, message.id):
        if delivery.recipient == entry.recipient and delivery.state is State.NOTIFIED:
            moved = move(db, node.engine.federation, message, delivery, State.READ, None, node.now())
            changed |= moved is not None
    return changed
