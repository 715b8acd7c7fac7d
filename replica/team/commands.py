"""What a person does to a team: found it, invite, join, admit, raise, revoke.

Each is one pass that pulls and applies first, signs the change on top of what it then knows, and publishes it.
The caller holds the directory's sync lock.
"""

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from typing import Final

from core.errors import Code, DmpError, invalid
from core.timestamp import milliseconds, timestamp
from crypto.encoding import b64u, unb64u
from crypto.invites import (
    CodeError,
    InviteCode,
    invite_id,
    invite_proof,
    public_of,
    recovery_code,
)
from crypto.keys import HANDLE, InviteProof, KeyBody
from crypto.roster.bodies import Admit, CloseLegacy, CutPoint, Found, OpenInvite, Revoke, Role, SetRole
from crypto.roster.founding import Founding
from replica.chain.guard import own_head
from replica.chain.verify import follow
from replica.node import Node
from replica.records import ops, problems, subjects
from replica.records.commits import CommitPoint
from replica.records.link import Link, may_change, remember, remembered
from replica.records.meta import Meta, get, put, raise_roster_version
from replica.sync import Report, SyncPass
from replica.team.admissions import waiting_key
from replica.team.changes import sign_change
from replica.team.roster import need_team
from transports.base import TransportError

INVITE_DAYS: Final = 7
SAME_INVITE_MS: Final = 2 * 60_000
"""A second invite for one handle within two minutes is the first one again."""

_DAY_MS: Final = 24 * 3_600_000
SEED_BYTES: Final = 32
_MAX_NAME: Final = 128
_MAX_REASON: Final = 500


@dataclass(frozen=True, slots=True)
class Founded:
    """A team that was founded, and its recovery code, which is kept nowhere: None when an earlier call gave it.

    `unpublished` is why the far side did not take it yet; the next sync tries again.
    """

    team_id: str
    name: str
    recovery_code: str | None
    unpublished: TransportError | None = None


def found_team(sync: SyncPass, name: str, link: Link | None = None) -> Founded:
    """Found a team: key op, founding with a recovery key, the legacy window closed.

    `link` is what `sync` goes over, to be remembered. Where an earlier call signed the founding and no far
    side took it, this one publishes it, over `link`.

    Raises DmpError: `invalid` on `name`; `conflict` when this replica is in a team, or the far side has one.
    """
    node = sync.node
    name = _text(name, "name", _MAX_NAME)
    if _founded_unpublished(node, name):
        _move(node, link)
        return _founded(node, None, _publish_founding(sync))
    seed = node.random(SEED_BYTES)

    def say() -> None:
        if get(node.store.db, Meta.FOUNDING) is not None:
            raise DmpError(Code.CONFLICT, "a team was founded there already; join it with `dmp join`")
        with node.store.transaction(CommitPoint.FOUNDED) as db:
            key_body = _announce(node, None)
            op = node.signer.append(db, "roster", Found(name, (), public_of(seed)).to_json())
            node.signer.append(db, "roster", CloseLegacy(()).to_json())
            follow(node.store, Founding(op.hash, node.me, key_body.fingerprint, name))
            put(db, Meta.FIRM, "1")
            _remember(db, link)

    refuse_second_team(node)
    _begin(node, None)
    return _founded(node, recovery_code(seed), _publish_founding(sync, say))


def _publish_founding(sync: SyncPass, say: Callable[[], None] = lambda: None) -> TransportError | None:
    """Sign with `say` and publish; what kept the far side from taking a founding that is signed."""
    try:
        sync.publish(say)
    except TransportError as error:
        if not own_head(sync.node)[0]:
            raise
        return error  # signed, so its recovery code is the only one there will be
    return None


def _founded(node: Node, code: str | None, unpublished: TransportError | None) -> Founded:
    view = need_team(node.team).view
    return Founded(view.team_id, view.name, code, unpublished)


def _founded_unpublished(node: Node, name: str) -> bool:
    """Whether this replica founded a team of this name that no far side is known to have."""
    team = node.team
    if team is None or team.view.founder != node.me or team.view.name != name:
        return False
    return may_change(node.store.db)


