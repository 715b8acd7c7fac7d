"""The seam the host core leaves for teammates, filled: what a local send or change means for other replicas.

Everything here runs inside the core's own transaction, so a message, its remote rows and the outbox row that
will carry it commit together. Nothing here signs, seals or touches a network.
"""

from collections.abc import Callable, Sequence

from core.errors import DmpError, conflict, forbidden, invalid
from core.federation import LOCAL, Placement, Target
from core.gate_data import data_type, has_gate_data
from core.message import Delivery, Message, Via
from core.store import Store
from core.store.deliveries import deliveries_of
from core.store.messages import message_by_id
from core.timestamp import timestamp
from replica.chain.clock import take_reading
from replica.mail.local_only import refuse_local_only
from replica.mail.payloads import MAX_TEXT
from replica.records import outbox, remote
from replica.records.meta import Meta, get
from replica.shared.homes import homes as homes_of
from replica.team import homes
from replica.team.homes import SYSTEM_ADDRESS
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

        What may not leave, a member of a channel elsewhere goes without; and so do the other homes of whom this
        host's own system, a session or an agent tells something. Raises DmpError `forbidden` for any other such
        target: on `data` where that is gate data, else on the caller's `to[i]`.
        """
        team = self._team()
        if team is None:
            return LOCAL
        found = homes_of(self._store.db, team.view, target.recipient)
        elsewhere = tuple(name for name in found if name != self._me)
        if not elsewhere:
            return LOCAL
        here = self._me in found
        is_system = message.sender == SYSTEM_ADDRESS
        own_word = here and is_system
        if own_word and not self._was_shared(message):
            return LOCAL
        if not is_system and message.sender.startswith(("run:", "agent:")):
            return self._of_a_program(message, target, here=here)
        if team.view.members[self._me].observer:
            raise forbidden(
                target.field, "this machine observes the team, and what it says is not believed there"
            )
        replied = None if message.reply_to is None else message_by_id(self._store.db, message.reply_to)
        root = None if message.reply_to is None else message_by_id(self._store.db, message.thread)
        try:
            refuse_local_only(message, replied, root, target.field)
        except DmpError:
            if own_word or target.via is Via.CHANNEL:
                return Placement(local=here)
            raise
        return Placement(local=here, homes=elsewhere)

    def _was_shared(self, message: Message) -> bool:
        """Whether other machines have what a notice is about; they believe no other (F.5, speaks for)."""
        return bool(message.refs) and all(
            ref.type == "message" and remote.readers_of(self._store.db, ref.id) for ref in message.refs
        )

    def _of_a_program(self, message: Message, target: Target, *, here: bool) -> Placement:
        """Where mail from a session or an agent goes: nowhere else, since no machine could tell whose it is.

        A receiver believes it once it knows the sender's registration or presence, which this build does not
        publish; it would keep the mail aside until then, and its sender would wait for nothing.
        """
        if here or target.via is Via.CHANNEL:
            return Placement(local=here)
        if has_gate_data(message.data):
            raise forbidden("data", "gate data never leaves its host; ask a person of this machine")
        raise forbidden(
            target.field,
            f"mail from a session or an agent does not leave this machine yet, and {target.recipient} is on "
            "another; have its person write",
        )

    def stored(self, message: Message, placements: Sequence[tuple[Target, Placement]]) -> None:
        """Add the remote rows of a local send, and the outbox row that will carry it."""
        elsewhere = [placement for _, placement in placements if placement.homes]
        team = self._team()
        if not elsewhere or team is None:
            return
        db = self._store.db
        now = timestamp(self._wall())
        for target, placement in placements:
            if placement.homes:
                remote.insert(
                    db, remote.forwarded(message.id, target.recipient, target.via, placement.homes, now)
                )
        reached = {home for placement in elsewhere for home in placement.homes}
        readers = homes.readers(team.view, self._me, message.sender, reached)
        targets = [self._target(target, placement) for target, placement in placements]
        remote.set_readers(db, message.id, readers)
        outbox.add(db, outbox.Kind.MAIL, {"message": message.id, "targets": targets}, readers)
        for delivery in deliveries_of(db, message.id):
            self.moved(delivery, message)  # nobody was to be told when it was stored, moments ago

    def _target(self, target: Target, placement: Placement) -> dict[str, object]:
        """A target as its payload names it: the origin is a home too when it delivers (F.4)."""
        everywhere = {*placement.homes, self._me} if placement.local else set(placement.homes)
        return {"recipient": target.recipient, "via": target.via, "homes": sorted(everywhere)}

    def moved(self, delivery: Delivery, message: Message) -> None:
        """Report a delivery's new state to the message's origin and to every replica it went to."""
        told = self._everyone(message)
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
        return remote.participates(self._store.db, address, message_id)

    def _everyone(self, message: Message) -> set[str]:
        return everyone(self._store, self._me, message)


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
    own_close = (
        answer.origin is None and answer.sender == SYSTEM_ADDRESS and data_type(answer.data) == "x-closed"
    )
    return str(answer.data.get("reason", "")) if own_close and isinstance(answer.data, dict) else None
