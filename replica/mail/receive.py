"""Receiving mail: the path of one op, in the order of F.5.

The op, its chain and its publisher's standing are verified by now. A refusal in any step stores nothing of the
message; its origin is told, except where the message should never have been said at all (a publisher that
does not speak for its sender). What cannot be judged yet is kept and tried again.
"""

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from core.answering import store_answer
from core.delivering import deliver
from core.errors import Code, DmpError, conflict, forbidden, not_found
from core.message import Message
from core.participation import participates
from core.planning import plan_received
from core.received import check_thread, same_message, validate_received
from core.store.messages import insert_message, message_by_id
from core.timestamp import timestamp
from crypto.canonical import JsonError, JsonValue
from crypto.clock import MAX_CLOCK_LEAD_MS, Reading
from crypto.op import ABSENT, Op
from crypto.sealing import SealError, open_sealed
from replica.chain.quotas import take_from_quota
from replica.mail.local_only import refuse_local_only
from replica.mail.notices import Announcement
from replica.mail.outcome import Outcome
from replica.mail.payloads import MailPayload, MailTarget, parse_mail
from replica.mail.settlement import answer_arrived, has_room, question_arrived
from replica.mail.speaks_for import Speech, speaks_for
from replica.node import Node
from replica.records import remote
from replica.shared.homes import homes
from replica.team.homes import SYSTEM_ADDRESS, never_federates
from replica.team.roster import Team


