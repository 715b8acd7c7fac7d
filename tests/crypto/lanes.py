"""A chain, its lines as a lane may hold them, and what reading them comes to."""

import json
from collections.abc import Iterable
from typing import Any

from crypto.chain import Cursor, Head
from crypto.lane import LaneResult, read_lane
from crypto.op import ABSENT, Op, to_line
from tests.crypto.publisher import ADA, Publisher, lines

ada = Publisher()
eve = Publisher(fill=2)
CHAIN = ada.chain(3)
CHAIN += [ada.mail(CHAIN[2])]
CHAIN += [ada.sign(CHAIN[3], body={"n": 5}), ada.sign(ada.sign(CHAIN[3], body={"n": 5}), body={"n": 6})]
KEY_OP, SECOND, THIRD, MAIL, FIFTH, SIXTH = CHAIN
LINES = lines(CHAIN)


def cursor(op: Op | None) -> Cursor:
    return Cursor(None if op is None else Head(op.seq, op.hash, op.hlc))


def read(found: Iterable[bytes], at: Op | None = None, **more: Any) -> LaneResult:
    return read_lane(ADA, found, cursor(at), ada.key, **more)


def changed(op: Op, **changes: Any) -> bytes:
    """A line of the op with members changed, or removed where they are ABSENT."""
    value = json.loads(to_line(op)) | changes
    return json.dumps({name: item for name, item in value.items() if item is not ABSENT}).encode()


def halted(result: LaneResult) -> tuple[int, str]:
    assert result.cursor.halted is not None
    return result.cursor.halted.seq, result.cursor.halted.reason


OVERSIZE = LINES[2][:-1] + b',"extra":[' + b",".join([b"1e20"] * 60_000) + b"]}"
"""Short as a line, and over the limit in canonical form."""

ALL = LaneResult(tuple(CHAIN), cursor(SIXTH))
