"""Whose an op is: replica ids, a replica's two key pairs, and the key op that announces them (Appendix F)."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from crypto.canonical import JsonValue
from crypto.ed25519 import PUBLIC_BYTES, SEED_BYTES, SigningKey
from crypto.encoding import EncodingError, b64u, crockford32, sha256_hex, unb64u
from crypto.sealing import SEAL_KEY_BYTES

REPLICA_ID: Final = re.compile(r"[A-Za-z0-9._-]{1,32}-[0-9a-f]{8}")
"""A replica id, matched in full (`fullmatch`). It may begin with `-` or be `..-` and hex: never a path."""

HANDLE: Final = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")

MAX_LABEL_UNITS: Final = 128
"""UTF-16 code units in a device or build name."""

MAX_CAPS: Final = 16

_SAFE_INTEGER: Final = 2**53 - 1

_ID_HEX_BYTES: Final = 4
_PERSON_CHARACTERS: Final = 32
_FINGERPRINT_BYTES: Final = 15
_TEAM_ID_CHARACTERS: Final = 32

_PKCS8_ED25519: Final = bytes.fromhex("302e020100300506032b657004220420")
_PKCS8_X25519: Final = bytes.fromhex("302e020100300506032b656e04220420")
"""What PKCS8 DER has before the 32 bytes of a private key (RFC 8410). It has no other form without attributes, which
nobody gives a key; and to import the library that reads them takes a tenth of the time that a command does."""

_HASH = re.compile(r"[0-9a-f]{64}")
_CAP = re.compile(r"[a-z][a-z0-9-]{0,31}")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")

Random = Callable[[int], bytes]
"""Gives as many random bytes as it is asked for."""


class KeyBodyError(ValueError):
    """A key op's body that announces no keys."""


class SecretsError(ValueError):
    """A text that is not the private key it should be."""


def mint_replica_id(handle: str, random: Random) -> str:
    """Make a new replica id: what the grammar allows of `handle`, and 8 random hex digits.

    `random` is drawn once, for 4 bytes.
    """
    person = re.sub(r"[^a-z0-9._-]", "", handle.lower())[:_PERSON_CHARACTERS] or "replica"
    return f"{person}-{random(_ID_HEX_BYTES).hex()}"


def person_part(replica: str) -> str:
    """Return a replica id without its hex digits and the dash before them."""
    return replica[: -(2 * _ID_HEX_BYTES + 1)]


def fingerprint(sign_pub: str, seal_pub: str) -> str:
    """Return what people compare out of band for two base64url public keys: six groups of four (F.2)."""
    digest = bytes.fromhex(sha256_hex(f"dispatch-fp-v1\n{sign_pub}\n{seal_pub}".encode()))
    return grouped(crockford32(digest[:_FINGERPRINT_BYTES]))


def grouped(text: str) -> str:
    """Write a text in groups of four characters, with dashes between them."""
    return "-".join(text[start : start + 4] for start in range(0, len(text), 4))


def team_id(found_hash: str) -> str:
    """Return the id of the team that a `found` op of this opHash founded."""
    return found_hash[:_TEAM_ID_CHARACTERS]


@dataclass(frozen=True, slots=True)
class Legacy:
    """What a replica attests of its ops from before they were signed: up to which seq, and their digest."""

    through_seq: int
    digest: str


@dataclass(frozen=True, slots=True)
class InviteProof:
    """Which invite a key op answers, and the signature that proves its code was held; not yet verified."""

    id: str
    sig: str


@dataclass(frozen=True, slots=True)
class KeyBody:
    """The body of a key op (federation wire 4.1). Public keys are base64url texts of 32 bytes each."""

    handle: str
    device: str
    build: str
    sign_pub: str
    seal_pub: str
    legacy: Legacy | None = None
    invite: InviteProof | None = None
    caps: tuple[str, ...] = ()

    @property
    def fingerprint(self) -> str:
        """The fingerprint of both public keys."""
        return fingerprint(self.sign_pub, self.seal_pub)

    @property
    def sign_key(self) -> bytes:
        """The Ed25519 public key."""
        return unb64u(self.sign_pub, PUBLIC_BYTES)

    @property
    def seal_key(self) -> bytes:
        """The X25519 public key, which may be one that nothing can be sealed to."""
        return unb64u(self.seal_pub, SEAL_KEY_BYTES)

    def to_json(self) -> dict[str, JsonValue]:
        """Write the body, without the members that have nothing to say."""
        body: dict[str, JsonValue] = {
            "handle": self.handle,
            "device": self.device,
            "build": self.build,
            "signPub": self.sign_pub,
            "sealPub": self.seal_pub,
            "legacy": None,
        }
        if self.legacy is not None:
            body["legacy"] = {"throughSeq": self.legacy.through_seq, "digest": self.legacy.digest}
        if self.invite is not None:
            body["invite"] = {"id": self.invite.id, "sig": self.invite.sig}
        if self.caps:
            body["caps"] = list(self.caps)
        return body


