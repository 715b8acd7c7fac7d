"""How fast a chain is verified, and how much memory a long audit takes: `python -m tests.bench.chain`.

The speed is a ratio within one run on one core: the ops of a chain that a lane's reader verifies in a second,
to the signatures over the same headers that libsodium alone verifies in a second. The target is 0.6. The
memory is the peak of a process that audits 200,000 ops: in order, in the reverse order, and with a fork that
shows at the end; the target is 150 MB. Nothing fails here.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

from nacl.bindings import crypto_sign_open

from crypto.audit import audit_lane
from crypto.canonical import JsonValue, canonical
from crypto.chain import Cursor
from crypto.clock import Reading
from crypto.ed25519 import SigningKey
from crypto.encoding import b64u, unb64u
from crypto.keys import KeyBody
from crypto.lane import read_lane
from crypto.op import ZERO_HASH, Unverified, make_op, read_entry, read_line, to_line
from replica.audit_index import AuditIndex

REPLICA = "ada-0000000a"
SIGNER = SigningKey.from_seed(bytes(32))
KEY = KeyBody("ada", "desk", "bench", b64u(SIGNER.public), b64u(SIGNER.public))
START_MS = 1_790_000_000_000
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


def memory(length: int) -> None:
    """Print the peak memory of audits of a long lane, each in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        lines = Path(folder) / "lane.jsonl"
        with lines.open("wb") as file:
            for line in chain(length):
                file.write(line + b"\n")
        print(f"audit {length:,} ops ({lines.stat().st_size / 1e6:.0f} MB of lines):")
        sys.stdout.flush()
        for order in ("in-order", "reverse", "forked"):
            subprocess.run(
                [sys.executable, "-m", "tests.bench.chain", "--audit", order, str(lines)], check=True
            )


def audit(order: str, lane: Path) -> None:
    """Audit a file of lines and print what it took; this is the process that is measured."""
    start = time.perf_counter()
    sources = {"in-order": forwards, "reverse": backwards, "forked": with_a_late_fork}
    with AuditIndex() as side:
        found = audit_lane(REPLICA, lambda: sources[order](lane), KEY, side)
    halt = found.outcome.halt
    print(
        f"  {order}: {found.tally.entries:,} ops accepted{'' if halt is None else f', halted at {halt.seq:,}'}, "
        f"{time.perf_counter() - start:.0f} s, peak {peak_mb()} MB (target 150)"
    )


def forwards(lane: Path) -> Iterator[bytes]:
    """Give the lines of a file."""
    with lane.open("rb") as file:
        for line in file:
            yield line[:-1]


def backwards(lane: Path) -> Iterator[bytes]:
    """Give the lines of a file, the last first."""
    starts = [0]
    with lane.open("rb") as file:
        for line in file:
            starts.append(starts[-1] + len(line))
        for start, end in zip(starts[-2::-1], starts[:0:-1], strict=True):
            file.seek(start)
            yield file.read(end - start - 1)


def with_a_late_fork(lane: Path) -> Iterator[bytes]:
    """Give the lines of a file, and at the end a rival of the second."""
    yield from forwards(lane)
    second = read_entry(next(islice(forwards(lane), 1, 2)))
    rival = make_op(
        replica=REPLICA,
        seq=second.seq,
        prev=second.prev,
        hlc=second.hlc,
        type="task",
        signer=SIGNER,
        body="another story",
    )
    yield to_line(rival)


def peak_mb() -> int:
    """The most memory this process had, in MB. Its own status says so; what rusage says starts at its parent's."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) // 1000


def main() -> None:
    """Run both benches, or be the process that one of them measures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ops", type=int, default=20_000, help="length of the chain that is timed")
    parser.add_argument("--audit-ops", type=int, default=200_000, help="length of the lane that is audited")
    parser.add_argument("--audit", nargs=2, metavar=("ORDER", "FILE"), help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.audit:
        audit(args.audit[0], Path(args.audit[1]))
        return
    speed(args.ops)
    memory(args.audit_ops)


if __name__ == "__main__":
    main()
