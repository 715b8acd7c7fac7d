"""Storing deliveries and moving them, and telling the federation of each (sections 6, F.4)."""

import sqlite3
from collections.abc import Sequence

from core.federation import Federation
from core.ids import Ulids
from core.message import Delivery, Message, State
from core.planning import Planned
from core.store.deliveries import insert_deliveries, last_delivery_id, move_delivery
from core.timestamp import timestamp


def deliver(
    db: sqlite3.Connection,
    federation: Federation,
    ids: Ulids,
    message: Message,
    planned: Sequence[Planned],
    now_ms: int,
) -> tuple[Delivery, ...]:
    """Store the deliveries planned for a message that is stored."""
    if not planned:
        return ()
    now, last = timestamp(now_ms), last_delivery_id(db)
    made = []
    for each in planned:
        last = ids.after("d-", last, now_ms)
        made.append(Delivery(last, message.id, each.recipient, each.via, each.state, each.session, now))
    insert_deliveries(db, made)
    for delivery in made:
        if delivery.state is not State.SENDING:
            federation.moved(delivery, message)
    return tuple(made)


def move(
    db: sqlite3.Connection,
    federation: Federation,
    message: Message,
    delivery: Delivery,
    state: State,
    session: str | None,
    now: str,
) -> Delivery | None:
    """Move a delivery of a message out of the state it was read in, and return it there.

    None, and nothing done, when it has moved meanwhile (section 6.3).
    """
    moved = move_delivery(db, delivery, state, session, now)
    if moved is not None and state is not State.SENDING:
        federation.moved(moved, message)
    return moved