def parse_key_body(value: JsonValue) -> KeyBody:
    """Read a key op's body; members it does not know are passed over.

    Raises KeyBodyError that names the first member at fault.
    """
    if not isinstance(value, dict):
        raise KeyBodyError("a key body is an object")
    return KeyBody(
        handle=_handle(value),
        device=_label(value, "device"),
        build=_label(value, "build"),
        sign_pub=_public_key(value, "signPub"),
        seal_pub=_public_key(value, "sealPub"),
        legacy=_legacy(value),
        invite=_invite(value),
        caps=_caps(value),
    )


def _text(value: dict[str, JsonValue], name: str) -> str:
    text = value.get(name)
    if not isinstance(text, str):
        raise KeyBodyError(f"{name} is not a string")
    return text


def _handle(value: dict[str, JsonValue]) -> str:
    handle = _text(value, "handle")
    if not HANDLE.fullmatch(handle):
        raise KeyBodyError("handle is outside the grammar")
    return handle


def _label(value: dict[str, JsonValue], name: str) -> str:
    label = _text(value, name)
    units = len(label.encode("utf-16-le", "surrogatepass")) // 2
    if not 1 <= units <= MAX_LABEL_UNITS or _CONTROL.search(label):
        raise KeyBodyError(f"{name} is not 1 to {MAX_LABEL_UNITS} characters without control characters")
    return label


def _public_key(value: dict[str, JsonValue], name: str) -> str:
    text = _text(value, name)
    try:
        unb64u(text, PUBLIC_BYTES)
    except EncodingError as error:
        raise KeyBodyError(f"{name}: {error}") from None
    return text


def _legacy(value: dict[str, JsonValue]) -> Legacy | None:
    if "legacy" not in value:
        raise KeyBodyError("legacy is missing; it is null or an attestation")
    legacy = value["legacy"]
    if legacy is None:
        return None
    if not isinstance(legacy, dict):
        raise KeyBodyError("legacy is neither null nor an object")
    through_seq = legacy.get("throughSeq")
    # A bool is an int to Python, and True equals 1.
    if type(through_seq) is not int or not 0 <= through_seq <= _SAFE_INTEGER:
        raise KeyBodyError("legacy.throughSeq is not an integer of 0 or more")
    digest = _text(legacy, "digest")
    if not _HASH.fullmatch(digest):
        raise KeyBodyError("legacy.digest is not a hash in lowercase hex")
    return Legacy(through_seq, digest)


def _invite(value: dict[str, JsonValue]) -> InviteProof | None:
    if "invite" not in value:
        return None
    invite = value["invite"]
    if not isinstance(invite, dict):
        raise KeyBodyError("invite is not an object")
    return InviteProof(_text(invite, "id"), _text(invite, "sig"))


def _caps(value: dict[str, JsonValue]) -> tuple[str, ...]:
    caps = value.get("caps", [])
    if not isinstance(caps, list) or len(caps) > MAX_CAPS:
        raise KeyBodyError(f"caps is not a list of at most {MAX_CAPS}")
    known: list[str] = []
    for cap in caps:
        if not isinstance(cap, str) or not _CAP.fullmatch(cap):
            raise KeyBodyError("caps has an entry outside the grammar")
        known.append(cap)
    return tuple(known)


@dataclass(frozen=True, slots=True)
class Secrets:
    """A replica's private keys: an Ed25519 pair that signs, and an X25519 private key that opens seals."""

    signer: SigningKey
    seal_private: bytes = field(repr=False)

    @classmethod
    def generate(cls, random: Random) -> "Secrets":
        """Make new keys. `random` is drawn twice, for 32 bytes each: signing, then sealing."""
        return cls(SigningKey.from_seed(random(SEED_BYTES)), random(SEAL_KEY_BYTES))

    @classmethod
    def from_pkcs8(cls, sign_priv: str, seal_priv: str) -> "Secrets":
        """Read both private keys from PKCS8 DER in base64url. Raises SecretsError."""
        return cls(
            SigningKey.from_seed(_raw_private(sign_priv, _PKCS8_ED25519, "Ed25519")),
            _raw_private(seal_priv, _PKCS8_X25519, "X25519"),
        )

    @property
    def sign_pub(self) -> str:
        """The signing public key, in base64url."""
        return b64u(self.signer.public)

    @property
    def seal_pub(self) -> str:
        """The sealing public key, in base64url."""
        private = X25519PrivateKey.from_private_bytes(self.seal_private)
        return b64u(private.public_key().public_bytes_raw())

    @property
    def sign_priv(self) -> str:
        """The signing private key, in base64url of PKCS8 DER."""
        return b64u(_PKCS8_ED25519 + self.signer.seed)

    @property
    def seal_priv(self) -> str:
        """The sealing private key, in base64url of PKCS8 DER."""
        return b64u(_PKCS8_X25519 + self.seal_private)


def _raw_private(text: str, prefix: bytes, kind: str) -> bytes:
    try:
        der = unb64u(text)
    except EncodingError:
        der = b""
    if len(der) != len(prefix) + SEED_BYTES or der[:-SEED_BYTES] not in (_PKCS8_ED25519, _PKCS8_X25519):
        raise SecretsError("not a private key in PKCS8 DER and base64url")
    if not der.startswith(prefix):
        raise SecretsError(f"a private key of another kind than {kind}")
    return der[-SEED_BYTES:]
