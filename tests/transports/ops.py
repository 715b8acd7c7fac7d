"""Lines for the tests of transports: well-formed ops whose links and hashes are right."""

import json
from dataclasses import dataclass, field

from crypto.clock import Reading
from crypto.ed25519 import SigningKey
from crypto.op import ZERO_HASH, make_op, to_line

ADA = "ada-0000000a"
BOB = "bob-0000000b"
CAL = "cal-0000000c"


@dataclass
class Chain:
    """A replica that signs one clear op after another."""

    replica: str
    seq: int = 0
    prev: str = ZERO_HASH
    key: SigningKey = field(default_factory=lambda: SigningKey.from_seed(bytes(32)))

    def next(self, text: str = "", seq: int | None = None) -> bytes:
        """Sign one op and return its line."""
        self.seq = self.seq + 1 if seq is None else seq
        op = make_op(
            replica=self.replica,
            seq=self.seq,
            prev=self.prev,
            hlc=Reading(1_790_000_000_000 + self.seq, 0, self.replica),
            type="key" if self.prev == ZERO_HASH else "task",
            signer=self.key,
            body={"text": text},
        )
        self.prev = op.hash
        return to_line(op)

    def lines(self, count: int, text: str = "") -> list[bytes]:
        return [self.next(text) for _ in range(count)]


def seq(raw: bytes) -> int:
    value = json.loads(raw)["seq"]
    assert isinstance(value, int)
    return value
