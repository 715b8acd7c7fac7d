"""The seam the host core leaves for teammates, filled: what a local send or change means for other replicas.

Everything here runs inside the core's own transaction, so a message, its remote rows and the outbox row that
will carry it commit together. Nothing here signs, seals or touches a network.
"""

from collections.abc import Callable, Sequence

from core.errors import DmpError, conflict, forbidden, invalid
from core.federation import LOCAL, Placement, Target
from core.gate_data import is_close
from core.message import Delivery, Message, Via
from core.store import Store
from core.store.deliveries import deliveries_of
from core.store.messages import answer_to, message_by_id
from core.timestamp import timestamp
from replica.addresses import SYSTEM_ADDRESS, never_federates
from replica.chain.clock import take_reading
from replica.mail.local_only import refuse_local_only
from replica.mail.payloads import MAX_TEXT
from replica.mail.placing import homes_of_target
from replica.mail.readers import all_readers
from replica.mail.speaks_for import is_believed
from replica.records import outbox, remote
from replica.records.meta import Meta, get
from replica.shared.homes import live_replica, waking_replica
from replica.team.roster import Team, TeamReader


class Teammates:
    """Where recipients live, and what the replicas there are told (F.4-F.6)."""

    def __init__(self, store: Store, replica: str, reader: TeamReader, wall: Callable[[], int]) -> None:
        self._store = store
        self._me = replica
        self._reader = reader
        self._wall = wall

    def _team(self) -> Team | None:
        """The team, once mail may leave."""
        team = self._reader.read(self._store.db)
        return team if team is not None and team.ready(self._me) else None

    def stamp(self) -> str | None:
        """The hybrid clock of a message created here; None in no team."""
        if get(self._store.db, Meta.FOUNDING) is None:
            return None
        return str(take_reading(self._store.db, self._me, self._wall()))

    def place(self, message: Message, target: Target) -> Placement:
        """Where `target` lives: here, elsewhere or both (federation wire 9.3).

        What may not leave, a member of a channel elsewhere goes without; and so do the other machines of a person
        here whom this host's own system, a session or an agent tells something. Raises DmpError `forbidden` for any
        other such target: on `data` where that is gate data, else on the caller's `to[i]`.
        """
        team = self._team()
        if team is None:
            return LOCAL
        db, view = self._store.db, team.view
        replied = None if message.reply_to is None else message_by_id(db, message.reply_to)
        root = None if message.reply_to is None else message_by_id(db, message.thread)
        found = homes_of_target(db, view, self._me, target.recipient, message, replied)
        elsewhere = tuple(name for name in found if name != self._me)
        if not elsewhere:
            return LOCAL
        here = self._me in found
        is_human = message.sender.startswith("human:")
        if here and message.sender == SYSTEM_ADDRESS and not self._was_shared(message):
            return LOCAL
        try:
            if view.members[self._me].observer:
                raise forbidden(
                    target.field, "this machine observes the team, and what it says is not believed there"
                )
            refuse_local_only(message, replied, root, target.field)
            self._need_believed(message, target)
        except DmpError:
            if target.via is Via.CHANNEL or (here and not is_human):
                return Placement(local=here)
            raise
        return Placement(local=here, homes=elsewhere)

    def _was_shared(self, message: Message) -> bool:
        """Whether other machines have what a notice is about; they believe no other (F.5, speaks for)."""
        return bool(message.refs) and all(
            ref.type == "message" and remote.readers_of(self._store.db, ref.id) for ref in message.refs
        )

    def _need_believed(self, message: Message, target: Target) -> None:
        """Check that teammates will know a session or an agent for one of this machine's.

        Raises DmpError `forbidden` on the target's field.
        """
        if not is_believed(self._store.db, self._me, message.sender):
            raise forbidden(
                target.field,
                f"{message.sender} is not known in the team for one of this machine's, so what it says would not "
                "be believed there; send from the machine it belongs to",
            )

    def stored(self, message: Message, placements: Sequence[tuple[Target, Placement]]) -> None:
        """Add the remote rows of a local send, and the outbox row that will carry it.

        A channel may have brought in somebody whom federation never reaches, which makes the message local-only: then
        its members elsewhere are skipped. Raises DmpError `forbidden` on the `to[i]` of somebody elsewhere who was
        addressed beside it.
        """
        elsewhere = [placement for _, placement in placements if placement.homes]
        team = self._team()
        if not elsewhere or team is None:
            return
        if any(never_federates(target.recipient) for target, _ in placements):
            _refuse_beside_local_only(placements)
            return
        db = self._store.db
        now = timestamp(self._wall())
        reached = {home for placement in elsewhere for home in placement.homes}
        readers = all_readers(team.view, self._me, message.sender, reached)
        wakes = {
            target.recipient: waking_replica(db, team.view, target.recipient, self._homes(placement))
            for target, placement in placements
            if message.wake == "request" and target.recipient.startswith("task:")
        }
        for target, placement in placements:
            if placement.homes:
                wake_at = wakes.get(target.recipient)
                row = remote.forwarded(
                    message.id, target.recipient, target.via, placement.homes, now, wake_at
                )
                remote.insert(db, row)
        targets = [
            self._target(target, placement, wakes.get(target.recipient)) for target, placement in placements
        ]
        remote.set_readers(db, message.id, readers)
        outbox.add(db, outbox.Kind.MAIL, {"message": message.id, "targets": targets}, readers)
        for delivery in deliveries_of(db, message.id):
            self.moved(delivery, message)  # nobody was to be told when it was stored, moments ago

    def _target(self, target: Target, placement: Placement, wake_at: str | None) -> dict[str, object]:
        """A target as its payload names it: the origin is a home too when it delivers (F.4)."""
        named: dict[str, object] = {
            "recipient": target.recipient,
            "via": target.via,
            "homes": self._homes(placement),
        }
        return named if wake_at is None else {**named, "wakeAt": wake_at}

    def _homes(self, placement: Placement) -> list[str]:
        return sorted({*placement.homes, self._me} if placement.local else placement.homes)

    def may_wake(self, message: Message, recipient: str) -> bool:
        """Whether this replica is the one that may wake a recipient for a message sent here (F.4)."""
        row = remote.row_of(self._store.db, message.id, recipient)
        return row is None or row.wake_at in (None, self._me)

    def take_over(self, work_item: str) -> list[tuple[Message, Via]]:
        """Hand over the mail of a work item whose session lives here now and which its homes still hold (9.D6)."""
        db, team = self._store.db, self._team()
        if team is None or live_replica(db, team.view, work_item) != self._me:
            return []
        taken = []
        for row in remote.waiting_for(db, work_item):
            message = message_by_id(db, row.message)
            if message is None or answer_to(db, row.message) is not None:
                continue  # a question that has its answer asks nobody
            if all(each.recipient != work_item for each in deliveries_of(db, row.message)):
                remote.remove(db, row)
                taken.append((message, Via(row.via)))
        return taken

    def moved(self, delivery: Delivery, message: Message) -> None:
        """Report a delivery's new state to the message's origin and to every replica it went to."""
        told = everyone(self._store, self._me, message)
        if not told or delivery.state == "sending":
            return
        entry = {
            "t": "delivery",
            "message": message.id,
            "recipient": delivery.recipient,
            "state": str(delivery.state),
            "at": delivery.changed_at,
        }
        outbox.add(self._store.db, outbox.Kind.STATE, entry, told)

    def settles(self, question: Message) -> bool:
        """Whether this replica is the question's settler: its origin (F.6)."""
        return question.origin is None

    def answered(self, question: Message, answer: Message) -> None:
        """Publish the settlement of a question that originated here, naming its answer or close.

        Raises DmpError `conflict` for an answer to another replica's question that is settled already, though
        the answer that was accepted has not arrived.
        """
        if question.origin is not None:
            settled = "SELECT answer FROM settlements WHERE question = ?"
            row = self._store.db.execute(settled, (question.id,)).fetchone()
            if row is not None and row[0] != answer.id:
                raise conflict("replyTo", "that question was answered already; its answer is on its way here")
            return
        settle(self._store, self._me, question, answer, timestamp(self._wall()))

    def participates(self, address: str, message_id: str) -> bool:
        """Whether `address` received `message_id` on another replica."""
        return remote.row_of(self._store.db, message_id, address) is not None


