"""envelope/v1 as a client sends it: a DMP envelope on an A2A message (section 8.4), pure.

What a client says of who it is, of ids and of threads is ignored: its bearer decides who sends, and the host assigns
the rest.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from bindings.a2a.fields import line, list_of
from core.errors import forbidden, invalid
from core.fields import as_flag, as_text
from core.message import KINDS, Ref
from core.validate import MAX_CHOICES, MAX_LINE_BYTES, MAX_RECIPIENTS, MAX_REF_BYTES, MAX_REFS
from crypto.canonical import JsonValue

MAX_RECIPIENT_BYTES: Final = 512

REF_TYPES: Final = ("task", "message")
"""What a client's refs may name."""

_PRIVATE: Final = "x-"


@dataclass(frozen=True, slots=True)
class Envelope:
    """What counts of a client's envelope; None for what it leaves out."""

    to: tuple[str, ...] | None = None
    kind: str | None = None
    reply_to: str | None = None
    blocking: bool = False
    choices: tuple[str, ...] | None = None
    choice: str | None = None
    refs: tuple[Ref, ...] = ()


def read_envelope(raw: JsonValue) -> Envelope:
    """Read a client's envelope; None is a message without one. What is none of its members is ignored.

    Raises DmpError: `forbidden` on `urgent`, `wake` or `kind` for what no client may ask for, `invalid` on the
    member at fault, and on `message.metadata` for what is no object.
    """
    if raw is None:
        return Envelope()
    if not isinstance(raw, dict):
        raise invalid("message.metadata", "envelope/v1 is an object")
    _check_demands(raw)
    return Envelope(
        to=_to(raw["to"]) if "to" in raw else None,
        kind=_kind(raw["kind"]) if "kind" in raw else None,
        reply_to=as_text(raw["replyTo"], "replyTo") if raw.get("replyTo") is not None else None,
        blocking="blocking" in raw and as_flag(raw["blocking"], "blocking"),
        choices=_choices(raw["choices"]) if "choices" in raw else None,
        choice=line(raw["choice"], "choice", MAX_LINE_BYTES) if "choice" in raw else None,
        refs=_refs(raw["refs"]) if "refs" in raw else (),
    )


def _check_demands(raw: Mapping[str, JsonValue]) -> None:
    """Refuse to jump a mailbox, and to start a session."""
    if "urgent" in raw and as_flag(raw["urgent"], "urgent"):
        raise forbidden("urgent", "a client's message is never urgent; leave urgent out")
    if "wake" in raw and raw["wake"] != "none":
        if raw["wake"] == "request":
            raise forbidden("wake", "a client wakes nobody; leave wake out")
        raise invalid("wake", 'wake must be "none", or left out')


def _to(value: JsonValue) -> tuple[str, ...]:
    entries = list_of(value, "to", MAX_RECIPIENTS)
    return tuple(line(each, f"to[{index}]", MAX_RECIPIENT_BYTES) for index, each in enumerate(entries))


def _kind(value: JsonValue) -> str:
    kind = as_text(value, "kind")
    if kind.startswith(_PRIVATE):
        raise forbidden("kind", "a client sends no private kind; send a message or a question")
    if kind not in KINDS:
        raise invalid("kind", f"kind must be one of {', '.join(sorted(KINDS))}")
    return kind


def _choices(value: JsonValue) -> tuple[str, ...]:
    entries = list_of(value, "choices", MAX_CHOICES)
    return tuple(line(each, f"choices[{index}]", MAX_LINE_BYTES) for index, each in enumerate(entries))


def _refs(value: JsonValue) -> tuple[Ref, ...]:
    return tuple(_ref(each, f"refs[{index}]") for index, each in enumerate(list_of(value, "refs", MAX_REFS)))


def _ref(value: JsonValue, field: str) -> Ref:
    if not isinstance(value, dict):
        raise invalid(field, f"{field} must be an object with a type and an id")
    type_ = value.get("type")
    if type_ not in REF_TYPES:
        raise invalid(f"{field}.type", f"a client's ref has one of the types {', '.join(REF_TYPES)}")
    if "at" in value:
        raise invalid(f"{field}.at", "a client's ref has no at; leave it out")
    named = line(value.get("id"), f"{field}.id", MAX_REF_BYTES)
    if not named:
        raise invalid(f"{field}.id", "a ref must name something; its id is empty")
    return Ref(str(type_), named)
