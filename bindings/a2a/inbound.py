"""What a client's message becomes on this host: a send input (sections 8.4, 8.8), pure.

A send checks it again as any other: what a client offers, chooses and replies to is judged there (section 4.5).
"""

from collections.abc import Collection
from typing import Final, Protocol

from bindings.a2a.envelope import Envelope
from bindings.a2a.external import Content
from core.errors import forbidden, invalid, not_found
from core.inputs import SendInput
from core.message import Message, Ref

_OPENING_KINDS: Final = ("question", "message", "notice")
_PEER: Final = "a2a:"


class Permitted(Protocol):
    """What one client may name, without an I/O of its own here. Addresses are whole ones."""

    @property
    def owner(self) -> str:
        """Whom it asks where it names nobody; also what another host's name for this one stands for."""

    @property
    def humans(self) -> Collection[str]:
        """Its recipient list."""

    def work_items(self) -> Collection[str]:
        """The work items of its approved handoffs."""

    def may_see(self, message_id: str, /) -> bool:
        """Whether an id is that of a task of its own, or of a message that one shows it."""


def opening(
    permitted: Permitted, envelope: Envelope, content: Content, *, key: str | None = None
) -> SendInput:
    """The send of a message that starts a new exchange; `key` is the id that the client gave it.

    Raises DmpError: `invalid` on `kind` for an answer or a handoff, `forbidden` on `to[i]`, `not-found` on `refs[i]`.
    """
    kind = envelope.kind or "question"
    if kind not in _OPENING_KINDS:
        raise invalid(
            "kind",
            "continue the task that asks to answer it, and propose work with work/v1; this starts anew",
        )
    return SendInput(
        to=_recipients(permitted, envelope),
        kind=kind,
        body=content.body,
        reply_to=envelope.reply_to,
        refs=_refs(permitted, envelope),
        data=content.data,
        blocking=envelope.blocking or kind == "question",
        choices=envelope.choices,
        choice=envelope.choice,
        idempotency_key=key,
    )


def handing_off(
    permitted: Permitted, envelope: Envelope, content: Content, *, key: str | None = None
) -> SendInput:
    """The send of a handoff that work/v1 asks for, to the owner, who decides on it.

    Whom the envelope names and what kind it gives count for nothing. Raises DmpError `not-found` on `refs[i]`.
    """
    return SendInput(
        to=(permitted.owner,),
        kind="handoff",
        body=content.body,
        reply_to=envelope.reply_to,
        refs=_refs(permitted, envelope),
        data=content.data,
        idempotency_key=key,
    )


def answering(
    permitted: Permitted, envelope: Envelope, content: Content, question: Message, *, key: str | None = None
) -> SendInput:
    """The send of a message that continues the task that asks the client `question`: the answer to that.

    Of the envelope only the choice and the refs count. Raises DmpError `not-found` on `refs[i]`.
    """
    return SendInput(
        to=(question.sender,),
        kind="answer",
        body=content.body,
        reply_to=question.id,
        refs=_refs(permitted, envelope),
        data=content.data,
        choice=envelope.choice,
        idempotency_key=key,
    )


def _recipients(permitted: Permitted, envelope: Envelope) -> tuple[str, ...]:
    """Whom an opening goes to. An `a2a:` entry is another host's name for this one, and stands for the owner once."""
    if envelope.to is None:
        return (permitted.owner,)
    found: list[str] = []
    for index, entry in enumerate(envelope.to):
        if entry.startswith(_PEER):
            if permitted.owner not in (*found, *envelope.to):
                found.append(permitted.owner)
        elif entry in permitted.humans or entry in permitted.work_items():
            found.append(entry)
        else:
            raise forbidden(f"to[{index}]", "this client may not address it; leave to out to ask the owner")
    return tuple(found)


def _refs(permitted: Permitted, envelope: Envelope) -> tuple[Ref, ...]:
    for index, ref in enumerate(envelope.refs):
        is_work = ref.type == "task" and f"task:{ref.id}" in permitted.work_items()
        if not is_work and not permitted.may_see(ref.id):
            raise not_found(f"refs[{index}]", "unknown message")
    return envelope.refs
