"""Making envelopes, with a key of one's own."""

from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from typing import Final

from bindings.machine_envelope.credential import (
    AUTHENTICATION,
    PROTOCOL,
    SUITE,
    TYPE,
    VERSION,
    Object,
    digest,
)
from bindings.machine_envelope.did_key import write_did
from core.timestamp import timestamp
from crypto.canonical import JsonValue, canonical
from crypto.ed25519 import SigningKey

LIFETIME_MS: Final = 5 * 60 * 1000
"""How long an envelope is valid unless another time is asked for."""

NONCE_BYTES: Final = 16

SCOPE: Final[Object] = {
    "attested": ["who sends", "the exact message", "its receiver, purpose and time"],
    "not_attested": ["that the message is true, safe or wise"],
    "privacy": "the message itself is not part of the envelope",
}


@dataclass(frozen=True, slots=True)
class Terms:
    """What an envelope binds: a message by its digest and id, its sender, its receiver and what it is for."""

    sender: str
    recipient: str
    kind: str
    context_protocol: str
    message_id: str
    payload_sha256: str


def issue(
    key: SigningKey,
    terms: Terms,
    now: int,
    random: Callable[[int], bytes],
    lifetime: int = LIFETIME_MS,
) -> dict[str, JsonValue]:
    """Make an envelope that is valid from `now` on for `lifetime`, both in milliseconds.

    Whoever calls this has verified that the sender is who it says.
    """
    envelope: dict[str, JsonValue] = {
        "type": TYPE,
        "version": VERSION,
        "protocol": PROTOCOL,
        "issuer": write_did(key.public),
        "issued_at": timestamp(now),
        "valid_until": timestamp(now + lifetime),
        "sender": {
            "did": terms.sender,
            "authentication": AUTHENTICATION,
            "caller_proof_verified": True,
        },
        "message": {
            "kind": terms.kind,
            "recipient": terms.recipient,
            "payload_sha256": terms.payload_sha256,
            "nonce": random(NONCE_BYTES).hex(),
            "context": {"protocol": terms.context_protocol, "message_id": terms.message_id},
        },
        "attestation_scope": dict(SCOPE),
        "verification": {"suite": SUITE},
    }
    envelope["id"] = f"urn:sha256:{sha256(canonical(envelope)).hexdigest()}"
    envelope["proof"] = key.sign(canonical(envelope)).hex()
    envelope["envelope_sha256"] = digest(canonical(envelope))
    return envelope
