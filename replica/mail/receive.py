"""Receiving mail: the path of one message, in the order of F.5.

The op, its chain and its publisher's standing are verified by now. A refusal in any step stores nothing of the
message; its origin is told, except where the message should never have been said at all (a publisher that
does not speak for its sender). What cannot be judged yet is kept and tried again.
"""

import sqlite3
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace

from core.answering import store_answer
from core.delivering import deliver
from core.errors import Code, DmpError, forbidden
from core.guardrails import PausedError, check_breaker, is_over_quota
from core.inputs import Sender
from core.message import Delivery, Message, Via, thread_order
from core.participation import authorize
from core.planning import Planned, plan_received
from core.received import check_thread, same_message, validate_received
from core.store.deliveries import deliveries_of
from core.store.messages import insert_message, is_stored, message_by_id, messages_of_thread
from core.timestamp import timestamp
from crypto.canonical import JsonError
from crypto.clock import MAX_CLOCK_LEAD_MS, Reading
from crypto.op import Op
from crypto.sealing import SealError
from replica.addresses import SYSTEM_ADDRESS, never_federates
from replica.chain.outcome import Outcome
from replica.chain.quotas import take_from_quota
from replica.mail.carried import Carried, UnreadError, UnverifiableError, carried
from replica.mail.local_only import refuse_local_only
from replica.mail.notices import Announcement, announce
from replica.mail.opened import Contents
from replica.mail.participants import need_participant
from replica.mail.payloads import MailTarget
from replica.mail.placing import is_home, placed
from replica.mail.settlement import answer_arrived, has_room, question_arrived
from replica.mail.speaks_for import Speech, speaks_for
from replica.node import Node
from replica.quoting import quoted
from replica.records import ops, remote, subjects
from replica.team.roster import Team


