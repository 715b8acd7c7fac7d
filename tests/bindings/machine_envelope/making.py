"""Envelopes and messages for tests, with fixed keys and a fixed clock."""

from hashlib import sha256
from typing import Any

from bindings.machine_envelope.did_key import write_did
from bindings.machine_envelope.extension import METADATA_KEY
from bindings.machine_envelope.issuing import Terms, issue
from bindings.machine_envelope.payload import payload_bytes
from bindings.machine_envelope.verifying import Policy
from crypto.canonical import canonical
from crypto.ed25519 import SigningKey

ISSUER = SigningKey.from_seed(b"\x01" * 32)
SENDER = SigningKey.from_seed(b"\x02" * 32)
STRANGER = SigningKey.from_seed(b"\x03" * 32)
RECIPIENT = write_did(SigningKey.from_seed(b"\x04" * 32).public)

NOW = 1_800_000_000_000
"""2027-01-15T08:00:00Z."""

POLICY = Policy(frozenset((write_did(ISSUER.public),)), RECIPIENT, "offer", "a2a-message/send@1.0")


def message(**members: Any) -> dict[str, Any]:
    return {
        "messageId": "m-1",
        "role": "ROLE_USER",
        "parts": [{"text": "Twelve crates, at 4.50?"}],
        **members,
    }


def nonce(size: int) -> bytes:
    return b"\x07" * size


def terms(for_: dict[str, Any], **changed: str) -> Terms:
    given = {
        "sender": write_did(SENDER.public),
        "recipient": POLICY.recipient,
        "kind": POLICY.kind,
        "context_protocol": POLICY.context_protocol,
        "message_id": for_["messageId"],
        "payload_sha256": sha256(payload_bytes(for_, METADATA_KEY)).hexdigest(),
    }
    return Terms(**{**given, **changed})


def envelope(for_: dict[str, Any], key: SigningKey = ISSUER, /, **changed: str) -> dict[str, Any]:
    return issue(key, terms(for_, **changed), NOW, nonce)


def signed(value: dict[str, Any], key: SigningKey = ISSUER) -> dict[str, Any]:
    """An envelope that was changed, signed and hashed anew by whoever has the key."""
    bare = {name: each for name, each in value.items() if name not in ("proof", "envelope_sha256")}
    proven = {**bare, "proof": key.sign(canonical(bare)).hex()}
    return {**proven, "envelope_sha256": sha256(canonical(proven)).hexdigest()}


def carrying(for_: dict[str, Any], carried: Any) -> dict[str, Any]:
    return {**for_, "metadata": {**for_.get("metadata", {}), METADATA_KEY: carried}}
