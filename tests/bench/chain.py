"""How fast a chain is verified: `python -m tests.bench.chain`.

A ratio within one run on one core: the ops of a chain of 20,000 that a lane's reader verifies in a second, to the
signatures over the same headers that libsodium alone verifies in a second. The target is 0.6. Nothing fails here.
"""

import time
from collections.abc import Callable, Iterator

from nacl.bindings import crypto_sign_open

from crypto.canonical import JsonValue, canonical
from crypto.chain import Cursor
from crypto.clock import Reading
from crypto.ed25519 import SigningKey
from crypto.encoding import b64u, unb64u
from crypto.keys import KeyBody
from crypto.lane import read_lane
from crypto.op import ZERO_HASH, Unverified, make_op, read_line, to_line

REPLICA = "ada-0000000a"
SIGNER = SigningKey.from_seed(bytes(32))
KEY = KeyBody("ada", "desk", "bench", b64u(SIGNER.public), b64u(SIGNER.public))
START_MS = 1_790_000_000_000
OPS = 20_000
BODY_BYTES = 400
ROUNDS = 7


def chain(length: int) -> Iterator[bytes]:
    """Sign a key op and task ops of BODY_BYTES each, as lines."""
    prev = ZERO_HASH
    for seq in range(1, length + 1):
        op = make_op(
            replica=REPLICA,
            seq=seq,
            prev=prev,
            hlc=Reading(START_MS + seq, 0, REPLICA),
            type="key" if seq == 1 else "task",
            signer=SIGNER,
            body=KEY.to_json() if seq == 1 else body(seq),
        )
        prev = op.hash
        yield to_line(op)


def body(seq: int) -> JsonValue:
    """A work item's change, BODY_BYTES long in canonical form."""
    fields: dict[str, JsonValue] = {
        "title": f"Pick row {seq}",
        "status": "open",
        "blocked": False,
        "order": seq,
    }
    change: dict[str, JsonValue] = {"task": "t-4a8cce", "kind": "update", "fields": fields, "note": ""}
    change["note"] = "é" * 10 + "x" * (BODY_BYTES - len(canonical(change)) - 20)
    return change


def seconds(work: Callable[[], object]) -> float:
    """The time that some work takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def speed(length: int) -> None:
    """Print the ratio of verifying a chain to verifying its signatures alone."""
    lines = list(chain(length))
    signed = [signature_and_message(line) for line in lines]

    def bare() -> None:
        for message in signed:
            crypto_sign_open(message, SIGNER.public)

    def whole() -> None:
        assert len(read_lane(REPLICA, lines, Cursor(), KEY).entries) == length

    pairs = [(seconds(bare), seconds(whole)) for _ in range(ROUNDS)]
    ratios = sorted(alone / both for alone, both in pairs)
    alone, both = (min(times) / length * 1e6 for times in zip(*pairs, strict=True))
    print(f"verify a chain of {length:,} ops with {BODY_BYTES}-byte bodies, best of {ROUNDS}:")
    print(f"  libsodium alone {alone:.1f} µs an op, the chain {both:.1f} µs")
    print(f"  ratio {alone / both:.2f} (median {ratios[ROUNDS // 2]:.2f}, target 0.60)")


def signature_and_message(line: bytes) -> bytes:
    """What libsodium is asked to verify of a line."""
    read = read_line(line)
    assert isinstance(read, Unverified)
    return unb64u(read.sig) + read.signed


def main() -> None:
    """Run the bench."""
    speed(OPS)


if __name__ == "__main__":
    main()
