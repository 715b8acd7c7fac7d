"""What ops sealed to this replica say, opened and read apart from applying them.

Opening needs no database. So the ops of a batch are opened before the transaction that applies them begins: others
wait less for their turn, and a processor that does one thing over and over is much faster than one that takes turns.
"""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from core.errors import DmpError
from crypto.canonical import JsonValue, Parsed
from crypto.op import ABSENT, Entry, Op
from crypto.sealing import SealError, parse_with_key, unwrap_key
from replica.mail.payloads import (
    ForwardPayload,
    MailPayload,
    StateEntry,
    parse_forward,
    parse_mail,
    parse_state,
)
from replica.node import Node


@dataclass(frozen=True, slots=True)
class Contents:
    """Reads the contents of one batch of ops, each once."""

    node: Node
    _mail: dict[str, MailPayload | ForwardPayload] = field(default_factory=dict)
    _state: dict[str, Sequence[StateEntry]] = field(default_factory=dict)

    def read_ahead(self, entries: Iterable[Entry]) -> None:
        """Read what there is for this replica in entries that are soon applied; what cannot be read waits for that."""
        keys: list[tuple[Op, bytes]] = []
        for op in entries:
            if isinstance(op, Op) and op.to is not None and self.node.me in op.to:
                with suppress(SealError):
                    keys.append((op, _key_of(self.node, op)))
        for op, key in keys:
            with suppress(SealError, DmpError):
                if op.type == "mail":
                    self._mail[op.hash] = self._read_mail(op, key)
                else:
                    self._state[op.hash] = self._read_state(op, key)

    def mail(self, op: Op) -> MailPayload | ForwardPayload:
        """What a mail op says. Raises SealError and DmpError `invalid` for what cannot be read."""
        said = self._mail.pop(op.hash, None)
        return self._read_mail(op, _key_of(self.node, op)) if said is None else said

    def state(self, op: Op) -> Sequence[StateEntry]:
        """What a state op says. Raises SealError and DmpError `invalid` for what cannot be read."""
        said = self._state.pop(op.hash, None)
        return self._read_state(op, _key_of(self.node, op)) if said is None else said

    def _read_mail(self, op: Op, key: bytes) -> MailPayload | ForwardPayload:
        content = _open(op, key)
        if op.body is not ABSENT:
            return parse_forward(content.value)
        received_at = self.node.now()
        return parse_mail(content.value, plain=content.plain, origin=op.replica, received_at=received_at)

    def _read_state(self, op: Op, key: bytes) -> Sequence[StateEntry]:
        return parse_state(_open(op, key).value)


def open_op(node: Node, op: Op) -> JsonValue:
    """Decrypt an op's payload. Raises SealError."""
    return _open(op, _key_of(node, op)).value


def _key_of(node: Node, op: Op) -> bytes:
    private = node.identity.secrets.seal_private
    return unwrap_key(op.sealed, replica=op.replica, seq=op.seq, type=op.type, me=node.me, private=private)


def _open(op: Op, key: bytes) -> Parsed:
    return parse_with_key(op.sealed, key, replica=op.replica, seq=op.seq, type=op.type)
