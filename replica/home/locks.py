"""Lock files that say who lives: a process holds one for as long as it runs, and it goes with the process.

The lock is on the open file (`flock`), so nothing has to be cleaned up for it to be free; a file that nobody
holds is only left over, and whoever takes it may use it again or remove it.
"""

import contextlib
import fcntl
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

_PATIENCE: Final = 0.5
"""Seconds for which taking a lock is tried again: whoever asks whether it is held holds it for an instant."""

_PAUSE: Final = 0.005


class Held(Protocol):
    """A name that a process holds."""

    def release(self) -> None:
        """Let go of it; again does nothing."""


class Locks(Protocol):
    """Names of which a process may hold each, for as long as it runs."""

    def take(self, name: str, /) -> Held | None:
        """Take a name; None when it is held."""

    def is_held(self, name: str, /) -> bool:
        """Whether a process holds a name."""

    def remove_stale(self) -> None:
        """Clear away what processes that are gone left of theirs."""


@dataclass(frozen=True, slots=True)
class LockFolder:
    """Locks whose names are files of one folder, which is made with the first of them (Locks)."""

    folder: Path

    def take(self, name: str) -> Held | None:
        return take(self.folder / name)

    def is_held(self, name: str) -> bool:
        return is_held(self.folder / name)

    def remove_stale(self) -> None:
        remove_stale(self.folder)


class Lock:
    """A held lock file. `release` it, or end."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self._path = path
        self._descriptor: int | None = descriptor

    def release(self) -> None:
        """Let go of the lock and remove its file; again does nothing."""
        if self._descriptor is None:
            return
        with contextlib.suppress(OSError):
            self._path.unlink()  # while it is held, so that nobody's new file goes
        os.close(self._descriptor)
        self._descriptor = None


def take(path: Path) -> Lock | None:
    """Take the lock at `path`, making the file and its folder where they are missing; None when it is held.

    Raises OSError where the file cannot be made.
    """
    path.parent.mkdir(mode=0o700, exist_ok=True)
    until = time.monotonic() + _PATIENCE
    while (lock := _take_once(path, os.O_CREAT)) is None and time.monotonic() <= until:
        time.sleep(_PAUSE)
    return lock


def is_held(path: Path) -> bool:
    """Whether a process holds the lock at `path`."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def remove_stale(folder: Path) -> None:
    """Remove the lock files of a folder that nobody holds."""
    for path in folder.glob("*"):
        with contextlib.suppress(OSError):  # it is gone
            lock = _take_once(path)
            if lock is not None:
                lock.release()


def _take_once(path: Path, flags: int = 0) -> Lock | None:
    """Take a lock, or return None where it is held, or its holder removes it in this moment."""
    descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC | flags, 0o600)
    with contextlib.suppress(BlockingIOError):
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if _is_at(descriptor, path):
            return Lock(path, descriptor)
    os.close(descriptor)
    return None


def _is_at(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except OSError:
        return False
