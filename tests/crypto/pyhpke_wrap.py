"""HPKE by `pyhpke`, the second implementation: with ephemeral keys that the caller gives."""

from collections.abc import Callable

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from pyhpke import AEADId, CipherSuite, KDFId, KEMId, KEMKey, KEMKeyPair

SUITE = CipherSuite.new(KEMId.DHKEM_X25519_HKDF_SHA256, KDFId.HKDF_SHA256, AEADId.AES256_GCM)


class FixedEphemerals:
    """A KeyWrap whose ephemeral private keys come from `next_private`, 32 bytes for each wrap."""

    def __init__(self, next_private: Callable[[], bytes]) -> None:
        self._next_private = next_private

    def __call__(self, content_key: bytes, *, public: bytes, info: bytes) -> tuple[bytes, bytes]:
        ephemeral = X25519PrivateKey.from_private_bytes(self._next_private())
        pair = KEMKeyPair(
            KEMKey.from_pyca_cryptography_key(ephemeral),
            KEMKey.from_pyca_cryptography_key(ephemeral.public_key()),
        )
        recipient = KEMKey.from_pyca_cryptography_key(X25519PublicKey.from_public_bytes(public))
        enc, sender = SUITE.create_sender_context(recipient, info, eks=pair)
        return enc, sender.seal(content_key)


def unwrap(enc: bytes, ciphertext: bytes, *, private: bytes, info: bytes) -> bytes:
    """Open what either implementation wrapped."""
    mine = KEMKey.from_pyca_cryptography_key(X25519PrivateKey.from_private_bytes(private))
    return SUITE.create_recipient_context(enc, mine, info).open(ciphertext)
