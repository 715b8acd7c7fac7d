"""Steps that fold rosters, and a roster as their results have it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from crypto.chain import Cursor
from crypto.clock import Reading
from crypto.key_claims import key_claims
from crypto.keys import InviteProof
from crypto.lane import read_lane
from crypto.op import Op
from crypto.roster import Cut, Decision, Member, RosterOp, View, fold, resolve
from crypto.roster.bodies import read_body
from vectors.adapter.federation.given_lines import Json, raw


@dataclass(frozen=True, slots=True)
class _Announced:
    """A key a step announces; no part of a fold but proofs reads its signing key."""

    handle: str
    fingerprint: str
    sign_pub: str = ""
    invite: InviteProof | None = None


def fold_ops(step: Json) -> Json:
    keys = {
        replica: _Announced(key["handle"], key["fingerprint"], key.get("signPub", ""))
        for replica, key in step["keys"].items()
    }
    ops = [
        RosterOp(
            op["replica"],
            op["seq"],
            Reading.parse(op["hlc"]),
            op["opHash"],
            read_body(op["body"]),
            op.get("key") or keys[op["replica"]].fingerprint,
        )
        for op in step["ops"]
    ]
    return roster(fold(step["found"], ops, keys, relay=step.get("relay", False)))


def fold_lanes(step: Json) -> Json:
    """Read every claimed chain of every lane, then decide the keys and fold what they signed."""
    lanes = {replica: [raw(line) for line in lines] for replica, lines in step["lanes"].items()}
    claimed = {replica: key_claims(replica, lines) for replica, lines in lanes.items()}
    ops = [
        RosterOp.of(entry, claim.fingerprint)
        for replica, found in claimed.items()
        for claim in found
        for entry in read_lane(replica, lanes[replica], Cursor(), claim.key).entries
        if isinstance(entry, Op) and entry.type == "roster"
    ]
    view, decided = resolve(step["found"], claimed, ops)
    keys = [{"replica": replica, "fingerprint": key.fingerprint} for replica, key in sorted(decided.items())]
    return roster(view) | {"keys": keys}


def roster(view: View) -> Json:
    """A roster, by the members that steps tell of."""
    held: dict[str, Member | Cut] = {**view.members, **view.revoked}
    return {
        "teamId": view.team_id,
        "name": view.name,
        "founder": view.founder,
        "members": [
            {"replica": replica, "handle": each.handle, "role": each.role.value, "rank": each.rank}
            for replica, each in sorted(view.members.items())
        ],
        "revoked": [
            {"replica": replica, "afterSeq": each.point.after_seq, "by": each.by}
            for replica, each in sorted(view.revoked.items())
        ],
        "accepted": sorted(hash_ for hash_, each in view.resolution.items() if each is Decision.ACCEPTED),
        "void": sorted(hash_ for hash_, each in view.resolution.items() if each is Decision.VOID),
        "pending": list(view.pending),
        "invites": sorted(view.invites),
        "hosts": {replica: list(each.hosts) for replica, each in view.members.items()},
        "hostCuts": [
            {"replica": replica, "handle": cut.handle, "afterSeq": cut.after_seq}
            for replica, each in sorted(held.items())
            for cut in each.host_cuts
        ],
        "observers": sorted(replica for replica, each in view.members.items() if each.observer),
        "recovered": sorted(replica for replica, each in view.members.items() if each.recovered),
        "recoveryPub": view.recovery_pub,
        "recoveryUsed": view.recovery_used,
        "license": None if view.license is None else view.license.key,
        "dismissed": sorted(each.hash for each in view.dismissed),
        "legacyClosed": view.legacy_closed,
        "unknown": None if view.unknown is None else view.unknown.hash,
    }


STEPS: Final[Mapping[str, Callable[[Json], Json]]] = {"foldRoster": fold_ops, "foldLanes": fold_lanes}
