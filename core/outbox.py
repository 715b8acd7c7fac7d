"""Dispatch after the commit: the store is the outbox (sections 6.2, 6.3).

A `sending` delivery is stored without an owner. Before it runs the hook, a process makes the delivery its own
by compare-and-set, so that of several on one store one dispatches it. It leaves a delivery alone whose session
another process reaches, and takes over what one that is gone left behind. A hook runs outside any transaction
and may fail or never return; a crash while it runs leaves the delivery `sending`, so a push happens once, and
again where the crash fell between the hook and the commit after it. An answer whose effect a process is applying
waits, whoever reaches its session (section 5.5).
"""

import logging
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from sqlite3 import Connection

from core.commits import CommitPoint
from core.delivering import move
from core.dispatchers import Dispatchers
from core.errors import DmpError
from core.federation import Federation
from core.host import Host
from core.message import Delivery, Message, State, Via
from core.store import Store
from core.store.deliveries import claim_delivery, delivery_by_id, sending_deliveries
from core.store.effects import owner_of
from core.store.messages import message_by_id
from core.timestamp import timestamp

_log = logging.getLogger(__name__)

Sending = tuple[Message, Delivery]
"""A delivery that is this process's to dispatch, with its message."""


class Outbox:
    """Dispatches what is committed."""

    def __init__(
        self,
        store: Store,
        host: Host,
        clock: Callable[[], int],
        federation: Federation,
        dispatchers: Dispatchers,
    ) -> None:
        self._store = store
        self._host = host
        self._clock = clock
        self._federation = federation
        self._dispatchers = dispatchers
        self._in_flight: set[str] = set()  # deliveries this very object is dispatching
        self._applying: set[str] = set()  # gates whose effect this very object is applying

    def announce(self, message: Message) -> None:
        """Make a committed message visible to readers."""
        self._run("published", message, lambda: self._host.published(message))

    @contextmanager
    def applying(self, gate: Message) -> Iterator[None]:
        """While a gate's effect is applied, what a hook calls here dispatches nothing of its answer."""
        self._applying.add(gate.id)
        try:
            yield
        finally:
            self._applying.discard(gate.id)

    def is_applying(self, gate: Message) -> bool:
        """Whether a call that this very object is in applies the effect of a gate."""
        return gate.id in self._applying

    def dispatch(self, message: Message, deliveries: Iterable[Delivery]) -> tuple[Delivery, ...]:
        """Dispatch committed deliveries of a message, and return each as it is then (section 6.2)."""
        return self.dispatch_all([(message, delivery) for delivery in deliveries])

    def dispatch_all(self, deliveries: Iterable[Sending]) -> tuple[Delivery, ...]:
        """Dispatch committed deliveries of several messages, and return each as it is then."""
        given = list(deliveries)
        mine = self._claim(delivery for message, delivery in given if not self._is_unheard(message))
        with self._flight(mine):
            return tuple(
                self._hand_over(message, delivery)
                if delivery.id in mine
                else self._settled(message, delivery)
                for message, delivery in given
            )

    def dispatch_waiting(self) -> tuple[Delivery, ...]:
        """Dispatch what waits for this process, and return each delivery as it is then.

        That is each `sending` one whose live session this process reaches, and which no other holds.
        """
        waiting = [
            (delivery, owner)
            for delivery, owner in sending_deliveries(self._store.db)
            if self._is_free(delivery, owner) and self._is_live(delivery) and self._may_take(delivery)
        ]
        if not waiting:
            return ()
        with self._store.transaction(CommitPoint.CLAIM) as db:
            taken = [(self._message(each), each) for each in self._take(db, waiting)]
        return self._hand_over_all(taken)

    def recover(self) -> tuple[int, int]:
        """Take up each `sending` delivery nobody holds: again where its session is live, else `held`.

        Steps 1 and 2 of section 6.3. Returns how many were dispatched again, and how many returned to `held`.
        """
        if not any(self._is_free(*row) for row in sending_deliveries(self._store.db)):
            return 0, 0
        reverted = 0
        with self._store.transaction(CommitPoint.RECOVER) as db:
            now = timestamp(self._clock())
            again: list[tuple[Delivery, str | None]] = []
            for delivery, owner in sending_deliveries(db):
                if not self._is_free(delivery, owner):
                    continue
                if self._is_live(delivery):
                    if self._may_take(delivery):
                        again.append((delivery, owner))
                else:
                    message = self._message(delivery)
                    if move(db, self._federation, message, delivery, State.HELD, None, now):
                        reverted += 1
            taken = [(self._message(each), each) for each in self._take(db, again)]
        self._hand_over_all(taken)
        return len(taken), reverted

    def _message(self, delivery: Delivery) -> Message:
        message = message_by_id(self._store.db, delivery.message)
        assert message is not None
        return message

    def _is_free(self, delivery: Delivery, owner: str | None) -> bool:
        """Whether nobody is dispatching a delivery: no owner, one that is gone, or one of this process's that
        it is not about to finish."""
        if owner is None or not self._dispatchers.lives(owner):
            return True
        if owner != self._dispatchers.me():
            return False
        return delivery.id not in self._in_flight or not self._is_live(delivery)

    def _is_live(self, delivery: Delivery) -> bool:
        return delivery.session is not None and self._host.is_live(delivery.session)

    def _reaches(self, delivery: Delivery) -> bool:
        """Whether a delivery's session is one this process reaches; not where the host fails to say."""
        try:
            return delivery.session is not None and self._host.reaches(delivery.session)
        except Exception as error:  # noqa: BLE001 - the message is committed and waits for whoever takes it up
            _log.warning("delivery %s stays sending: %s", delivery.id, type(error).__name__)
            return False

    def _may_take(self, delivery: Delivery) -> bool:
        """Whether a delivery that nobody is dispatching is for this process to dispatch now."""
        return self._reaches(delivery) and not self._is_unheard(self._message(delivery))

    def _is_unheard(self, message: Message) -> bool:
        """Whether nobody is to hear of an answer yet: the effect of the gate it decides is being applied (5.5)."""
        if message.kind != "answer" or message.reply_to is None:
            return False
        owner = owner_of(self._store.db, message.reply_to)
        if owner is None or owner == self._dispatchers.me():
            return message.reply_to in self._applying
        return self._dispatchers.lives(owner)

    def _claim(self, deliveries: Iterable[Delivery]) -> set[str]:
        """Make this process's own the `sending` ones among fresh deliveries that it reaches; return their ids."""
        sending = [
            (delivery, None)
            for delivery in deliveries
            if delivery.state is State.SENDING and self._reaches(delivery)
        ]
        if not sending:
            return set()
        try:
            with self._store.transaction(CommitPoint.CLAIM) as db:
                return {delivery.id for delivery in self._take(db, sending)}
        except DmpError as error:
            # The message is committed and stays so; its deliveries wait for whoever takes them up.
            _log.warning("%d deliveries stay sending: %s", len(sending), error)
            return set()

    def _take(self, db: Connection, deliveries: Iterable[tuple[Delivery, str | None]]) -> list[Delivery]:
        """Make `sending` deliveries that were read with their owners this process's own, where nothing changed."""
        me = self._dispatchers.me()
        return [delivery for delivery, owner in deliveries if claim_delivery(db, delivery, owner, me)]

    def _settled(self, message: Message, delivery: Delivery) -> Delivery:
        """Return a delivery that is not this process's to hand over; of a human's, tell the human."""
        if delivery.state is State.NOTIFIED and delivery.session is None:
            self._run("notify_human", message, lambda: self._host.notify_human(delivery.recipient, message))
        if delivery.state is State.SENDING:  # another process may have been quicker
            return delivery_by_id(self._store.db, delivery.id) or delivery
        return delivery

    def _hand_over_all(self, taken: Collection[Sending]) -> tuple[Delivery, ...]:
        with self._flight({delivery.id for _, delivery in taken}):
            return tuple(self._hand_over(message, delivery) for message, delivery in taken)

    @contextmanager
    def _flight(self, deliveries: set[str]) -> Iterator[None]:
        """While their hooks run, what a hook calls here leaves these deliveries alone."""
        self._in_flight |= deliveries
        try:
            yield
        finally:
            self._in_flight -= deliveries

    def _hand_over(self, message: Message, delivery: Delivery) -> Delivery:
        """Run the hook for a delivery this process has claimed, and move the delivery where that leaves it.

        One that moved since the claim, while another's hook ran, is left where it went.
        """
        session = delivery.session
        assert session is not None
        current = delivery_by_id(self._store.db, delivery.id)
        if current is not None and current != delivery:
            return current
        if delivery.via is Via.DIRECT or message.is_pressing:
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
