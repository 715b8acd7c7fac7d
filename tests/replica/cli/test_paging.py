"""What is more than a terminal shows at once goes through the person's pager; what goes to a program never does."""

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

PRINT = """
from replica.cli.screen import Screen
import sys
screen = Screen(as_json="--json" in sys.argv)
with screen.paged():
    for number in range(int(sys.argv[1])):
        screen.say(f"line {number}")
    if "--fail" in sys.argv:
        raise ValueError
"""


def shown(*arguments: str, terminal: bool = True) -> list[str]:
    """What a program prints that shows some lines by pages, to a terminal of 24 lines or to a pipe."""
    env = os.environ | {"PAGER": "sed s/^/page:/", "LINES": "24", "COLUMNS": "80", "TERM": "xterm"}
    near, far = pty.openpty()
    command = [sys.executable, "-c", PRINT, *arguments]
    if not terminal:
        os.close(near)
        os.close(far)
        done = subprocess.run(command, env=env, stdin=subprocess.DEVNULL, capture_output=True, check=True)
        return done.stdout.decode().splitlines()
    process = subprocess.Popen(command, env=env, stdin=far, stdout=far, stderr=subprocess.DEVNULL)
    os.close(far)
    got = b""
    try:
        while part := os.read(near, 1000):
            got += part
    except OSError:  # nobody has the other end any more
        pass
    os.close(near)
    process.wait()
    return got.decode().splitlines()


def test_a_long_answer_is_shown_by_pages() -> None:
    assert shown("30") == [f"page:line {number}" for number in range(30)]


def test_an_answer_that_fits_is_just_printed() -> None:
    assert shown("5") == [f"line {number}" for number in range(5)]


@pytest.mark.parametrize("arguments", [("30", "--json"), ("30", "--fail")])
def test_what_was_printed_is_shown_whatever_comes_then(arguments: tuple[str, ...]) -> None:
    assert [line.removeprefix("page:") for line in shown(*arguments)] == [f"line {n}" for n in range(30)]


def test_a_program_that_reads_is_given_no_pages() -> None:
    assert shown("30", terminal=False) == [f"line {number}" for number in range(30)]


def test_bash_completes_the_commands_of_dmp(tmp_path: Path) -> None:
    (tmp_path / "dmp").symlink_to(Path(sys.executable).with_name("dmp"))
    script = (
        'eval "$(dmp completion bash)"; COMP_WORDS=(dmp team re); COMP_CWORD=2; _dmp_completion dmp; '
        'printf "%s\\n" "${COMPREPLY[@]}"'
    )
    env = os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    done = subprocess.run(["bash", "-c", script], env=env, capture_output=True, check=True, text=True)
    assert done.stdout.split() == ["revoke", "recover", "recovery-key"]