@dataclass(slots=True)
class Receiver:
    """Receives the mail of one batch, which `contents` reads.

    `announcements` and `paused` are what to do after its commit: `announce`.
    """

    node: Node
    team: Team
    announcements: list[Announcement] = field(default_factory=list)
    paused: list[PausedError] = field(default_factory=list)
    contents: Contents = field(init=False)

    def __post_init__(self) -> None:
        self.contents = Contents(self.node)

    def announce(self) -> None:
        """Publish, push, notify and wake for what was committed (steps 9 and 10)."""
        announce(self.node.engine, self.announcements, self.paused)

    def receive(self, db: sqlite3.Connection, op: Op) -> Outcome:
        """Apply one mail op addressed to this replica, inside an open transaction."""
        try:
            mail = carried(db, self.contents, self.team, op)
        except UnreadError:
            return Outcome.parked(
                subjects.OP.of(op.replica, op.seq), "hands on an op that has not arrived; kept", again=False
            )
        except UnverifiableError as error:
            return self._unverifiable(db, op, error)
        except (SealError, DmpError, ValueError) as error:
            return Outcome.dropped(subjects.MALFORMED.of(op.replica), f"mail that cannot be read: {error}")
        message, origin = mail.message, mail.op.replica
        if mail.target is not None and not is_home(db, self.team, self.node.me, mail.target):
            return Outcome.dropped(
                subjects.MAIL_DROP.of(op.replica), "mail handed on for who does not live here"
            )
        early = self._clock(op, mail)
        if early is not None:
            return early
        match speaks_for(db, self.team, self.node.me, origin, mail.op.seq, message):
            case Speech.NO:
                return Outcome.dropped(
                    subjects.SPEAKS_FOR.of(origin),
                    f"{self.team.describe(origin)} does not speak for the sender it named; dropped",
                )
            case Speech.UNKNOWN:
                return Outcome.parked(
                    subjects.OP.of(op.replica, op.seq),
                    "its sender is not known to be that replica's; kept",
                    again=False,
                )
        try:
            return self._steps(db, op, mail)
        except DmpError as error:
            if error.code is Code.UNAVAILABLE:
                raise  # this machine's own trouble is no refusal
            if isinstance(error, PausedError):
                self.paused.append(error)
            if isinstance(error, CollisionError):
                return self._collision(db, mail, error)
            return Outcome.refused(subjects.MAIL_DROP.of(origin), str(error), message.id, origin)

    def _unverifiable(self, db: sqlite3.Connection, op: Op, error: UnverifiableError) -> Outcome:
        """Refuse what is handed on and is in no log; its origin hears of it, but not of a message that is here."""
        subject = subjects.MAIL_DROP.of(op.replica)
        if error.origin is None or message_by_id(db, error.message) is not None:
            return Outcome.dropped(subject, str(error))
        return Outcome.refused(subject, str(error), error.message, error.origin)

    def _clock(self, op: Op, mail: Carried) -> Outcome | None:
        """A message's clock may lead neither its op's nor this machine's by more than the lead allowed."""
        said_at = Reading.ms_of(mail.message.hlc or "")
        if said_at > mail.op.hlc.ms + MAX_CLOCK_LEAD_MS:
            return Outcome.dropped(
                subjects.MALFORMED.of(op.replica), "mail dated later than the op that carries it"
            )
        if said_at > self.node.wall() + MAX_CLOCK_LEAD_MS:
            return Outcome.parked(
                subjects.OP.of(op.replica, op.seq),
                "its message is dated too far ahead; it is kept until that time comes",
            )
        return None

    def _steps(self, db: sqlite3.Connection, op: Op, mail: Carried) -> Outcome:
        host, message, origin = self.node.engine.host, mail.message, mail.op.replica
        # 1. Duplicate
        stored = message_by_id(db, message.id) if is_stored(db, message.id) else None
        if stored is not None:
            return self._duplicate(db, mail, stored)
        replied = None if message.reply_to is None else message_by_id(db, message.reply_to)
        root = None if message.thread == message.id else message_by_id(db, message.thread)
        check_thread(message, replied, root)
        # 2. Local-only
        refuse_local_only(message, replied, root, "to")
        if any(_is_local(target.recipient) for target in mail.targets):
            raise forbidden("to", "that recipient is never reached through federation")
        # 3. Authorize the sender
        authorize(host, Sender(message.sender))
        # 4. Participation
        joined = replied or root
        if joined is not None:
            need_participant(db, self.node.engine, message, origin, joined)
        # 5. Validate as received
        validate_received(host, message, replied)
        limit, amount = self.node.host.config.quotas.recipients, len(mail.targets)
        if not take_from_quota(db, origin, "recipients", limit, self.node.wall(), amount):
            return Outcome.wait(
                subjects.QUOTA.of(origin),
                f"{self.team.describe(origin)} names more recipients than one hour's quota",
            )
        # 6. The breaker and the urgent quota, by arrival
        message = self._guarded(db, message, joined)
        # 7. Answers settle at the question's origin
        message = self._stored(db, message, replied, origin)
        # 8. Plan each target, 9. commit
        remote.set_brought(db, message.id, self._readers(mail), op.replica, op.seq)
        deliveries = self._plan(db, message, mail)
        # 10. Wake where this replica is named
        wakes = {target.recipient for target in mail.targets if target.wake_at == self.node.me}
        self.announcements.append(Announcement(message, deliveries, wakes))
        if message.standing is not None:
            self.announcements += answer_arrived(db, self.node, message, replied)
        if message.takes_answer:
            question_arrived(db, self.node, message)
        return Outcome.APPLIED

    def _duplicate(self, db: sqlite3.Connection, mail: Carried, stored: Message) -> Outcome:
        """What is here already adds no recipients; but one it was handed on for is delivered now (9.D2)."""
        try:
            same = same_message(stored, mail.message) and stored.origin == mail.op.replica
        except JsonError:
            same = False
        if not same:
            raise CollisionError(stored)
        remote.set_readers(db, stored.id, self._readers(mail))
        row = None if mail.target is None else remote.row_of(db, stored.id, mail.target)
        if row is None:
            return Outcome.NOTHING
        planned = self._start(stored, row.recipient, Via(row.via))
        here = {delivery.recipient for delivery in deliveries_of(db, stored.id)}
        if any(start.recipient in here for start in planned):
            return Outcome.NOTHING  # it was held here, and handed on to where it comes back from
        remote.remove(db, row)
        deliveries = self._deliver(db, stored, planned)
        wakes = {row.recipient} if row.wake_at == self.node.me else ()
        self.announcements.append(Announcement(stored, deliveries, wakes))
        return Outcome.APPLIED

    def _collision(self, db: sqlite3.Connection, mail: Carried, error: "CollisionError") -> Outcome:
        """One id with two contents cannot be prevented; both ops are recorded, for people to find who lies (M1, M2)."""
        stored, op = error.stored, mail.op
        carrier = remote.carrier_of(db, stored.id)
        held = None if carrier is None else ops.hash_at(db, *carrier)
        if stored.origin is None:
            first = "this machine's own message"
        else:
            first = f"{self.team.describe(stored.origin)} in op {held or 'that is not kept'}"
        text = (
            f"the message id {quoted(stored.id)} stands for {first}, and {self.team.describe(op.replica)} said "
            f"something else under it in op {op.hash}; the later one was refused"
        )
        subject = subjects.COLLISION.of(stored.id)
        return Outcome.refused(subject, text, mail.message.id, op.replica, told=str(error))

    def _guarded(self, db: sqlite3.Connection, message: Message, joined: Message | None) -> Message:
        """Refuse an agent's reply in a thread where agents had their turns, and note what is over its quota.

        Where neither the message replied to nor the root is here, what is here of the thread stands for them.
        """
        host, now_ms = self.node.engine.host, self.node.wall()
        if message.reply_to is not None:
            said = joined or max(messages_of_thread(db, message.thread), key=thread_order, default=None)
            if said is not None:
                check_breaker(db, host, message.sender, said, now_ms, message.origin)
        over = message.urgent and is_over_quota(db, host, message.sender, now_ms, message.origin)
        return replace(message, demoted=True) if over else message

    def _stored(
        self, db: sqlite3.Connection, message: Message, replied: Message | None, origin: str
    ) -> Message:
        """Store a message, an answer as what it becomes here; return it so."""
        if message.kind != "answer" or message.reply_to is None:
            insert_message(db, message)
            return message
        if not has_room(db, message.reply_to, origin):
            raise DmpError(Code.LIMITED, "more answers to one question than are kept", "replyTo")
        return store_answer(db, self.node.engine.federation, message, replied, timestamp(self.node.wall()))

    def _plan(self, db: sqlite3.Connection, message: Message, mail: Carried) -> Sequence[Delivery]:
        """Store a delivery for each target that lives here, and a remote row for every other."""
        planned: list[Planned] = []
        for target in mail.targets:
            here, elsewhere = self._place(db, mail, target)
            if here:
                planned += self._start(message, target.recipient, target.via)
            else:
                at = timestamp(self.node.wall())
                row = remote.forwarded(
                    message.id, target.recipient, target.via, elsewhere, at, target.wake_at
                )
                remote.insert(db, row)
        return self._deliver(db, message, planned)

    def _place(
        self, db: sqlite3.Connection, mail: Carried, target: MailTarget
    ) -> tuple[bool, tuple[str, ...]]:
        if target.recipient == mail.target:
            return True, ()
        return placed(db, self.team, self.node.me, mail.op.replica, target)

    def _start(self, message: Message, recipient: str, via: Via) -> list[Planned]:
        host = self.node.engine.host
        muted = message.sender.startswith("agent:") and host.is_muted(message.sender)
        start = plan_received(host, recipient, via, muted)
        return [] if start is None else [start]

    def _deliver(
        self, db: sqlite3.Connection, message: Message, planned: Iterable[Planned]
    ) -> Sequence[Delivery]:
        engine = self.node.engine
        first: dict[str, Planned] = {}
        # A session that ended leaves its mail to its work item, which may be a target too.
        for start in planned:
            known = first.setdefault(start.recipient, start)
            if known.via is Via.CHANNEL and start.via is Via.DIRECT:
                first[start.recipient] = start
        return deliver(db, engine.federation, engine.ids, message, list(first.values()), self.node.wall())

    def _readers(self, mail: Carried) -> set[str]:
        found: Collection[str] = mail.op.to or ()
        handed_on = () if mail.forwarder is None else (mail.forwarder,)
        return {*found, *handed_on} - {self.node.me, mail.op.replica}


class CollisionError(DmpError):
    """Another message has the id of one that came in."""

    def __init__(self, stored: Message) -> None:
        super().__init__(
            Code.CONFLICT, "another message has this id here; sent again, it gets an id of its own", "id"
        )
        self.stored = stored


def _is_local(recipient: str) -> bool:
    """Whether an address is nobody's from another replica."""
    return recipient == SYSTEM_ADDRESS or never_federates(recipient)
