"""What is new in the store, read once for everybody who waits for it, with whom it is for (sections 9.3, A.3).

A message is new when it is stored, and again when it becomes an answer or is one no more. The answer to a gate, and
what it does to the gate's deliveries, is nobody's news before its effect was tried (section 5.5): it is held back here
until then.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from core.message import Message
from core.store.deliveries import deliveries_of
from core.store.effects import owner_of
from core.store.messages import message_by_id
from crypto.canonical import JsonValue
from replica.api.credentials import Caller, own_addresses, still_good
from replica.host.shapes import message_json
from replica.node import DirectoryNode, Node
from replica.records import remote

AT_ONCE: Final = 200
"""Messages, and changes of others, that are read in one go."""

_NEW: Final = "SELECT position, id FROM messages WHERE position > ? ORDER BY position LIMIT ?"
_CHANGED: Final = (
    "SELECT position, message, delivery FROM changed WHERE position > ? ORDER BY position LIMIT ?"
)
_LAST_MESSAGE: Final = "SELECT coalesce(max(position), 0) FROM messages"
_LAST_CHANGE: Final = "SELECT coalesce(max(position), 0) FROM changed"
_FIRST_CHANGE: Final = "SELECT coalesce(min(position), 0) FROM changed"

_Item: TypeAlias = tuple[str, str | None]
"""A message, and the delivery of it that changed; None where the message itself is new."""


@dataclass(frozen=True, slots=True)
class Audience:
    """Who takes part in a message: `addresses`, and the `sessions` that a delivery of it is bound to."""

    addresses: frozenset[str]
    sessions: frozenset[str]


@dataclass(frozen=True, slots=True)
class Reader:
    """Who a socket is for: its own addresses, and whether it may read everything."""

    address: str | None
    own: frozenset[str]
    decides: bool

    @classmethod
    def of(cls, node: Node, caller: Caller) -> "Reader":
        """Whoever holds a token, as things are now."""
        own = frozenset() if caller.address is None else own_addresses(node, caller.address)
        return cls(caller.address, own, caller.decides)

    def may_read(self, audience: Audience) -> bool:
        """The read rule (section 9.3)."""
        if self.address is None:
            return False
        if self.decides or self.address in audience.sessions:
            return True
        return not self.own.isdisjoint(audience.addresses)


@dataclass(frozen=True, slots=True)
class Event:
    """One event, as it is sent."""

    kind: Literal["message.new", "delivery.changed"]
    text: str
    audience: Audience


@dataclass(slots=True)
class Batch:
    """What was read in one go.

    `given` are the places in `events` that are for a token, by its id, and `over` the tokens that are good no more.
    `answered` are questions whose answer may be there now. `missed` when more happened than is kept; `more` when more
    is there.
    """

    events: list[Event] = field(default_factory=list)
    given: dict[str, list[int]] = field(default_factory=dict)
    over: set[str] = field(default_factory=set)
    answered: set[str] = field(default_factory=set)
    missed: bool = False
    more: bool = False


class News:
    """Where the reading stands. One thread uses it at a time."""

    def __init__(self) -> None:
        self._message = 0
        self._change = 0
        self._held: list[_Item] = []

    def begin(self, node: DirectoryNode) -> None:
        """Take all that is there now as known."""
        with node.store.reading() as db:
            (message,), (change,) = db.execute(_LAST_MESSAGE).fetchone(), db.execute(_LAST_CHANGE).fetchone()
            waiting = db.execute("SELECT gate FROM effects WHERE owner IS NOT NULL").fetchall()
            held: list[_Item] = []
            for (gate,) in waiting:
                held += [(each, None) for each in _answers(node, gate)]
                held += [(gate, delivery.id) for delivery in deliveries_of(db, gate)]
        self._message, self._change, self._held = int(message), int(change), held

    def read(self, node: DirectoryNode, callers: Mapping[str, Caller], *, check_all: bool = False) -> Batch:
        """Read what is new, and for which of these tokens it is.

        Of those that would be given something, or of all with `check_all`, it is checked whether they are still good.
        """
        batch = Batch()
        with node.store.reading() as db:
            (first,) = db.execute(_FIRST_CHANGE).fetchone()
            if first > self._change + 1:
                batch.missed = True
                (self._change,) = db.execute(_LAST_CHANGE).fetchone()
            new = db.execute(_NEW, (self._message, AT_ONCE)).fetchall()
            changed = db.execute(_CHANGED, (self._change, AT_ONCE)).fetchall()
            items: list[_Item] = [*self._held, *((id_, None) for _, id_ in new)]
            items += [(message, delivery) for _, message, delivery in changed]
            held: list[_Item] = []
            audiences: dict[str, Audience] = {}
            for item in items:
                self._take(node, item, batch, audiences, held)
            for id_, caller in callers.items():
                reader = Reader.of(node, caller)
                for_it = [at for at, event in enumerate(batch.events) if reader.may_read(event.audience)]
                if (for_it or check_all or caller.operates) and not still_good(node, caller.token):
                    batch.over.add(id_)
                elif for_it:
                    batch.given[id_] = for_it
        self._held = held
        self._message = new[-1][0] if new else self._message
        self._change = changed[-1][0] if changed else self._change
        batch.more = len(new) == AT_ONCE or len(changed) == AT_ONCE
        return batch

    def _take(
        self, node: Node, item: _Item, batch: Batch, audiences: dict[str, Audience], held: list[_Item]
    ) -> None:
        message_id, delivery = item
        message = message_by_id(node.store.db, message_id)
        if message is None:
            return
        is_there = node.engine.is_published(message)
        if delivery is not None:
            is_there = is_there and owner_of(node.store.db, message_id) is None
        if not is_there:
            held.append(item)
            return
        if message_id not in audiences:
            audiences[message_id] = audience(node, message)
        if delivery is None and message.reply_to is not None:
            batch.answered.add(message.reply_to)
        batch.events.append(_event(node, message, delivery, audiences[message_id]))


def audience(node: Node, message: Message) -> Audience:
    """Who takes part in a message (section 4.6), here and on other replicas."""
    db = node.store.db
    here = deliveries_of(db, message.id)
    there = remote.rows_of(db, message.id)
    addresses = {message.sender, *(each.recipient for each in here), *(row.recipient for row in there)}
    return Audience(
        frozenset(addresses), frozenset(each.session for each in here if each.session is not None)
    )


def _event(node: Node, message: Message, delivery: str | None, to: Audience) -> Event:
    value: dict[str, JsonValue]
    if delivery is None:
        value = {"type": "message.new", "message": message_json(node.host, message)}
        return Event("message.new", json.dumps(value), to)
    value = {"type": "delivery.changed", "deliveryId": delivery, "messageId": message.id}
    return Event("delivery.changed", json.dumps(value), to)


def _answers(node: Node, gate: str) -> list[str]:
    rows = node.store.db.execute("SELECT id FROM messages WHERE reply_to = ? AND kind = 'answer'", (gate,))
    return [str(id_) for (id_,) in rows]
