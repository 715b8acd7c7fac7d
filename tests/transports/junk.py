"""Lines and files as strangers write them: well-formed ones, and ones that were bent in some way."""

import json
from random import Random
from typing import Final

from crypto.op import Op, read_entry, to_line
from tests.transports.ops import ADA, BOB, Chain
from transports.contract import Author

_AUTHOR: Final = Author.new(ADA)
WELL_FORMED: Final = (
    *Chain(ADA).lines(12),
    *Chain(ADA).lines(4, "rival"),
    *(_AUTHOR.seals("sealed", Author.new(BOB)) for _ in range(3)),
)
STUBS: Final = tuple(
    to_line(entry.stub()) for entry in map(read_entry, WELL_FORMED) if isinstance(entry, Op) and entry.sealed
)
_PIECES: Final = (
    *(
        b"\x00",
        b"\xff",
        b"\xef\xbb\xbf",
        b"\xed\xa0\x80",
        b"\r",
        b"\xc2\x85",
        b"\xe2\x80\xa8",
        b"\x1c",
        b" ",
        b"\t",
    ),
    *(
        b'"',
        b"\\",
        b"\\u0000",
        b"\\ud800",
        b"{",
        b"}",
        b"[",
        b"]",
        b",",
        b":",
        b"-0",
        b"1e400",
        b"5.0",
        b"1" * 17,
    ),
    *(
        b"null",
        b"true",
        b"NaN",
        b"Infinity",
        b'"seq":1',
        b'"replica":"ada-0000000a"',
        b'"__proto__":{}',
        b"[" * 300,
    ),
)
_SEQS: Final[tuple[object, ...]] = (
    0,
    -1,
    1,
    5,
    2**53 - 1,
    2**53,
    2**64,
    1.5,
    5.0,
    True,
    None,
    "1",
    [],
    {},
    1e30,
)


def line(random: Random) -> bytes:
    """One line without its line feed, more often well-formed than not."""
    kind = random.randrange(10)
    if kind < 4:
        return random.choice(WELL_FORMED)
    if kind == 4:
        return random.choice(STUBS)
    if kind == 5:
        seq = random.choice(_SEQS)
        return json.dumps({"replica": random.choice((ADA, BOB, "", None)), "seq": seq}).encode()
    if kind == 6:
        return b"".join(random.choice(_PIECES) for _ in range(random.randrange(6)))
    if kind == 7:
        return random.randbytes(random.randrange(40)).replace(b"\n", b"")
    return bent(random, random.choice(WELL_FORMED)).replace(b"\n", b"")


def bent(random: Random, data: bytes) -> bytes:
    """Bytes with a few of them flipped, cut out, doubled, or something else between them."""
    for _ in range(random.randrange(1, 4)):
        at = random.randrange(len(data) + 1)
        end = min(len(data), at + random.randrange(8))
        kind = random.randrange(5)
        if kind == 0:
            data = data[:at] + random.choice(_PIECES) + data[at:]
        elif kind == 1:
            data = data[:at] + data[end:]
        elif kind == 2:
            data = data[:at] + data[at:end] * 2 + data[end:]
        elif kind == 3:
            data = data[:at]
        elif at < len(data):
            data = data[:at] + bytes((data[at] ^ 1 << random.randrange(8),)) + data[at + 1 :]
    return data


def lines_file(random: Random) -> bytes:
    """A file of lines, perhaps torn, perhaps with other line ends."""
    data = b"".join(line(random) + b"\n" for _ in range(random.randrange(8)))
    return data[: random.randrange(len(data) + 1)] if random.random() < 0.2 else data
