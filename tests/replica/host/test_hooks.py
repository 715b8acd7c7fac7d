"""A configured program that hangs holds a process up once, however much there is to tell it of."""

import os
import threading
import time
from pathlib import Path

import pytest

from core.host import WakeError
from replica.home.directory import Directory
from replica.host import hooks
from replica.host.hooks import Hooks
from replica.host.programs import ProgramError, SlowError
from tests.replica.host.test_person import message


@pytest.fixture(autouse=True)
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NOTIFY_SECONDS", "WAKE_SECONDS", "GATES_SECONDS"):
        monkeypatch.setattr(hooks, name, 0.2)


def never() -> bool:
    return False


def ask(made: Hooks, kind: str, command: str) -> None:
    match kind:
        case "notify":
            made.notify(command, message("human:bob"))
        case "wake":
            made.wake(command, "task:t-0000aa", "task:t-0000aa", message("human:bob"))
        case "gates":
            made.tell_decision(command, message("agent:dispatch"), message("human:ada"))


@pytest.mark.parametrize("kind", ["notify", "wake", "gates"])
def test_one_that_took_too_long_rests_and_others_do_not(tmp_path: Path, kind: str) -> None:
    made = Hooks(Directory(tmp_path), never)
    hangs = f"echo run >> {tmp_path}/runs; sleep 600"
    with pytest.raises(WakeError if kind == "wake" else SlowError, match="longer than"):
        ask(made, kind, hangs)
    for _ in range(3):
        with pytest.raises(WakeError if kind == "wake" else ProgramError, match="a moment ago"):
            ask(Hooks(Directory(tmp_path), never), kind, hangs)  # as another process would
    assert (tmp_path / "runs").read_text() == "run\n"
    ask(made, kind, f"touch {tmp_path}/other")
    assert (tmp_path / "other").exists()


@pytest.mark.parametrize("moved", [-hooks.REST_SECONDS, 60])
def test_it_is_run_again_once_it_rested_or_the_clock_was_set_back(tmp_path: Path, moved: float) -> None:
    made = Hooks(Directory(tmp_path), never)
    hangs = f"echo run >> {tmp_path}/runs; sleep 600"
    for _ in range(2):
        with pytest.raises(SlowError):
            ask(made, "notify", hangs)
        (mark,) = Directory(tmp_path).resting.iterdir()
        assert mark.stat().st_mode & 0o777 == 0o600
        then = time.time() + moved
        os.utime(mark, (then, then))
    assert (tmp_path / "runs").read_text() == "run\nrun\n"


def test_one_that_fails_is_asked_again(tmp_path: Path) -> None:
    made = Hooks(Directory(tmp_path), never)
    for _ in range(2):
        with pytest.raises(ProgramError, match="code 3"):
            ask(made, "notify", f"echo run >> {tmp_path}/runs; exit 3")
    assert (tmp_path / "runs").read_text() == "run\nrun\n"


def test_a_target_is_woken_by_one_command_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hooks, "WAKE_SECONDS", 20)
    begun = tmp_path / "begun"
    os.mkfifo(begun)
    waits = f"echo begun > {begun}; read end < {begun}"

    def wake(target: str, command: str) -> None:
        Hooks(Directory(tmp_path), never).wake(command, target, None, message("human:bob"))

    first = threading.Thread(target=wake, args=("task:t-0000aa", waits))
    first.start()
    assert begun.read_text() == "begun\n"
    with pytest.raises(WakeError, match="being woken already"):
        wake("task:t-0000aa", f"touch {tmp_path}/again")
    wake("task:t-0000bb", f"touch {tmp_path}/other")
    begun.write_text("end\n")
    first.join(20)
    assert (tmp_path / "other").exists()
    assert not (tmp_path / "again").exists()
    wake("task:t-0000aa", f"touch {tmp_path}/again")
    assert (tmp_path / "again").exists()


def test_none_is_run_by_a_process_that_is_to_end(tmp_path: Path) -> None:
    with pytest.raises(ProgramError, match="ended"):
        ask(Hooks(Directory(tmp_path), lambda: True), "notify", f"touch {tmp_path}/ran")
    assert not (tmp_path / "ran").exists()