@dataclass(slots=True)
class Receiver:
    """Receives the mail of one batch. `announcements` is what to publish and dispatch after its commit."""

    node: Node
    team: Team
    announcements: list[Announcement] = field(default_factory=list)

    def receive(self, db: sqlite3.Connection, op: Op) -> Outcome:
        """Apply one mail op addressed to this replica, inside an open transaction."""
        if op.body is not ABSENT:
            return Outcome.KEPT  # a forward: kept for a build that judges them
        try:
            payload = parse_mail(open_op(self.node, op))
        except (SealError, DmpError) as error:
            return Outcome.dropped(f"malformed:{op.replica}", f"mail that cannot be read: {error}")
        message = replace(payload.message, origin=op.replica, received_at=self.node.now())
        early = self._clock(op, message)
        if early is not None:
            return early
        match speaks_for(db, self.team, op, message):
            case Speech.NO:
                return Outcome.dropped(
                    f"speaks-for:{op.replica}",
                    f"{self.team.describe(op.replica)} does not speak for the sender it named; dropped",
                )
            case Speech.UNKNOWN:
                return Outcome.parked(
                    f"op:{op.replica}:{op.seq}",
                    "its sender is not known to be that replica's; kept",
                    again=False,
                )
        try:
            return self._steps(db, op, message, payload)
        except DmpError as error:
            if error.code is Code.UNAVAILABLE:
                raise  # this machine's own trouble is no refusal
            return Outcome.refused(f"mail-drop:{op.replica}", str(error), message.id)

    def _clock(self, op: Op, message: Message) -> Outcome | None:
        """A message's clock may lead neither its op's nor this machine's by more than the lead allowed."""
        reading = Reading.parse(message.hlc or "")
        if reading.ms > op.hlc.ms + MAX_CLOCK_LEAD_MS:
            return Outcome.dropped(f"malformed:{op.replica}", "mail dated later than the op that carries it")
        if reading.ms > self.node.wall() + MAX_CLOCK_LEAD_MS:
            return Outcome.parked(
                f"op:{op.replica}:{op.seq}",
                "its message is dated too far ahead; it is kept until that time comes",
            )
        return None

    def _steps(self, db: sqlite3.Connection, op: Op, message: Message, payload: MailPayload) -> Outcome:
        host, federation = self.node.engine.host, self.node.engine.federation
        # 1. Duplicate
        stored = message_by_id(db, message.id)
        if stored is not None:
            return self._duplicate(db, op, stored, message)
        replied = None if message.reply_to is None else message_by_id(db, message.reply_to)
        root = message_by_id(db, message.thread)
        check_thread(message, replied, root)
        # 2. Local-only
        refuse_local_only(message, replied, root, "to")
        if any(_is_local(target.recipient) for target in payload.targets):
            raise forbidden("to", "that recipient is never reached through federation")
        # 3. Authorize the sender: speaks_for parked every agent whose registration is not replicated here.
        # 4. Participation
        joined = replied or root
        if joined is not None and not (
            participates(db, host, federation, message.sender, joined) and _is_own(op, message, joined)
        ):
            raise not_found("replyTo", "the sender takes no part in the message it replies to")
        # 5. Validate as received
        validate_received(host, message, replied)
        if not take_from_quota(db, op.replica, "targets", self.node.wall(), len(payload.targets)):
            return Outcome.wait(
                f"quota:{op.replica}",
                f"{self.team.describe(op.replica)} names more recipients than one hour's quota",
            )
        # 7. Answers settle at the question's origin; 8. plan; 9. commit
        self._store(db, op, message, payload.targets, replied)
        return Outcome.APPLIED

    def _duplicate(self, db: sqlite3.Connection, op: Op, stored: Message, message: Message) -> Outcome:
        try:
            same = same_message(stored, message) and stored.origin == op.replica
        except JsonError:
            same = False
        if not same:
            raise conflict("id", "another message has this id here")
        remote.set_readers(db, stored.id, self._readers(op))
        return Outcome.NOTHING

    def _store(
        self,
        db: sqlite3.Connection,
        op: Op,
        message: Message,
        targets: Sequence[MailTarget],
        replied: Message | None,
    ) -> None:
        engine = self.node.engine
        now_ms = self.node.wall()
        if message.kind == "answer" and message.reply_to is not None:
            if not has_room(db, message.reply_to, op.replica):
                raise DmpError(Code.LIMITED, "more answers to one question than are kept", "replyTo")
            message = store_answer(db, engine.federation, message, replied, timestamp(now_ms))
        else:
            insert_message(db, message)
        remote.set_readers(db, message.id, self._readers(op))
        planned = []
        for target in targets:
            here, elsewhere = self._place(op.replica, target)
            if here:
                start = plan_received(engine.host, target.recipient, target.via, False)
                if start is not None:
                    planned.append(start)
            else:
                row = remote.forwarded(message.id, target.recipient, target.via, elsewhere, timestamp(now_ms))
                remote.insert(db, row)
        deliveries = deliver(db, engine.federation, engine.ids, message, planned, now_ms)
        self.announcements.append((message, deliveries))
        if message.standing is not None:
            self.announcements += answer_arrived(db, self.node, message, replied)
        if message.takes_answer:
            question_arrived(db, self.node, message)

    def _place(self, origin: str, target: MailTarget) -> tuple[bool, tuple[str, ...]]:
        """Whether this replica delivers a target, by its own computation, and which others do."""
        computed = homes(self.node.store.db, self.team.view, target.recipient)
        named = {home for home in target.homes if home in self.team.view.members}
        if origin in computed:
            named.add(origin)
        me = self.node.me
        return me in named and me in computed, tuple(sorted(named - {me}))

    def _readers(self, op: Op) -> set[str]:
        return set(op.to or ()) - {self.node.me}


def open_op(node: Node, op: Op) -> JsonValue:
    """Decrypt an op's payload. Raises SealError."""
    return open_sealed(
        op.sealed,
        replica=op.replica,
        seq=op.seq,
        type=op.type,
        me=node.me,
        private=node.identity.secrets.seal_private,
    )


def _is_local(recipient: str) -> bool:
    """Whether an address is nobody's from another replica."""
    return recipient == SYSTEM_ADDRESS or never_federates(recipient)


def _is_own(op: Op, message: Message, joined: Message) -> bool:
    """Whether a host's system address joins what it may: its own messages, which others' share an address with."""
    return message.sender != SYSTEM_ADDRESS or joined.sender != SYSTEM_ADDRESS or joined.origin == op.replica
