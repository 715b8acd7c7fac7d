"""A folder in which something is made that appears elsewhere once it is whole; what others left of theirs is cleared.

Such a folder may hold keys, so it is its owner's alone, and nothing of it stays longer than until the next one is made.
A process holds a lock on its folder (`flock`), which goes with the process however that ends.
"""

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def working_folder(parent: Path, prefix: str) -> Iterator[Path]:
    """A new folder of mode 0700 in `parent`, gone with the block, and with it those of processes that are gone.

    Raises OSError where it cannot be made.
    """
    with _locked(parent, fcntl.LOCK_EX):  # else a folder could be taken for left over before it is locked
        _clear(parent, prefix)
        folder = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
        lock = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
        fcntl.flock(lock, fcntl.LOCK_EX)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def _clear(parent: Path, prefix: str) -> None:
    for path in parent.glob(f"{prefix}*"):
        with suppress(OSError), _locked(path, fcntl.LOCK_EX | fcntl.LOCK_NB):  # another user's, or in use
            shutil.rmtree(path, ignore_errors=True)


@contextmanager
def _locked(folder: Path, how: int) -> Iterator[None]:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, how)
        yield
    finally:
        os.close(descriptor)
