"""Spending envelopes: each is accepted once, by whichever process is first, however the processes end.

An envelope is spent in a transaction of its own before anything is done with its message. Whoever dies in between has
spent it: the message was not taken, and is sent again with another envelope.
"""

from sqlite3 import Connection
from typing import Final

from bindings.machine_envelope.commits import CommitPoint
from bindings.machine_envelope.credential import Credential
from bindings.machine_envelope.verifying import Reason, RejectedError, check_time
from replica.node import Node

KEPT_MS: Final = 60 * 60 * 1000
"""How long an envelope is remembered after it expired: a clock that is set back by less revives none."""

_REMOVED: Final = 1_000
"""Rows that are removed at once: no request waits long."""


def spend(node: Node, credential: Credential, most: int) -> None:
    """Spend an envelope that was verified, of at most `most` that are remembered. Raises RejectedError."""
    with node.store.transaction(CommitPoint.SPENT) as db:
        now = node.wall()  # whoever waited for others to write may come too late
        check_time(credential, now)
        remove_old(db, now)
        if is_spent(db, credential):
            raise RejectedError(Reason.REPLAYED, "the envelope was used already; get a new one")
        if db.execute("SELECT count(*) FROM machine_envelopes").fetchone()[0] >= most:
            raise RejectedError(
                Reason.REPLAY_STORE_FULL, "this host remembers as many envelopes as it may; try again later"
            )
        db.execute(
            "INSERT INTO machine_envelopes (id, issuer, nonce, until) VALUES (?, ?, ?, ?)",
            (credential.id, credential.issuer, credential.nonce, credential.valid_until),
        )


def is_spent(db: Connection, credential: Credential) -> bool:
    """Whether an envelope was spent, or another of its issuer's with the same nonce."""
    row = db.execute(
        "SELECT 1 FROM machine_envelopes WHERE id = ? OR (issuer = ? AND nonce = ?)",
        (credential.id, credential.issuer, credential.nonce),
    ).fetchone()
    return row is not None


def remove_old(db: Connection, now: int) -> None:
    """Forget envelopes that expired long enough ago. Assumes an open transaction."""
    db.execute(
        "DELETE FROM machine_envelopes WHERE id IN "
        "(SELECT id FROM machine_envelopes WHERE until < ? ORDER BY until LIMIT ?)",
        (now - KEPT_MS, _REMOVED),
    )
