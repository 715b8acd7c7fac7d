"""The two guardrails: the urgent quota and the breaker (section 6.6).

Both look back one hour, its first instant included, and hold agents and sessions alone. The quota takes `urgent`
from a message; the breaker refuses a reply, and tells the owner of its sender once a thread and hour.
"""

import logging
from collections.abc import Callable, Collection
from dataclasses import dataclass
from sqlite3 import Connection
from typing import Final

from core.commits import CommitPoint
from core.errors import Code, DmpError
from core.gate_data import data_type
from core.host import Host
from core.inputs import SendInput
from core.message import Delivery, Message
from core.outbox import Outbox
from core.store import Store
from core.store.recent import system_notices_since, turns_since, urgent_since
from core.timestamp import timestamp

_log = logging.getLogger(__name__)

WINDOW_MS: Final = 3_600_000
BREAKER: Final = "x-breaker"


class PausedError(DmpError):
    """A reply that the breaker refused: `limited` on `replyTo`.

    `turns` is how many messages agents and sessions sent into the thread of `target`, the message replied to.
    """

    def __init__(self, sender: str, target: Message, turns: int) -> None:
        text = "agents have said enough in this thread for now; wait up to an hour, or leave the reply to a human"
        super().__init__(Code.LIMITED, text, "replyTo")
        self.sender = sender
        self.target = target
        self.turns = turns


def is_over_quota(db: Connection, host: Host, sender: str, now_ms: int, origin: str | None = None) -> bool:
    """Whether a sender's next urgent message, which is not stored yet, is one too many.

    `origin` is the replica that the message came from, None for this one: the quota is each sender's on each.
    """
    if not _is_held(host, sender, origin):
        return False
    return urgent_since(db, sender, origin, _start(now_ms)) >= host.limits.urgent_per_hour


def check_breaker(
    db: Connection, host: Host, sender: str, target: Message, now_ms: int, origin: str | None = None
) -> None:
    """Refuse a reply to a message in a thread where agents have had their turns.

    `origin` is the replica that the reply came from, None for this one. Raises PausedError.
    """
    if not _is_held(host, sender, origin):
        return
    turns = turns_since(db, target.thread, host.system_address, _start(now_ms))
    if turns >= host.limits.agent_turns_per_thread_per_hour:
        raise PausedError(sender, target, turns)


@dataclass(frozen=True, slots=True)
class Breaker:
    """Tells owners what the breaker did.

    `say` stores a message of the system address that replies to another, inside an open transaction.
    """

    store: Store
    host: Host
    clock: Callable[[], int]
    outbox: Outbox
    say: Callable[[Connection, SendInput, Message], tuple[Message, Collection[Delivery]]]

    def tell(self, paused: PausedError) -> None:
        """Send the owner of a refused sender the notice, where the thread has none from the past hour.

        The notice is a transaction of its own, after the refusal's is undone; one that fails is logged, and
        changes nothing about the refusal.
        """
        thread = paused.target.thread
        try:
            owner = self.host.owner(paused.sender)
            if owner is None:
                return
            notice = SendInput(
                to=(owner,),
                kind="notice",
                body=f"Agents have sent {paused.turns} messages in thread {thread} this hour; "
                "further agent replies are paused.",
                reply_to=paused.target.id,
                data={"type": BREAKER, "thread": thread},
            )
            with self.store.transaction(CommitPoint.NOTICE) as db:
                if self._has_told(db, thread):
                    return
                message, deliveries = self.say(db, notice, paused.target)
            self.outbox.announce(message)
            self.outbox.dispatch(message, deliveries)
        except Exception as error:  # noqa: BLE001 - the refusal stands whatever becomes of its notice
            _log.warning("no notice that agents pause in thread %s: %s", thread, type(error).__name__)

    def _has_told(self, db: Connection, thread: str) -> bool:
        sent = system_notices_since(db, thread, self.host.system_address, _start(self.clock()))
        return any(data_type(data) == BREAKER for data in sent)


def _is_held(host: Host, sender: str, origin: str | None) -> bool:
    """Whether a sender is held by the guardrails; another host's system is an agent like any other."""
    return not sender.startswith("human:") and (sender != host.system_address or origin is not None)


def _start(now_ms: int) -> str:
    return timestamp(now_ms - WINDOW_MS)
