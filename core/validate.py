"""The rules of an input: step 4 of a send, pure (sections 4.2-4.5, 4.7).

The limits are the same for every host, binding and receiver. Where an input breaks several rules, the
first in the order below is the error.
"""

import re
from collections.abc import Collection
from typing import Final

from core.address import Grammar, is_identifier, parse_address
from core.errors import forbidden, invalid
from core.gate_data import has_gate_data, is_gate, is_marker
from core.gate_types import check_gate
from core.inputs import Sender, SendInput
from core.message import KINDS, QUESTION_KINDS, Absent, Message, Ref
from core.text import is_blank, is_one_line, utf8_len
from crypto.canonical import JsonError, canonical_size

MAX_RECIPIENTS: Final = 50
MAX_BODY_BYTES: Final = 64 * 1024
MAX_DATA_BYTES: Final = 64 * 1024
MAX_LINE_BYTES: Final = 200
MAX_REFS: Final = 50
MAX_REF_BYTES: Final = 512
MAX_CHOICES: Final = 20

REF_TYPES: Final = frozenset(("task", "run", "file", "commit", "message", "doc"))
"""The types of section 11.5 that a local send may use."""

_PRIVATE_KIND: Final = re.compile("x-[a-z0-9][a-z0-9-]*")


def validate(
    sender: Sender,
    given: SendInput | Message,
    target: Message | None,
    *,
    grammar: Grammar,
    system_address: str,
    gate_types: Collection[str],
    received: bool = False,
) -> None:
    """Check an input that replies to `target`, if to any, on a host that implements `gate_types`.

    With `received` it is a message that came from another host: a ref type this host does not know passes when it is an
    identifier (section 4.4), nobody in it is this host's system, gate data and markers are refused, and a
    target that is not here skips the checks that need it (section F.5). The sender's `can_decide` is the
    caller's to set.

    Raises DmpError: `invalid` on the member at fault, `forbidden` on `data` or `replyTo`.
    """
    if isinstance(given, SendInput) and given.fault is not None:
        raise given.fault
    is_system = not received and sender.address == system_address
    _check_recipients(given.to, grammar)
    _check_kind(given.kind)
    _check_body(given)
    _check_data(given, received)
    if has_gate_data(given.data):
        check_gate(sender, given, gate_types, grammar, is_system=is_system)
    _check_line("session", given.session)
    if isinstance(given, SendInput):
        _check_line("idempotencyKey", given.idempotency_key)
    _check_refs(given.refs, received)
    _check_offer(given)
    _check_line("choice", given.choice)
    if given.kind == "answer":
        is_a_gate = target is not None and is_gate(target, system_address, gate_types)
        _check_answer(given, target, is_a_gate, sender.can_decide or is_system)
    elif given.choice is not None:
        raise invalid("choice", "only an answer makes a choice; leave it out, or set kind to answer")


def _check_recipients(to: tuple[str, ...], grammar: Grammar) -> None:
    if not 1 <= len(to) <= MAX_RECIPIENTS:
        raise invalid("to", f"to must list 1 to {MAX_RECIPIENTS} addresses; it lists {len(to)}")
    for index, text in enumerate(to):
        parse_address(text, f"to[{index}]", grammar)


def _check_kind(kind: str) -> None:
    if kind not in KINDS and _PRIVATE_KIND.fullmatch(kind) is None:
        raise invalid(
            "kind", f"kind must be one of {', '.join(sorted(KINDS))}, or a private one such as x-ping"
        )


def _check_body(given: SendInput | Message) -> None:
    size = _size("body", given.body)
    if size > MAX_BODY_BYTES:
        raise invalid("body", f"the body may take {MAX_BODY_BYTES} bytes; it takes {size}")
    if is_blank(given.body) and not (given.kind == "answer" and given.choice is not None):
        raise invalid("body", "the body is blank; only an answer that makes a choice may leave it so")


def _check_data(given: SendInput | Message, received: bool) -> None:
    if isinstance(given.data, Absent):
        return
    try:
        size = canonical_size(given.data)
    except JsonError as error:
        raise invalid("data", f"data must be JSON: {error}") from None
    if size > MAX_DATA_BYTES:
        raise invalid("data", f"data may take {MAX_DATA_BYTES} bytes as canonical JSON; it takes {size}")
    if received and (has_gate_data(given.data) or is_marker(given.data)):
        raise forbidden("data", "gate data and markers never leave their host; send the message without them")


def _check_refs(refs: tuple[Ref, ...], received: bool) -> None:
    if len(refs) > MAX_REFS:
        raise invalid("refs", f"refs may list {MAX_REFS} entries; it lists {len(refs)}")
    for index, ref in enumerate(refs):
        field = f"refs[{index}]"
        if received and not is_identifier(ref.type):
            raise invalid(f"{field}.type", "a ref's type must be an identifier of at most 64 bytes")
        if not received and ref.type not in REF_TYPES:
            raise invalid(f"{field}.type", f"a ref's type must be one of {', '.join(sorted(REF_TYPES))}")
        if not ref.id:
            raise invalid(f"{field}.id", "a ref must name something; its id is empty")
        _check_line(f"{field}.id", ref.id, MAX_REF_BYTES)
        _check_line(f"{field}.at", ref.at, MAX_REF_BYTES)


def _check_offer(given: SendInput | Message) -> None:
    """Check what only a question or a handoff may have: `blocking` and `choices`."""
    asks = given.kind in QUESTION_KINDS
    if given.blocking and not asks:
        raise invalid("blocking", "only a question or a handoff may block; set it false, or ask a question")
    if given.choices is None:
        return
    if not asks:
        raise invalid("choices", "only a question or a handoff offers choices; leave them out")
    if not 1 <= len(given.choices) <= MAX_CHOICES:
        raise invalid(
            "choices", f"choices must list 1 to {MAX_CHOICES} entries; it lists {len(given.choices)}"
        )
    if len(set(given.choices)) != len(given.choices):
        raise invalid("choices", "choices must all differ")
    if any(is_blank(choice) for choice in given.choices):
        raise invalid("choices", "no choice may be blank")
    for index, choice in enumerate(given.choices):
        _check_line(f"choices[{index}]", choice)


def _check_answer(given: SendInput | Message, target: Message | None, gate: bool, decides: bool) -> None:
    if given.reply_to is None:
        raise invalid("replyTo", "an answer must name the question or handoff it answers")
    if target is None:  # a received answer whose question has not arrived
        return
    if not target.takes_answer:
        raise invalid("replyTo", "that message is no question or handoff; reply with kind message instead")
    if gate and not decides:
        raise forbidden("replyTo", "only a human who may decide answers this gate")
    offered = target.choices or ()
    if given.choice is None:
        if offered and (gate or target.kind == "handoff"):
            raise invalid("choice", "this answer must make one of the choices the question offers")
    elif not offered:
        raise invalid("choice", "the question offers no choices; leave choice out")
    elif given.choice not in offered:
        raise invalid("choice", "choice must be one of the choices the question offers, to the letter")


def _check_line(field: str, text: str | None, limit: int = MAX_LINE_BYTES) -> None:
    if text is None:
        return
    size = _size(field, text)
    if size > limit:
        raise invalid(field, f"{field} may take {limit} bytes; it takes {size}")
    if not is_one_line(text):
        raise invalid(field, f"{field} must be one line")


def _size(field: str, text: str) -> int:
    try:
        return utf8_len(text)
    except UnicodeEncodeError:
        raise invalid(field, f"{field} holds half of a surrogate pair; send whole characters") from None
