"""What a sealed op says to this replica, for a person who asks; nothing here applies it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from core.errors import DmpError
from core.inputs import Sender
from core.message import Message
from crypto.op import Op
from crypto.sealing import SealError
from replica.mail.carried import UnreadError, UnverifiableError, carried
from replica.mail.opened import Contents
from replica.mail.payloads import StateEntry
from replica.node import Node


@dataclass(frozen=True, slots=True)
class Mail:
    """A message. `handed_on_by` is the replica that forwarded it; `may_read` whether this machine's person may read it.

    The message is text of others.
    """

    message: Message
    recipients: tuple[str, ...]
    handed_on_by: str | None
    may_read: bool


@dataclass(frozen=True, slots=True)
class States:
    """What a home tells of deliveries, settlements and refusals."""

    entries: Sequence[StateEntry]


@dataclass(frozen=True, slots=True)
class Closed:
    """Nothing can be read here, and why."""

    reason: str


Content: TypeAlias = Mail | States | Closed


def content_of(node: Node, op: Op) -> Content:
    """Open a mail or state op as far as this replica may."""
    if node.me not in (op.to or ()):
        own = "even its publisher cannot open it" if op.replica == node.me else "this machine cannot read it"
        return Closed(f"sealed to others; {own}")
    team = node.team
    if team is None:
        return Closed("this replica is in no team")
    contents = Contents(node)
    try:
        if op.type == "state":
            return States(contents.state(op))
        mail = carried(node.store.db, contents, team, op)
    except SealError:
        return Closed("it is addressed to this machine, but cannot be opened")
    except (UnreadError, UnverifiableError):
        return Closed("it hands on an op that was not read from its own chain")
    except DmpError as error:
        return Closed(f"its content breaks a rule ({error.message})")
    recipients = tuple(each.recipient for each in mail.targets if mail.target in (None, each.recipient))
    return Mail(mail.message, recipients, mail.forwarder, _may_read(node, mail.message))


def _may_read(node: Node, message: Message) -> bool:
    """Whether this machine's person may read a message; one that was refused is nobody's."""
    known = node.engine.message(message.id)
    return known is not None and node.engine.can_read(Sender(node.address, can_decide=True), message.id)
