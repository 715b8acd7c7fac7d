"""Changing the roster: pull, fold with the unsigned op, sign and publish, in one call (architecture).

A change that the fold would ignore or void is never signed: it fails here, with the fold's own reason.
"""

import sqlite3
from typing import Final

from core.errors import Code, DmpError
from crypto.clock import tick
from crypto.op import Op
from crypto.roster.bodies import Action
from crypto.roster.notes import Ignored
from crypto.roster.ops import RosterOp
from crypto.roster.view import Decision
from replica.chain.clock import last_reading
from replica.chain.signer import next_place
from replica.node import Node
from replica.team.roster import Team, fold_team, need_team

_UNSIGNED: Final = "f" * 64
"""Stands for the opHash of an op that is not signed yet; no fold outcome but the tie at one seq reads it."""

_ADMINS_NAMED: Final = 3
"""Admins named to somebody who has to ask one."""


def sign_change(node: Node, db: sqlite3.Connection, body: Action) -> Op:
    """Sign a roster op that the fold accepts, inside an open transaction.

    Raises DmpError: `forbidden` when this replica has no right to it, `conflict` when the roster as it is
    does not allow it.
    """
    seq, _ = next_place(db, node.me)
    expected = tick(last_reading(db), node.wall(), node.me)
    unsigned = RosterOp(node.me, seq, expected, _UNSIGNED, body, node.identity.fingerprint)
    team = need_team(fold_team(db, [unsigned]))
    reason = why_void(team, _UNSIGNED)
    if reason is not None:
        raise _refusal(team, node.me, reason)
    return node.signer.append(db, "roster", body.to_json())


def check_stands(node: Node, op: Op) -> None:
    """Say so where a change that was signed has lost to one that somebody else made at the same time.

    Raises DmpError `conflict`.
    """
    team = node.team
    reason = None if team is None else why_void(team, op.hash)
    if team is None or reason is None:
        return
    cut = team.view.revoked.get(node.me)
    if cut is not None:
        text = f"{team.describe(cut.by)} revoked this machine at the same time, and that stands"
    else:
        text = "somebody changed the team at the same time, and that stands"
    raise DmpError(
        Code.CONFLICT, f"{text}: this change was published and has no effect, since {reason.value}"
    )


def why_void(team: Team, op_hash: str) -> Ignored | None:
    """Why a roster op has no effect; None where it has."""
    reason = team.view.ignored.get(op_hash)
    if reason is None and team.view.resolution.get(op_hash) is Decision.VOID:
        return Ignored.NO_RIGHT
    return reason


def _refusal(team: Team, me: str, reason: Ignored) -> DmpError:
    match reason:
        case Ignored.NO_RIGHT | Ignored.OBSERVER:
            return DmpError(Code.FORBIDDEN, _no_right(team, me))
        case Ignored.OUTRANKED:
            return DmpError(
                Code.FORBIDDEN,
                "somebody who ranks before this machine took its right away at the same time; see `dmp team roster`",
            )
        case Ignored.LAST_ADMIN:
            return DmpError(
                Code.CONFLICT,
                "that would leave the team without an admin; make somebody an admin first: "
                "`dmp team role REPLICA admin`",
            )
    return DmpError(Code.CONFLICT, f"the team would ignore that change: {reason.value}")


def _no_right(team: Team, me: str) -> str:
    """Why a machine may not change what only admins may, and whom to ask."""
    member = team.view.members.get(me)
    if me in team.view.revoked:
        return "this machine was revoked, so it changes nothing of the team any more"
    if member is None:
        return "this machine is not in the team yet, so it changes nothing of it"
    admins = sorted(
        (each for each in team.view.members.values() if each.rank is not None),
        key=lambda each: each.rank or 0,
    )
    named = ", ".join(team.describe(each.replica) for each in admins[:_ADMINS_NAMED])
    what = "only reads along, and changes nothing of the team" if member.observer else "is no admin"
    if team.view.is_admin(me):
        what = "was no admin any more where its change would stand"
    return f"this machine {what}, so it has no right to that; ask an admin: {named}"
