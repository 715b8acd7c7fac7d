"""What a host's principals, and the host itself, may look at (sections 7.1, 9.3). Nothing here changes anything."""

from collections.abc import Collection

from core import channels, participation
from core.address import parse_address
from core.errors import not_found
from core.federation import Federation
from core.gate_data import is_gate
from core.host import Host
from core.inputs import Sender
from core.message import Delivery, Message, State, in_thread_order
from core.store import Store
from core.store import deliveries as delivery_rows
from core.store import effects as effect_rows
from core.store import messages as message_rows


class Reads:
    """The reads of one store. They may be called inside a transaction."""

    def __init__(self, store: Store, host: Host, federation: Federation) -> None:
        self.store = store
        self.host = host
        self.federation = federation

    # Messages and threads

    def message(self, message_id: str) -> Message | None:
        """Return a message, for callers that have checked `can_read`."""
        return message_rows.message_by_id(self.store.db, message_id)

    def thread(self, thread_id: str) -> list[Message]:
        """Return a thread in its order (section F.4), as far as it is published; none when no thread has that id."""
        found = message_rows.messages_of_thread(self.store.db, thread_id)
        return in_thread_order(filter(self.is_published, found))

    def answer_of(self, question_id: str) -> Message | None:
        """Return the answer or the close a question has, once that is published."""
        answer = message_rows.answer_to(self.store.db, question_id)
        return answer if answer is not None and self.is_published(answer) else None

    def is_published(self, message: Message) -> bool:
        """Whether a stored message is there for readers: the answer to a gate is once its effect was tried (5.5)."""
        if message.kind != "answer" or message.reply_to is None:
            return True
        return effect_rows.owner_of(self.store.db, message.reply_to) is None

    def deliveries(self, message_id: str) -> list[Delivery]:
        """Return a message's deliveries on this host."""
        return delivery_rows.deliveries_of(self.store.db, message_id)

    def can_read(self, principal: Sender, message_id: str) -> bool:
        """Whether a principal may read a message; nobody may read one that does not exist (section 9.3)."""
        with self.store.reading() as db:
            message = self.message(message_id)
            if message is None or not self.is_published(message):
                return False
            return participation.may_see(db, self.host, self.federation, principal, message)

    def can_read_thread(self, principal: Sender, thread_id: str) -> bool:
        """Whether a principal may read a thread: all of it, when any of its messages (section 9.3)."""
        with self.store.reading() as db:
            return any(
                participation.may_see(db, self.host, self.federation, principal, message)
                for message in message_rows.messages_of_thread(db, thread_id)
            )

    # Mailboxes

    def inbox(
        self,
        recipient: str,
        states: Collection[State] | None = None,
        *,
        after: str | None = None,
        limit: int | None = None,
    ) -> list[tuple[Delivery, Message]]:
        """List an address's mailbox in delivery order (section 7.1), those in any of `states` where given.

        A page is the first `limit` of those after the mailbox's delivery whose id is `after`. Raises DmpError:
        `invalid` on `recipient`, `not-found` on `after`, for a delivery of another mailbox too (section 13.5).
        """
        parse_address(recipient, "recipient", self.host.grammar)
        with self.store.reading() as db:
            last = None if after is None else delivery_rows.delivery_by_id(db, after)
            if after is not None and (last is None or last.recipient != recipient):
                raise not_found("after", "no delivery here has that id; start again from the first page")
            return delivery_rows.mailbox(db, recipient, states, after, limit)

    def newest(
        self, recipients: Collection[str], states: Collection[State] | None, limit: int
    ) -> list[tuple[Delivery, Message]]:
        """List the last `limit` of the published mail of some addresses, those in any of `states` where given.

        In delivery order.
        """
        boxes = dict.fromkeys(recipients)
        found: list[tuple[Delivery, Message]] = []
        after = None
        with self.store.reading() as db:
            while len(found) < limit and (
                page := delivery_rows.page(db, boxes, states, after, limit, newest=True)
            ):
                after = page[-1].id
                for delivery in page:
                    message = message_rows.message_by_id(db, delivery.message)
                    assert message is not None
                    if self.is_published(message):
                        found.append((delivery, message))
        return found[:limit][::-1]

    def count(self, recipients: Collection[str], states: Collection[State] | None) -> int:
        """Count the published mail of some addresses, that in any of `states` where given."""
        with self.store.reading() as db:
            return delivery_rows.count_published(db, set(recipients), states)

    def open_blocking(self) -> list[Message]:
        """List the blocking questions and handoffs that wait for an answer (section 7.1)."""
        return message_rows.open_blocking_questions(self.store.db)

    # Gates

    def open_gates(self) -> list[str]:
        """List the ids of the gates that wait for an answer, in order of arrival (section 5.1)."""
        system, known = self.host.system_address, self.host.gate_types
        waiting = message_rows.open_questions_with_gate_data(self.store.db)
        return [message.id for message in waiting if is_gate(message, system, known)]

    def effects_applied(self) -> list[str]:
        """List the ids of the gates whose effect is recorded as applied (section 5.5)."""
        return effect_rows.applied_gates(self.store.db)

    def voided(self) -> list[str]:
        """List the ids of the answers that were voided, in order of arrival (section 5.7)."""
        return message_rows.voided_answers(self.store.db)

    # Channels

    def members(self, channel: str) -> tuple[str, ...]:
        """Return a channel's explicit members; none of a channel that is unknown."""
        return channels.members(self.store.db, channel)

    def channels(self) -> tuple[str, ...]:
        """Return the bare names of the channels that have ever been joined."""
        return channels.channels(self.store.db)
