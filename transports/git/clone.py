"""The bare clone a transport has for itself, and who may change it when.

The clone holds objects and one ref for each remote and branch: what the branch was when it was last
fetched. Nothing in it is precious: everything can be fetched again, so a damaged one is thrown away. One
process at a time changes it, behind an `flock` that the system lets go of when its holder dies; whoever has
the lock may remove what a git that was killed has left. Objects never change, so reading them needs no
lock.
"""

import fcntl
import hashlib
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from transports.git.limits import Limits
from transports.git.loose import Loose
from transports.git.run import GitError, Runner


class Clone:
    """The bare repository `clone.git` in a directory of the transport's own."""

    def __init__(self, directory: Path, limits: Limits) -> None:
        self.path = directory / "clone.git"
        self.runner = Runner(self.path, limits)
        self.loose = Loose(self.path)
        self._lock = directory / "lock"
        self._limits = limits

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Be the only process that changes the clone, which exists and has no leftovers of a killed one.

        Raises OSError.
        """
        handle = os.open(self._lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            self._sweep()
            if not (self.path / "HEAD").is_file():
                self.rebuild()
            yield
        finally:
            os.close(handle)

    def rebuild(self) -> None:
        """Throw the clone away and begin an empty one. Needs the lock. Raises OSError."""
        fresh = self.path.with_name("clone.new")
        for old in (fresh, self.path):
            _remove(old)
        # All that `git init --bare` would make that git needs, whatever its defaults are.
        for folder in ("objects/pack", "refs/dmp"):
            (fresh / folder).mkdir(parents=True)
        (fresh / "HEAD").write_bytes(b"ref: refs/heads/none\n")
        (fresh / "config").write_bytes(b"[core]\n\trepositoryformatversion = 0\n\tbare = true\n")
        fresh.rename(self.path)

    def is_broken(self) -> bool:
        """Whether git does not even take this for a repository."""
        try:
            self.runner.local("for-each-ref", "refs/dmp")
        except GitError:
            return True
        return False

    def incoming(self) -> int:
        """Return how many bytes a running fetch has written so far."""
        return sum(size for _, size in self._unfinished_packs())

    def size(self) -> int:
        """Return how many bytes the packs take, in which nearly all of the branch is."""
        return sum(path.stat().st_size for path in _listed(self.path / "objects/pack"))

    def tidy(self) -> None:
        """Pack objects together where there are many packs or loose ones. Needs the lock."""
        packs = sum(path.suffix == ".pack" for path in _listed(self.path / "objects/pack"))
        loose = 256 * len(_listed(self.path / "objects/17"))  # a sample: names are spread evenly
        if packs > self._limits.packs or loose > self._limits.loose:
            with suppress(GitError):  # it can wait
                self.runner.local("repack", "--quiet", "-d", "--geometric=2")

    def _sweep(self) -> None:
        """Remove locks and half-written packs: with the lock held here, no living git of ours has them."""
        stale = [path for path, _ in self._unfinished_packs()]
        for folder in (self.path, self.path / "objects/pack"):
            stale += [path for path in _listed(folder) if path.suffix == ".lock"]
        stale += (self.path / "refs").rglob("*.lock")
        for path in stale:
            path.unlink(missing_ok=True)

    def _unfinished_packs(self) -> list[tuple[Path, int]]:
        found = []
        for path in _listed(self.path / "objects/pack"):
            if path.name.startswith(("tmp_", ".tmp-")):
                with suppress(FileNotFoundError):
                    found.append((path, path.stat().st_size))
        return found


def tip_ref(url: str, branch: str) -> str:
    """Return the ref under which a clone remembers this branch of this remote."""
    return f"refs/dmp/{_place(url, branch)}"


def outgoing_refs(url: str, branch: str) -> str:
    """Return the folder of the one ref that is about to be pushed to this branch of this remote."""
    return f"refs/outgoing/{_place(url, branch)}"


def _place(url: str, branch: str) -> str:
    return hashlib.sha256(f"{url}\n{branch}".encode()).hexdigest()[:16]


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _listed(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return []
