"""Steps about clocks, keys, seals, acknowledgements and the codes of invites and recovery (sections F.1-F.3)."""

from collections.abc import Callable, Mapping
from typing import Final

from crypto import invites
from crypto.acks import Acks, AcksError, read_acks, sign_acks
from crypto.clock import ClockError, Reading, tick
from crypto.ed25519 import SigningKey
from crypto.encoding import b64u, unb64u
from crypto.keys import KeyBodyError, fingerprint, parse_key_body, team_id
from crypto.op import Op, Stub, tampering
from crypto.sealing import SealError, can_seal_to, open_sealed, open_with_key
from vectors.adapter.federation.given_lines import Json, StepError, raw, unverified


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


def fingerprint_of(step: Json) -> Json:
    return {"fingerprint": fingerprint(step["signPub"], step["sealPub"])}


def read_key_body(step: Json) -> Json:
    try:
        return {"fingerprint": parse_key_body(step["body"]).fingerprint}
    except KeyBodyError:
        raise StepError from None


def _sealed_op(step: Json) -> Op:
    read = unverified(raw(step["line"]))
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


def sign(step: Json) -> Json:
    signer = SigningKey.from_seed(unb64u(step["signPriv"]))
    said = Acks(step["replica"], step["through"], step["at"])
    return {"text": sign_acks(said, signer).decode()}


def read(step: Json) -> Json:
    try:
        found = read_acks(raw(step["text"]), replica=step["replica"], public=unb64u(step["signPub"]))
    except AcksError:
        raise StepError from None
    return {"through": dict(found.through), "at": found.at}


STEPS: Final[Mapping[str, Callable[[Json], Json]]] = {
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
    "signAcks": sign,
    "readAcks": read,
}
