"""The deliveries table. Functions that write assume an open transaction.

Every change of a state is a compare-and-set: it applies only to a delivery that is still in the state, and
bound to the session, that the change expects (section 6.3).
"""

import sqlite3
from collections.abc import Collection, Iterable, Mapping
from heapq import merge
from itertools import islice
from typing import Any, Final

from core.ids import ULID_GLOB, is_ulid
from core.message import Delivery, Message, State, Via
from core.store import messages

_COLUMNS: Final = "id, message, recipient, via, state, session, changed_at"
_INSERT: Final = f"INSERT INTO deliveries ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)"
_BY_ID: Final = f"SELECT {_COLUMNS} FROM deliveries WHERE id = ?"
_OF_MESSAGE: Final = f"SELECT {_COLUMNS} FROM deliveries WHERE message = ? ORDER BY position"
_SENDING: Final = f"SELECT {_COLUMNS}, owner FROM deliveries WHERE state = 'sending' ORDER BY position"
_HELD: Final = (
    f"SELECT {_COLUMNS}, position FROM deliveries WHERE recipient = ? AND state = 'held' ORDER BY position"
)
_MAILBOX_IN_STATE: Final = (
    f"SELECT {_COLUMNS}, position FROM deliveries"
    " WHERE recipient = ? AND state = ? AND position > ? ORDER BY position LIMIT ?"
)
_PAGE: Final = (
    f"SELECT {_COLUMNS}, position FROM deliveries WHERE recipient = ?1 AND state = ?2"
    " AND (?3 IS NULL OR session = ?3)"
)
_ON: Final = f"{_PAGE} AND position > ?4 ORDER BY position LIMIT ?5"
_BACK: Final = f"{_PAGE} AND position < ?4 ORDER BY position DESC LIMIT ?5"
_COUNT: Final = "SELECT count(*) FROM deliveries WHERE recipient = ? AND state = ?"
# From the few effects on their way, whatever SQLite thinks of the sizes of tables: CROSS JOIN keeps this order.
_UNPUBLISHED: Final = (
    "SELECT count(*) FROM effects CROSS JOIN messages ON reply_to = effects.gate AND kind = 'answer'"
    " CROSS JOIN deliveries ON message = messages.id WHERE effects.owner NOT NULL AND recipient = ? AND state = ?"
)
_POSITION: Final = "SELECT position FROM deliveries WHERE id = ?"
_MOVE: Final = (
    "UPDATE deliveries SET state = ?, session = ?, changed_at = ?, owner = NULL"
    " WHERE id = ? AND state = ? AND session IS ?"
)
_CLAIM: Final = (
    "UPDATE deliveries SET owner = ? WHERE id = ? AND state = 'sending' AND session IS ? AND owner IS ?"
)
_GREATEST_ID: Final = "SELECT max(id) FROM deliveries"
_LAST_ID: Final = (
    f"SELECT id FROM deliveries WHERE id < 'd-8' AND id GLOB 'd-{ULID_GLOB}' ORDER BY id DESC LIMIT 1"
)


def insert_deliveries(db: sqlite3.Connection, deliveries: Iterable[Delivery]) -> None:
    """Store new deliveries."""
    for each in deliveries:
        db.execute(
            _INSERT,
            # As plain strings: for any other type sqlite3 looks each time whether there is an adapter.
            (
                each.id,
                each.message,
                each.recipient,
                str(each.via),
                str(each.state),
                each.session,
                each.changed_at,
            ),
        )


def delivery_by_id(db: sqlite3.Connection, delivery_id: str) -> Delivery | None:
    """Return a stored delivery."""
    try:
        row = db.execute(_BY_ID, (delivery_id,)).fetchone()
    except UnicodeEncodeError:  # a text that is no Unicode names nothing
        return None
    return None if row is None else _delivery(row)


def deliveries_of(db: sqlite3.Connection, message_id: str) -> list[Delivery]:
    """Return a message's deliveries."""
    try:
        return [_delivery(row) for row in db.execute(_OF_MESSAGE, (message_id,))]
    except UnicodeEncodeError:
        return []


def sending_deliveries(db: sqlite3.Connection) -> list[tuple[Delivery, str | None]]:
    """Return every delivery that is to be pushed or notified, and who dispatches it, if anybody yet."""
    return [(_delivery(row), row[7]) for row in db.execute(_SENDING)]


