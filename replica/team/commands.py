"""What a person does to a team: found it, invite, join, admit, raise, revoke.

Each is one pass that pulls and applies first, signs the change on top of what it then knows, and publishes it.
The caller holds the directory's sync lock.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from core.errors import Code, DmpError, invalid
from core.timestamp import milliseconds, timestamp
from crypto.ed25519 import SEED_BYTES
from crypto.encoding import b64u, unb64u
from crypto.invites import (
    CodeError,
    InviteCode,
    invite_id,
    public_of,
    recovery_code,
)
from crypto.op import Op
from crypto.roster.bodies import (
    Action,
    Admit,
    CloseLegacy,
    CutPoint,
    Dismiss,
    Found,
    OpenInvite,
    Revoke,
    Role,
    SetHosts,
    SetRole,
)
from crypto.roster.founding import Founding
from crypto.roster.view import Member
from replica.addresses import check_handle
from replica.chain.guard import own_head
from replica.chain.pinning import follow
from replica.moving import is_relay, note_met
from replica.node import Node
from replica.records import ops
from replica.records.commits import CommitPoint
from replica.records.link import Link, may_change, remember, remembered
from replica.records.meta import Meta, get, put
from replica.sync import Report, SyncPass
from replica.team.admissions import waiting_key
from replica.team.changes import check_stands, sign_change
from replica.team.entering import ambiguous, announce, begin, move, refuse_second_team
from replica.team.roster import Team, need_team, stored_claims
from transports.base import TransportError

INVITE_DAYS: Final = 7
SAME_INVITE_MS: Final = 2 * 60_000
"""A second invite for one handle within two minutes is the first one again."""

_DAY_MS: Final = 24 * 3_600_000
_MAX_NAME: Final = 128
_MAX_REASON: Final = 500
MAX_HOSTS: Final = 64
"""Handles besides its own that one machine stands in for."""


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
        move(node, link)
        return _founded(node, None, _publish_founding(sync))
    seed = node.random(SEED_BYTES)

    def say() -> None:
        if get(node.store.db, Meta.FOUNDING) is not None:
            raise DmpError(Code.CONFLICT, "a team was founded there already; join it with `dmp join`")
        with node.store.transaction(CommitPoint.FOUNDED) as db:
            key_body = announce(node, None)
            op = node.signer.append(db, "roster", Found(name, (), public_of(seed)).to_json())
            node.signer.append(db, "roster", CloseLegacy(()).to_json())
            follow(node.store, Founding(op.hash, node.me, key_body.fingerprint, name))
            put(db, Meta.FIRM, "1")
            remember(db, link)

    refuse_second_team(node)
    begin(node, None)
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


def invite(sync: SyncPass, handle: str, *, observer: bool = False) -> InviteCode:
    """Publish an invite for one machine of `handle`, valid for seven days.

    The machine that invites is what admits, so whether as an observer is between it and whoever gave the word.

    Raises DmpError: `invalid` on `handle`, `forbidden` when this replica may not invite.
    """
    node = sync.node
    check_handle(handle)
    again = _recent_invite(node, handle, observer=observer)
    seed = again or node.random(SEED_BYTES)

    def say() -> None:
        team = need_team(node.team)
        pub = public_of(seed)
        if observer and not team.view.is_admin(node.me):
            raise DmpError(Code.FORBIDDEN, "only an admin lets a machine in that reads all mail")
        if again is not None and invite_id(pub) in team.view.invites:
            return
        expires = timestamp(node.wall() + INVITE_DAYS * _DAY_MS)
        with node.store.transaction(CommitPoint.INVITED) as db:
            sign_change(node, db, OpenInvite(invite_id(pub), pub, handle, expires))
            db.execute(
                "INSERT INTO invites (id, seed, handle, expires, observer) VALUES (?, ?, ?, ?, ?)",
                (invite_id(pub), b64u(seed), handle, expires, int(observer)),
            )

    sync.publish(say)
    link = remembered(node.store.db)
    relay = link.remote if link is not None and is_relay(link) else None
    return InviteCode(need_team(node.team).view.team_id, seed, relay)


def _recent_invite(node: Node, handle: str, *, observer: bool) -> bytes | None:
    row = node.store.db.execute(
        "SELECT seed, expires FROM invites WHERE handle = ? AND observer = ? AND spent = 0 "
        "ORDER BY expires DESC LIMIT 1",
        (handle, int(observer)),
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
    if link is not None and is_relay(link) and node.team is None:
        return _join_at_relay(sync, held, link)
    if node.team is None and own_head(node)[0]:
        raise DmpError(Code.CONFLICT, _no_team(node, None))
    if _asked_already(node, held):
        move(node, link)
        return sync.run()
    refuse_second_team(node)
    begin(node, None if held is None else held.team)

    def say() -> None:
        team = node.team
        if team is None:
            raise DmpError(Code.NOT_FOUND, _no_team(node, held))
        if held is not None and team.view.team_id != held.team:
            raise DmpError(Code.CONFLICT, "this replica follows another team than the invite names")
        with node.store.transaction(CommitPoint.JOINED) as db:
            announce(node, held)
            remember(db, link)
            note_met(db, team.view.transport, link)

    return sync.publish(say)


def _join_at_relay(sync: SyncPass, held: InviteCode | None, link: Link) -> Report:
    """Ask to be admitted over a relay, which shows nothing before it has seen a key with an invite's proof (7.6).

    So the key op is signed first, for the team that the code names; a relay that was not reached may be tried again.
    """
    node, db = sync.node, sync.node.store.db
    if held is None:
        raise invalid("code", "over a relay a machine is let in by an invite code only; ask an admin for one")
    if own_head(node)[0]:
        if not _proves(node, held):
            refuse_second_team(node)
        move(node, link)
    else:
        begin(node, held.team)
        with node.store.transaction(CommitPoint.JOINED):
            announce(node, held)
            remember(db, link)
    report = sync.run()
    team = node.team
    if team is None:
        raise DmpError(Code.NOT_FOUND, _no_team(node, held))
    with node.store.transaction(CommitPoint.JOINED):
        note_met(db, team.view.transport, link)
    return report


def _proves(node: Node, held: InviteCode) -> bool:
    """Whether this replica's key op, signed and published nowhere yet, was made with this very code."""
    proof = invite_id(public_of(held.seed))
    claims = stored_claims(node.store.db).get(node.me, ())
    return may_change(node.store.db) and any(
        claim.key.invite is not None and claim.key.invite.id == proof for claim in claims
    )


