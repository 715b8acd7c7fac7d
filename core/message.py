"""Messages and deliveries as they are stored (sections 4.1, 6)."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final, Literal, TypeAlias

from crypto.canonical import JsonValue
from crypto.clock import Reading


class Absent:
    """The one value that says a message has no `data`, which JSON's null does not."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT: Final = Absent()
Data: TypeAlias = "JsonValue | Absent"

QUESTION_KINDS: Final = frozenset(("question", "handoff"))
KINDS: Final = frozenset(("message", "question", "answer", "handoff", "notice"))

Wake = Literal["none", "request"]


class Standing(StrEnum):
    """What became of an answer (sections 5.7, F.6). A message that never was one has none."""

    ACCEPTED = "accepted"
    """The answer, as the question's settler has it."""
    PENDING = "pending"
    """The answer here, until the question's settler names one."""
    CANDIDATE = "candidate"
    """Came after a pending one: a reply that the settler may yet name."""
    SUPERSEDED = "superseded"
    """Another answer was accepted, or the settler refused this one: a reply for good."""
    VOIDED = "voided"
    """Set aside, since it answered a gate without the right to decide (section 5.7): a reply for good."""


class State(StrEnum):
    """The states of a delivery (section 6.1)."""

    HELD = "held"
    SENDING = "sending"
    PUSHED = "pushed"
    NOTIFIED = "notified"
    READ = "read"
    ANSWERED = "answered"


class Via(StrEnum):
    """The route by which a message reached a recipient (section 3.7)."""

    DIRECT = "direct"
    CHANNEL = "channel"


@dataclass(frozen=True, slots=True)
class Ref:
    """What a message is about (section 4.3)."""

    type: str
    id: str
    at: str | None = None

    def to_json(self) -> dict[str, JsonValue]:
        found: dict[str, JsonValue] = {"type": self.type, "id": self.id}
        if self.at is not None:
            found["at"] = self.at
        return found


@dataclass(frozen=True, slots=True)
class Message:
    """One stored envelope: the sixteen fields of section 4.1, and what a replica of a team keeps beside them.

    `sender` is the field `from`. `origin` is the replica that created it, None when that was this host;
    `hlc` the origin's clock then; `received_at` when it arrived from another replica. `demoted` tells that it was
    over its sender's urgent quota when it did: it stays as its origin signed it, and is dispatched without urgency.
    """

    id: str
    thread: str
    reply_to: str | None
    sender: str
    to: tuple[str, ...]
    kind: str
    body: str
    created_at: str
    session: str | None = None
    refs: tuple[Ref, ...] = ()
    data: Data = ABSENT
    urgent: bool = False
    blocking: bool = False
    choices: tuple[str, ...] | None = None
    choice: str | None = None
    wake: Wake = "none"
    origin: str | None = None
    hlc: str | None = None
    received_at: str | None = None
    standing: Standing | None = None
    demoted: bool = False

    @property
    def is_pressing(self) -> bool:
        """Whether it is dispatched as an urgent one (sections 6.2, F.5)."""
        return self.urgent and not self.demoted

    @property
    def takes_answer(self) -> bool:
        """Whether it is a question or a handoff."""
        return self.kind in QUESTION_KINDS

    def as_sent(self) -> "Message":
        """Return the message as it was sent: an answer that lost is stored as a message (section F.6)."""
        lost = self.standing in (Standing.CANDIDATE, Standing.SUPERSEDED, Standing.VOIDED)
        return replace(self, kind="answer") if lost else self

    def to_json(self) -> dict[str, JsonValue]:
        """Return the fields of section 4.1, and of section F.4 `origin` and `hlc` where they are set."""
        found: dict[str, JsonValue] = {
            "id": self.id,
            "thread": self.thread,
            "replyTo": self.reply_to,
            "from": self.sender,
            "to": list(self.to),
            "kind": self.kind,
            "body": self.body,
            "refs": [ref.to_json() for ref in self.refs],
            "urgent": self.urgent,
            "blocking": self.blocking,
            "wake": self.wake,
            "createdAt": self.created_at,
        }
        if not isinstance(self.data, Absent):
            found["data"] = self.data
        if self.choices is not None:
            found["choices"] = list(self.choices)
        for name in ("session", "choice", "origin", "hlc"):
            value = getattr(self, name)
            if value is not None:
                found[name] = value
        return found


def thread_order(message: Message) -> tuple[int, int, str, str]:
    """The order of a thread (section F.4): by `hlc` as numbers, then by id; those without one first."""
    if message.hlc is None:
        return -1, 0, "", message.id
    reading = Reading.parse(message.hlc)
    return reading.ms, reading.counter, reading.replica, message.id


def in_thread_order(messages: Iterable[Message]) -> list[Message]:
    """Messages of a thread in its order; one that is dated before what it replies to comes right after that.

    Clocks are their authors' own: an honest one is past what was replied to, any other moves nothing before it.
    """
    given = sorted(messages, key=thread_order)
    left = {message.id for message in given}
    waiting: dict[str, list[Message]] = {}
    found: list[Message] = []
    for message in given:
        if message.reply_to in left and message.reply_to != message.id:
            waiting.setdefault(message.reply_to, []).append(message)
            continue
        due = [message]
        while due:
            next_ = due.pop(0)
            found.append(next_)
            left.discard(next_.id)
            due[:0] = waiting.pop(next_.id, ())
    circling = {message.id for each in waiting.values() for message in each}
    return [*found, *(message for message in given if message.id in circling)]


@dataclass(frozen=True, slots=True)
class Delivery:
    """One recipient's record of one message (section 6). `session` is the session it is bound to, if any."""

    id: str
    message: str
    recipient: str
    via: Via
    state: State
    session: str | None
    changed_at: str
