"""Replicas that the tests of a transport let say something: well-formed chains, signed and linked."""

from dataclasses import dataclass, field
from random import Random
from typing import Final

from crypto.acks import Acks, sign_acks
from crypto.canonical import JsonValue
from crypto.clock import Reading
from crypto.encoding import unb64u
from crypto.keys import KeyBody, Secrets
from crypto.op import ABSENT, ZERO_HASH, make_op, to_line
from crypto.sealing import SEAL_KEY_BYTES, seal

_SOME_TIME: Final = 1_790_000_000_000
_SOME_DAY: Final = "2026-09-21T00:00:00.000Z"


@dataclass(slots=True)
class Author:
    """A replica that signs one op after another. `seq`, `prev` and `clock` (ms) are where its chain stands."""

    replica: str
    secrets: Secrets
    random: Random
    seq: int = 0
    prev: str = ZERO_HASH
    clock: int = _SOME_TIME
    first: int = field(init=False)
    """The seq of the first op it signs from here on: a far side may hold earlier ones from the start."""

    def __post_init__(self) -> None:
        self.first = self.seq + 1

    @classmethod
    def new(cls, replica: str) -> "Author":
        """Make a replica that has said nothing yet. Its keys come from its id."""
        random = Random(replica)
        return cls(replica, Secrets.generate(random.randbytes), random)

    def twin(self) -> "Author":
        """Make another machine with the same keys, which goes on from where this one stands."""
        random = Random(f"twin of {self.replica}")
        return Author(self.replica, self.secrets, random, self.seq, self.prev, self.clock)

    def says(self, text: str = "") -> bytes:
        """Sign an op that everybody may read, and return its line. The first one announces the keys."""
        if self.prev == ZERO_HASH:
            keys = self.secrets.sign_pub, self.secrets.seal_pub
            return self._signed("key", {**KeyBody("author", "device", "0", *keys).to_json(), "text": text})
        return self._signed("task", {"id": "t-0000000001", "text": text})

    def speech(self, count: int, text: str = "") -> list[bytes]:
        """Sign so many ops that everybody may read."""
        return [self.says(text) for _ in range(count)]

    def seals(self, text: str, *to: "Author") -> bytes:
        """Sign an op that only its recipients may open, and return its line."""
        keys = {each.replica: unb64u(each.secrets.seal_pub, SEAL_KEY_BYTES) for each in to}
        sealed = seal(
            {"text": text},
            replica=self.replica,
            seq=self.seq + 1,
            type="mail",
            recipients=keys,
            random=self.random.randbytes,
        )
        return self._signed("mail", None, sealed)

    def acknowledges(self, through: dict[str, int]) -> bytes:
        """Sign which ops of others it has, by the seq up to which it has them."""
        return sign_acks(Acks(self.replica, through, _SOME_DAY), self.secrets.signer)

    def _signed(self, type_: str, body: JsonValue, sealed: dict[str, JsonValue] | None = None) -> bytes:
        self.seq += 1
        self.clock += 1
        op = make_op(
            replica=self.replica,
            seq=self.seq,
            prev=self.prev,
            hlc=Reading(self.clock, 0, self.replica),
            type=type_,
            signer=self.secrets.signer,
            body=body if sealed is None else ABSENT,
            sealed=sealed,
        )
        self.prev = op.hash
        return to_line(op)
