"""Dispatch after the commit, and recovery: the store is the outbox (sections 6.2, 6.3).

A hook runs outside any transaction and may fail or never return. A crash while it runs leaves the delivery
`sending`, which recovery takes up, so a push happens at least once.
"""

import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from core.commits import CommitPoint
from core.delivering import move
from core.errors import DmpError
from core.federation import Federation
from core.host import Host
from core.message import Delivery, Message, State, Via
from core.store import Store
from core.store.deliveries import delivery_by_id, sending_deliveries
from core.store.messages import message_by_id
from core.timestamp import timestamp

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Recovered:
    """What a recovery did: deliveries dispatched again, and deliveries returned to `held`."""

    retried: int
    reverted: int


class Outbox:
    """Dispatches what is committed."""

    def __init__(self, store: Store, host: Host, clock: Callable[[], int], federation: Federation) -> None:
        self._store = store
        self._host = host
        self._clock = clock
        self._federation = federation

    def announce(self, message: Message) -> None:
        """Make a committed message visible to readers."""
        self._run("published", message, lambda: self._host.published(message))

    def dispatch(self, message: Message, deliveries: Iterable[Delivery]) -> tuple[Delivery, ...]:
        """Dispatch committed deliveries of a message, and return each as it is then (section 6.2)."""
        return tuple(self._dispatch(message, delivery) for delivery in deliveries)

    def recover(self) -> Recovered:
        """Take up each `sending` delivery: again where its session is live, else `held` (section 6.3)."""
        retry: list[tuple[Message, Delivery]] = []
        reverted = 0
        with self._store.transaction(CommitPoint.RECOVER) as db:
            now = timestamp(self._clock())
            for delivery in sending_deliveries(db):
                message = message_by_id(db, delivery.message)
                assert message is not None
                if delivery.session is not None and self._host.is_live(delivery.session):
                    retry.append((message, delivery))
                elif move(db, self._federation, message, delivery, State.HELD, None, now):
                    reverted += 1
        for message, delivery in retry:
            self._dispatch(message, delivery)
        return Recovered(len(retry), reverted)

    def _dispatch(self, message: Message, delivery: Delivery) -> Delivery:
        if delivery.state is State.SENDING and delivery.session is not None:
            return self._hand_over(message, delivery, delivery.session)
        if delivery.state is State.NOTIFIED and delivery.session is None:
            self._run("notify_human", message, lambda: self._host.notify_human(delivery.recipient, message))
        return delivery

    def _hand_over(self, message: Message, delivery: Delivery, session: str) -> Delivery:
        if delivery.via is Via.DIRECT or message.urgent:
            done = self._run("push", message, lambda: self._host.push(session, message))
            state = State.PUSHED
        else:
            done = self._run("notify", message, lambda: self._host.notify(session, message))
            state = State.NOTIFIED
        if not done:
            state = State.HELD
        bound = session if done else None
        try:
            with self._store.transaction(CommitPoint.DISPATCHED) as db:
                now = timestamp(self._clock())
                moved = move(db, self._federation, message, delivery, state, bound, now)
                return moved or delivery_by_id(db, delivery.id) or delivery
        except DmpError as error:
            # The message is committed and stays so; recovery takes the delivery up.
            _log.warning("delivery %s stays sending: %s", delivery.id, error)
            return delivery

    def _run(self, name: str, message: Message, hook: Callable[[], None]) -> bool:
        """Run a hook; one that raises is logged by its error's type alone, which holds no message text."""
        try:
            hook()
        except Exception as error:  # noqa: BLE001 - a hook's failure never fails what is committed
            _log.warning("hook %s failed for message %s: %s", name, message.id, type(error).__name__)
            return False
        return True
