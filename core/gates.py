"""What follows from an answer to a gate: its effect, or its voiding (sections 5.5-5.7; 6.3, step 3).

An answer that decides is committed first; then its effect is applied, and recorded as applied; only then does
anybody hear of it. An answer from an address that could never decide, which only another build can have
stored, is set aside and its gate opened again. Recovery applies what was not recorded and sets aside what it
finds. An effect is claimed like a delivery, so that a process which recovers leaves alone the one another is
applying; it is still applied again where a crash fell between it and its record.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from sqlite3 import Connection
from typing import Final

from core.commits import CommitPoint
from core.delivering import move
from core.dispatchers import Dispatchers
from core.errors import DmpError
from core.federation import Federation
from core.gate_data import data_type, is_close, is_deciding, is_gate
from core.host import Host
from core.inputs import SendInput
from core.message import Delivery, Message, Standing, State
from core.outbox import Outbox
from core.planning import plan_again
from core.store import Store
from core.store.deliveries import deliveries_of
from core.store.effects import claim_effect, forget_effect, owner_of, record_applied, release_effect
from core.store.messages import answer_to, set_standing, unsettled_questions_with_gate_data
from core.timestamp import timestamp

_log = logging.getLogger(__name__)

WAKE: Final = "wake"

Stored = tuple[Message, tuple[Delivery, ...]]


class IgnoredError(Exception):
    """A gate has an answer that never takes effect: void it, and begin again."""

    def __init__(self, gate: Message) -> None:
        super().__init__(gate.id)
        self.gate = gate


@dataclass(frozen=True, slots=True)
class Gates:
    """The gates of one host.

    `say` stores a message of the system address that replies to another, inside an open transaction; `wake`
    does what an answered wake gate asks for (section 5.9).
    """

    store: Store
    host: Host
    clock: Callable[[], int]
    federation: Federation
    dispatchers: Dispatchers
    outbox: Outbox
    say: Callable[[Connection, SendInput, Message], Stored]
    wake: Callable[[Message, Message], None]

    # Which

    def takes_effect(self, question: Message, answer: Message) -> bool:
        """Whether an answer has an effect here: it decides a gate of a type this host knows (section 5.5)."""
        system = self.host.system_address
        return (
            answer.kind == "answer"
            and question.takes_answer
            and data_type(question.data) in self.host.gate_types
            and is_deciding(answer, system)
            and not is_close(answer, system)
        )

    def is_ignored(self, question: Message, answer: Message) -> bool:
        """Whether a stored answer never takes effect, and is to be voided (section 5.7)."""
        system = self.host.system_address
        return is_gate(question, system, self.host.gate_types) and not is_deciding(answer, system)

    # Effects

    def claim(self, db: Connection, gate: Message) -> None:
        """Make a gate's effect this process's to apply, in the transaction that stores the answer."""
        claim_effect(db, gate.id, self.dispatchers.me())

    def apply(self, gate: Message, answer: Message) -> bool:
        """Apply a claimed effect and record it; False, and left to recovery, when it fails."""
        try:
            with self.outbox.applying(gate):
                self.host.apply_effect(gate, answer)
                if data_type(gate.data) == WAKE:
                    self.wake(gate, answer)
        except Exception as error:  # noqa: BLE001 - the answer is committed; recovery applies its effect again
            _log.warning("the effect of gate %s failed: %s", gate.id, type(error).__name__)
            applied = False
        else:
            applied = True
        try:
            with self.store.transaction(CommitPoint.EFFECT) as db:
                if applied:
                    record_applied(db, gate.id, timestamp(self.clock()))
                else:
                    release_effect(db, gate.id, self.dispatchers.me())
        except DmpError as error:
            _log.warning("what became of the effect of gate %s is not recorded: %s", gate.id, error)
            return False
        return applied

    # Voiding

    def void(self, gate: Message) -> bool:
        """Set aside the answer to a gate that never takes effect, and open the gate again (section 5.7).

        The voided message is published, the gate's deliveries are dispatched, and the answerer's owner is
        told. False, and nothing done, when another process did it meanwhile.
        """
        with self.store.transaction(CommitPoint.VOID) as db:
            answer = answer_to(db, gate.id)
            if answer is None or not self.is_ignored(gate, answer):
                return False
            set_standing(db, answer.id, Standing.VOIDED)
            forget_effect(db, gate.id)
            reopened = self._reopen(db, gate)
            notice = self._notice(db, gate, answer)
        self.outbox.announce(replace(answer, kind="message", standing=Standing.VOIDED))
        self.outbox.dispatch(gate, reopened)
        if notice is not None:
            self.outbox.announce(notice[0])
            self.outbox.dispatch(*notice)
        return True

    def _reopen(self, db: Connection, gate: Message) -> list[Delivery]:
        now = timestamp(self.clock())
        reopened = []
        for delivery in deliveries_of(db, gate.id):
            if delivery.state is State.ANSWERED:
                start = plan_again(self.host, delivery.recipient, delivery.via)
                moved = move(db, self.federation, gate, delivery, start.state, start.session, now)
                assert moved is not None
                reopened.append(moved)
        return reopened

    def _notice(self, db: Connection, gate: Message, answer: Message) -> Stored | None:
        """Store the notice that tells the answerer's owner; None where it has none, or cannot be told."""
        owner = self._owner(answer.sender)
        if owner is None:
            return None
        body = (
            f"An answer from {answer.sender} to gate {gate.id} was set aside; only deciding humans answer gates. "
            "The gate is open again."
        )
        try:
            return self.say(db, SendInput((owner,), "notice", body, reply_to=gate.id), gate)
        except DmpError as error:  # refused before anything of it was stored
            _log.warning("nobody was told that an answer to gate %s was set aside: %s", gate.id, error)
            return None

    def _owner(self, target: str) -> str | None:
        try:
            return self.host.owner(target)
        except Exception as error:  # noqa: BLE001 - the answer is set aside whoever is told
            _log.warning("no owner to tell that an answer was set aside: %s", type(error).__name__)
            return None

    # Recovery

    def recover(self) -> tuple[int, int]:
        """Apply the effects that are not recorded, and void the answers that never take effect.

        Step 3 of section 6.3. Returns how many effects were applied, and how many answers voided.
        """
        replayed = voided = 0
        for gate in unsettled_questions_with_gate_data(self.store.db):
            answer = answer_to(self.store.db, gate.id)
            if answer is None or data_type(gate.data) not in self.host.gate_types:
                continue
            if self.is_ignored(gate, answer):
                voided += self.void(gate)
            elif self.takes_effect(gate, answer) and self._take_over(gate):
                replayed += self.apply(gate, answer)
        return replayed, voided

    def _take_over(self, gate: Message) -> bool:
        """Claim an effect that nobody is applying: no other process that runs, nor a call that this one is in."""
        if self.outbox.is_applying(gate):
            return False
        with self.store.transaction(CommitPoint.CLAIM) as db:
            owner, me = owner_of(db, gate.id), self.dispatchers.me()
            if owner is not None and owner != me and self.dispatchers.lives(owner):
                return False
            return claim_effect(db, gate.id, me)
