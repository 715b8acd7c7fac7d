"""Sealed content: a payload that only the recipients of an op can read (section F.3).

The payload is encrypted once, with AES-256-GCM under a random key K of its own. K is wrapped for each
recipient with single-shot HPKE (RFC 9180, base mode, suite 32/1/2). Both name the op they belong to, so
neither a ciphertext nor a wrap can be moved into another op.
"""

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Final, Protocol

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hpke import AEAD, KDF, KEM, Suite

from crypto.canonical import JsonError, JsonValue, Parsed, canonical, decode, parse
from crypto.encoding import b64u, unb64u

MAX_RECIPIENTS: Final = 256
CONTENT_KEY_BYTES: Final = 32
NONCE_BYTES: Final = 12
SEAL_KEY_BYTES: Final = 32
ENC_BYTES: Final = 32
WRAPPED_BYTES: Final = CONTENT_KEY_BYTES + 16

_SUITE: Final = Suite(KEM.X25519, KDF.HKDF_SHA256, AEAD.AES_256_GCM)

_PROBE: Final = bytes(SEAL_KEY_BYTES)
"""Every X25519 private key is a multiple of 8, so any one of them tells a key of low order."""


class SealError(ValueError):
    """Content that cannot be sealed to whom it should be, or that does not open."""


class KeyWrap(Protocol):
    """How a content key is wrapped for one recipient.

    Production makes a new ephemeral key for each wrap; a vector with fixed bytes brings its own.
    """

    def __call__(self, content_key: bytes, *, public: bytes, info: bytes) -> tuple[bytes, bytes]:
        """Return HPKE's `enc` (32 bytes) and ciphertext (48 bytes). Raises ValueError for a bad key."""
        ...


def hpke_wrap(content_key: bytes, *, public: bytes, info: bytes) -> tuple[bytes, bytes]:
    """Wrap with an ephemeral key that the library draws itself."""
    wrapped = _SUITE.encrypt(content_key, X25519PublicKey.from_public_bytes(public), info=info)
    return wrapped[:ENC_BYTES], wrapped[ENC_BYTES:]


def can_seal_to(public: bytes) -> bool:
    """Return whether a sealing key is 32 bytes long and not of low order.

    Whatever the private key, a public key of low order gives the same shared secret: anyone could open it.
    """
    if len(public) != SEAL_KEY_BYTES:
        return False
    try:
        _private_key(_PROBE).exchange(X25519PublicKey.from_public_bytes(public))
    except ValueError:
        return False
    return True


def seal(
    payload: JsonValue,
    *,
    replica: str,
    seq: int,
    type: str,
    recipients: Mapping[str, bytes],
    random: Callable[[int], bytes],
    wrap: KeyWrap = hpke_wrap,
) -> dict[str, JsonValue]:
    """Seal a payload to 1 to 256 recipients, for the op that `replica`, `seq` and `type` name.

    `recipients` maps replica ids to their X25519 public keys. `random` is drawn twice: the content key's
    32 bytes, then the nonce's 12. Returns the op's `sealed` member.

    Raises SealError for too few or too many recipients, or one whose key cannot be sealed to, by name;
    JsonError for a payload without a canonical form.
    """
    if not 1 <= len(recipients) <= MAX_RECIPIENTS:
        raise SealError(f"{len(recipients)} recipients; an op is sealed to 1 to {MAX_RECIPIENTS}")
    unfit = sorted(name for name, public in recipients.items() if not can_seal_to(public))
    if unfit:
        raise SealError(f"no content can be sealed to the key of {', '.join(unfit)}")
    plaintext = canonical(payload)
    aad = _aad(replica, seq, type)
    content_key = random(CONTENT_KEY_BYTES)
    nonce = random(NONCE_BYTES)
    keys: dict[str, JsonValue] = {}
    for name in sorted(recipients):
        enc, wrapped = wrap(content_key, public=recipients[name], info=_info(aad, name))
        keys[name] = {"enc": b64u(enc), "ct": b64u(wrapped)}
    ciphertext = AESGCM(content_key).encrypt(nonce, plaintext, aad)
    return {"nonce": b64u(nonce), "ct": b64u(ciphertext), "keys": keys}


def unwrap_key(sealed: JsonValue, *, replica: str, seq: int, type: str, me: str, private: bytes) -> bytes:
    """Return the content key that an op's `sealed` member wraps for `me`, by its 32-byte private key.

    Raises SealError when there is none, or it does not open.
    """
    wrapped = _member(_member(sealed, "keys"), me)
    try:
        enc = unb64u(_text(wrapped, "enc"), ENC_BYTES)
        ciphertext = unb64u(_text(wrapped, "ct"), WRAPPED_BYTES)
        return _SUITE.decrypt(
            enc + ciphertext, _private_key(private), info=_info(_aad(replica, seq, type), me)
        )
    except (InvalidTag, ValueError):
        raise SealError(f"the content key does not open for {me}") from None


def open_with_key(sealed: JsonValue, content_key: bytes, *, replica: str, seq: int, type: str) -> JsonValue:
    """Return the payload of an op's `sealed` member, by its content key; it need not be canonical.

    Raises SealError when the content does not open or is not JSON.
    """
    return parse_with_key(sealed, content_key, replica=replica, seq=seq, type=type).value


def parse_with_key(sealed: JsonValue, content_key: bytes, *, replica: str, seq: int, type: str) -> Parsed:
    """Return what the payload says that `open_with_key` returns, and raise as it does."""
    try:
        nonce = unb64u(_text(sealed, "nonce"), NONCE_BYTES)
        ciphertext = unb64u(_text(sealed, "ct"))
        plaintext = AESGCM(content_key).decrypt(nonce, ciphertext, _aad(replica, seq, type))
    except (InvalidTag, ValueError):
        raise SealError("the content does not open") from None
    try:
        return parse(decode(plaintext))
    except JsonError as error:
        raise SealError(f"the sealed payload is not JSON: {error}") from None


def open_sealed(
    sealed: JsonValue, *, replica: str, seq: int, type: str, me: str, private: bytes
) -> JsonValue:
    """Return the payload sealed to `me`. Raises SealError as `unwrap_key` and `open_with_key` do."""
    content_key = unwrap_key(sealed, replica=replica, seq=seq, type=type, me=me, private=private)
    return open_with_key(sealed, content_key, replica=replica, seq=seq, type=type)


# A replica has one, which opens all of its mail, and one that probes; making it costs half an unwrap.
@lru_cache(maxsize=16)
def _private_key(private: bytes) -> X25519PrivateKey:
    return X25519PrivateKey.from_private_bytes(private)


def _aad(replica: str, seq: int, type: str) -> bytes:
    return f"dispatch-sealed-v1\n{replica}\n{seq}\n{type}".encode()


def _info(aad: bytes, recipient: str) -> bytes:
    return aad + b"\n" + recipient.encode()


def _member(value: JsonValue, name: str) -> JsonValue:
    if not isinstance(value, dict) or name not in value:
        raise SealError(f"sealed content without {name}")
    return value[name]


def _text(value: JsonValue, name: str) -> str:
    text = _member(value, name)
    if not isinstance(text, str):
        raise SealError(f"sealed content whose {name} is no text")
    return text
