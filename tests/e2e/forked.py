"""`dmp` in a process of its own that is forked from one which has read its modules.

To start Python and to read those modules takes most of the time of a short command, and the tests run thousands of
them. What a process is stays as it is: a pid, an environment, a folder and streams of its own, and nothing left in it
of any command before. How `dmp` itself starts is for the tests that run the real program.
"""

import atexit
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Final

_ROOT: Final = Path(__file__).parents[2]


def run(
    arguments: Sequence[str],
    *,
    env: Mapping[str, str],
    stdin: bytes = b"",
    seconds: float,
    folder: Path | None = None,
) -> tuple[int, bytes, bytes]:
    """Run a command in a folder, and return how it ended, as `subprocess` tells it, and what it wrote to each stream.

    Raises TimeoutError when it does not end within that many seconds; it is killed then.
    """
    request = json.dumps({"arguments": [*arguments], "env": dict(env), "folder": str(folder or Path.cwd())})
    with TemporaryFile() as out, TemporaryFile() as err:
        code = _ended(request, stdin, [out, err], seconds)
        return code, _written(out), _written(err)


def _ended(request: str, stdin: bytes, written: Sequence[IO[bytes]], seconds: float) -> int:
    mine, far = socket.socketpair()
    given, giving = os.pipe()
    with mine, mine.makefile("rw") as talk, os.fdopen(giving, "wb") as pipe:
        with far, os.fdopen(given, "rb"):
            fds = [given, *(each.fileno() for each in written), far.fileno()]
            socket.send_fds(_server(), [b"!"], fds)
        talk.write(f"{request}\n")
        talk.flush()
        with suppress(BrokenPipeError):  # it reads no more
            pipe.write(stdin)
            pipe.close()
        pid = int(talk.readline())
        mine.settimeout(seconds)
        try:
            return int(talk.readline())
        except TimeoutError:
            os.kill(pid, signal.SIGKILL)
            raise


def _written(file: IO[bytes]) -> bytes:
    file.seek(0)
    return file.read()


@cache
def _server() -> socket.socket:
    """The way to the process that is forked: one for each process of the tests, which ends with it."""
    mine, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with far:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.e2e.forking", str(far.fileno())],
            cwd=_ROOT,
            env={"PATH": os.environ["PATH"], "LANG": "C.UTF-8"},
            pass_fds=[far.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )

    def end() -> None:
        mine.close()
        process.wait()

    atexit.register(end)
    return mine
