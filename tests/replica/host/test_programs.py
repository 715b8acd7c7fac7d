"""Programs a person named: what they are given, and how they fail."""

import os
import stat
import time
from contextlib import suppress
from pathlib import Path

import pytest

from replica.host.programs import ProgramError, run_program


def failed(command: str, given: str = "", seconds: float = 20) -> str:
    with pytest.raises(ProgramError) as error:
        run_program(command, given, {}, seconds=seconds)
    return str(error.value)


def test_it_reads_what_it_is_given_and_finds_the_rest_in_its_environment(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    run_program(f'cat > {kept}; echo "$DMP_X" >> {kept}', "one\ntwo\n", {"DMP_X": "a b;c"}, seconds=20)
    assert kept.read_text() == "one\ntwo\na b;c\n"


def test_it_need_not_read_what_it_is_given() -> None:
    run_program("true", "x" * 1_000_000, {}, seconds=20)


def test_a_failure_is_its_first_line_of_standard_error(tmp_path: Path) -> None:
    assert failed("echo; echo ' no such model ' >&2; echo more >&2; exit 3") == "no such model"


def test_a_failure_without_words_is_its_code() -> None:
    assert failed("exit 3") == "it ended with code 3"
    assert failed("kill -9 $$") == "it was killed by signal 9"


def test_a_failure_is_short_and_acts_on_no_terminal() -> None:
    said = failed("printf '\\033[31mred' >&2; printf 'x%.0s' $(seq 1000) >&2; exit 1")
    assert said.isprintable()
    assert len(said) <= 301


def test_what_it_says_fills_no_disk() -> None:
    sizes = []

    def watched() -> bool:
        with os.scandir("/proc/self/fd") as descriptors:
            numbers = [int(each.name) for each in descriptors]
        for number in numbers:
            with suppress(OSError):
                found = os.fstat(number)
                if stat.S_ISREG(found.st_mode) and not found.st_nlink:
                    sizes.append(found.st_blocks * 512)
        return False

    command = "echo first >&2; head -c 200000000 /dev/zero >&2; sleep 0.3; exit 1"
    with pytest.raises(ProgramError, match=r"^first$"):
        run_program(command, "", {}, seconds=60, ended=watched)
    assert 0 < max(sizes) < 150_000_000


def test_one_that_takes_too_long_is_killed_with_what_it_started(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    assert "longer than 0.5 seconds" in failed(f"sleep 600 & echo $! > {pid}; wait", seconds=0.5)
    started = int(pid.read_text())
    until = time.monotonic() + 20
    while _runs(started):
        assert time.monotonic() < until


def test_what_it_leaves_running_is_not_waited_for(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    run_program(f"sleep 600 & echo $! > {pid}", "", {}, seconds=20)
    started = int(pid.read_text())
    assert _runs(started)
    os.kill(started, 9)


def test_it_is_not_waited_for_once_there_is_nothing_to_wait_for() -> None:
    with pytest.raises(ProgramError, match="the session ended"):
        run_program("sleep 600", "", {}, seconds=600, ended=lambda: True)


def _runs(pid: int) -> bool:
    try:
        with Path(f"/proc/{pid}/stat").open() as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