def _asked_already(node: Node, held: InviteCode | None) -> bool:
    """Whether this replica asked to join this very team before: asking again only asks for news."""
    team = node.team
    if team is None or not own_head(node)[0] or node.me in team.view.revoked:
        return False
    return team.view.founder != node.me and (held is None or held.team == team.view.team_id)


def _no_team(node: Node, held: InviteCode | None) -> str:
    if held is not None:
        return f"no team {held.team} was founded there; check the remote and the branch"
    if ambiguous(node):
        return (
            "more than one team was founded there; say which one is meant with `dmp team trust FINGERPRINT --git "
            "REMOTE`, or ask for an invite code, which names one"
        )
    return "no team was founded there; check the remote and the branch"


def admit(
    sync: SyncPass, replica: str, fingerprint: str, role: Role = Role.MEMBER, *, observer: bool = False
) -> bool:
    """Admit a waiting machine whose fingerprint a person compared; False where it is in the team as that already.

    An observer only reads along: it gets a copy of all mail that leaves, and says nothing.

    Raises DmpError: `not-found` on `replica`, `conflict` on `fingerprint` when its key is another one, on
    `replica` when it is in the team as something else, `forbidden` without the right.
    """
    node, typed = sync.node, fingerprint.strip().upper()
    sync.asked[replica] = typed  # whoever floods an id with keys does not crowd out the one that is meant

    def wanted(team: Team) -> Action | None:
        member = team.view.members.get(replica)
        if member is not None and _is_admitted_as(member, typed, role, observer=observer):
            return None
        key = waiting_key(node.store.db, team, replica, typed)
        return Admit(replica, key.handle, role, key.fingerprint, observer=observer)

    return change(sync, wanted, CommitPoint.ADMITTED)


