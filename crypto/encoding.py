"""How bytes are written as text: base64url, Crockford base 32, and hashes in hex (Appendix F).

Decoding is strict: a text is accepted only if encoding its bytes gives that text again. Otherwise one
signature would have several spellings, each with an `opHash` of its own.
"""

import binascii
import hashlib
from typing import Final

CROCKFORD: Final = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

# The module `base64` does the same in twice the time, and each op's signature passes here.
_TO_URL: Final = bytes.maketrans(b"+/", b"-_")
_FROM_URL: Final = bytes.maketrans(b"-_+/=", b"+/!!!")  # "!" stands for nothing

# What a text may end with whose last bytes leave bits of it over, by how many characters are past the last four.
_ENDS: Final = {2: "AQgw", 3: "AEIMQUYcgkosw048"}


class EncodingError(ValueError):
    """A text that is not the one encoding of the bytes it should name."""


def b64u(data: bytes) -> str:
    """Write bytes as base64url without padding."""
    return binascii.b2a_base64(data, newline=False).translate(_TO_URL).rstrip(b"=").decode("ascii")


def unb64u(text: str, size: int | None = None) -> bytes:
    """Read base64url without padding, of exactly `size` bytes where one is given.

    Raises EncodingError for any other spelling: padding, `+` and `/`, set bits past the last byte.
    """
    past = len(text) % 4
    try:
        data = binascii.a2b_base64(
            text.encode("ascii").translate(_FROM_URL) + b"=" * (-past % 4), strict_mode=True
        )
    except ValueError:
        raise EncodingError("not base64url") from None
    if past and text[-1] not in _ENDS[past]:
        raise EncodingError("not base64url in its one spelling")
    if size is not None and len(data) != size:
        raise EncodingError(f"{len(data)} bytes where {size} are needed")
    return data


def crockford32(data: bytes) -> str:
    """Write bytes in Crockford base 32, most significant bits first, zero bits filling the last character."""
    count = -(-len(data) * 8 // 5)
    number = int.from_bytes(data, "big") << (count * 5 - len(data) * 8)
    return "".join(CROCKFORD[number >> shift & 31] for shift in range((count - 1) * 5, -1, -5))


def uncrockford32(text: str, size: int) -> bytes:
    """Read `size` bytes of Crockford base 32 in capital letters.

    Raises EncodingError for any other spelling: aliases such as O for 0, set bits past the last byte.
    """
    try:
        digits = [CROCKFORD.index(character) for character in text]
    except ValueError:
        raise EncodingError("not Crockford base 32") from None
    spare = len(digits) * 5 - size * 8
    if not 0 <= spare < 5:
        raise EncodingError(f"{len(digits)} characters cannot name {size} bytes")
    number = 0
    for digit in digits:
        number = number << 5 | digit
    data = (number >> spare).to_bytes(size, "big")
    if crockford32(data) != text:
        raise EncodingError("not Crockford base 32 in its one spelling")
    return data


def sha256_hex(data: bytes) -> str:
    """Return the SHA-256 hash as lowercase hex."""
    return hashlib.sha256(data).hexdigest()