def everyone(store: Store, me: str, message: Message) -> set[str]:
    """Every other replica that holds `message`: its origin, and where it went."""
    told = set(remote.readers_of(store.db, message.id))
    if message.origin is not None:
        told.add(message.origin)
    told.discard(me)
    return told


def settle(store: Store, me: str, question: Message, answer: Message, at: str) -> None:
    """Queue the settle entry of a question of this replica's, for everyone in it (F.6).

    Raises DmpError `invalid` on `reason` for a close that nobody could read.
    """
    told = everyone(store, me, question) | everyone(store, me, answer)
    if not told:
        return
    entry = {"t": "settle", "question": question.id, "answer": answer.id, "at": at}
    closed = close_reason(answer)
    if closed is not None:
        if len(closed) > MAX_TEXT:
            raise invalid(
                "reason", f"the reason of a close that others hear of may take {MAX_TEXT} characters"
            )
        entry["closed"] = closed
    outbox.add(store.db, outbox.Kind.STATE, entry, told)


def close_reason(answer: Message) -> str | None:
    """The reason when `answer` is a close from this host's own system address, else None (4.8)."""
    own_close = answer.origin is None and is_close(answer, SYSTEM_ADDRESS)
    return str(answer.data.get("reason", "")) if own_close and isinstance(answer.data, dict) else None


def _refuse_beside_local_only(placements: Sequence[tuple[Target, Placement]]) -> None:
    """Refuse a direct recipient elsewhere of a message that a channel brings to whom federation never reaches."""
    for target, placement in placements:
        if placement.homes and not placement.local and target.via is Via.DIRECT:
            raise forbidden(
                target.field,
                "a channel of this message has a member that is never reached through federation; write apart",
            )