def _is_admitted_as(member: Member, fingerprint: str, role: Role, *, observer: bool) -> bool:
    """Whether a machine of this key is in the team as what is asked for. Raises DmpError where it is as another."""
    if member.fingerprint != fingerprint:
        raise DmpError(
            Code.CONFLICT,
            f"{member.replica} is in the team with another fingerprint; that is another key, and admits nobody",
            "fingerprint",
        )
    if observer and not member.observer:
        raise DmpError(
            Code.CONFLICT,
            f"{member.replica} is in the team as {_as_what(member)}, and nothing makes it an observer: revoke it, and "
            "admit a new machine of its owner as one",
            "replica",
        )
    if member.observer and not observer:
        raise DmpError(
            Code.CONFLICT,
            f"{member.replica} is in the team as an observer, and nothing makes it more: revoke it, and admit a new "
            "machine of its owner",
            "replica",
        )
    if member.role is not role:
        raise DmpError(
            Code.CONFLICT,
            f"{member.replica} is in the team as {_as_what(member)}; `dmp team role` changes that",
            "replica",
        )
    return True


def _as_what(member: Member) -> str:
    return "an observer" if member.observer else "an admin" if member.role is Role.ADMIN else "a plain member"


def set_role(sync: SyncPass, replica: str, role: Role) -> bool:
    """Raise a member to admin, or make an admin a plain member from here on; False where it is that already.

    Raises DmpError: `not-found` on `replica`, `forbidden` or `conflict` as the fold says.
    """
    node = sync.node

    def wanted(team: Team) -> Action | None:
        if member(team, replica).role is role:
            return None
        return SetRole(replica, role, None if role is Role.ADMIN else last_verified(node, replica))

    return change(sync, wanted)


def set_hosts(sync: SyncPass, replica: str, add: Sequence[str] = (), drop: Sequence[str] = ()) -> bool:
    """Let a machine stand in for more handles, or for fewer from here on; False where it does already.

    A handle that is dropped keeps what the machine said and received for it up to the last op verified here.

    Raises DmpError: `invalid` on `handle`; `not-found` or `conflict` on `replica`; `forbidden` without the right.
    """
    node = sync.node
    for handle in (*add, *drop):
        check_handle(handle)
    both = sorted(set(add) & set(drop))
    if both:
        raise invalid("handle", f"{both[0]} cannot be added and dropped at once")

    def wanted(team: Team) -> Action | None:
        found = member(team, replica)
        if found.observer:
            raise DmpError(Code.CONFLICT, f"{replica} is an observer, which stands in for nobody", "replica")
        if found.handle in (*add, *drop):
            raise invalid("handle", f"{replica} is a machine of {found.handle}, whom it always speaks for")
        kept = [handle for handle in found.hosts if handle not in drop]
        hosts = (*kept, *(handle for handle in dict.fromkeys(add) if handle not in kept))
        if hosts == found.hosts:
            return None
        if len(hosts) > MAX_HOSTS:
            raise invalid("handle", f"a machine stands in for at most {MAX_HOSTS} handles")
        return SetHosts(
            replica, hosts, last_verified(node, replica) if len(kept) < len(found.hosts) else None
        )

    return change(sync, wanted)


