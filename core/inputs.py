"""What a sender gives: who it is, and what it wants sent (sections 4.1, 4.6, 9.1)."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from core.errors import DmpError, invalid
from core.fields import Lenient, as_flag, as_json, as_refs, as_text, as_texts, as_wake
from core.message import ABSENT, Data, Message, Ref, Wake
from crypto.canonical import JsonValue


@dataclass(frozen=True, slots=True)
class Sender:
    """An authenticated principal: one address, and whether it may decide (section 9.1)."""

    address: str
    can_decide: bool = False


@dataclass(frozen=True, slots=True)
class SendInput:
    """A send input (section 4.1).

    `fault` is what was wrong with the JSON it was read from; validation raises it, and nothing does before,
    since the first checks of section 4.5 come first.
    """

    to: tuple[str, ...]
    kind: str
    body: str
    reply_to: str | None = None
    session: str | None = None
    refs: tuple[Ref, ...] = ()
    data: Data = ABSENT
    urgent: bool = False
    blocking: bool = False
    choices: tuple[str, ...] | None = None
    choice: str | None = None
    wake: Wake = "none"
    idempotency_key: str | None = None
    fault: DmpError | None = field(default=None, compare=False)

    @classmethod
    def from_json(cls, raw: JsonValue) -> "SendInput":
        """Read a send input; members that are none of its own are ignored, `origin` and `hlc` too."""
        members = Lenient(_object(raw))
        return cls(
            to=members.required("to", as_texts, ()),
            kind=members.required("kind", as_text, ""),
            body=members.required("body", as_text, ""),
            reply_to=members.optional("replyTo", _as_reply_to, None),
            session=members.optional("session", as_text, None),
            refs=members.optional("refs", as_refs, ()),
            data=members.optional("data", as_json, ABSENT),
            urgent=members.optional("urgent", as_flag, False),
            blocking=members.optional("blocking", as_flag, False),
            choices=members.optional("choices", as_texts, None),
            choice=members.optional("choice", as_text, None),
            wake=members.optional("wake", as_wake, "none"),
            idempotency_key=members.optional("idempotencyKey", as_text, None),
            fault=_not_an_object(raw) or members.fault,
        )


@dataclass(frozen=True, slots=True)
class ReplyInput:
    """What the shorthand that replies to one message needs (section 4.6)."""

    body: str
    choice: str | None = None
    refs: tuple[Ref, ...] = ()
    data: Data = ABSENT
    session: str | None = None
    idempotency_key: str | None = None
    fault: DmpError | None = field(default=None, compare=False)

    @classmethod
    def from_json(cls, raw: JsonValue) -> "ReplyInput":
        """Read a reply's input as `SendInput.from_json` reads a send's."""
        members = Lenient(_object(raw))
        return cls(
            body=members.required("body", as_text, ""),
            choice=members.optional("choice", as_text, None),
            refs=members.optional("refs", as_refs, ()),
            data=members.optional("data", as_json, ABSENT),
            session=members.optional("session", as_text, None),
            idempotency_key=members.optional("idempotencyKey", as_text, None),
            fault=_not_an_object(raw) or members.fault,
        )

    def to(self, message_id: str, target: Message | None) -> SendInput:
        """Return the send it stands for: to the target's sender, an answer where the target takes one.

        Where no message has that id, `target` is None, and the send goes no further than its look-up.
        """
        return SendInput(
            to=() if target is None else (target.sender,),
            kind="answer" if target is not None and target.takes_answer else "message",
            body=self.body,
            reply_to=message_id,
            session=self.session,
            refs=self.refs,
            data=self.data,
            choice=self.choice,
            idempotency_key=self.idempotency_key,
            fault=self.fault,
        )


def _as_reply_to(value: JsonValue, _: str) -> str | None:
    # What is no string names no message, as an empty one does: not-found, before anything is validated.
    return value if value is None or isinstance(value, str) else ""


def _object(raw: JsonValue) -> Mapping[str, JsonValue]:
    return raw if isinstance(raw, dict) else {}


def _not_an_object(raw: JsonValue) -> DmpError | None:
    return None if isinstance(raw, dict) else invalid(None, "the input must be a JSON object")