def _begin(node: Node, invited_to: str | None) -> None:
    """Forget what an earlier try read of a far side: as long as nothing is signed, none of it binds.

    `invited_to` is the id of the team an invite names, the only one that is then followed.
    """
    with node.store.transaction(CommitPoint.BEGUN) as db:
        for table in ("claims", "ops", "cursors", "parked", "missing", "acks"):
            db.execute(f"DELETE FROM {table}")
        db.execute("DELETE FROM problems WHERE subject NOT LIKE 'own:%'")
        for name in (Meta.FOUNDING, Meta.FOUNDER, Meta.FOUNDER_FINGERPRINT, Meta.TIP):
            put(db, name, None)
        put(db, Meta.INVITED_TEAM, invited_to)
        raise_roster_version(db)


def _remember(db: sqlite3.Connection, link: Link | None) -> None:
    if link is not None:
        remember(db, link)


def _move(node: Node, link: Link | None) -> None:
    """Use another link from here on, which only does while nothing was published.

    Raises DmpError `conflict` otherwise.
    """
    known = remembered(node.store.db)
    if link is None or link == known:
        return
    if known is not None and not may_change(node.store.db):
        raise DmpError(
            Code.CONFLICT,
            "this replica publishes over another remote or branch already; leave the address out of it: `dmp sync`",
        )
    with node.store.transaction(CommitPoint.BEGUN) as db:
        remember(db, link)
        put(db, Meta.TIP, None)


def refuse_second_team(node: Node) -> None:
    """One key serves one team: nothing signed names the team, so a chain would verify in any (K5).

    Raises DmpError `conflict` when this replica's key was published already.
    """
    if own_head(node)[0]:
        raise DmpError(
            Code.CONFLICT,
            "this replica's key was published to a team already, and a key serves one team; "
            "make another replica with `dmp init` in a new directory",
        )


def invite(sync: SyncPass, handle: str) -> InviteCode:
    """Publish an invite for one machine of `handle`, valid for seven days.

    Raises DmpError: `invalid` on `handle`, `forbidden` when this replica may not invite.
    """
    node = sync.node
    if HANDLE.fullmatch(handle) is None:
        raise invalid(
            "handle", "a handle is 1 to 64 of a-z, 0-9, '.', '_' and '-', starting with a letter or digit"
        )
    again = _recent_invite(node, handle)
    seed = again or node.random(SEED_BYTES)

    def say() -> None:
        team = need_team(node.team)
        pub = public_of(seed)
        if again is not None and invite_id(pub) in team.view.invites:
            return
        expires = timestamp(node.wall() + INVITE_DAYS * _DAY_MS)
        with node.store.transaction(CommitPoint.INVITED) as db:
            sign_change(node, db, OpenInvite(invite_id(pub), pub, handle, expires))
            db.execute(
                "INSERT INTO invites (id, seed, handle, expires) VALUES (?, ?, ?, ?)",
                (invite_id(pub), b64u(seed), handle, expires),
            )

    sync.publish(say)
    return InviteCode(need_team(node.team).view.team_id, seed)


def _recent_invite(node: Node, handle: str) -> bytes | None:
    row = node.store.db.execute(
        "SELECT seed, expires FROM invites WHERE handle = ? AND spent = 0 ORDER BY expires DESC LIMIT 1",
        (handle,),
    ).fetchone()
    if row is None or milliseconds(row[1]) - INVITE_DAYS * _DAY_MS < node.wall() - SAME_INVITE_MS:
        return None
    return unb64u(row[0], SEED_BYTES)


def join(sync: SyncPass, code: str | None, link: Link | None = None) -> Report:
    """Ask to be admitted: publish this replica's key, with the invite's proof where there is a code.

    `link` is what `sync` goes over, to be remembered.

    Raises DmpError: `invalid` on `code`, `not-found` when no founding is there to follow, `conflict` when this
    replica's key was published before.
    """
    node = sync.node
    try:
        held = None if code is None else InviteCode.decode(code.strip())
    except CodeError as error:
        raise invalid("code", str(error)) from None
    if _asked_already(node, held):
        _move(node, link)
        return sync.run()
    refuse_second_team(node)
    _begin(node, None if held is None else held.team)

    def say() -> None:
        team = node.team
        if team is None:
            raise DmpError(Code.NOT_FOUND, _no_team(node, held))
        if held is not None and team.view.team_id != held.team:
            raise DmpError(Code.CONFLICT, "this replica follows another team than the invite names")
        with node.store.transaction(CommitPoint.JOINED) as db:
            _announce(node, held)
            _remember(db, link)

    return sync.publish(say)


def _asked_already(node: Node, held: InviteCode | None) -> bool:
    """Whether this replica asked to join this very team before: asking again only asks for news."""
    team = node.team
    if team is None or not own_head(node)[0] or node.me in team.view.revoked:
        return False
    return team.view.founder != node.me and (held is None or held.team == team.view.team_id)


