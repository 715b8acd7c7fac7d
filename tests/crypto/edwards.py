"""The Ed25519 group in plain arithmetic, slow and independent of the libraries under test."""

import hashlib
from typing import NamedTuple

P = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, P) % P
_ROOT_OF_MINUS_ONE = pow(2, (P - 1) // 4, P)


class Point(NamedTuple):
    x: int
    y: int


NEUTRAL = Point(0, 1)


def add(a: Point, b: Point) -> Point:
    product = D * a.x * b.x * a.y * b.y % P
    x = (a.x * b.y + b.x * a.y) * pow(1 + product, -1, P) % P
    y = (a.y * b.y + a.x * b.x) * pow(1 - product, -1, P) % P
    return Point(x, y)


def multiply(factor: int, point: Point) -> Point:
    total = NEUTRAL
    while factor:
        if factor & 1:
            total = add(total, point)
        point = add(point, point)
        factor >>= 1
    return total


def decode(encoded: bytes) -> Point | None:
    """Read a point with y taken modulo P, or nothing where no point has that y."""
    number = int.from_bytes(encoded, "little")
    sign, y = number >> 255, (number & (2**255 - 1)) % P
    square = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    x = pow(square, (P + 3) // 8, P)
    if x * x % P != square:
        x = x * _ROOT_OF_MINUS_ONE % P
    if x * x % P != square:
        return None
    return Point(P - x if x & 1 != sign and x else x, y)


def point(encoded: str) -> Point:
    """The point of an encoding in hex that is known to have one."""
    found = decode(bytes.fromhex(encoded))
    assert found is not None
    return found


def encode(point: Point) -> bytes:
    return (point.y | (point.x & 1) << 255).to_bytes(32, "little")


BASE = Point(
    15112221349535400772501151409588531511454012693041857206046113283949847762202,
    46316835694926478169428394003475163141307993866256225615783033603165251855960,
)


def hash_scalar(commitment: bytes, public: bytes, message: bytes) -> int:
    return int.from_bytes(hashlib.sha512(commitment + public + message).digest(), "little") % ORDER


def cofactored_accepts(public: bytes, message: bytes, signature: bytes) -> bool:
    """Verify as RFC 8032 allows but OpenSSL does not: both sides of the equation multiplied by 8."""
    key, commitment = decode(public), decode(signature[:32])
    s = int.from_bytes(signature[32:], "little")
    if key is None or commitment is None or s >= ORDER:
        return False
    k = hash_scalar(signature[:32], public, message)
    left = multiply(8 * s, BASE)
    return left == multiply(8, add(commitment, multiply(k, key)))
