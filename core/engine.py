"""The calls a host serves its principals with (sections 4-7, 9)."""

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from sqlite3 import Connection
from typing import Final

from core import channels, participation
from core.answering import store_answer
from core.commits import CommitPoint
from core.delivering import deliver, move
from core.dispatchers import Dispatchers, Lone
from core.errors import DmpError, conflict, forbidden, invalid, not_found
from core.federation import Alone, Federation
from core.gates import Gates, IgnoredError
from core.guardrails import Breaker, PausedError, check_breaker, is_over_quota
from core.host import Host
from core.ids import Ulids
from core.inputs import ReplyInput, Sender, SendInput
from core.message import Delivery, Message, State
from core.outbox import Outbox
from core.planning import Planned, admitted, collapse, plan, refuse_export, resolve, rewrite
from core.reading import Reads
from core.store import Store
from core.store import deliveries as delivery_rows
from core.store import effects as effect_rows
from core.store import messages as message_rows
from core.text import is_blank
from core.timestamp import timestamp
from core.validate import validate
from core.waking import Waking

HANDOFF_CHOICES: Final = ("accept", "decline")


@dataclass(frozen=True, slots=True)
class Sent:
    """What a send did: the message as stored, and its deliveries as they are now.

    `replayed` when an idempotency key named an earlier send, whose message and deliveries these are;
    `downgraded` when the urgent quota dropped `urgent` (section 6.6).
    """

    message: Message
    deliveries: tuple[Delivery, ...]
    replayed: bool = False
    downgraded: bool = False


@dataclass(frozen=True, slots=True)
class Recovered:
    """What a recovery did (section 6.3): deliveries dispatched again and returned to `held`, effects applied
    again, and answers voided."""

    retried: int
    reverted: int
    replayed: int
    voided: int


