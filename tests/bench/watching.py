"""Mail between two idle replicas, each with `dmp sync --watch`: `python -m tests.bench.watching`.

Two real processes watch one bare repository on this disk, and then a relay, another process. A third one sends, as
a person would; told is how long it takes until the message is in the other's inbox, committed. At the median the
target is less than 2 seconds over git, and less than 50 milliseconds over a relay; nothing fails.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from random import random
from statistics import median
from tempfile import TemporaryDirectory
from typing import Final

from core.inputs import Sender, SendInput
from replica.node import Node, opened

GIT_TARGET: Final = 2.0
RELAY_TARGET: Final = 0.05
_IDLE_SECONDS: Final = {"git": 5.0, "relay": 1.0}
_LOOK_SECONDS: Final = 0.001
_SETTLED_SECONDS: Final = 10.0
DMP: Final = (sys.executable, "-m", "replica.cli.main")


def dmp(directory: Path, *arguments: str) -> str:
    """Run a command of one person's."""
    command = [*DMP, *arguments, "--dir", str(directory)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--git", type=int, default=10, metavar="N", help="messages over git")
    parser.add_argument("--relay", type=int, default=30, metavar="N", help="messages over a relay")
    options = parser.parse_args()
    with TemporaryDirectory() as name, ExitStack() as ending:
        folder = Path(name)
        os.environ["XDG_STATE_HOME"] = str(folder / "state")
        bare, ada, bob = folder / "team.git", folder / "ada", folder / "bob"
        subprocess.run(["git", "init", "-q", "--bare", str(bare)], check=True)
        dmp(ada, "init", "--handle", "ada")
        dmp(ada, "team", "found", "Orchard", "--git", str(bare))
        code = next(word for word in dmp(ada, "team", "invite", "bob").split() if word.startswith("di1."))
        dmp(bob, "init", "--handle", "bob")
        dmp(bob, "join", code, "--git", str(bare))
        for who in (ada, bob, ada):
            dmp(who, "sync")
        _tell("git", _measured("git", ada, bob, options.git), GIT_TARGET)
        url = ending.enter_context(_relay(folder / "relay"))
        dmp(ada, "team", "transport", "relay", url, "--yes")
        for who in (bob, ada, bob):
            dmp(who, "sync")
        _tell("a relay", _measured("relay", ada, bob, options.relay), RELAY_TARGET)


def _tell(over: str, spent: list[float], target: float) -> None:
    spent = [each * 1000 for each in spent]
    print(
        f"watching: mail between two idle replicas over {over} takes {median(spent):.1f} ms at the median, "
        f"{min(spent):.1f} ms at least and {max(spent):.1f} ms at most, of {len(spent)} "
        f"(target {target * 1000:.0f} ms at the median)"
    )


@contextmanager
def _relay(directory: Path) -> Iterator[str]:
    """Run a relay, whose URL this is."""
    command = [*DMP, "relay", "serve", "--json", "--dir", str(directory), "--listen", "127.0.0.1:0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        assert process.stdout is not None
        yield json.loads(process.stdout.readline())["url"]
    finally:
        _end(process)


def _measured(over: str, ada: Path, bob: Path, messages: int) -> list[float]:
    """How long each message takes between two who watch."""
    command = [*DMP, "sync", "--watch", "--dir"]
    watching = [
        subprocess.Popen([*command, str(who)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for who in (ada, bob)
    ]
    try:
        with opened(bob) as there, opened(ada) as here:
            _travel(here, there)  # by then both watch
            time.sleep(_SETTLED_SECONDS)
            spent = []
            for _ in range(messages):
                time.sleep(_IDLE_SECONDS[over] * (1 + random()))
                spent.append(_travel(here, there))
            return spent
    finally:
        for process in watching:
            _end(process)


def _end(process: "subprocess.Popen[str] | subprocess.Popen[bytes]") -> None:
    process.send_signal(signal.SIGTERM)
    process.wait()
    if process.stdout is not None:
        process.stdout.close()


def _travel(here: Node, there: Node) -> float:
    """How long one message takes from its sending to the other's inbox."""
    before = len(there.engine.inbox(there.address))
    start = time.perf_counter()
    given = SendInput.from_json({"to": ["human:bob"], "kind": "message", "body": "Ripe?"})
    here.engine.send(Sender(here.address, True), given)
    seen = None
    while True:
        version = there.store.db.execute("PRAGMA data_version").fetchone()[0]
        if version != seen and len(there.engine.inbox(there.address)) > before:
            return time.perf_counter() - start
        seen = version
        time.sleep(_LOOK_SECONDS)


if __name__ == "__main__":
    main()