def revoke(sync: SyncPass, replica: str, reason: str) -> bool:
    """End a replica: what it publishes after the last op verified here counts for nothing.

    False where it was revoked before.

    Raises DmpError: `invalid` on `reason`, `not-found` or `conflict` on `replica`, `forbidden` without the right.
    """
    node = sync.node
    reason = _text(reason, "reason", _MAX_REASON)
    if replica == node.me:
        raise DmpError(Code.CONFLICT, "a replica does not revoke itself; ask another admin", "replica")

    def wanted(team: Team) -> Action | None:
        if replica in team.view.revoked:
            return None
        if replica not in team.view.pending:
            member(team, replica)
        return Revoke(replica, last_verified(node, replica), reason)

    return change(sync, wanted)


def dismiss(sync: SyncPass, replica: str, seq: int, op_hash: str) -> bool:
    """Take out a roster op that this version cannot read, for the whole team; False where it is out already.

    It grants nothing and pauses every version that cannot read it.

    Raises DmpError: `not-found` on `hash` when no such op is held, `conflict` on it when this version reads it,
    `forbidden` without the right or when its publisher ranks no lower.
    """
    node = sync.node

    def wanted(team: Team) -> Action | None:
        if any(
            (each.replica, each.seq, each.hash) == (replica, seq, op_hash) for each in team.view.dismissed
        ):
            return None
        if ops.hash_at(node.store.db, replica, seq) != op_hash:
            raise DmpError(
                Code.NOT_FOUND, "no such op is held here; `dmp problems` names the one to dismiss", "hash"
            )
        return Dismiss(replica, seq, op_hash)

    return change(sync, wanted)


def change(
    sync: SyncPass, wanted: Callable[[Team], Action | None], point: CommitPoint = CommitPoint.ROSTER_SIGNED
) -> bool:
    """Sign and publish what is wanted of the team as it is after a pull; False where nothing is.

    Raises DmpError as `wanted` and `sign_change`, and `conflict` where somebody else's change, published at the same
    time, left this one without effect.
    """
    node = sync.node
    signed: list[Op] = []

    def say() -> None:
        body = wanted(need_team(node.team))
        if body is not None:
            with node.store.transaction(point) as db:
                signed.append(sign_change(node, db, body))

    sync.publish(say)
    for op in signed:
        check_stands(node, op)
    return bool(signed)


def member(team: Team, replica: str) -> Member:
    """A member, or DmpError on `replica` that says what it is instead."""
    found = team.view.members.get(replica)
    if found is not None:
        return found
    if replica in team.view.revoked:
        raise DmpError(Code.CONFLICT, f"{replica} was revoked, and never comes back under that id", "replica")
    if replica in team.view.pending:
        raise DmpError(Code.CONFLICT, f"{replica} waits to be admitted; see `dmp team pending`", "replica")
    raise DmpError(Code.NOT_FOUND, f"{replica} is not in the team; see `dmp team roster`", "replica")


def last_verified(node: Node, replica: str) -> CutPoint:
    """The last op of a replica verified here, which is where a removal cuts (5.3).

    A roster op counts from the moment it is verified, so a cut is never before one that counts. Where the replica
    signed two histories, it is the last op that is in both; where an op of its that this build cannot read holds up
    everything, the last before that op, so that a revocation lifts the pause (5.34).
    """
    team = node.team
    ends = [] if team is None else [team.view.forks.get(replica)]
    if team is not None and team.view.unknown is not None and team.view.unknown.replica == replica:
        ends.append(team.view.unknown.seq)
    below = min((seq for seq in ends if seq is not None), default=None)
    last = ops.last_of(node.store.db, replica, below)
    return CutPoint(0, "0" * 64) if last is None else CutPoint(*last)


def _text(text: str, field: str, limit: int) -> str:
    text = text.strip()
    if not 1 <= len(text) <= limit or not text.isprintable():
        raise invalid(field, f"a {field} is 1 to {limit} printable characters on one line")
    return text


def unpublished_changes(node: Node) -> bool:
    """Whether a change of the roster is signed here that no far side is known to have."""
    row = node.store.db.execute(
        "SELECT 1 FROM unpublished JOIN ops USING (seq) WHERE ops.replica = ? AND ops.type = 'roster' LIMIT 1",
        (node.me,),
    ).fetchone()
    return row is not None
