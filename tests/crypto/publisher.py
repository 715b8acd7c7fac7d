"""A replica that signs real chains, and forks of them."""

from crypto.canonical import JsonValue
from crypto.clock import Reading
from crypto.keys import KeyBody, Secrets
from crypto.op import ABSENT, ZERO_HASH, Absent, Op, make_op, to_line
from crypto.sealing import seal

ADA = "ada-0000000a"
BOB = "bob-0000000b"
START_MS = 1_790_000_000_000


class Publisher:
    """A replica with keys that are the same in every run, made from `fill`."""

    def __init__(self, replica: str = ADA, fill: int = 1) -> None:
        self.replica = replica
        self.secrets = Secrets.generate(lambda size: bytes([fill]) * size)
        self.key = KeyBody(replica[:-9], "desk", "dmp", self.secrets.sign_pub, self.secrets.seal_pub)

    def sign(
        self,
        after: Op | None,
        type: str = "task",
        body: JsonValue | Absent = ABSENT,
        *,
        seq: int | None = None,
        prev: str | None = None,
        hlc: Reading | None = None,
        sealed: dict[str, JsonValue] | None = None,
    ) -> Op:
        """Sign an op after another one; whatever is given stands in place of what would link it."""
        seq = seq if seq is not None else 1 if after is None else after.seq + 1
        return make_op(
            replica=self.replica,
            seq=seq,
            prev=prev or (ZERO_HASH if after is None else after.hash),
            hlc=hlc or Reading(START_MS + seq, 0, self.replica),
            type=type,
            signer=self.secrets.signer,
            body=body,
            sealed=sealed,
        )

    def key_op(self, **changes: JsonValue) -> Op:
        """Sign the key op, with members of its body changed."""
        return self.sign(None, "key", self.key.to_json() | changes)

    def mail(self, after: Op, *, seq: int | None = None, text: str = "hello") -> Op:
        """Sign a mail op sealed to this replica itself."""
        seq = after.seq + 1 if seq is None else seq
        sealed = seal(
            {"text": text},
            replica=self.replica,
            seq=seq,
            type="mail",
            recipients={self.replica: self.key.seal_key},
            random=lambda size: bytes(size),
        )
        return self.sign(after, "mail", seq=seq, sealed=sealed)

    def chain(self, length: int) -> list[Op]:
        """Sign a key op and clear ops after it, `length` in all."""
        ops = [self.key_op()]
        while len(ops) < length:
            ops.append(self.sign(ops[-1], body={"n": len(ops)}))
        return ops


def lines(ops: list[Op]) -> list[bytes]:
    """Write ops as lines."""
    return [to_line(op) for op in ops]
