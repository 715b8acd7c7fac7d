"""The team, who waits to be let in and where it meets, as programs read them.

Handles, devices and reasons are text of others.
"""

from typing import Final

from core.timestamp import timestamp
from crypto.canonical import JsonValue
from crypto.key_claims import Claim
from crypto.roster.view import Member
from replica.node import Node
from replica.records import ops, outbox, transports
from replica.records.link import Role
from replica.records.meta import Meta, get
from replica.team.roster import Team, need_team, stored_claims

_ROLES: Final = {Role.MAIN: "main", Role.OTHER: "other", Role.FORMER: "former main"}


def roster(node: Node) -> dict[str, JsonValue]:
    """Who is in the team, and who was put out. Raises DmpError `not-found` in no team."""
    known = need_team(node.team)
    everyone = sorted(known.view.members.values(), key=lambda each: (each.handle, each.replica))
    revoked: list[JsonValue] = [
        {"replica": cut.replica, "handle": cut.handle, "reason": cut.reason, "by": cut.by}
        for cut in sorted(known.view.revoked.values(), key=lambda each: each.replica)
    ]
    return {
        "team": known.view.team_id,
        "name": known.view.name,
        "founder": known.view.founder,
        "members": [member_json(node, known, member) for member in everyone],
        "revoked": revoked,
        "pending": [*known.view.pending],
        "people": [*known.view.people],
        "seats": known.view.seats,
        "syncedAt": get(node.store.db, Meta.SYNCED_AT),
    }


def pending(node: Node) -> list[dict[str, JsonValue]]:
    """The machines that wait to be admitted, one entry for each key. Raises DmpError `not-found` in no team."""
    known = need_team(node.team)
    return [
        _claim_json(known, replica, claim)
        for replica, claims in stored_claims(node.store.db).items()
        if replica not in known.view.members and replica not in known.view.revoked
        for claim in claims
    ]


def member_json(node: Node, known: Team, member: Member) -> dict[str, JsonValue]:
    """A machine of the team."""
    key = known.keys.get(member.replica)
    heard = ops.position(node.store.db, member.replica)
    head = None if heard is None else heard.cursor.head
    return {
        "replica": member.replica,
        "handle": member.handle,
        "device": None if key is None else key.device,
        "role": str(member.role),
        "rank": member.rank,
        "recovered": member.recovered,
        "hosts": [*member.hosts],
        "observer": member.observer,
        "fingerprint": member.fingerprint,
        "lastHeard": None if head is None else timestamp(head.hlc.ms),
    }


def _claim_json(known: Team, replica: str, claim: Claim) -> dict[str, JsonValue]:
    """A key that claims a waiting machine's id. Usually an id has one; where it has more, one is an impostor's."""
    invited = known.view.invited_by(replica, claim.key)
    return {
        "replica": replica,
        "handle": claim.key.handle,
        "device": claim.key.device,
        "fingerprint": claim.fingerprint,
        "by": None if invited is None else known.describe(invited.by),
    }


def transport_json(node: Node, record: transports.Record) -> dict[str, JsonValue]:
    """A transport, its address without credentials, and how it fared last."""
    return {
        "address": record.link.shown,
        "branch": record.link.branch,
        "use": _ROLES[record.role],
        "reachable": None if record.seen_at is None and record.failed_at is None else record.error is None,
        "seenAt": record.seen_at,
        "waiting": None if record.role is Role.FORMER else not_there(node, record),
        "failedAt": record.failed_at,
        "error": record.error,
    }


def not_there(node: Node, record: transports.Record) -> int:
    """How much of this machine's own is not known to be there; on the main one, with what is not signed yet."""
    (signed,) = node.store.db.execute(
        "SELECT count(*) FROM ops WHERE replica = ? AND seq > ?", (node.me, record.read_back)
    ).fetchone()
    return int(signed) + (outbox.waiting(node.store.db) if record.role is Role.MAIN else 0)
