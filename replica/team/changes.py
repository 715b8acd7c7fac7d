"""Changing the roster: pull, fold with the unsigned op, sign and publish, in one call (architecture).

A change that the fold would ignore or void is never signed: it fails here, with the fold's own reason.
"""

import sqlite3
from typing import Final, TypeAlias

from core.errors import Code, DmpError
from crypto.clock import tick
from crypto.op import Op
from crypto.roster.bodies import Admit, OpenInvite, Revoke, SetRole
from crypto.roster.notes import Ignored
from crypto.roster.ops import RosterOp
from crypto.roster.view import Decision, View
from replica.chain.clock import last_reading
from replica.chain.signer import next_place
from replica.node import Node
from replica.team.roster import fold_team, need_team

Change: TypeAlias = Admit | OpenInvite | Revoke | SetRole

_UNSIGNED: Final = "f" * 64
"""Stands for the opHash of an op that is not signed yet; no fold outcome but the tie at one seq reads it."""


def sign_change(node: Node, db: sqlite3.Connection, body: Change) -> Op:
    """Sign a roster op that the fold accepts, inside an open transaction.

    Raises DmpError: `forbidden` when this replica has no right to it, `conflict` when the roster as it is
    does not allow it.
    """
    content = body.to_json()
    seq, _ = next_place(db, node.me)
    expected = tick(last_reading(db), node.wall(), node.me)
    unsigned = RosterOp(node.me, seq, expected, _UNSIGNED, body, node.identity.fingerprint)
    _check(need_team(fold_team(db, [unsigned])).view)
    return node.signer.append(db, "roster", content)


def _check(view: View) -> None:
    reason = view.ignored.get(_UNSIGNED)
    if reason is None and view.resolution.get(_UNSIGNED) is not Decision.VOID:
        return
    if reason in (Ignored.NO_RIGHT, Ignored.OBSERVER, None):
        raise DmpError(Code.FORBIDDEN, "this replica has no right to that change; ask an admin of the team")
    raise DmpError(Code.CONFLICT, f"the team would ignore that change: {reason.value}")
