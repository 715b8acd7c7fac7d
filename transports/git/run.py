"""Git commands, each with what makes it safe to run on what strangers wrote.

Every command names its repository itself and has no terminal, no hooks, no fsmonitor and no background
work. It runs in a session of its own, so that all it started dies with it, when its time is over or this
process is interrupted, and all of these have a bound on their memory. Commands on local objects read no
configuration but the clone's own; those that reach the network read the person's, which holds the
credentials, and may speak only the protocols of the remote.
"""

import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from transports.base import Unreachable
from transports.git.limits import STREAMED_BYTES, Limits

# GitPython looks for git when it is imported and fails where there is none; a command does that better.
os.environ.setdefault("GIT_PYTHON_REFRESH", "quiet")

from git.cmd import Git
from git.exc import GitCommandNotFound

_OVERRIDES: Final = {
    "core.hooksPath": os.devnull,
    "core.attributesFile": os.devnull,
    "core.fsmonitor": "false",
    "core.bigFileThreshold": str(STREAMED_BYTES),
    "push.gpgSign": "false",
    "push.recurseSubmodules": "no",
    "push.followTags": "false",
    "fetch.recurseSubmodules": "no",
    "fetch.writeCommitGraph": "false",
    "fetch.prune": "false",
    # Packs are kept as they come: one file to measure while it grows, and to remove when it is cut off.
    "fetch.unpackLimit": "1",
    "transfer.fsckObjects": "false",
    "fetch.fsckObjects": "false",
    "gc.auto": "0",
    "maintenance.auto": "false",
    "protocol.version": "2",
}

_GRACE_SECONDS: Final = 2.0
_CHECK_SECONDS: Final = 0.5


@dataclass(frozen=True, slots=True)
class Done:
    """What a finished command left: its exit code, its output, and what it said."""

    code: int
    out: bytes
    said: str


class GitError(Exception):
    """A local command failed: the clone is damaged, or the disk is."""


class BoundsError(Exception):
    """A command was ended because it took too long or brought too much; the text says which."""


class Runner:
    """Runs git on the repository at `repository`, which need not exist for questions to a remote."""

    def __init__(self, repository: Path, limits: Limits) -> None:
        self._repository = repository
        self._limits = limits
        self._git = Git(repository.parent)
        isolated = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
        self._local_env = _environment(repository) | isolated

    def local(self, *arguments: str) -> bytes:
        """Run a command on local objects and return its output. Raises GitError."""
        process = self._start(arguments, self._local_env, with_input=False)
        try:
            done = self._finish(process, self._limits.local_seconds)
        except BoundsError as error:
            raise GitError(f"git {arguments[0]} {error}") from None
        if done.code:
            raise GitError(f"git {arguments[0]}: {done.said.strip()}")
        return done.out

    def start_local(self, *arguments: str) -> "Git.AutoInterrupt":
        """Start a command on local objects that answers line by line."""
        return self._start(arguments, self._local_env, with_input=True)

    def network(
        self,
        protocols: str,
        *arguments: str,
        seconds: float,
        grown: Callable[[], int] = lambda: 0,
    ) -> Done:
        """Run a command that reaches the remote, and return what came of it.

        `grown` tells how many bytes it has brought so far. Raises BoundsError.
        """
        env = _environment(self._repository) | {"GIT_ALLOW_PROTOCOL": protocols}
        return self._finish(self._start(arguments, env, with_input=False), seconds, grown=grown)

    def _start(
        self, arguments: Sequence[str], env: dict[str, str], *, with_input: bool
    ) -> "Git.AutoInterrupt":
        overrides = [part for name, value in _OVERRIDES.items() for part in ("-c", f"{name}={value}")]
        command = ["git", f"--git-dir={self._repository}", *overrides, *arguments]
        try:
            process = self._git.execute(
                command,
                istream=subprocess.PIPE if with_input else None,
                as_process=True,
                env=env,
                start_new_session=True,
            )
            # What could be unpacked once can be read again: that takes what unpacking took, and what git keeps besides.
            _bound_memory(process, self._limits.memory_bytes * (1 if env is not self._local_env else 2))
            return process
        except GitCommandNotFound:
            raise Unreachable(
                "git was not found", "install git 2.34 or newer and make sure it is in PATH"
            ) from None

    def _finish(
        self,
        process: "Git.AutoInterrupt",
        seconds: float,
        grown: Callable[[], int] = lambda: 0,
    ) -> Done:
        deadline = time.monotonic() + seconds
        try:
            while True:
                try:
                    out, said = process.communicate(timeout=min(_CHECK_SECONDS, seconds))
                    return Done(process.returncode, out, said.decode("utf-8", "replace"))
                except subprocess.TimeoutExpired:
                    self._check_bounds(deadline, grown())
        except BaseException:
            kill(process)
            raise

    def _check_bounds(self, deadline: float, size: int) -> None:
        if time.monotonic() >= deadline:
            raise BoundsError("did not finish in time")
        if size > self._limits.fetch_bytes:
            raise BoundsError(f"brought more than {self._limits.fetch_bytes} bytes")


def _bound_memory(process: "Git.AutoInterrupt", size: int) -> None:
    """Let a command, and what it starts from now on, hold so many bytes, files that it only reads left out.

    Set from outside, since nothing may be done between fork and exec in a process with threads. A fetch starts what
    unpacks only after the far side has answered.
    """
    if sys.platform != "linux" or process.proc is None:
        return
    with suppress(ProcessLookupError, PermissionError, ValueError):
        _, most = resource.prlimit(process.proc.pid, resource.RLIMIT_DATA)
        own = size if most == resource.RLIM_INFINITY else min(size, most)
        resource.prlimit(process.proc.pid, resource.RLIMIT_DATA, (own, most))


def kill(process: "Git.AutoInterrupt") -> None:
    """End a command and all it started, giving git a moment to remove what it was writing."""
    popen = process.proc
    if popen is None:
        return
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(popen.pid, signal.SIGTERM)
    with suppress(subprocess.TimeoutExpired):
        popen.wait(_GRACE_SECONDS)
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(popen.pid, signal.SIGKILL)
    popen.wait()
    for pipe in (popen.stdin, popen.stdout, popen.stderr):
        if pipe is not None:
            with suppress(OSError):
                pipe.close()


def _environment(repository: Path) -> dict[str, str]:
    """What git must not take from where this process runs, a hook of another repository for example."""
    return {
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_COMMON_DIR": str(repository),
        "GIT_OBJECT_DIRECTORY": str(repository / "objects"),
        "GIT_ALTERNATE_OBJECT_DIRECTORIES": "",
        "GIT_INDEX_FILE": str(repository / "index"),
        "GIT_NAMESPACE": "",
        "GIT_NO_REPLACE_OBJECTS": "1",
    }
