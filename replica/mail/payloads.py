"""The payloads of mail and state ops, parsed once into typed values (F.4).

Payloads come from teammates, who may be hostile: what does not parse is refused with its place.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from core.address import is_identifier, parse_address
from core.errors import invalid
from core.message import Message, Via
from core.received import message_from_json
from core.text import utf8_len
from crypto.canonical import JsonValue
from crypto.keys import REPLICA_ID

MAX_TARGETS: Final = 5_000
"""Targets of one message: channels expand, but not without end."""

MAX_ENTRIES: Final = 500
MAX_ID: Final = 64
MAX_ADDRESS: Final = 256
MAX_TEXT: Final = 8_192

REPORTED_STATES: Final = frozenset(("held", "pushed", "notified", "read", "answered"))


@dataclass(frozen=True, slots=True)
class MailTarget:
    """One recipient of the origin's resolution, and the replicas that deliver it."""

    recipient: str
    via: Via
    homes: tuple[str, ...]
    wake_at: str | None = None
    """The one of its homes that may wake it, of a work item that a message asks to wake."""


@dataclass(frozen=True, slots=True)
class MailPayload:
    """A message as stored at its origin, and its targets."""

    message: Message
    targets: tuple[MailTarget, ...]


@dataclass(frozen=True, slots=True)
class ForwardPayload:
    """The recipient that a mail op is handed on for, and the key of that op's content as base64url."""

    target: str
    key: str


@dataclass(frozen=True, slots=True)
class DeliveryReport:
    """A home tells the state of its delivery of `message` to `recipient`."""

    message: str
    recipient: str
    state: str
    at: str


@dataclass(frozen=True, slots=True)
class Settle:
    """A question's origin names its answer, or its close when `closed` gives a reason."""

    question: str
    answer: str
    closed: str | None


@dataclass(frozen=True, slots=True)
class Refusal:
    """A home refused `message`."""

    message: str
    reason: str


StateEntry = DeliveryReport | Settle | Refusal


def parse_mail(
    payload: JsonValue, *, plain: bool = False, origin: str | None = None, received_at: str | None = None
) -> MailPayload:
    """Read a mail payload of the replica `origin` that arrived at `received_at`; `plain` as `parse` says it is.

    Raises DmpError `invalid` naming the member at fault.
    """
    content = _object(payload, "payload")
    message = message_from_json(content.get("message"), plain=plain, origin=origin, received_at=received_at)
    if message.hlc is None:
        raise invalid("hlc", "a message between replicas carries its origin's clock")
    targets = content.get("targets")
    if not isinstance(targets, list) or not 1 <= len(targets) <= MAX_TARGETS:
        raise invalid("targets", f"targets must be a list of 1 to {MAX_TARGETS}")
    found = tuple(_target(item, f"targets[{i}]") for i, item in enumerate(targets))
    if len({target.recipient for target in found}) != len(found):
        raise invalid("targets", "targets must name each recipient once")
    return MailPayload(message, found)


def _target(item: JsonValue, field: str) -> MailTarget:
    content = _object(item, field)
    recipient, via, homes = content.get("recipient"), content.get("via"), content.get("homes")
    if not isinstance(recipient, str) or parse_address(recipient, f"{field}.recipient").kind == "channel":
        raise invalid(f"{field}.recipient", "a target is one recipient's address")
    if via not in ("direct", "channel"):
        raise invalid(f"{field}.via", "via is direct or channel")
    if not isinstance(homes, list):
        raise invalid(f"{field}.homes", "homes is a list of replica ids")
    names = [home for home in homes if isinstance(home, str) and REPLICA_ID.fullmatch(home)]
    if len(names) != len(homes):
        raise invalid(f"{field}.homes", "homes is a list of replica ids")
    wake_at = content.get("wakeAt")
    if wake_at is not None and (not isinstance(wake_at, str) or not REPLICA_ID.fullmatch(wake_at)):
        raise invalid(f"{field}.wakeAt", "wakeAt is the id of a replica")
    return MailTarget(recipient, Via(via), tuple(names), wake_at)


def parse_forward(payload: JsonValue) -> ForwardPayload:
    """Read the payload of a forward. Raises DmpError `invalid` naming the member at fault."""
    content = _object(payload, "payload")
    target, key = content.get("target"), content.get("key")
    if not isinstance(target, str):
        raise invalid("target", "a forward is for one recipient's address")
    if not isinstance(key, str):
        raise invalid("key", "a forward brings the key of what it hands on")
    return ForwardPayload(parse_address(target, "target").text, key)


def parse_state(payload: JsonValue) -> list[StateEntry]:
    """Read a state payload; one bad entry makes all of it malformed. Raises DmpError `invalid`."""
    entries = _object(payload, "payload").get("entries")
    if not isinstance(entries, list) or len(entries) > MAX_ENTRIES:
        raise invalid("entries", f"entries must be a list of at most {MAX_ENTRIES}")
    return [_entry(_object(item, f"entries[{i}]"), f"entries[{i}]") for i, item in enumerate(entries)]


def _entry(content: Mapping[str, JsonValue], field: str) -> StateEntry:
    def text(name: str, limit: int = MAX_ID) -> str:
        value = content.get(name)
        if not isinstance(value, str) or not 1 <= len(value) <= limit:
            raise invalid(f"{field}.{name}", f"must be a text of 1 to {limit} characters")
        try:
            utf8_len(value)
        except UnicodeEncodeError:
            raise invalid(f"{field}.{name}", "must be whole characters") from None
        return value

    def identifier(name: str) -> str:
        value = text(name)
        if not is_identifier(value):
            raise invalid(f"{field}.{name}", "must be the id of a message")
        return value

    at = text("at")
    match content.get("t"):
        case "delivery":
            state = text("state")
            if state not in REPORTED_STATES:
                raise invalid(f"{field}.state", "no state that a home reports")
            recipient = parse_address(text("recipient", MAX_ADDRESS), f"{field}.recipient").text
            return DeliveryReport(identifier("message"), recipient, state, at)
        case "settle":
            closed = text("closed", MAX_TEXT) if "closed" in content else None
            return Settle(identifier("question"), identifier("answer"), closed)
        case "refused":
            return Refusal(identifier("message"), text("reason", MAX_TEXT))
    raise invalid(f"{field}.t", "an entry is delivery, settle or refused")


def _object(value: JsonValue, field: str) -> Mapping[str, JsonValue]:
    if not isinstance(value, dict):
        raise invalid(field, "must be an object")
    return value
