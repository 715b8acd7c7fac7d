"""Ed25519 signatures, and exactly which of them every replica accepts (section F.1, RFC 8032).

Replicas must agree on which ops verify, or a hostile signer could split a team with a signature that some
libraries accept and others do not. The set accepted is OpenSSL's (cofactorless, S below the group order)
less every public key of small order, under which a signature can be made without any private key.

libsodium verifies twice as fast and today accepts a subset of that set. So it is asked first and believed
when it says yes; where it says no, OpenSSL decides. An upgrade of libsodium may widen its set, so before its
first yes is believed it must refuse a handful of signatures that OpenSSL refuses; if it accepts one,
OpenSSL decides alone.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, TypeAlias

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from nacl import bindings as libsodium
from nacl.exceptions import CryptoError

PUBLIC_BYTES: Final = 32
SEED_BYTES: Final = 32
SIGNATURE_BYTES: Final = 64

Check: TypeAlias = Callable[[bytes, bytes, bytes], bool]
"""Whether a public key accepts, over a message, a signature."""

_SMALL_ORDER_Y: Final = tuple(
    bytes.fromhex(y)
    for y in (
        "0100000000000000000000000000000000000000000000000000000000000000",  # order 1
        "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",  # the same, not reduced
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",  # order 2
        "0000000000000000000000000000000000000000000000000000000000000000",  # order 4
        "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",  # the same, not reduced
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",  # order 8
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",  # order 8
    )
)

SMALL_ORDER_KEYS: Final = frozenset(
    y[:31] + bytes([y[31] | sign]) for y in _SMALL_ORDER_Y for sign in (0, 0x80)
)
"""Every encoding of a point of order 1, 2, 4 or 8: the sign bit ignored, y reduced."""


def _known(public: str, message: str, commitment: str, s: str) -> tuple[bytes, bytes, bytes]:
    return bytes.fromhex(public), bytes.fromhex(message), bytes.fromhex(commitment + s)


_HONEST: Final = _known(  # RFC 8032 section 7.1, test 1
    "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
    "",
    "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e06522490155",
    "5fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b",
)

_REFUSED: Final = (
    _known(  # the same with the group order added to S
        "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
        "",
        "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e06522490155",
        "4c8c7872aa064e049dbb3013fbf29380d25bf5f0595bbe24655141438e7a101b",
    ),
    _known(  # S far above the group order
        "442aad9f089ad9e14647b1ef9099a1ff4798d78589e66f28eca69c11f582a623",
        "85e241a07d148b41e47d62c63f830dc7a6851a0b1f33ae4bb2f507fb6cffec40",
        "e96f66be976d82e60150baecff9906684aebb1ef181f67a7189ac78ea23b6c0e",
        "547f7690a0e2ddcd04d87dbc3490dc19b3b3052f7ff0538cb68afb369ba3a514",
    ),
    _known(  # key and commitment of mixed order: valid only when the equation is multiplied by 8
        "cdb267ce40c5cd45306fa5d2f29731459387dbf9eb933b7bd5aed9a765b88d4d",
        "e47d62c63f830dc7a6851a0b1f33ae4bb2f507fb6cffec4011eaccd55b53f56c",
        "160a1cb0dc9c0258cd0a7d23e94d8fa878bcb1925f2c64246b2dee1796bed512",
        "5ec6bc982a269b723e0668e540911a9a6a58921d6925e434ab10aa7940551a09",
    ),
    _known(  # key of mixed order: valid only when the hash is multiplied by 8 before it is reduced
        "cdb267ce40c5cd45306fa5d2f29731459387dbf9eb933b7bd5aed9a765b88d4d",
        "e47d62c63f830dc7a6851a0b1f33ae4bb2f507fb6cffec4011eaccd55b53f56c",
        "21122a84e0b5fca4052f5b1235c80a537878b38f3142356b2c2384ebad4668b7",
        "e40bc836dac0f71076f9abe3a53f9c03c1ceeeddb658d0030494ace586687405",
    ),
    _known(  # commitment not reduced, hashed as it is written
        "f7badec5b8abeaf699583992219b7b223f1df3fbbea919844e3f7c554a43dd43",
        "9bedc267423725d473888631ebf45988bad3db83851ee85c85e241a07d148b41",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
        "03be9678ac102edcd92b0210bb34d7428d12ffc5df5f37e359941266a4e35f0f",
    ),
    _known(  # commitment not reduced, hashed reduced
        "f7badec5b8abeaf699583992219b7b223f1df3fbbea919844e3f7c554a43dd43",
        "9bedc267423725d473888631ebf45988bad3db83851ee85c85e241a07d148b41",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
        "ca8c5b64cd208982aa38d4936621a4775aa233aa0505711d8fdcfdaa943d4908",
    ),
)


class Acceptance:
    """The rule above, over a quick check whose yes must be earned and a check that decides."""

    def __init__(self, quick: Check, deciding: Check) -> None:
        self._quick = quick
        self._deciding = deciding

    @cached_property
    def quick_is_trusted(self) -> bool:
        """Whether the quick check gives every known answer; asked once, at first use."""
        return self._quick(*_HONEST) and not any(self._quick(*case) for case in _REFUSED)

    def verify(self, public: bytes, message: bytes, signature: bytes) -> bool:
        """Return whether the signature is one that every replica accepts; malformed ones are not."""
        if len(signature) != SIGNATURE_BYTES or len(public) != PUBLIC_BYTES or public in SMALL_ORDER_KEYS:
            return False
        if self.quick_is_trusted and self._quick(public, message, signature):
            return True
        return self._deciding(public, message, signature)


def libsodium_accepts(public: bytes, message: bytes, signature: bytes) -> bool:
    """Ask libsodium alone, which is no acceptance rule by itself."""
    try:
        libsodium.crypto_sign_open(signature + message, public)
    except CryptoError:
        return False
    return True


def openssl_accepts(public: bytes, message: bytes, signature: bytes) -> bool:
    """Ask OpenSSL alone, which accepts keys of small order."""
    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature, message)
    except (InvalidSignature, ValueError):
        return False
    return True


verify: Final = Acceptance(libsodium_accepts, openssl_accepts).verify


@dataclass(frozen=True, slots=True)
class SigningKey:
    """An Ed25519 key pair, made from its 32-byte seed."""

    public: bytes
    seed: bytes = field(repr=False)

    @classmethod
    def from_seed(cls, seed: bytes) -> "SigningKey":
        """Derive the pair. Raises ValueError for a seed that is not 32 bytes."""
        if len(seed) != SEED_BYTES:
            raise ValueError(f"an Ed25519 seed is {SEED_BYTES} bytes, not {len(seed)}")
        public, _ = libsodium.crypto_sign_seed_keypair(seed)
        return cls(public, seed)

    def sign(self, message: bytes) -> bytes:
        """Return the 64-byte signature over the message; the same each time."""
        # libsodium's secret key is the seed and the public key it derived.
        return libsodium.crypto_sign(message, self.seed + self.public)[:SIGNATURE_BYTES]
