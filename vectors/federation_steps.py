"""Runs the steps of federation vectors on this implementation; `docs/vectors.md` says what each step is.

Each step is a function of the step's members that returns its result, or raises `StepError`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from crypto import invites
from crypto.canonical import JsonError, JsonValue, canonical, decode, parse
from crypto.chain import Cursor, Halt, Head, verify_entry, verify_log
from crypto.clock import ClockError, Reading, tick
from crypto.encoding import b64u, unb64u
from crypto.key_claims import Claim, key_claims
from crypto.keys import InviteProof, KeyBodyError, fingerprint, parse_key_body, team_id
from crypto.lane import read_lane
from crypto.op import Entry, Op, OpError, Stub, Unreadable, Unverified, read_line, tampering
from crypto.roster import Cut, Decision, Member, RosterOp, View, fold, resolve
from crypto.roster.bodies import read_body
from crypto.sealing import SealError, can_seal_to, open_sealed, open_with_key

Json: TypeAlias = dict[str, Any]


class StepError(Exception):
    """A step that is refused, and the reason where it is one that implementations share."""

    def __init__(self, reason: str | None = None) -> None:
        super().__init__(reason)
        self.reason = reason


def run(vector: Json) -> list[Json]:
    """Return the outcome of every step of a vector."""
    return [outcome(step) for step in vector["when"]]


def outcome(step: Json) -> Json:
    """Run one step."""
    try:
        return {"ok": True, "result": STEPS[step["op"]](step)}
    except StepError as refusal:
        error = (
            {"code": "invalid"} if refusal.reason is None else {"code": "invalid", "reason": refusal.reason}
        )
        return {"ok": False, "error": error}


# Reading what a step gives


def _bytes(text: str | Json) -> bytes:
    """A line, written as text or, where it is not UTF-8, as hex."""
    return bytes.fromhex(text["hex"]) if isinstance(text, dict) else text.encode()


def _lines(step: Json) -> list[bytes]:
    return [_bytes(line) for line in step["lines"]]


def _line(step: Json) -> bytes:
    """The step's line, with a member `pad` that makes its canonical form `padTo` bytes long, if asked for."""
    raw = _bytes(step["line"])
    if "padTo" not in step:
        return raw
    value = parse(decode(raw)).value
    assert isinstance(value, dict)
    value["pad"] = ""
    value["pad"] = "x" * (step["padTo"] - len(canonical(value)))
    return canonical(value)


def _head(head: Json | None) -> Head | None:
    return None if head is None else Head(head["seq"], head["opHash"], Reading.parse(head["hlc"]))


def _cursor(step: Json) -> Cursor:
    halted = step.get("halted")
    halt = None if halted is None else Halt(halted["seq"], halted["reason"], "")
    return Cursor(_head(step.get("head")), halt)


def _unverified(raw: bytes) -> Unverified:
    read = read_line(raw)
    if isinstance(read, Unreadable):
        raise StepError(read.reason)
    return read


class _Remembered:
    """The ops a step says were accepted before."""

    def __init__(self, ops: list[Json]) -> None:
        self._ops = ops

    def hash_at(self, seq: int) -> str | None:
        return next((op["opHash"] for op in self._ops if op["seq"] == seq), None)

    def hash_after(self, prev: str) -> str | None:
        return next((op["opHash"] for op in self._ops if op["prev"] == prev), None)


# Writing what came of it


def _halted(cursor: Cursor) -> Json | None:
    return None if cursor.halted is None else {"seq": cursor.halted.seq, "reason": cursor.halted.reason}


def _accepted(entries: tuple[Entry, ...]) -> list[JsonValue]:
    return [{"seq": each.seq, "opHash": each.hash, "stub": isinstance(each, Stub)} for each in entries]


def _claim(claim: Claim) -> Json:
    roster_op = None if claim.roster_op is None else claim.roster_op.hash
    return {"fingerprint": claim.fingerprint, "opHash": claim.hash, "rosterOp": roster_op}


# Canonical JSON, entries, chains


def canonicalize(step: Json) -> Json:
    try:
        parsed = parse(decode(_bytes(step["text"])))
        return {"canonical": canonical(parsed.value).decode(), "repeatedKeys": parsed.duplicates}
    except JsonError:
        raise StepError from None


def read_entry(step: Json) -> Json:
    read = _unverified(_line(step))
    return {
        "opHash": read.hash,
        "contentHash": read.content_hash,
        "stub": read.pruned,
        "repeatedKeys": read.duplicates,
    }


def verify(step: Json) -> Json:
    read = _unverified(_line(step))
    try:
        entry = verify_entry(read, _head(step["head"]), unb64u(step["signPub"]))
    except OpError as error:
        raise StepError(str(error)) from None
    return {"opHash": entry.hash}


def verify_whole_log(step: Json) -> Json:
    pinned = step.get("pinned")
    result = verify_log(
        step["replica"],
        map(read_line, _lines(step)),
        _cursor(step),
        None if pinned is None else parse_key_body(pinned),
    )
    return {"accepted": _accepted(result.accepted), "halted": _halted(result.cursor)}


