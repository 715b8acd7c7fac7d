"""Waking recipients that are not live (sections 5.9, 6.5, C.8).

A message that asks for it is looked at once it is dispatched: each of its deliveries that then waits for a work
item, or for a session that a human wrote to, is put to the host's wake policy. What the policy says is done at
once, told to the sender, or asked of the target's owner with a wake gate. The message is committed by then, so
nothing that fails here fails it; and nothing that is sent here asks for a waking itself.
"""

import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from core.gate_types import GATE_TYPES
from core.host import Host, WakeError
from core.inputs import SendInput
from core.message import Delivery, Message, Ref, State
from core.planning import successor
from core.presentation import opening
from core.store import Store
from core.store.deliveries import delivery_by_id
from core.store.messages import message_by_id
from core.text import cut, unbroken

_log = logging.getLogger(__name__)

APPROVE: Final = "approve"

_QUOTED_ERROR: Final = 200


@dataclass(frozen=True, slots=True)
class Waking:
    """The waking of one host. `tell` sends as its system address, in a transaction of its own."""

    store: Store
    host: Host
    tell: Callable[[SendInput], object]

    def consider(self, message: Message, deliveries: Iterable[Delivery]) -> None:
        """Ask the wake policy about dispatched deliveries of a message that asks for a waking.

        A human at another replica is judged as an agent is, whose wish continues no session that ended. A target
        that is to be asked about but has no owner is not woken, and the sender is told so as if the
        policy had denied it; nobody could ever approve it.
        """
        is_from_human_here = message.sender.startswith("human:") and message.origin is None
        schemes = ("task:", "run:") if is_from_human_here else ("task:",)
        for delivery in deliveries:
            is_one = delivery.state is State.HELD and delivery.recipient.startswith(schemes)
            if is_one and self._waits(delivery):
                self._consider(message, delivery.recipient)

    def approved(self, gate: Message, answer: Message) -> None:
        """Do what an answered wake gate asks for (section 5.9); an answer that denies it asks for nothing.

        A target that has a live session needs none. Why any other is not woken is told to the sender of the
        message that waits, once however often the effect is applied.
        """
        data = gate.data if isinstance(gate.data, dict) else {}
        target, waiting = data.get("target"), data.get("message")
        if answer.choice != APPROVE or not isinstance(target, str) or not isinstance(waiting, str):
            return
        message = message_by_id(self.store.db, waiting)
        if message is None:
            _log.warning("wake gate %s is about a message that is not here", gate.id)
            return
        body = self._wake_if_needed(target, message)
        if body is not None:
            self._notify(message, body, f"wake {gate.id}")

    def _waits(self, delivery: Delivery) -> bool:
        """Whether a delivery is still where it was; the session of a target woken before it may have it by now."""
        return delivery_by_id(self.store.db, delivery.id) == delivery

    def _consider(self, message: Message, target: str) -> None:
        body = self._ruled(message, target)
        if body is not None:
            self._notify(message, body)

    def _ruled(self, message: Message, target: str) -> str | None:
        """Do what the policy says, and return what to tell the sender, if anything."""
        try:
            ruling = self.host.rule_wake(target, message)
            owner = self.host.owner(target) if ruling == "ask" else None
        except Exception as error:  # noqa: BLE001 - a failing policy never fails what is committed
            _log.warning("no ruling on waking for message %s: %s", message.id, type(error).__name__)
            return _could_not_wake(target, "its host could not rule on it")
        if ruling == "allow":
            return self._wake(target, message)
        if owner is None:
            return f"Waking {target} was not allowed. Your message is waiting for it."
        try:
            self.tell(_gate(message, target, owner))
        except Exception as error:  # noqa: BLE001 - as above
            _log.warning("no wake gate for message %s: %s", message.id, type(error).__name__)
            return _could_not_wake(target, "its owner could not be asked")
        return None

    def _wake(self, target: str, message: Message) -> str | None:
        """Wake a target, and return what to tell the sender where that fails."""
        try:
            self.host.wake(target, message)
        except WakeError as error:
            _log.warning("target of message %s not woken: %s", message.id, type(error).__name__)
            return _could_not_wake(target, _line(str(error)))
        except Exception as error:  # noqa: BLE001 - as above
            _log.warning("target of message %s not woken: %s", message.id, type(error).__name__)
            return _could_not_wake(target, "its host failed to")
        return None

    def _wake_if_needed(self, target: str, message: Message) -> str | None:
        """Wake a target some time after the message, unless it no longer qualifies; return what to tell."""
        try:
            is_live = (
                self.host.is_live(target) if target.startswith("run:") else self.host.live_session(target)
            )
            if is_live:
                return None
            why = self.host.why_not_woken(target)
        except Exception as error:  # noqa: BLE001 - as above
            _log.warning("target of message %s not read: %s", message.id, type(error).__name__)
            return f"Not woken: {_noun(target)} could not be read: {_line(str(error))}."
        if why is not None:
            return f"Not woken: {_noun(target)} is {_line(why)}."
        return self._wake(target, message)

    def _notify(self, message: Message, body: str, key: str | None = None) -> None:
        """Send the sender of a message a notice about it, or its work item where it is a session that ended."""
        if message.sender == self.host.system_address:
            return
        try:
            to = successor(self.host, message.sender)
            refs = (Ref("message", message.id),)
            self.tell(SendInput((to,), "notice", body, refs=refs, idempotency_key=key))
        except Exception as error:  # noqa: BLE001 - as above
            _log.warning("no notice about waking for message %s: %s", message.id, type(error).__name__)


def _gate(message: Message, target: str, owner: str) -> SendInput:
    """Return the gate that asks an owner to wake a target for a message (section 5.9)."""
    return SendInput(
        to=(owner,),
        kind="question",
        body=f"{message.sender} wants to wake {target}:\n\n> {opening(message.body)}",
        refs=(Ref("message", message.id),),
        data={"type": "wake", "target": target, "message": message.id},
        blocking=True,
        choices=GATE_TYPES["wake"].choices,
    )


def _could_not_wake(target: str, reason: str) -> str:
    return f"Could not wake {target}: {reason}. Your message is waiting for it."


def _noun(target: str) -> str:
    """Return a target as a sentence names it, such as `task t-4a8cce`."""
    return target.replace(":", " ", 1)


def _line(text: str) -> str:
    """Return a host's words on one line, and no more of them than a notice needs."""
    return cut(unbroken(text), _QUOTED_ERROR)
