"""The process that `tests.e2e.forked` forks: it has read the modules of `dmp`, has one thread, and runs no command.

It reads from a socket that the tests hold open, and ends, with every command that still runs, once they are gone.
"""

import atexit
import contextlib
import gc
import importlib
import json
import os
import select
import signal
import socket
import sys
import threading
import time
from typing import Final

from replica.cli import main as cli

OTHERS: Final = (
    "cryptography.hazmat.backends.openssl.backend",
    "encodings.utf_16_le",
    "replica.host.effects",
    "replica.host.programs",
    "rich.console",
    "rich.table",
    "transports.directory",
    "transports.git.kind",
    "transports.memory",
    "transports.relay.client.kind",
)
"""What commands import only when they need it, and often do."""


def main() -> None:
    """Fork a process for whoever asks, and in that process run `dmp`."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for name in (*(where.partition(":")[0] for where in cli.COMMANDS.values()), *OTHERS):
        with contextlib.suppress(ImportError):  # which the command will tell of
            importlib.import_module(name)
    gc.freeze()  # a collection in a forked process would write to all of it, and so copy it
    with socket.socket(fileno=int(sys.argv[1])) as asked:
        talk = _forked(asked)
    if talk is not None:
        _become(talk)
        try:
            cli.main()
        except SystemExit as ended:
            _end(ended)


def _forked(asked: socket.socket) -> int | None:
    """Serve until nobody is left to ask. Returns early, with the way to whoever asked, in each forked process."""
    ended, noticed = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(noticed)
    talks: dict[int, int] = {}
    while True:
        ready, _, _ = select.select([asked.fileno(), ended], [], [])
        if ended in ready:
            os.read(ended, 4096)
            _tell(talks)
        if asked.fileno() not in ready:
            continue
        *streams, talk = socket.recv_fds(asked, 1, 4)[1] or [-1]
        if not streams:
            break
        pid = os.fork()
        if pid == 0:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            for number, stream in enumerate(streams):
                os.dup2(stream, number)
            for each in (ended, noticed, *talks.values(), *streams):
                os.close(each)
            return talk
        talks[pid] = talk
        for stream in streams:
            os.close(stream)
        _say(talk, pid)
    for pid in talks:
        os.kill(pid, signal.SIGKILL)
    return None


def _tell(talks: dict[int, int]) -> None:
    """Tell whoever asked how each process ended that has."""
    for pid in list(talks):
        found, status = os.waitpid(pid, os.WNOHANG)
        if found:
            talk = talks.pop(pid)
            _say(talk, os.waitstatus_to_exitcode(status))
            os.close(talk)


def _say(talk: int, number: int) -> None:
    with contextlib.suppress(BrokenPipeError):  # nobody waits for it any more
        os.write(talk, b"%d\n" % number)


def _become(talk: int) -> None:
    """Be the process that was asked for."""
    with open(talk, encoding="utf-8") as lines:
        request = json.loads(lines.readline())
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["env"])
    time.tzset()
    sys.argv = ["dmp", *request["arguments"]]


def _end(ended: SystemExit) -> None:
    """End as Python does, but without taking to pieces all that it has read, which takes longer than most commands."""
    if threading.active_count() > 1 or not isinstance(ended.code, int):
        raise ended  # Python has more to do
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(ended.code)


if __name__ == "__main__":
    main()
