"""Notices from this host's system address, stored with the change they tell of (2.5).

A notice may cross to another replica, where it is an ordinary message from an agent; it then starts a thread of
its own and names in its refs the message it is about (F.5).
"""

import sqlite3
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from core.delivering import deliver
from core.engine import Engine
from core.federation import Placement, Target
from core.guardrails import PausedError
from core.message import Delivery, Message, Ref, Via
from core.planning import plan_received
from core.store.messages import insert_message, last_message_id
from core.timestamp import timestamp


@dataclass(frozen=True, slots=True)
class Announcement:
    """A committed message and its deliveries here, and which recipients this replica may wake for it."""

    message: Message
    deliveries: Sequence[Delivery]
    wakes: Collection[str] = ()


def notice(
    db: sqlite3.Connection, engine: Engine, to: str, body: str, about: Message, *, reply: bool
) -> Announcement:
    """Store a notice to `to` about a message, inside an open transaction.

    With `reply` it joins that message's thread, as only a notice that stays on this host may.
    """
    now_ms = engine.clock()
    made = engine.ids.after("m-", last_message_id(db), now_ms)
    message = Message(
        id=made,
        thread=about.thread if reply else made,
        reply_to=about.id if reply else None,
        sender=engine.host.system_address,
        to=(to,),
        kind="notice",
        body=body,
        created_at=timestamp(now_ms),
        refs=(Ref("message", about.id),),
        hlc=engine.federation.stamp(),
    )
    target = Target(to, Via.DIRECT, "to[0]")
    placement = Placement(local=True) if reply else engine.federation.place(message, target)
    insert_message(db, message)
    planned = plan_received(engine.host, to, Via.DIRECT, False) if placement.local else None
    deliveries = deliver(db, engine.federation, engine.ids, message, [planned] if planned else [], now_ms)
    engine.federation.stored(message, [(target, placement)])
    return Announcement(message, deliveries)


def announce(
    engine: Engine, announcements: Iterable[Announcement], paused: Iterable[PausedError] = ()
) -> None:
    """Publish, dispatch and wake for what was committed, and tell of replies that the breaker `paused`."""
    for each in announcements:
        engine.announce(each.message, each.deliveries, each.wakes.__contains__)
    for refused in paused:
        engine.breaker.tell(refused)