def read_whole_lane(step: Json) -> Json:
    cut = step.get("cut")
    result = read_lane(
        step["replica"],
        _lines(step),
        _cursor(step),
        parse_key_body(step["key"]),
        remembered=_Remembered(step.get("remembered", [])),
        horizon_ms=step.get("horizonMs"),
        cut=None if cut is None else (cut["afterSeq"], cut["afterHash"]),
        wanted=step.get("wanted", ()),
    )
    return {
        "accepted": _accepted(result.entries),
        "halted": _halted(result.cursor),
        "stalled": None if result.stall is None else {"seq": result.stall.seq, "reason": result.stall.reason},
        "gap": None if result.gap is None else result.gap.seq,
        "held": None if result.held is None else str(result.held),
        "repeatedKeys": list(result.flagged),
        "restored": [op.hash for op in result.restored],
    }


def claims(step: Json) -> Json:
    found = key_claims(step["replica"], _lines(step), named=step.get("named", ()))
    return {"claims": [_claim(claim) for claim in found]}


# Clocks


def _reading(text: str) -> Reading:
    try:
        return Reading.parse(text)
    except ClockError:
        raise StepError from None


def read_clock(step: Json) -> Json:
    reading = _reading(step["text"])
    return {"ms": reading.ms, "counter": reading.counter, "replica": reading.replica}


def compare_clocks(step: Json) -> Json:
    a, b = _reading(step["a"]).key, _reading(step["b"]).key
    return {"order": (a > b) - (a < b)}


def tick_clock(step: Json) -> Json:
    last = step["last"]
    return {"hlc": str(tick(None if last is None else _reading(last), step["wall"], step["replica"]))}


# Keys, seals, codes


def fingerprint_of(step: Json) -> Json:
    return {"fingerprint": fingerprint(step["signPub"], step["sealPub"])}


def read_key_body(step: Json) -> Json:
    try:
        return {"fingerprint": parse_key_body(step["body"]).fingerprint}
    except KeyBodyError:
        raise StepError from None


def _sealed_op(step: Json) -> Op:
    read = _unverified(_bytes(step["line"]))
    op = read.entry()
    if tampering(read) is not None or isinstance(op, Stub):
        raise StepError
    return op


def open_for(step: Json) -> Json:
    op = _sealed_op(step)
    private = unb64u(step["sealPriv"])
    try:
        payload = open_sealed(
            op.sealed, replica=op.replica, seq=op.seq, type=op.type, me=step["me"], private=private
        )
    except SealError:
        raise StepError from None
    return {"payload": payload}


def open_by_content_key(step: Json) -> Json:
    op = _sealed_op(step)
    try:
        payload = open_with_key(
            op.sealed, unb64u(step["contentKey"]), replica=op.replica, seq=op.seq, type=op.type
        )
    except SealError:
        raise StepError from None
    return {"payload": payload}


def can_seal(step: Json) -> Json:
    return {"can": can_seal_to(unb64u(step["sealPub"]))}


def prove_invite(step: Json) -> Json:
    proof = invites.invite_proof(unb64u(step["seed"]), **_claimed(step))
    return {"pub": invites.public_of(unb64u(step["seed"])), "proof": proof}


def verify_invite(step: Json) -> Json:
    valid = invites.verify_invite(step["pub"], step["proof"], **_claimed(step))
    return {"id": invites.invite_id(step["pub"]), "valid": valid}


def read_invite_code(step: Json) -> Json:
    try:
        code = invites.InviteCode.decode(step["code"])
    except invites.CodeError:
        raise StepError from None
    return {"team": code.team, "seed": b64u(code.seed), "relay": code.relay}


def prove_recovery(step: Json) -> Json:
    return {"proof": invites.recovery_proof(_recovery_seed(step), **_claimed(step))}


def verify_recovery(step: Json) -> Json:
    return {"valid": invites.verify_recovery(step["pub"], step["proof"], **_claimed(step))}


def _recovery_seed(step: Json) -> bytes:
    try:
        return invites.recovery_seed(step["code"])
    except invites.CodeError:
        raise StepError from None


def _claimed(step: Json) -> dict[str, str]:
    return {"team": step["team"], "replica": step["replica"], "sign_pub": step["signPub"]}


# Rosters


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
    return _view(fold(step["found"], ops, keys, relay=step.get("relay", False)))


def fold_lanes(step: Json) -> Json:
    """Read every claimed chain of every lane, then decide the keys and fold what they signed."""
    lanes = {replica: [_bytes(line) for line in lines] for replica, lines in step["lanes"].items()}
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
    return _view(view) | {"keys": keys}


def _view(view: View) -> Json:
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


STEPS: Final[Mapping[str, Callable[[Json], Json]]] = {
    "canonicalize": canonicalize,
    "readEntry": read_entry,
    "verifyEntry": verify,
    "verifyLog": verify_whole_log,
    "readLane": read_whole_lane,
    "keyClaims": claims,
    "readClock": read_clock,
    "compareClocks": compare_clocks,
    "tickClock": tick_clock,
    "fingerprint": fingerprint_of,
    "readKeyBody": read_key_body,
    "teamId": lambda step: {"teamId": team_id(step["found"])},
    "openSealed": open_for,
    "openWithKey": open_by_content_key,
    "canSealTo": can_seal,
    "proveInvite": prove_invite,
    "verifyInvite": verify_invite,
    "readInviteCode": read_invite_code,
    "proveRecovery": prove_recovery,
    "verifyRecovery": verify_recovery,
    "foldRoster": fold_ops,
    "foldLanes": fold_lanes,
}