def held_deliveries(db: sqlite3.Connection, recipients: Iterable[str]) -> list[Delivery]:
    """Return the held mail of several addresses, in the order of a mailbox."""
    rows = merge(*(db.execute(_HELD, (recipient,)).fetchall() for recipient in recipients), key=_position)
    return [_delivery(row) for row in rows]


def mailbox(
    db: sqlite3.Connection,
    recipient: str,
    states: Collection[State] | None,
    after: str | None,
    limit: int | None,
) -> list[tuple[Delivery, Message]]:
    """Return the first `limit` deliveries to an address after the stored one `after` (section 7.1).

    All of them where `limit` is None; only those in any of `states` where it is given.
    """
    start = 0
    if after is not None:
        (start,) = db.execute(_POSITION, (after,)).fetchone()
    at_most = -1 if limit is None else limit  # which is how SQLite says all
    pages = [
        db.execute(_MAILBOX_IN_STATE, (recipient, state, start, at_most)).fetchall()
        for state in set(State if states is None else states)
    ]
    box = []
    for row in islice(merge(*pages, key=_position), limit):
        delivery = _delivery(row)
        message = messages.message_by_id(db, delivery.message)
        assert message is not None
        box.append((delivery, message))
    return box


def page(
    db: sqlite3.Connection,
    boxes: Mapping[str, str | None],
    states: Collection[State] | None,
    after: str | None,
    limit: int,
    *,
    newest: bool = False,
) -> list[Delivery]:
    """Return the next `limit` deliveries of several mailboxes after the stored one `after`, the oldest first.

    With `newest` the newest first. A mailbox for which `boxes` has a session holds those alone that are bound to it.
    """
    start = 2**62 if newest else 0
    if after is not None:
        (start,) = db.execute(_POSITION, (after,)).fetchone()
    pages = [
        db.execute(_BACK if newest else _ON, (recipient, str(state), session, start, limit)).fetchall()
        for recipient, session in boxes.items()
        for state in set(State if states is None else states)
    ]
    return [_delivery(row) for row in islice(merge(*pages, key=_position, reverse=newest), limit)]


def count_published(
    db: sqlite3.Connection, recipients: Iterable[str], states: Collection[State] | None
) -> int:
    """Count the deliveries to some addresses, but for answers to gates whose effect is on its way (section 5.5)."""
    return sum(
        db.execute(_COUNT, box).fetchone()[0] - db.execute(_UNPUBLISHED, box).fetchone()[0]
        for recipient in recipients
        for box in ((recipient, str(state)) for state in set(State if states is None else states))
    )


def move_delivery(
    db: sqlite3.Connection, delivery: Delivery, state: State, session: str | None, now: str
) -> Delivery | None:
    """Move a delivery out of the state it was read in, and return it there, with no owner.

    None, and nothing changed, when it has moved meanwhile.
    """
    moved = db.execute(_MOVE, (state, session, now, delivery.id, delivery.state, delivery.session)).rowcount
    if not moved:
        return None
    return Delivery(delivery.id, delivery.message, delivery.recipient, delivery.via, state, session, now)


def remove_held(db: sqlite3.Connection, delivery: Delivery) -> bool:
    """Take out a delivery that another replica made; False when it is not held any more."""
    removed = db.execute("DELETE FROM deliveries WHERE id = ? AND state = 'held'", (delivery.id,)).rowcount
    return removed > 0


def claim_delivery(db: sqlite3.Connection, delivery: Delivery, owner: str | None, me: str) -> bool:
    """Make a `sending` delivery that was read with an owner this one's; False when it has changed meanwhile."""
    return db.execute(_CLAIM, (me, delivery.id, delivery.session, owner)).rowcount > 0


def last_delivery_id(db: sqlite3.Connection) -> str | None:
    """Return the greatest ULID a delivery has."""
    (greatest,) = db.execute(_GREATEST_ID).fetchone()
    if greatest is None or is_ulid("d-", greatest):
        return None if greatest is None else str(greatest)
    last = db.execute(_LAST_ID).fetchone()
    return None if last is None else str(last[0])


def _delivery(row: tuple[Any, ...]) -> Delivery:
    return Delivery(row[0], row[1], row[2], Via(row[3]), State(row[4]), row[5], row[6])


def _position(row: tuple[Any, ...]) -> int:
    return int(row[7])
