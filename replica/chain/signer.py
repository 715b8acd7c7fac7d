"""Making this replica's ops: the one place where its chain grows."""

import json
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from crypto.canonical import JsonValue
from crypto.chain import Cursor, Head
from crypto.op import ABSENT, ZERO_HASH, Absent, Op, make_op
from crypto.sealing import KeyWrap, hpke_wrap, seal
from replica.chain.clock import take_reading
from replica.home.keyfile import Identity
from replica.records import ops, outbox


@dataclass(frozen=True, slots=True)
class Signer:
    """Makes this replica's ops. Time (milliseconds) and random bytes come from outside.

    `wrap` brings the ephemeral keys of seals.
    """

    identity: Identity
    wall: Callable[[], int]
    random: Callable[[int], bytes]
    wrap: KeyWrap = hpke_wrap

    def append(self, db: sqlite3.Connection, type_: str, body: JsonValue) -> Op:
        """Sign a clear op and append it, inside an open transaction."""
        return self._append(db, next_place(db, self.identity.replica), type_, body, None, None)

    def append_sealed(
        self,
        db: sqlite3.Connection,
        type_: str,
        payload: JsonValue,
        recipients: dict[str, bytes],
        rows: Sequence[outbox.Row],
        *,
        body: JsonValue | Absent = ABSENT,
    ) -> Op:
        """Seal `payload` to the sealing keys of `recipients`, sign and append, inside an open transaction.

        `rows` are the outbox rows it is made from; `body` is what a forward carries in the clear.
        """
        place = next_place(db, self.identity.replica)
        sealed = seal(
            payload,
            replica=self.identity.replica,
            seq=place[0],  # a seal holds in one op alone
            type=type_,
            recipients=recipients,
            random=self.random,
            wrap=self.wrap,
        )
        rows_json = json.dumps([[row.kind, row.content] for row in rows])
        return self._append(db, place, type_, body, sealed, rows_json)

    def _append(
        self,
        db: sqlite3.Connection,
        place: tuple[int, str],
        type_: str,
        body: JsonValue | Absent,
        sealed: dict[str, JsonValue] | None,
        rows_json: str | None,
    ) -> Op:
        """Sign what follows `place` in the chain, and keep it."""
        op = make_op(
            replica=self.identity.replica,
            seq=place[0],
            prev=place[1],
            hlc=take_reading(db, self.identity.replica, self.wall()),
            type=type_,
            signer=self.identity.secrets.signer,
            body=body,
            sealed=sealed,
        )
        self._keep(db, op, rows_json)
        return op

    def _keep(self, db: sqlite3.Connection, op: Op, rows_json: str | None) -> None:
        ops.insert(db, op)
        db.execute("INSERT INTO unpublished (seq, rows_json) VALUES (?, ?)", (op.seq, rows_json))
        head = Head(op.seq, op.hash, op.hlc)
        ops.set_position(db, op.replica, ops.Position(self.identity.fingerprint, Cursor(head, None)))


def next_place(db: sqlite3.Connection, replica: str) -> tuple[int, str]:
    """The seq and prev of the next own op."""
    known = ops.position(db, replica)
    if known is None or known.cursor.head is None:
        return 1, ZERO_HASH
    return known.cursor.head.seq + 1, known.cursor.head.hash