class Engine(Reads):
    """The host core on one store.

    `clock` returns the current time in milliseconds since 1970; `ids` makes ids. `dispatchers` names this
    engine among those on the store; engines that run at the same time have different names. Each call that
    changes anything commits it first, and runs the host's hooks after that. None of them may be called inside
    a transaction; reads may. `breaker` is for replies that came another way than by a send.
    """

    def __init__(
        self,
        store: Store,
        host: Host,
        clock: Callable[[], int],
        ids: Ulids,
        federation: Federation | None = None,
        dispatchers: Dispatchers | None = None,
    ) -> None:
        super().__init__(store, host, federation or Alone())
        self.clock = clock
        self.ids = ids
        dispatchers = dispatchers or Lone()
        self._outbox = Outbox(store, host, clock, self.federation, dispatchers)
        self._waking = Waking(store, host, self._tell)
        self.breaker = Breaker(store, host, clock, self._outbox, self._say)
        self._gates = Gates(
            store, host, clock, self.federation, dispatchers, self._outbox, self._say, self._waking.approved
        )

    # Sending

    def send(self, sender: Sender, given: SendInput, *, received: bool = False) -> Sent:
        """Send a message (section 4.5); `received` when the input came from outside this host (section 4.4).

        Raises DmpError for the first check of section 4.5 that fails.
        """
        while True:
            try:
                return self._send(sender, given, received)
            except IgnoredError as found:
                self._gates.void(found.gate)
            except PausedError as paused:
                self.breaker.tell(paused)
                raise

    def _send(self, sender: Sender, given: SendInput, received: bool) -> Sent:
        with self.store.transaction(CommitPoint.SEND) as db:
            participation.authorize(self.host, sender, received)  # step 1
            replay = self._replay(sender, given)  # step 2
            if replay is not None:
                return replay
            replied = self._replied(sender, given)  # step 3
            self._validate(sender, given, replied, received)  # step 4
            if replied is not None:  # step 5
                check_breaker(db, self.host, sender.address, replied, self.clock())
            if given.kind == "answer" and replied is not None:  # step 6
                self._refuse_answered(replied)
            downgraded = given.urgent and is_over_quota(db, self.host, sender.address, self.clock())  # step 7
            if downgraded:
                given = replace(given, urgent=False)
            message, deliveries = self._store(db, sender, given, replied)
            gate = replied if replied is not None and self._gates.takes_effect(replied, message) else None
            if gate is not None:
                self._gates.claim(db, gate)
        if gate is not None:
            self._gates.apply(gate, message)
            deliveries = tuple(self.deliveries(message.id))  # a session may have started, and claimed some
        dispatched = self.announce(message, deliveries, lambda each: self.federation.may_wake(message, each))
        return Sent(message, dispatched, downgraded=downgraded)

    def reply(self, sender: Sender, message_id: str, given: ReplyInput) -> Sent:
        """Reply to one message: to its sender, with an answer where it takes one (section 4.6).

        Raises DmpError as `send` does: `forbidden` on `from` whether or not the message exists.
        """
        return self.send(sender, given.to(message_id, self.message(message_id)))

    def close(self, question_id: str, reason: str) -> Message:
        """Settle an open question or handoff without an effect, as the system address (section 4.8).

        Raises DmpError: `not-found`, `invalid` or `conflict` on `replyTo`, `forbidden` there when another
        host settles the question, `invalid` on `reason`.
        """
        if is_blank(reason):
            raise invalid("reason", "say why the question is closed")
        while True:
            try:
                message = self._close(question_id, reason)
            except IgnoredError as found:
                self._gates.void(found.gate)
            else:
                break
        self._outbox.announce(message)
        return message

    def _close(self, question_id: str, reason: str) -> Message:
        with self.store.transaction(CommitPoint.CLOSE) as db:
            question = self.message(question_id)
            if question is None:
                raise _no_such_message()
            if not question.takes_answer:
                raise invalid("replyTo", "only a question or a handoff can be closed")
            if not self.federation.settles(question):
                raise forbidden("replyTo", "only the replica that asked this question closes it")
            self._refuse_answered(question)
            system = Sender(self.host.system_address)
            given = SendInput(
                to=(question.sender,),
                kind="answer",
                body=f"Closed: {reason}",
                reply_to=question.id,
                data={"type": "x-closed", "reason": reason},
            )
            try:  # without the question: a close makes none of its choices
                self._validate(system, given, None)
            except DmpError as error:
                raise invalid("reason", error.message) from None
            message = self._compose(system, given, question, given.to, self.clock())
            message = store_answer(db, self.federation, message, question, message.created_at)
            effect_rows.settle_gate(db, question.id)
            self.federation.answered(question, message)
        return message

    # Mailboxes

    def mark_read(self, delivery_id: str) -> Delivery:
        """Mark a delivery read, whatever its state; one that is answered stays so (section 7.1).

        Whose mailbox a caller may mark is for the host to check. Raises DmpError `not-found`.
        """
        with self.store.transaction(CommitPoint.MARK_READ) as db:
            delivery = delivery_rows.delivery_by_id(db, delivery_id)
            if delivery is None:
                raise not_found(None, "no delivery has that id; list the mailbox for the ids it has")
            if delivery.state in (State.READ, State.ANSWERED):
                return delivery
            message = self.message(delivery.message)
            assert message is not None
            now = timestamp(self.clock())
            return move(db, self.federation, message, delivery, State.READ, delivery.session, now) or delivery

    # Channels

    def join(self, channel: str, member: str) -> None:
        """Make a work item, a human or an agent a member of a channel, which that creates (section 7.2).

        `channel` is the bare name. Who may join whom is for the host to check. Raises DmpError `invalid` on
        `channel` or `member`.
        """
        with self.store.transaction(CommitPoint.MEMBERSHIP) as db:
            channels.join(db, self.host.grammar, channel, member)

    def leave(self, channel: str, member: str) -> bool:
        """Remove an explicit member of a channel; return whether there was one (section 7.3).

        Raises DmpError `invalid` on `channel` or `member`.
        """
        with self.store.transaction(CommitPoint.MEMBERSHIP) as db:
            return channels.leave(db, self.host.grammar, channel, member)

    # The host's own calls

    def announce(
        self, message: Message, deliveries: Collection[Delivery], may_wake: Callable[[str], bool]
    ) -> tuple[Delivery, ...]:
        """Publish a committed message to readers, dispatch its deliveries and wake whom it asks for.

        `may_wake` tells of a recipient whether this host is the one that may (section F.4). Returns the
        deliveries as they are then.
        """
        self._outbox.announce(message)
        dispatched = self._outbox.dispatch(message, deliveries)
        if message.wake != "request":
            return dispatched
        self._waking.consider(message, [each for each in dispatched if may_wake(each.recipient)])
        return tuple(self.deliveries(message.id))  # a session may have started, and taken some

    def recover(self) -> Recovered:
        """Recover from a crash: to be run when the host starts, before it accepts sends (section 6.3).

        What another process that runs is dispatching or applying is left to it, and so is the mail of a
        live session that another process reaches.
        """
        retried, reverted = self._outbox.recover()
        replayed, voided = self._gates.recover()
        return Recovered(retried, reverted, replayed, voided)

    def dispatch_waiting(self) -> tuple[Delivery, ...]:
        """Dispatch the mail that others left for live sessions this process reaches (section 6.3).

        Returns each of its deliveries as it is then.
        """
        return self._outbox.dispatch_waiting()

    def session_started(self, session: str, work_item: str) -> tuple[Delivery, ...]:
        """Give a session that started the held mail of its work item and its sessions (section 6.4).

        Returns the deliveries it claimed as they are after their dispatch.
        """
        with self.store.transaction(CommitPoint.SESSION_START) as db:
            now_ms = self.clock()
            now = timestamp(now_ms)
            for taken, via in self.federation.take_over(work_item):
                deliver(db, self.federation, self.ids, taken, [Planned(work_item, via, State.HELD)], now_ms)
            claimed: list[tuple[Message, Delivery]] = []
            addresses = {work_item, session, *self.host.sessions(work_item)}
            for delivery in delivery_rows.held_deliveries(db, addresses):
                message = self.message(delivery.message)
                assert message is not None
                bound = move(db, self.federation, message, delivery, State.SENDING, session, now)
                assert bound is not None
                claimed.append((message, bound))
        return self._outbox.dispatch_all(claimed)

    # Steps of a send

    def _replay(self, sender: Sender, given: SendInput) -> Sent | None:
        """Return the first send of an idempotency key (section 4.9)."""
        if given.idempotency_key is None:
            return None
        first = message_rows.message_by_key(self.store.db, sender.address, given.idempotency_key)
        if first is None:
            return None
        downgraded = given.urgent and not first.urgent
        return Sent(first, tuple(self.deliveries(first.id)), replayed=True, downgraded=downgraded)

    def _replied(self, sender: Sender, given: SendInput) -> Message | None:
        """Return the message a send replies to; one that is absent and one that is foreign look alike."""
        if given.reply_to is None:
            return None
        found = self.message(given.reply_to)
        if found is None or not participation.may_see(
            self.store.db, self.host, self.federation, sender, found
        ):
            raise _no_such_message()
        return found

    def _refuse_answered(self, question: Message) -> None:
        answer = message_rows.answer_to(self.store.db, question.id)
        if answer is None:
            return
        if self._gates.is_ignored(question, answer):
            raise IgnoredError(question)
        raise conflict("replyTo", "that question already has its answer, or was closed; read the thread")

    def _validate(
        self, sender: Sender, given: SendInput, replied: Message | None, received: bool = False
    ) -> None:
        validate(
            sender,
            given,
            replied,
            grammar=self.host.grammar,
            system_address=self.host.system_address,
            gate_types=self.host.gate_types,
            received=received,
        )

    def _store(
        self, db: Connection, sender: Sender, given: SendInput, replied: Message | None
    ) -> tuple[Message, tuple[Delivery, ...]]:
        """Resolve a checked input (section 3.5), and store its message and deliveries."""
        federation, now_ms = self.federation, self.clock()
        rewritten = given.to if replied is None else rewrite(self.host, given.to, replied)
        targets = resolve(
            self.host, sender.address, rewritten, lambda name: channels.recipients(db, self.host, name)
        )
        message = self._compose(sender, given, replied, collapse(given.to, rewritten), now_ms)
        refuse_export(self.host, message, replied, targets)
        targets = admitted(self.host, message, targets)
        placements = [(target, federation.place(message, target)) for target in targets]
        muted = sender.address.startswith("agent:") and self.host.is_muted(sender.address)
        planned = [
            plan(self.host, message, target, replied, muted)
            for target, placement in placements
            if placement.local
        ]
        question = replied if message.kind == "answer" else None
        if question is None:
            message_rows.insert_message(db, message, given.idempotency_key)
        else:
            now = message.created_at
            message = store_answer(db, federation, message, question, now, given.idempotency_key)
        starts = [start for start in planned if start is not None]
        deliveries = deliver(db, federation, self.ids, message, starts, now_ms)
        federation.stored(message, placements)
        if question is not None:
            federation.answered(question, message)
        return message, deliveries

    def _say(
        self, db: Connection, given: SendInput, replied: Message
    ) -> tuple[Message, tuple[Delivery, ...]]:
        """Store a reply of the host itself, inside an open transaction.

        Raises DmpError, before anything of it is stored, where it is not valid or cannot be resolved.
        """
        system = Sender(self.host.system_address)
        self._validate(system, given, replied)
        return self._store(db, system, given, replied)

    def _tell(self, given: SendInput) -> Sent:
        """Send as the host itself. Raises DmpError as `send` does."""
        return self.send(Sender(self.host.system_address), given)

    def _compose(
        self, sender: Sender, given: SendInput, replied: Message | None, to: tuple[str, ...], now_ms: int
    ) -> Message:
        """Return the message a valid input becomes (section 4.1)."""
        made = self.ids.after("m-", message_rows.last_message_id(self.store.db), now_ms)
        choices = given.choices
        if given.kind == "handoff" and choices is None:
            choices = HANDOFF_CHOICES
        return Message(
            id=made,
            thread=made if replied is None else replied.thread,
            reply_to=given.reply_to,
            sender=sender.address,
            to=to,
            kind=given.kind,
            body=given.body,
            created_at=timestamp(now_ms),
            session=given.session,
            refs=given.refs,
            data=given.data,
            urgent=given.urgent,
            blocking=given.blocking,
            choices=choices,
            choice=given.choice,
            wake=given.wake,
            hlc=self.federation.stamp(),
        )


def _no_such_message() -> DmpError:
    # One text for an absent message and for one the sender takes no part in (section 13.5).
    return not_found("replyTo", "no message you take part in has that id")
