"""Running what a person named in the configuration or on a command line.

A program gets what it is about in its environment and on its standard input, never on its command line, which
everybody on the machine can read. It may leave processes behind it that outlive this one.
"""

import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

_SHELL: Final = "/bin/sh"
_PAUSE: Final = 0.02
_LINE: Final = 300
_HEAD: Final = 4096
_ENDED: Final = "the session ended"
_MOST_SAID: Final = 1_000_000
"""Bytes of standard error that are kept on the disk while a program runs."""


class ProgramError(Exception):
    """A program failed; the text says how, on one line."""


class SlowError(ProgramError):
    """A program took longer than it may, and was killed."""


def run_program(
    command: str,
    given: str,
    variables: Mapping[str, str],
    *,
    seconds: float,
    ended: Callable[[], bool] = lambda: False,
    quiet: bool = True,
) -> None:
    """Run a line of the shell with `given` on its standard input, and wait until it ends.

    What it prints goes nowhere, or to this process's standard output when it is not `quiet`. Raises ProgramError
    when it ends with another code than 0 or cannot be started, and when `ended` says that there is nothing to
    wait for any more; SlowError when it takes longer than `seconds`.
    """
    if ended():
        raise ProgramError(_ENDED)
    # Files and no pipes: whatever it leaves running may keep them open, and nobody waits for that.
    with tempfile.TemporaryFile() as stdin, tempfile.TemporaryFile() as stderr:
        said = _Said(stderr.fileno())
        stdin.write(given.encode(errors="replace"))
        stdin.seek(0)
        try:
            process = subprocess.Popen(
                [_SHELL, "-c", command],
                stdin=stdin,
                stdout=subprocess.DEVNULL if quiet else None,
                stderr=stderr,
                env={**os.environ, **variables},
                start_new_session=True,
            )
        except OSError as error:
            raise ProgramError(f"it cannot be started: {error.strerror or error}") from error
        if not _wait(process, seconds, ended, said):
            raise ProgramError(_ENDED) if ended() else SlowError(f"it took longer than {seconds:g} seconds")
        if process.returncode:
            raise ProgramError(_first_line(said.head()) or _how(process.returncode))


def directory_variables(root: Path) -> dict[str, str]:
    """What tells a program which replica it works for, so that a `dmp` it runs is this one's."""
    return {"DMP_DIR": str(root.absolute())}


class _Said:
    """What a program says on standard error: its head, and no disk full of the rest."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._head: bytes | None = None

    def head(self) -> bytes:
        """The first bytes of it."""
        return os.pread(self._descriptor, _HEAD, 0) if self._head is None else self._head

    def trim(self) -> None:
        """Give the disk back what is too much; the program goes on where it was, so the file has a hole then."""
        if os.fstat(self._descriptor).st_blocks * 512 > _MOST_SAID:
            self._head = self.head()
            os.ftruncate(self._descriptor, 0)


def _wait(process: "subprocess.Popen[bytes]", seconds: float, ended: Callable[[], bool], said: _Said) -> bool:
    """Wait for a process; one that takes too long is killed with all it started."""
    until = time.monotonic() + seconds
    try:
        while time.monotonic() < until and not ended():
            with suppress(subprocess.TimeoutExpired):
                process.wait(_PAUSE)
                return True
            said.trim()
    except BaseException:
        _kill(process)
        raise
    _kill(process)
    return False


def _kill(process: "subprocess.Popen[bytes]") -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _first_line(stderr: bytes) -> str:
    """The first line that says something, cut and with nothing in it that would act on a terminal."""
    for line in stderr.decode(errors="replace").splitlines():
        if line.strip():
            text = line.strip()
            shown = "".join(char if char.isprintable() else " " for char in text[:_LINE])
            return f"{shown}…" if len(text) > _LINE else shown
    return ""


def _how(code: int) -> str:
    return f"it ended with code {code}" if code > 0 else f"it was killed by signal {-code}"
