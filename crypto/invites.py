"""Codes that people hand to people, and the proofs made with them: invites and recovery.

Both codes carry a 32-byte Ed25519 seed, whose public key the roster names. Who holds a code proves it by
signing the team, the new replica and its signing key, so a proof admits no other machine
(federation wire 4.4 and 4.6).
"""

import re
from dataclasses import dataclass, field
from typing import Final

from crypto.ed25519 import PUBLIC_BYTES, SEED_BYTES, SIGNATURE_BYTES, SigningKey, verify
from crypto.encoding import EncodingError, b64u, crockford32, sha256_hex, unb64u, uncrockford32
from crypto.keys import grouped

_INVITE_TAG: Final = "dispatch-invite-v1"
_RECOVERY_TAG: Final = "dispatch-recovery-v1"
_CODE_VERSION: Final = "di1"
_INVITE_ID_CHARACTERS: Final = 16
_TEAM_ID = re.compile(r"[0-9a-f]{32}")


class CodeError(ValueError):
    """An invite or recovery code that was damaged on its way."""


@dataclass(frozen=True, slots=True)
class InviteCode:
    """What an invite code says: the team's id, the invite's seed, and the relay to meet at, if any."""

    team: str
    seed: bytes = field(repr=False)
    relay: str | None = None

    def encode(self) -> str:
        """Write the code, `di1.<team>.<seed>.<relay>`."""
        return ".".join((_CODE_VERSION, self.team, crockford32(self.seed), b64u((self.relay or "").encode())))

    @classmethod
    def decode(cls, text: str) -> "InviteCode":
        """Read a code in its one spelling; the relay's URL is not judged here. Raises CodeError."""
        parts = text.split(".")
        if len(parts) != 4 or parts[0] != _CODE_VERSION or not _TEAM_ID.fullmatch(parts[1]):
            raise CodeError("not an invite code: di1, a team id, a seed and a relay, with dots between them")
        try:
            seed = uncrockford32(parts[2], SEED_BYTES)
            relay = unb64u(parts[3]).decode()
        except (EncodingError, UnicodeDecodeError):
            raise CodeError("the invite code is damaged; ask for it again") from None
        return cls(parts[1], seed, relay or None)


def public_of(seed: bytes) -> str:
    """Return the base64url public key of a code's seed, which is what the roster names."""
    return b64u(SigningKey.from_seed(seed).public)


def invite_id(pub: str) -> str:
    """Return the id of the invite whose public key has this base64url text."""
    return sha256_hex(pub.encode())[:_INVITE_ID_CHARACTERS]


def invite_proof(seed: bytes, *, team: str, replica: str, sign_pub: str) -> str:
    """Return the base64url signature that proves an invite's code is held."""
    return _prove(_INVITE_TAG, seed, team, replica, sign_pub)


def verify_invite(pub: str, proof: str, *, team: str, replica: str, sign_pub: str) -> bool:
    """Return whether a proof was made with the invite of public key `pub`, for this team and key."""
    return _proved(_INVITE_TAG, pub, proof, team, replica, sign_pub)


def recovery_code(seed: bytes) -> str:
    """Write a recovery seed as the code that is shown once: 13 groups of four characters."""
    return grouped(crockford32(seed))


def recovery_seed(code: str) -> bytes:
    """Read a recovery code, in either case, dashes ignored. Raises CodeError."""
    if code.isascii():  # some letters beyond ASCII have capitals within it
        code = code.replace("-", "").upper()
    try:
        return uncrockford32(code, SEED_BYTES)
    except EncodingError:
        raise CodeError("the recovery code is damaged: 52 letters and digits, no I, L, O or U") from None


def recovery_proof(seed: bytes, *, team: str, replica: str, sign_pub: str) -> str:
    """Return the base64url signature that proves the team's recovery code is held."""
    return _prove(_RECOVERY_TAG, seed, team, replica, sign_pub)


def verify_recovery(pub: str, proof: str, *, team: str, replica: str, sign_pub: str) -> bool:
    """Return whether a proof was made with the recovery key `pub`, for this team and key."""
    return _proved(_RECOVERY_TAG, pub, proof, team, replica, sign_pub)


def _claim(tag: str, team: str, replica: str, sign_pub: str) -> bytes:
    return f"{tag}\n{team}\n{replica}\n{sign_pub}".encode()


def _prove(tag: str, seed: bytes, team: str, replica: str, sign_pub: str) -> str:
    return b64u(SigningKey.from_seed(seed).sign(_claim(tag, team, replica, sign_pub)))


def _proved(tag: str, pub: str, proof: str, team: str, replica: str, sign_pub: str) -> bool:
    try:
        public = unb64u(pub, PUBLIC_BYTES)
        signature = unb64u(proof, SIGNATURE_BYTES)
    except EncodingError:
        return False
    return verify(public, _claim(tag, team, replica, sign_pub), signature)
