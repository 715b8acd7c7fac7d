"""`kill -9` at random moments of real processes: nothing lost, nothing doubled, the chain still verifies."""

import json
import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from random import Random

import pytest

from core.store import Store
from replica.records import ops
from replica.records.schema import MIGRATIONS
from tests.e2e import forked

DMP = (sys.executable, "-m", "replica.cli.main")
ROUNDS = 12
LONGEST_SECONDS = 0.7
"""A little longer than any of the commands takes, so that a kill may also come too late."""


@dataclass
class Place:
    """Ada's and bob's directories, and the bare repository between them."""

    folder: Path

    def run(self, who: str, *words: str) -> str:
        """Run a command that nobody kills, and so need not be the real program."""
        arguments = ["--dir", str(self.folder / who), *words]
        code, out, err = forked.run(arguments, env=self.environment, seconds=120)
        assert code == 0, out + err
        return out.decode()

    def kill(self, who: str, *words: str, after: float) -> None:
        """Start a command and kill it `after` some seconds, in the middle of whatever it does then."""
        process = subprocess.Popen(
            [*DMP, "--dir", str(self.folder / who), *words],
            env=self.environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            process.wait(after)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    @property
    def environment(self) -> dict[str, str]:
        return {**os.environ, "XDG_STATE_HOME": str(self.folder / "state"), "HOME": str(self.folder)}

    def bodies(self, who: str) -> list[str]:
        return sorted(
            item["message"]["body"] for item in json.loads(self.run(who, "inbox", "--json"))["deliveries"]
        )


@pytest.fixture
def place(tmp_path: Path) -> Place:
    made = Place(tmp_path)
    remote = tmp_path / "team.git"
    subprocess.run(["git", "init", "--quiet", "--bare", str(remote)], check=True)
    for who in ("ada", "bob"):
        made.run(who, "init", "--handle", who)
    made.run("ada", "team", "found", "Orchard", "--git", str(remote))
    code = json.loads(made.run("ada", "team", "invite", "bob", "--json"))["code"]
    made.run("bob", "join", code, "--git", str(remote))
    made.run("ada", "sync")
    made.run("bob", "sync")
    return made


def test_kill_9_at_random_moments_of_send_and_sync_loses_and_doubles_nothing(place: Place) -> None:
    chance = Random(20261130)
    for number in range(ROUNDS):
        for sender, recipient in (("ada", "bob"), ("bob", "ada")):
            words = (
                "send",
                f"human:{recipient}",
                f"letter {number}",
                "--idempotency-key",
                f"letter-{number}",
            )
            place.kill(sender, *words, after=chance.uniform(0.1, LONGEST_SECONDS))
            place.run(sender, *words)
            place.kill(sender, "sync", after=chance.uniform(0.1, LONGEST_SECONDS))
    for _ in range(2):
        for who in ("ada", "bob"):
            place.run(who, "sync")
    expected = sorted(f"letter {number}" for number in range(ROUNDS))
    assert place.bodies("ada") == expected
    assert place.bodies("bob") == expected
    for source in ("store", f"git:{place.folder / 'team.git'}"):
        place.run("ada", "audit", "--from", source)
    assert chains_agree(place)


def chains_agree(place: Place) -> bool:
    """Whether both stores hold the same ops of both chains."""
    held = []
    for who in ("ada", "bob"):
        store = Store.open(place.folder / who / "state.db", MIGRATIONS)
        held.append({replica: position.cursor.head for replica, position in ops.positions(store.db).items()})
        store.close()
    return held[0] == held[1]
