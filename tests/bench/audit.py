"""How much memory and time a long audit takes: `python -m tests.bench.audit`.

A team of three publishes 200,000 ops, signed here and streamed to a file. The file is audited as it is, with
its lines shuffled, as a branch of a git repository and as a store, each by the real command in a process of
its own. The target for the peak of each is 150 MB resident. Nothing fails here.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from array import array
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Final

from core.store import Store
from crypto.canonical import JsonValue
from crypto.chain import Cursor, Head
from crypto.clock import Reading
from crypto.keys import KeyBody, Secrets
from crypto.op import ZERO_HASH, Op, make_op, read_entry, to_line
from crypto.roster.bodies import Admit, Found, Role
from replica.home.directory import Directory
from replica.records import ops
from replica.records.meta import Meta, put
from replica.records.schema import MIGRATIONS
from transports.remotes import DEFAULT_BRANCH

OPS: Final = 200_000
TARGET_MB: Final = 150
START_MS: Final = 1_790_000_000_000
SEGMENT_OPS: Final = 1000


class Publisher:
    """A replica that signs one op after another."""

    def __init__(self, replica: str, fill: int) -> None:
        self.replica = replica
        self.secrets = Secrets.generate(lambda size: bytes([fill]) * size)
        self.key = KeyBody(replica[:-9], "desk", "bench", self.secrets.sign_pub, self.secrets.seal_pub)
        self.head = Head(0, ZERO_HASH, Reading(START_MS, 0, replica))

    def next(self, type: str, body: JsonValue) -> bytes:
        seq = self.head.seq + 1
        op = make_op(
            replica=self.replica,
            seq=seq,
            prev=self.head.hash,
            hlc=Reading(START_MS + seq, 0, self.replica),
            type=type,
            signer=self.secrets.signer,
            body=body,
        )
        self.head = Head(seq, op.hash, op.hlc)
        return to_line(op)


def team_lines(count: int) -> Iterator[bytes]:
    """Sign `count` ops of a team of three, in turns."""
    team = [Publisher("ada-0000000a", 1), Publisher("bob-0000000b", 2), Publisher("cy-0000000c", 3)]
    for each in team:
        yield each.next("key", each.key.to_json())
    founder, *others = team
    yield founder.next("roster", Found("Bench", (), founder.key.sign_pub).to_json())
    for each in others:
        admit = Admit(each.replica, each.key.handle, Role.MEMBER, each.key.fingerprint)
        yield founder.next("roster", admit.to_json())
    for number in range(count - len(team) - len(others) - 1):
        yield team[number % len(team)].next("task", {"task": f"t-{number}", "note": "x" * 380})


def write_lines(path: Path, lines: Iterator[bytes]) -> None:
    with path.open("wb") as file:
        for line in lines:
            file.write(line + b"\n")


def write_shuffled(path: Path, ordered: Path) -> None:
    starts = array("q", [0])
    with ordered.open("rb") as file:
        for line in file:
            starts.append(starts[-1] + len(line))
        places = list(range(len(starts) - 1))
        Random(1).shuffle(places)
        with path.open("wb") as shuffled:
            for place in places:
                file.seek(starts[place])
                shuffled.write(file.read(starts[place + 1] - starts[place]))


def write_branch(repository: Path, ordered: Path) -> None:
    """Put the lines into a bare repository, in the segments their owners would write."""
    subprocess.run(["git", "init", "--bare", "--quiet", str(repository)], check=True)
    segments: dict[str, list[bytes]] = {}
    made: dict[str, int] = {}
    process = subprocess.Popen(
        ["git", f"--git-dir={repository}", "fast-import", "--quiet"], stdin=subprocess.PIPE
    )
    assert process.stdin is not None
    say = process.stdin.write
    say(f"commit refs/heads/{DEFAULT_BRANCH}\n".encode())
    say(b"committer Bench <bench@example.invalid> 1790000000 +0000\ndata 5\nbench\n")

    def flush(replica: str) -> None:
        first = made.get(replica, 0) + 1
        made[replica] = first + len(segments[replica]) - 1
        data = b"".join(segments.pop(replica))
        say(f"M 100644 inline fed/{replica}/{first:012d}.jsonl\ndata {len(data)}\n".encode() + data + b"\n")

    with ordered.open("rb") as file:
        for line in file:
            replica = json.loads(line)["replica"]
            held = segments.setdefault(replica, [])
            held.append(line)
            if len(held) == SEGMENT_OPS:
                flush(replica)
    for replica in sorted(segments):
        flush(replica)
    process.stdin.close()
    if process.wait():
        raise SystemExit("git fast-import failed")


def write_store(root: Path, ordered: Path) -> None:
    """Put the ops into a store, as a replica that has applied them all would have them."""
    root.mkdir()
    store = Store.open(Directory(root).database, MIGRATIONS)
    heads: dict[str, ops.Position] = {}
    fingerprints: dict[str, str] = {}
    with ordered.open("rb") as file, store.transaction("bench") as db:
        for line in file:
            entry = read_entry(line.rstrip())
            ops.insert(db, entry)
            if isinstance(entry, Op) and entry.type == "key":
                key = Publisher(entry.replica, int(entry.replica[-1], 16) - 9).key
                fingerprints[entry.replica] = key.fingerprint
            if isinstance(entry, Op) and isinstance(entry.body, dict) and entry.body.get("action") == "found":
                put(db, Meta.FOUNDING, entry.hash)
            heads[entry.replica] = ops.Position(
                fingerprints[entry.replica], Cursor(Head(entry.seq, entry.hash, entry.hlc))
            )
        for replica, position in heads.items():
            ops.set_position(db, replica, position)
    store.close()


def measure(name: str, count: int, *arguments: str) -> None:
    """Audit in a process of its own, and print what it took."""
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "tests.bench.audit", "--audit", *arguments], stdout=subprocess.PIPE, check=True
    )
    elapsed = time.perf_counter() - start
    answer, peak = done.stdout.splitlines()
    found = json.loads(answer)
    accepted = sum(each["ops"] for each in found["replicas"])
    state = "verified" if found["verified"] and accepted == count else f"NOT VERIFIED, {accepted:,} accepted"
    print(
        f"  {name:<14} {state}, {elapsed:.0f} s, {count / elapsed:,.0f} ops/s, "
        f"peak {int(peak)} MB (target {TARGET_MB})",
        flush=True,
    )


def audited(arguments: list[str]) -> None:
    """Be the process that is measured: run the command, and print the peak of its memory in MB after it."""
    from replica.cli.main import run

    run(["audit", *arguments, "--json"])
    # VmHWM is this process's alone; what rusage tells begins with that of the process it was forked from.
    status = Path("/proc/self/status").read_text(encoding="ascii")
    peak_kib = int(status.split("VmHWM:")[1].split()[0])
    print(peak_kib * 1024 // 10**6)


def main() -> None:
    """Make the sources and measure each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ops", type=int, default=OPS, help="how many ops are audited")
    parser.add_argument("--audit", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.audit is not None:
        audited(given.audit)
        return
    with tempfile.TemporaryDirectory(prefix="dmp-bench-") as folder:
        ordered, other = Path(folder) / "team.jsonl", Path(folder) / "other"
        start = time.perf_counter()
        write_lines(ordered, team_lines(given.ops))
        size = ordered.stat().st_size
        print(
            f"audit {given.ops:,} ops, {size / 1e6:.0f} MB of lines (signed in {time.perf_counter() - start:.0f} s):",
            flush=True,
        )
        measure("file", given.ops, "--from", str(ordered))
        sources: tuple[tuple[str, Callable[[Path, Path], None], tuple[str, ...]], ...] = (
            ("shuffled file", write_shuffled, ("--from", f"{other}-0")),
            ("branch", write_branch, ("--from", f"git:{other}-1")),
            ("store", write_store, ("--from", "store", "--dir", f"{other}-2")),
        )
        for number, (name, write, arguments) in enumerate(sources):
            write(other.with_name(f"other-{number}"), ordered)
            measure(name, given.ops, *arguments)


if __name__ == "__main__":
    main()
