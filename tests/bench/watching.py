"""Mail between two idle replicas over git, each with `dmp sync --watch`: `python -m tests.bench.watching`.

Two real processes watch one bare repository on this disk. A third one sends, as a person would; told is how long
it takes until the message is in the other's inbox. The target is less than 2 seconds at the median; nothing fails.
"""

import argparse
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Final

from core.inputs import Sender, SendInput
from replica.node import opened

TARGET: Final = 2.0
_IDLE_SECONDS: Final = 5.0
_DMP: Final = (sys.executable, "-m", "replica.cli.main")


def dmp(directory: Path, *arguments: str) -> str:
    """Run a command of one person's."""
    command = [*_DMP, *arguments, "--dir", str(directory)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--messages", type=int, default=10)
    options = parser.parse_args()
    with TemporaryDirectory() as name:
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
        watching = [
            subprocess.Popen([*_DMP, "sync", "--watch", "--dir", str(who)], stdout=subprocess.DEVNULL)
            for who in (ada, bob)
        ]
        try:
            spent = [_travel(ada, bob) for _ in range(options.messages)]
        finally:
            for process in watching:
                process.send_signal(signal.SIGTERM)
            for process in watching:
                process.wait()
    print(
        f"watching: mail between two idle replicas over git takes {median(spent):.2f} s at the median and "
        f"{max(spent):.2f} s at most (target {TARGET:.0f} s at the median)"
    )


def _travel(ada: Path, bob: Path) -> float:
    """How long one message takes from its sending to the other's inbox, after a while of silence."""
    time.sleep(_IDLE_SECONDS)
    with opened(bob) as there, opened(ada) as here:
        before = len(there.engine.inbox(there.address))
        start = time.perf_counter()
        given = SendInput.from_json({"to": ["human:bob"], "kind": "message", "body": "Ripe?"})
        here.engine.send(Sender(here.address, True), given)
        while len(there.engine.inbox(there.address)) == before:
            time.sleep(0.02)
        return time.perf_counter() - start


if __name__ == "__main__":
    main()
