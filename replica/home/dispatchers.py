"""This process's name among those that dispatch from one store, and which of the others still run (6.3).

A name is taken at the first claim, so a command that dispatches nothing makes no file.
"""

import os
from pathlib import Path

from replica.home import locks


class LockedDispatchers:
    """Dispatchers whose names are lock files in one folder (core.dispatchers.Dispatchers)."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._name: str | None = None
        self._lock: locks.Lock | None = None

    def me(self) -> str:
        """This process's name; its lock is taken with it."""
        if self._name is None:
            name = f"{os.getpid()}-{os.urandom(8).hex()}"
            locks.remove_stale(self._folder)
            self._lock = locks.take(self._folder / name)
            assert self._lock is not None  # nobody else makes a file of this name
            self._name = name
        return self._name

    def lives(self, name: str) -> bool:
        """Whether the process of that name holds its lock."""
        return name == self._name or locks.is_held(self._folder / Path(name).name)

    def close(self) -> None:
        """Let go of the name: what is left under it may be taken up by others."""
        if self._lock is not None:
            self._lock.release()
        self._name = self._lock = None
