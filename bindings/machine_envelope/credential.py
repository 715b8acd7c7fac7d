"""The credential that an envelope is: one JSON object, with these members and no others.

Its proof is over the RFC 8785 bytes of all but `proof` and `envelope_sha256`; `envelope_sha256` is over all but itself.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Final

from bindings.machine_envelope.did_key import read_did
from bindings.machine_envelope.rfc3339 import read_time
from core.errors import invalid
from crypto.canonical import JsonError, JsonValue, canonical

TYPE: Final = "AgentGuildMachineEnvelope"
VERSION: Final = 1
PROTOCOL: Final = "agent-guild/machine-envelope/v1"
AUTHENTICATION: Final = "agent-guild/caller-proof/v1"
SUITE: Final = "eddsa-jcs-2022"

MAX_BYTES: Final = 16 * 1024
"""Bytes of a credential in canonical form."""

MAX_TEXT: Final = 512
"""Characters of a kind, a nonce, a protocol or a message id."""

FIELD: Final = "envelope"

_ID: Final = re.compile("urn:sha256:[0-9a-f]{64}")
_SHA256: Final = re.compile("[0-9a-f]{64}")
_PROOF: Final = re.compile("[0-9a-f]{128}")

Object = Mapping[str, JsonValue]


@dataclass(frozen=True, slots=True)
class Credential:
    """An envelope. Times are in milliseconds since 1970; `signed` and `hashed` are what its proof and digest cover."""

    id: str
    issuer: str
    issued_at: int
    valid_until: int
    sender: str
    kind: str
    recipient: str
    payload_sha256: str
    nonce: str
    protocol: str
    message_id: str
    proof: bytes
    envelope_sha256: str
    signed: bytes
    hashed: bytes


def read_credential(value: JsonValue) -> Credential:
    """Read an envelope; nothing of it is verified. Raises DmpError `invalid`, on the member at fault."""
    envelope = _members(
        value,
        FIELD,
        "type version protocol id issuer issued_at valid_until sender message attestation_scope verification "
        "proof envelope_sha256",
    )
    try:
        hashed = canonical({name: each for name, each in envelope.items() if name != "envelope_sha256"})
        signed = canonical(unsigned(envelope))
    except JsonError as error:
        raise invalid(FIELD, f"an envelope must have a canonical form: {error}") from None
    if len(hashed) > MAX_BYTES:
        raise invalid(FIELD, f"an envelope is at most {MAX_BYTES} bytes")
    _exactly(envelope, "type", FIELD, TYPE)
    _exactly(envelope, "version", FIELD, VERSION)
    _exactly(envelope, "protocol", FIELD, PROTOCOL)
    sender = _members(envelope["sender"], f"{FIELD}.sender", "did authentication caller_proof_verified")
    _exactly(sender, "authentication", f"{FIELD}.sender", AUTHENTICATION)
    _exactly(sender, "caller_proof_verified", f"{FIELD}.sender", True)
    within = f"{FIELD}.message"
    message = _members(envelope["message"], within, "kind recipient payload_sha256 nonce context")
    context = _members(message["context"], f"{within}.context", "protocol message_id")
    _members(envelope["attestation_scope"], f"{FIELD}.attestation_scope", "attested not_attested privacy")
    verification = _members(envelope["verification"], f"{FIELD}.verification", "suite")
    _exactly(verification, "suite", f"{FIELD}.verification", SUITE)
    return Credential(
        id=_matching(envelope, "id", FIELD, _ID, "urn:sha256: and 64 digits of lower-case hexadecimal"),
        issuer=_did(envelope, "issuer", FIELD),
        issued_at=_time(envelope, "issued_at"),
        valid_until=_time(envelope, "valid_until"),
        sender=_did(sender, "did", f"{FIELD}.sender"),
        kind=_text(message, "kind", within),
        recipient=_text(message, "recipient", within),
        payload_sha256=_matching(message, "payload_sha256", within, _SHA256, "64 digits of hexadecimal"),
        nonce=_text(message, "nonce", within),
        protocol=_text(context, "protocol", f"{within}.context"),
        message_id=_text(context, "message_id", f"{within}.context"),
        proof=bytes.fromhex(_matching(envelope, "proof", FIELD, _PROOF, "128 digits of hexadecimal")),
        envelope_sha256=_matching(envelope, "envelope_sha256", FIELD, _SHA256, "64 digits of hexadecimal"),
        signed=signed,
        hashed=hashed,
    )


def unsigned(envelope: Object) -> dict[str, JsonValue]:
    """What a proof is over."""
    return {name: each for name, each in envelope.items() if name not in ("proof", "envelope_sha256")}


def digest(written: bytes) -> str:
    """A SHA-256 as envelopes write it."""
    return sha256(written).hexdigest()


def _members(value: JsonValue, field: str, names: str) -> Object:
    """Return an object that has these members and no others."""
    expected = names.split()
    if not isinstance(value, dict):
        raise invalid(field, f"this must be an object with {', '.join(expected)}")
    for name in expected:
        if name not in value:
            raise invalid(f"{field}.{name}", "this member is missing")
    if len(value) != len(expected):
        raise invalid(field, f"this has other members than {', '.join(expected)}")
    return value


def _exactly(within: Object, name: str, field: str, expected: str | int | bool) -> None:
    found = within[name]
    if type(found) is not type(expected) or found != expected:
        shown = str(expected).lower() if isinstance(expected, bool) else expected
        raise invalid(f"{field}.{name}", f"this must be {shown}")


def _text(within: Object, name: str, field: str) -> str:
    found = within[name]
    if not isinstance(found, str) or not found or len(found) > MAX_TEXT:
        raise invalid(f"{field}.{name}", f"this must be a text of 1 to {MAX_TEXT} characters")
    return found


def _matching(within: Object, name: str, field: str, form: re.Pattern[str], says: str) -> str:
    found = within[name]
    if not isinstance(found, str) or form.fullmatch(found) is None:
        raise invalid(f"{field}.{name}", f"this must be {says}")
    return found


def _did(within: Object, name: str, field: str) -> str:
    found = _text(within, name, field)
    read_did(found, f"{field}.{name}")
    return found


def _time(within: Object, name: str) -> int:
    try:
        return read_time(_text(within, name, FIELD))
    except (ValueError, OverflowError):
        raise invalid(
            f"{FIELD}.{name}", "this must be a time of RFC 3339, such as 2026-01-31T12:00:00Z"
        ) from None
