"""`did:key` for Ed25519: the base58btc of two bytes that name the algorithm, and of the public key."""

from typing import Final

from core.errors import invalid
from crypto.ed25519 import PUBLIC_BYTES, SMALL_ORDER_KEYS

PREFIX: Final = "did:key:z"
CODE: Final = b"\xed\x01"
"""Ed25519 in the table of multicodec, as a varint."""

_ALPHABET: Final = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_VALUES: Final = {each: value for value, each in enumerate(_ALPHABET)}
_CHARACTERS: Final = 47
"""Of the base58 of every value of 34 bytes that begins with CODE."""


def write_did(public: bytes) -> str:
    """Name a public key. Raises ValueError for one that is not of 32 bytes."""
    if len(public) != PUBLIC_BYTES:
        raise ValueError(f"an Ed25519 public key is {PUBLIC_BYTES} bytes, not {len(public)}")
    number, digits = int.from_bytes(CODE + public), ""
    while number:
        number, digit = divmod(number, len(_ALPHABET))
        digits = _ALPHABET[digit] + digits
    return PREFIX + digits


def read_did(text: str, field: str | None = None) -> bytes:
    """Return the public key that a did:key names; of each key there is one. Raises DmpError `invalid` on `field`."""
    digits = text.removeprefix(PREFIX)
    if not text.startswith(PREFIX) or len(digits) != _CHARACTERS or not _VALUES.keys() >= set(digits):
        raise invalid(field, "a did:key of an Ed25519 key is did:key:z6Mk and 44 characters of base58")
    number = 0
    for each in digits:
        number = number * len(_ALPHABET) + _VALUES[each]
    length = len(CODE) + PUBLIC_BYTES
    found = number.to_bytes(length) if number.bit_length() <= 8 * length else b""
    if not found.startswith(CODE):
        raise invalid(field, "this did:key is of no Ed25519 key")
    public = found.removeprefix(CODE)
    if public in SMALL_ORDER_KEYS:
        raise invalid(field, "this did:key is of a key that anybody can sign with")
    return public
