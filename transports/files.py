"""Files in a folder that strangers may write to as well, and that may be taken away at any moment.

Everything is reached from an open folder by one name, which is never followed where it leads elsewhere; listing
and reading have bounds; what is written is there whole or not at all. All functions raise OSError.
"""

import fcntl
import os
import stat
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from errno import E2BIG, EBUSY, ELOOP
from hashlib import sha256
from pathlib import Path
from secrets import token_hex
from typing import Final

from transports.base import Unreachable

NAMES: Final = 20_000
"""A folder with more names in it is not looked at."""

FILES: Final = 200_000
"""Folders with more files in all of them together are not looked at."""

LOCK_SECONDS: Final = 30.0
"""How long somebody who writes to a folder is waited for. It takes a moment; a program that hangs, without end."""

_LOOK_SECONDS: Final = 0.01
_UNFINISHED: Final = ".part-"
_ASIDE: Final = ".aside-"


@dataclass(frozen=True, slots=True)
class Version:
    """What tells one version of a file from the next: its size in bytes, when it was written, and its inode."""

    size: int
    written: int
    inode: int


Folder = dict[str, Version]
"""The files of a folder, by name."""


@contextmanager
def folder(root: Path, *names: str, make: bool = False) -> Iterator[int]:
    """Open `root`, which may be a link, and the folders in it, which may not; with `make`, make those."""
    at = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for name in names:
            if make:
                with suppress(FileExistsError):
                    os.mkdir(name, dir_fd=at)
                    os.fsync(at)
            inner = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=at)
            os.close(at)
            at = inner
        yield at
    finally:
        os.close(at)


def tree(root: Path, name: str) -> dict[str, Folder]:
    """The regular files in each folder of the folder `name` of `root`; empty where that is not there."""
    with folder(root) as at:
        try:
            os.stat(name, dir_fd=at, follow_symlinks=False)
        except FileNotFoundError:
            return {}
    found: dict[str, Folder] = {}
    left = FILES
    with folder(root, name) as at:
        for inner, about in _listed(at).items():
            if stat.S_ISDIR(about.st_mode):
                # Of one that is taken away, or put in another's place, at this moment, there is nothing to see.
                gone = suppress(PermissionError, FileNotFoundError, NotADirectoryError)
                with gone, folder(root, name, inner) as there:
                    found[inner] = {
                        one: Version(its.st_size, its.st_mtime_ns, its.st_ino)
                        for one, its in _listed(there).items()
                        if stat.S_ISREG(its.st_mode)
                    }
                    left -= len(found[inner])
            if left < 0:
                raise OSError(E2BIG, f"more than {FILES} files in its folders")
    return found


def summary(folders: Mapping[str, Folder]) -> str:
    """A short text that is another one whenever any file in them is."""
    found = sorted(
        (name, one, repr(version)) for name, there in folders.items() for one, version in there.items()
    )
    return sha256(repr(found).encode()).hexdigest()


def _listed(at: int) -> dict[str, os.stat_result]:
    """What is in a folder, by name: of a link, the link."""
    found: dict[str, os.stat_result] = {}
    with os.scandir(at) as entries:
        for entry in entries:
            if len(found) >= NAMES:
                raise OSError(E2BIG, f"a folder with more than {NAMES} names in it")
            with suppress(FileNotFoundError):
                found[entry.name] = entry.stat(follow_symlinks=False)
    return found


def read(at: int, name: str, limit: int) -> bytes | None:
    """The bytes of a file; None of what is none or is gone, is longer than `limit`, or may not be read."""
    try:
        handle = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=at)
    except (PermissionError, FileNotFoundError):
        return None
    except OSError as error:
        if error.errno == ELOOP:
            return None
        raise
    with os.fdopen(handle, "rb") as file:
        about = os.fstat(handle)
        if not stat.S_ISREG(about.st_mode) or about.st_size > limit:
            return None
        data = file.read(limit + 1)
    return data if len(data) <= limit else None


def write(at: int, name: str, data: bytes) -> None:
    """Put a file in place of the one of that name, once the disk has all of it."""
    unfinished = f"{_UNFINISHED}{token_hex(8)}"
    handle = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666, dir_fd=at)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(handle)
        try:
            os.rename(unfinished, name, src_dir_fd=at, dst_dir_fd=at)
        except IsADirectoryError:  # whoever made it meant no good, and what is in it is not ours
            os.rename(name, f"{_ASIDE}{token_hex(8)}", src_dir_fd=at, dst_dir_fd=at)
            os.rename(unfinished, name, src_dir_fd=at, dst_dir_fd=at)
    except BaseException:
        with suppress(OSError):
            os.unlink(unfinished, dir_fd=at)
        raise
    os.fsync(at)


@contextmanager
def writing(root: Path, *names: str) -> Iterator[int]:
    """Open a folder, made where it is missing, and be the only process that writes there; nothing half-written is.

    Of all machines that share the file system, that is. Where it has no locks, or each machine has a copy of it,
    nobody is kept out.
    """
    with folder(root, *names, make=True) as at:
        handle = os.open(".lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666, dir_fd=at)
        try:
            _lock(handle)
            for name in _listed(at):
                if name.startswith(_UNFINISHED):
                    with suppress(IsADirectoryError, PermissionError, FileNotFoundError):
                        os.unlink(name, dir_fd=at)
            yield at
        finally:
            os.close(handle)


def _lock(handle: int) -> None:
    until = time.monotonic() + LOCK_SECONDS
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= until:
                raise OSError(EBUSY, "another program that writes there does not come to an end") from None
        except OSError:
            return  # no locks here
        else:
            return
        time.sleep(_LOOK_SECONDS)


@contextmanager
def unreachable_for(url: str, hint: str) -> Iterator[None]:
    """Make of an OSError that the far side cannot be reached. Raises Unreachable."""
    try:
        yield
    except OSError as error:
        raise Unreachable(f"{url} cannot be used: {error.strerror or error}", hint) from None
