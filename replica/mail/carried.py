"""What a mail op carries: a message from its origin, or one that another replica hands on (F.4).

A forward keeps the whole op of the origin, and with it the origin's signature, so whoever hands mail on does not
become its author. The op inside counts only where this replica has read the very same one from its origin's chain.
"""

import sqlite3
from dataclasses import dataclass
from typing import Final

from core.errors import invalid
from core.message import Message
from crypto.encoding import unb64u
from crypto.lane import verified_entries
from crypto.op import ABSENT, Op, Unreadable, breach, read_value, tampering, to_line
from crypto.sealing import CONTENT_KEY_BYTES, SealError, open_with_key
from replica.mail.opened import Contents
from replica.mail.payloads import MailPayload, MailTarget, parse_mail
from replica.records import ops
from replica.team.roster import Team

FORWARD: Final = "forward"


class UnreadError(Exception):
    """The op inside a forward has not been read from its own chain yet."""


class UnverifiableError(Exception):
    """The op inside a forward is not in the log of its origin, which was read past its place (9.G3).

    `origin` is the replica whose key signed it, for its message `message`; None where no key of the team did.
    """

    def __init__(self, replica: str, message: str, origin: str | None) -> None:
        super().__init__(f"unverifiable: the op handed on is not in the log of {replica}")
        self.message = message
        self.origin = origin


@dataclass(frozen=True, slots=True)
class Carried:
    """A message and its targets, with the op of its origin.

    Of a forward, `forwarder` is the replica that published it and `target` the recipient it is for.
    """

    op: Op
    message: Message
    targets: tuple[MailTarget, ...]
    forwarder: str | None = None
    target: str | None = None


def carried(db: sqlite3.Connection, contents: Contents, team: Team, op: Op) -> Carried:
    """Read a mail op addressed to this replica.

    Raises SealError and DmpError for what cannot be read or does not count, UnreadError and UnverifiableError.
    """
    said = contents.mail(op)
    if isinstance(said, MailPayload):
        return Carried(op, said.message, said.targets)
    inner = _inner(op)
    key = unb64u(said.key, CONTENT_KEY_BYTES)
    content = open_with_key(inner.sealed, key, replica=inner.replica, seq=inner.seq, type=inner.type)
    payload = parse_mail(content, origin=inner.replica, received_at=contents.node.now())
    if all(each.recipient != said.target for each in payload.targets):
        raise invalid("target", "a forward is for one of the targets of what it hands on")
    _need_in_its_log(db, team, inner, payload.message)
    return Carried(inner, payload.message, payload.targets, op.replica, said.target)


def _inner(op: Op) -> Op:
    """The op inside a forward."""
    if op.to is None or len(op.to) != 1:
        raise invalid("to", "a forward is for one replica")
    body = op.body if isinstance(op.body, dict) else {}
    read = read_value(body.get(FORWARD))
    if isinstance(read, Unreadable) or read.type != "mail" or read.body is not ABSENT:
        raise invalid(FORWARD, "a forward hands on a whole mail op that is none itself")
    if read.pruned or tampering(read) is not None or breach(read) is not None:
        raise SealError("the op handed on is not whole")
    entry = read.entry()
    assert isinstance(entry, Op)
    return entry


def _need_in_its_log(db: sqlite3.Connection, team: Team, inner: Op, message: Message) -> None:
    """Believe what is handed on only where this replica has verified that very op, and it counts."""
    replica, seq = inner.replica, inner.seq
    known = ops.hash_at(db, replica, seq)
    if known is None:
        position = ops.position(db, replica)
        head = None if position is None else position.cursor.head
        if head is None or head.seq < seq:
            raise UnreadError
    held = team.view.members.get(replica) or team.view.revoked.get(replica)
    counts = held is not None and not held.observer and team.view.standing(replica, seq)
    if known != inner.hash:
        key = team.keys.get(replica)
        signed = key is not None and any(verified_entries(replica, [to_line(inner)], key.sign_key))
        raise UnverifiableError(replica, message.id, replica if counts and signed else None)
    if not counts:
        raise invalid(FORWARD, f"what {replica} published there does not count")
