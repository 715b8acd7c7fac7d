"""Admitting: an invited machine by the machine that invited it, any other by its fingerprint (4.4, 11.4)."""

import sqlite3
from collections.abc import Collection, Mapping

from core.errors import Code, DmpError
from crypto.keys import KeyBody
from crypto.roster.bodies import Admit, Role
from replica.node import Node
from replica.records import problems, subjects
from replica.records.commits import CommitPoint
from replica.team.changes import sign_change
from replica.team.roster import Team, stored_claims


def admit_invited(node: Node, team: Team) -> list[str]:
    """Admit every machine that proves an invite issued here; return their ids.

    An invite admits one machine: the only claimant that proves it, of the handle it names, before it expires.
    """
    if not team.view.is_member(node.me) or not team.firm:
        return []
    admitted = []
    for invite, replica in _sole_claimants(node, team).items():
        try:
            _admit(node, invite, replica, team.keys[replica])
        except DmpError as error:
            if error.code not in (Code.FORBIDDEN, Code.CONFLICT):
                raise
            _note(
                node,
                invite,
                f"{replica} holds an invite of this machine, which may not admit it; ask an admin",
            )
        else:
            admitted.append(replica)
    return admitted


def _admit(node: Node, invite: str, replica: str, key: KeyBody) -> None:
    with node.store.transaction(CommitPoint.ADMITTED) as db:
        (observer,) = db.execute("SELECT observer FROM invites WHERE id = ?", (invite,)).fetchone()
        admission = Admit(replica, key.handle, Role.MEMBER, key.fingerprint, observer=bool(observer))
        sign_change(node, db, admission)
        db.execute("UPDATE invites SET spent = 1 WHERE id = ?", (invite,))
        problems.clear(db, subjects.INVITE.of(invite))


def _note(node: Node, invite: str, text: str) -> None:
    with node.store.transaction(CommitPoint.PROBLEM) as db:
        problems.note(db, problems.Problem(subjects.INVITE.of(invite), text, at=node.now()))


def _sole_claimants(node: Node, team: Team) -> Mapping[str, str]:
    """The invites of this replica that exactly one waiting machine proves, and that machine."""
    claimants: dict[str, list[str]] = {}
    for replica in team.view.pending:
        key = team.keys.get(replica)
        invite = None if key is None else team.view.invited_by(replica, key)
        if invite is not None and invite.by == node.me:
            claimants.setdefault(invite.id, []).append(replica)
    _forget(node, {subjects.INVITE.of(invite_id) for invite_id in claimants})
    found = {}
    for invite_id, replicas in claimants.items():
        why = _why_not(node, invite_id, replicas)
        if why is None:
            found[invite_id] = replicas[0]
            continue
        _note(node, invite_id, why)
    return found


def _forget(node: Node, still: Collection[str]) -> None:
    """Clear what was noted of invites whose claimants do not wait any more."""
    noted = {each.subject for each in problems.all_problems(node.store.db)}
    over = {subject for subject in noted if subjects.INVITE.covers(subject)} - set(still)
    if over:
        with node.store.transaction(CommitPoint.PROBLEM) as db:
            for subject in over:
                problems.clear(db, subject)


def _why_not(node: Node, invite_id: str, replicas: list[str]) -> str | None:
    row = node.store.db.execute("SELECT expires, spent FROM invites WHERE id = ?", (invite_id,)).fetchone()
    who = " and ".join(sorted(replicas))
    if row is None or row[1]:
        return f"{who} used an invite that was spent already; admit it by its fingerprint if you know it"
    if row[0] < node.now():
        return f"{who} used an invite that expired; admit it by its fingerprint, or invite it again"
    if len(replicas) > 1:
        return f"{who} used the same invite; admit the right one by its fingerprint"
    return None


def waiting_key(db: sqlite3.Connection, team: Team, replica: str, fingerprint: str) -> KeyBody:
    """The key of this fingerprint among those that claim a waiting machine's id; usually there is one.

    Raises DmpError: `not-found` on `replica`, `conflict` on `fingerprint` when no claim has it.
    """
    claims = stored_claims(db).get(replica, [])
    if replica in team.view.revoked:
        raise DmpError(
            Code.CONFLICT,
            f"{replica} was revoked, and never comes back under that id; its owner makes a new replica",
            "replica",
        )
    if not claims or replica in team.view.members:
        raise DmpError(
            Code.NOT_FOUND, f"{replica} does not wait to be admitted; see `dmp team pending`", "replica"
        )
    for claim in claims:
        if claim.fingerprint == fingerprint:
            return claim.key
    raise DmpError(
        Code.CONFLICT,
        f"{replica} has another fingerprint; compare it with its owner again, and admit nothing until it fits",
        "fingerprint",
    )
