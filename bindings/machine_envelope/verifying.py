"""Whether an envelope is good for a message here: every check but that it is spent once, in this order.

1. It is an envelope at all.
2. Its issuer is one that this receiver pinned.
3. Its digest is its own, and the proof is a signature by the issuer's key.
4. It states the digest of exactly this message.
5. It names this receiver,
6. and the purpose that this receiver published,
7. and the protocol that this receiver published, and the message's id.
8. It is in its time: there is no tolerance for clocks that differ.

Nothing of an envelope that an issuer did not sign decides between later reasons.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from bindings.machine_envelope.credential import Credential, digest, read_credential
from bindings.machine_envelope.did_key import read_did
from bindings.machine_envelope.extension import METADATA_KEY
from bindings.machine_envelope.payload import payload_digests
from core.errors import DmpError
from crypto import ed25519
from crypto.canonical import JsonValue

LONGEST_MS: Final = 24 * 60 * 60 * 1000
"""How long an envelope may be valid: one that is spent is remembered as long."""


class Reason(StrEnum):
    """Why an envelope is refused."""

    INVALID = "invalid"
    UNTRUSTED_ISSUER = "untrusted_issuer"
    PAYLOAD_MISMATCH = "payload_mismatch"
    WRONG_RECIPIENT = "wrong_recipient"
    WRONG_PURPOSE = "wrong_purpose"
    CONTEXT_MISMATCH = "context_mismatch"
    EXPIRED = "expired"
    NOT_YET_VALID = "not_yet_valid"
    REPLAYED = "replayed"
    REPLAY_STORE_FULL = "replay_store_full"


class RejectedError(Exception):
    """An envelope that is refused. `text` is a sentence for whoever sent it, and quotes nothing of the envelope."""

    def __init__(self, reason: Reason, text: str) -> None:
        super().__init__(reason, text)
        self.reason = reason
        self.text = text


@dataclass(frozen=True, slots=True)
class Policy:
    """What a receiver requires. `issuers` are did:key."""

    issuers: frozenset[str]
    recipient: str
    kind: str
    context_protocol: str
    metadata_key: str = METADATA_KEY


def verify(envelope: JsonValue, message: Mapping[str, JsonValue], policy: Policy, now: int) -> Credential:
    """Return the envelope where it is good for the message at `now`, in milliseconds since 1970.

    `message` is the message as it was received, the envelope in it or not. Raises RejectedError.
    """
    credential = verify_proof(envelope, policy.issuers)
    try:
        digests = payload_digests(message, policy.metadata_key)
    except DmpError as error:
        raise RejectedError(Reason.PAYLOAD_MISMATCH, error.message) from None
    if credential.payload_sha256 not in digests:
        raise RejectedError(Reason.PAYLOAD_MISMATCH, "the envelope is for another message than this one")
    if credential.recipient != policy.recipient:
        raise RejectedError(Reason.WRONG_RECIPIENT, "the envelope is for another receiver")
    if credential.kind != policy.kind:
        raise RejectedError(Reason.WRONG_PURPOSE, "the envelope is for another purpose than the card states")
    if (credential.protocol, credential.message_id) != (policy.context_protocol, message.get("messageId")):
        raise RejectedError(
            Reason.CONTEXT_MISMATCH, "the envelope is for another protocol or message id than this message's"
        )
    check_time(credential, now)
    return credential


def verify_proof(envelope: JsonValue, issuers: frozenset[str]) -> Credential:
    """Return an envelope that one of the issuers signed. Raises RejectedError."""
    try:
        credential = read_credential(envelope)
    except DmpError as error:
        raise RejectedError(Reason.INVALID, f"{error.field}: {error.message}") from None
    if credential.issuer not in issuers:
        raise RejectedError(Reason.UNTRUSTED_ISSUER, "the envelope is by an issuer that is not accepted here")
    if digest(credential.hashed) != credential.envelope_sha256:
        raise RejectedError(Reason.INVALID, "envelope.envelope_sha256: this is not the envelope's digest")
    if not ed25519.verify(read_did(credential.issuer), credential.signed, credential.proof):
        raise RejectedError(Reason.INVALID, "envelope.proof: this is no signature by the issuer's key")
    return credential


def check_time(credential: Credential, now: int) -> None:
    """See that an envelope is in its time. Raises RejectedError."""
    if credential.valid_until - credential.issued_at > LONGEST_MS:
        raise RejectedError(
            Reason.INVALID, "envelope.valid_until: an envelope is valid for a day at most; get a shorter one"
        )
    if now > credential.valid_until:
        raise RejectedError(Reason.EXPIRED, "the envelope has expired; get a new one for the same message")
    if now < credential.issued_at:
        raise RejectedError(
            Reason.NOT_YET_VALID, "the envelope is not valid yet; its issuer's clock may be ahead of this one"
        )
