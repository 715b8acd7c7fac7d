"""A replica whose store has grown for years: `python -m tests.bench.large`.

A million messages in one mailbox. Told is how long `dmp serve` takes from its start until it answers (target: less
than a second), how long a page of the mailbox takes through its API and through `dmp inbox` (target: less than 50 ms
through the API), and the most memory `dmp serve` had by then (target: less than 200 MB). Nothing fails here.
"""

import argparse
import json
import os
import signal
import subprocess
import time
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Final
from urllib.request import Request, urlopen

from replica.node import create, opened
from tests.bench.host import PAGE, fill
from tests.bench.watching import DMP, dmp

MESSAGES: Final = 1_000_000
START_TARGET: Final = 1.0
PAGE_TARGET: Final = 0.05
MEMORY_TARGET: Final = 200_000_000


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--messages", type=int, default=MESSAGES, metavar="N")
    parser.add_argument("--times", type=int, default=20, metavar="N", help="how often a page is read")
    options = parser.parse_args()
    with TemporaryDirectory() as name:
        root = Path(name) / "ada"
        create(root, "ada", "laptop")
        with opened(root) as node:
            fill(node.store, options.messages, "human:ada")
        start = time.perf_counter()
        dmp(root, "inbox")
        print(f"large: `dmp inbox` of {options.messages:,} messages {time.perf_counter() - start:.2f} s")
        _serving(root, options.times)


def _serving(root: Path, times: int) -> None:
    token = dmp(root, "token", "add", "--label", "bench").strip()
    command = [*DMP, "serve", "--listen", "127.0.0.1:0", "--json", "--dir", str(root)]
    start = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        try:
            assert process.stdout is not None
            url = json.loads(process.stdout.readline())["url"]
            with urlopen(f"{url}/health") as answer:
                answer.read()
            began = time.perf_counter() - start
            print(f"large: `dmp serve` answers after {began:.2f} s (target {START_TARGET:.0f})")
            request = Request(
                f"{url}/api/mailbox?order=newest&limit={PAGE}", headers={"Authorization": f"Bearer {token}"}
            )
            pages = []
            for _ in range(times):
                start = time.perf_counter()
                with urlopen(request) as answer:
                    assert len(json.load(answer)["deliveries"]) == PAGE
                pages.append(time.perf_counter() - start)
            print(
                f"large: a page of {PAGE} through its API {median(pages) * 1000:.1f} ms at the median, "
                f"{max(pages) * 1000:.1f} ms at most (target {PAGE_TARGET * 1000:.0f})"
            )
            status = Path(f"/proc/{process.pid}/status").read_text(encoding="ascii")
            peak = next(
                int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("VmHWM")
            )
            print(f"large: memory {peak / 1e6:.0f} MB at most (target {MEMORY_TARGET / 1e6:.0f})")
        finally:
            os.kill(process.pid, signal.SIGTERM)


if __name__ == "__main__":
    main()