def _no_team(node: Node, held: InviteCode | None) -> str:
    if held is not None:
        return f"no team {held.team} was founded there; check the remote and the branch"
    if any(subjects.FOUNDING.covers(each.subject) for each in problems.all_problems(node.store.db)):
        return "more than one team was founded there; ask for an invite code, which names one"
    return "no team was founded there; check the remote and the branch"


def _announce(node: Node, held: InviteCode | None) -> KeyBody:
    """Sign the key op, inside an open transaction, and keep it as this replica's claim."""
    secrets, db = node.identity.secrets, node.store.db
    proof = None
    if held is not None:
        sig = invite_proof(held.seed, team=held.team, replica=node.me, sign_pub=secrets.sign_pub)
        proof = InviteProof(invite_id(public_of(held.seed)), sig)
    body = KeyBody(
        handle=node.handle,
        device=get(db, Meta.DEVICE) or "machine",
        build=f"dmp-replica {version('dmp-replica')}",
        sign_pub=secrets.sign_pub,
        seal_pub=secrets.seal_pub,
        invite=proof,
    )
    op = node.signer.append(db, "key", body.to_json())
    db.execute(
        "INSERT INTO claims (replica, fingerprint, line) VALUES (?, ?, ?)",
        (node.me, body.fingerprint, ops.line_at(db, node.me, op.seq)),
    )
    raise_roster_version(db)
    return body


def admit(sync: SyncPass, replica: str, fingerprint: str, role: Role = Role.MEMBER) -> None:
    """Admit a waiting machine whose fingerprint a person compared.

    Raises DmpError: `not-found` on `replica`, `conflict` on `fingerprint` when its key is another one,
    `forbidden` without the right.
    """
    node = sync.node

    def say() -> None:
        key = waiting_key(node.store.db, need_team(node.team), replica, fingerprint.strip().upper())
        with node.store.transaction(CommitPoint.ADMITTED) as db:
            sign_change(node, db, Admit(replica, key.handle, role, key.fingerprint))

    sync.publish(say)


def set_role(sync: SyncPass, replica: str, role: Role) -> None:
    """Raise a member to admin, or make an admin a plain member from here on.

    Raises DmpError: `not-found` on `replica`, `forbidden` or `conflict` as the fold says.
    """
    node = sync.node

    def say() -> None:
        if replica not in need_team(node.team).view.members:
            raise DmpError(Code.NOT_FOUND, f"{replica} is not in the team; see `dmp team roster`", "replica")
        with node.store.transaction(CommitPoint.ROSTER_SIGNED) as db:
            cut = None if role is Role.ADMIN else last_verified(node, replica)
            sign_change(node, db, SetRole(replica, role, cut))

    sync.publish(say)


def revoke(sync: SyncPass, replica: str, reason: str) -> None:
    """End a replica: what it publishes after the last op verified here counts for nothing.

    Raises DmpError: `invalid` on `reason`, `not-found` or `conflict` on `replica`, `forbidden` without the right.
    """
    node = sync.node
    reason = _text(reason, "reason", _MAX_REASON)
    if replica == node.me:
        raise DmpError(Code.CONFLICT, "a replica does not revoke itself; ask another admin", "replica")

    def say() -> None:
        view = need_team(node.team).view
        if replica in view.revoked:
            raise DmpError(Code.CONFLICT, f"{replica} is revoked already", "replica")
        if replica not in view.members and replica not in view.pending:
            raise DmpError(Code.NOT_FOUND, f"{replica} is not in the team; see `dmp team roster`", "replica")
        with node.store.transaction(CommitPoint.ROSTER_SIGNED) as db:
            sign_change(node, db, Revoke(replica, last_verified(node, replica), reason))

    sync.publish(say)


def last_verified(node: Node, replica: str) -> CutPoint:
    """The last op of a replica verified here, which is where a removal cuts (5.3)."""
    known = ops.position(node.store.db, replica)
    if known is None or known.cursor.head is None:
        return CutPoint(0, "0" * 64)
    return CutPoint(known.cursor.head.seq, known.cursor.head.hash)


def _text(text: str, field: str, limit: int) -> str:
    text = text.strip()
    if not 1 <= len(text) <= limit or not text.isprintable():
        raise invalid(field, f"a {field} is 1 to {limit} printable characters on one line")
    return text
