"""What a message from another replica is read, checked and compared with (sections 4.4, F.4, F.5)."""

from typing import Final

from core.address import SENDING_SCHEMES, is_identifier, parse_address
from core.errors import invalid
from core.fields import (
    as_flag,
    as_refs,
    as_text,
    as_text_or_null,
    as_texts,
    as_wake,
)
from core.host import Host
from core.inputs import Sender
from core.message import ABSENT, Message
from core.timestamp import milliseconds
from core.validate import validate
from crypto.canonical import JsonError, JsonValue, canonical
from crypto.clock import NOT_A_READING, Reading

MAX_HLC_BYTES = 96

_ALWAYS: Final = (
    "id",
    "thread",
    "replyTo",
    "from",
    "to",
    "kind",
    "body",
    "createdAt",
    "refs",
    "urgent",
    "blocking",
    "wake",
)


def message_from_json(
    value: JsonValue, *, plain: bool = False, origin: str | None = None, received_at: str | None = None
) -> Message:
    """Read a message as its origin stored it: the sixteen fields of section 4.1, and `hlc` where it has one.

    Only shapes are checked here; `validate_received` has the rules. Raises DmpError `invalid` on the member
    at fault. A member `origin` is ignored: which replica created a message is for the op it came in to say, and given
    here, as is when it arrived. `plain` says that the value is part of what `parse` called plain.
    """
    if not isinstance(value, dict):
        raise invalid(None, "a message must be a JSON object")
    if not plain:
        try:
            canonical(value)
        except JsonError as error:
            raise invalid(None, f"a message must have a canonical form: {error}") from None
    for name in _ALWAYS:
        if name not in value:
            raise invalid(name, f"a stored message always has {name}")
    return Message(
        id=_as_id(value["id"], "id"),
        thread=_as_id(value["thread"], "thread"),
        reply_to=_as_id_or_null(value["replyTo"], "replyTo"),
        sender=_as_sender(value["from"], "from"),
        to=as_texts(value["to"], "to"),
        kind=as_text(value["kind"], "kind"),
        body=as_text(value["body"], "body"),
        created_at=_as_timestamp(value["createdAt"], "createdAt"),
        session=as_text(value["session"], "session") if "session" in value else None,
        refs=as_refs(value["refs"], "refs"),
        data=value.get("data", ABSENT),
        urgent=as_flag(value["urgent"], "urgent"),
        blocking=as_flag(value["blocking"], "blocking"),
        choices=as_texts(value["choices"], "choices") if "choices" in value else None,
        choice=as_text(value["choice"], "choice") if "choice" in value else None,
        wake=as_wake(value["wake"], "wake"),
        hlc=_as_reading(value["hlc"], "hlc") if "hlc" in value else None,
        origin=origin,
        received_at=received_at,
    )


def validate_received(host: Host, message: Message, replied: Message | None) -> None:
    """Check a received message as section F.5, step 5, says: nobody remote decides, and nobody is the system.

    `replied` is the stored message it replies to; None where there is none, or it is not here. Raises
    DmpError as `validate` does.
    """
    validate(
        Sender(message.sender),
        message,
        replied,
        grammar=host.grammar,
        system_address=host.system_address,
        gate_types=host.gate_types,
        received=True,
    )


def check_thread(message: Message, replied: Message | None, root: Message | None) -> None:
    """Check that a received message is in the thread it says (federation wire 9.D3).

    `replied` is the stored message it replies to and `root` the stored one its thread names, each None where
    it is not here. Raises DmpError `invalid` on `replyTo` or `thread`.
    """
    if message.reply_to == message.id:
        raise invalid("replyTo", "a message cannot reply to itself")
    if message.reply_to is None and message.thread != message.id:
        raise invalid("thread", "a message that replies to nothing starts its own thread")
    if replied is not None and replied.thread != message.thread:
        raise invalid("thread", "a reply is in the thread of the message it replies to")
    if root is not None and root.thread != root.id:
        raise invalid("thread", "a thread is named by its first message")


def same_message(stored: Message, received: Message) -> bool:
    """Whether a received message is the stored one of that id come again (federation wire 9.D2).

    By canonical JSON of the fields its origin signed; an answer that lost here is compared as the answer
    it was sent as.
    """
    return _signed(stored) == _signed(received)


def _signed(message: Message) -> bytes:
    fields = message.as_sent().to_json()
    fields.pop("origin", None)
    return canonical(fields)


def _as_id(value: JsonValue, field: str) -> str:
    text = as_text(value, field)
    if not is_identifier(text):
        raise invalid(field, f"{field} must be an identifier of at most 64 bytes")
    return text


def _as_id_or_null(value: JsonValue, field: str) -> str | None:
    text = as_text_or_null(value, field)
    return None if text is None else _as_id(text, field)


def _as_sender(value: JsonValue, field: str) -> str:
    address = parse_address(as_text(value, field), field)
    if address.kind not in SENDING_SCHEMES:
        raise invalid(field, "only a human, an agent or a session sends")
    return address.text


def _as_timestamp(value: JsonValue, field: str) -> str:
    text = as_text(value, field)
    try:
        milliseconds(text)
    except ValueError:
        raise invalid(field, f"{field} must be a time in UTC written YYYY-MM-DDTHH:MM:SS.sssZ") from None
    return text


def _as_reading(value: JsonValue, field: str) -> str:
    text = as_text(value, field)
    if len(text) > MAX_HLC_BYTES:
        raise invalid(field, f"{field} may take {MAX_HLC_BYTES} characters")
    if not Reading.is_one(text):
        raise invalid(field, f"{field} is {NOT_A_READING}")
    return text
