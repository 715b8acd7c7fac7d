"""The directory of one replica: where its files are, and who may read them.

keys/replica.json     the signing and sealing keys, mode 0600 in a directory of mode 0700
state.db              everything else the replica knows
git/<name>/           a bare clone per remote, rebuildable at any time
sync.lock             held while a pass signs, publishes or applies
serve.lock            held while the service runs
api.json              where the service is reached, and a token by which this machine's processes may register agents
config.toml           what its owner set, if anything
sessions/<id>         held while that session lives
dispatchers/<name>    held while that process may dispatch
a2a-peers/<alias>     what shows an A2A peer who asks, mode 0600
waking/<address>      held while the wake command runs for that target
resting/<name>        of the time when a configured command took too long
"""

import contextlib
import fcntl
import hashlib
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from core.errors import Code, DmpError

LOCK_POLL_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class Directory:
    """The paths of one replica directory; nothing is read or written by making one."""

    root: Path

    @property
    def key_file(self) -> Path:
        return self.root / "keys" / "replica.json"

    @property
    def database(self) -> Path:
        return self.root / "state.db"

    @property
    def lock_file(self) -> Path:
        return self.root / "sync.lock"

    @property
    def service_lock(self) -> Path:
        return self.root / "serve.lock"

    @property
    def config_file(self) -> Path:
        return self.root / "config.toml"

    @property
    def sessions(self) -> Path:
        return self.root / "sessions"

    @property
    def dispatchers(self) -> Path:
        return self.root / "dispatchers"

    @property
    def waking(self) -> Path:
        return self.root / "waking"

    @property
    def resting(self) -> Path:
        return self.root / "resting"

    def clone_of(self, url: str, branch: str) -> Path:
        """The directory a git transport keeps for `branch` of `url`; the name tells neither."""
        name = hashlib.sha256(f"{url}\n{branch}".encode()).hexdigest()[:16]
        return self.root / "git" / name

    @property
    def exists(self) -> bool:
        return self.key_file.exists()

    def create(self) -> None:
        """Make the directory, private to its owner.

        Raises DmpError `conflict` when a replica is already there.
        """
        if self.exists:
            raise DmpError(
                Code.CONFLICT, f"{self.root} already holds a replica; choose another --dir for a new one"
            )
        self.root.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.key_file.parent.mkdir(mode=0o700, exist_ok=True)
        self.key_file.parent.chmod(0o700)

    @contextlib.contextmanager
    def sync_lock(
        self,
        wait_seconds: float,
        *,
        now: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> Iterator[None]:
        """Hold the right to sign, publish and apply here; one process has it at a time.

        Raises DmpError `unavailable` when another process keeps it for `wait_seconds`.
        The lock goes with the process, however it ends.
        """
        descriptor = os.open(self.lock_file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            deadline = now() + wait_seconds
            while True:
                try:
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    if now() >= deadline:
                        raise DmpError(
                            Code.UNAVAILABLE,
                            f"another process is syncing {self.root}; wait for it, or stop it and try again",
                        ) from None
                    sleep(LOCK_POLL_SECONDS)
            yield
        finally:
            os.close(descriptor)
