"""Commands that are forked: they do what the real program does, one never sees another, and none outlives its tests."""

import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.e2e import forked
from tests.e2e.people import PATIENCE, Person, Town, started

LEFT_ALONE = """
import os, signal, sys, threading, time
from pathlib import Path
from tests.e2e import forked

def children(pid):
    return [each for file in Path(f"/proc/{pid}/task").glob("*/children") for each in file.read_text().split()]

watch = {"env": {"DMP_DIR": sys.argv[1]}, "stdin": b"", "seconds": 60}
threading.Thread(target=lambda: forked.run(["sync", "--watch"], **watch), daemon=True).start()
while not (servers := children(os.getpid())) or not (commands := children(servers[0])):
    time.sleep(0.01)
print(servers[0], commands[0], flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize(
    ("arguments", "given", "code"),
    [
        (["task", "list"], b"", 0),
        (["task", "list", "--json", "--verbose"], b"", 0),
        (["send", "human:ada", "-", "--json"], b"\xff", 1),
        (["inbox", "--dir", "nowhere"], b"", 1),
        (["send"], b"", 2),
    ],
)
def test_a_forked_command_does_what_the_real_program_does(
    arguments: list[str], given: bytes, code: int, ada: Person
) -> None:
    real = started(arguments, env=ada.environment, stdin=given, seconds=PATIENCE)
    assert real[0] == code
    assert forked.run(arguments, env=ada.environment, stdin=given, seconds=PATIENCE)[:2] == real[:2]


def test_commands_at_the_same_time_have_environments_of_their_own(town: Town) -> None:
    people = [town.person(f"person-{each}") for each in range(4)]
    with ThreadPoolExecutor() as pool:
        told = list(pool.map(lambda each: str(each.json("team", "fingerprint")["fingerprint"]), people * 3))
    assert told == [each.fingerprint for each in people] * 3
    assert len(set(told)) == len(people)


def test_a_command_that_does_not_end_is_killed(ada: Person) -> None:
    with pytest.raises(TimeoutError):
        forked.run(["sync", "--watch"], env=ada.environment, stdin=b"", seconds=0.3)
    assert ada.try_("inbox").code == 0


def test_what_is_forked_ends_with_the_tests(ada: Person) -> None:
    command = [sys.executable, "-c", LEFT_ALONE, str(ada.root)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=PATIENCE, check=False)
    until = time.monotonic() + PATIENCE
    for pid in done.stdout.split():
        while _runs(pid):
            assert time.monotonic() < until, f"{pid} runs on"
            time.sleep(0.01)
    assert len(done.stdout.split()) == 2


def _runs(pid: str) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
