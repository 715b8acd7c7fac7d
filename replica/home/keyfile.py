"""The key file: a replica's private keys on disk (federation wire 3.9, 10.1).

Keys never rotate in place. A replica that loses this file starts over under a new id (F.1).
"""

import fcntl
import json
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from core.errors import Code, DmpError
from crypto.keys import REPLICA_ID, Secrets, fingerprint

_OTHERS = stat.S_IRWXG | stat.S_IRWXO


@dataclass(frozen=True, slots=True)
class Identity:
    """A replica id with its private keys."""

    replica: str
    secrets: Secrets
    created_at: str

    @property
    def fingerprint(self) -> str:
        """What people compare out of band for this replica's public keys (F.2)."""
        return fingerprint(self.secrets.sign_pub, self.secrets.seal_pub)


def write_key_file(path: Path, identity: Identity) -> None:
    """Write `identity` to `path`, mode 0600, on disk before this returns; an existing file is refused.

    The file is there whole or not at all, whenever the process dies. Of two processes that write it, one is refused.
    """
    content = {
        "v": 1,
        "replica": identity.replica,
        "signPriv": identity.secrets.sign_priv,
        "signPub": identity.secrets.sign_pub,
        "sealPriv": identity.secrets.seal_priv,
        "sealPub": identity.secrets.seal_pub,
        "createdAt": identity.created_at,
    }
    with _locked(path.parent) as folder:
        if path.exists():
            raise DmpError(Code.CONFLICT, f"{path} exists; a replica's keys are never replaced")
        unfinished = path.with_name(f"{path.name}.new")
        try:
            _write(unfinished, json.dumps(content, indent=1) + "\n")
            unfinished.replace(path)
        except OSError:
            unfinished.unlink(missing_ok=True)
            raise
        os.fsync(folder)


def read_key_file(path: Path) -> Identity:
    """Read the keys at `path`.

    Raises DmpError: `not-found` when there is none, `forbidden` when others than its owner may read
    or change it, `invalid` when it is not a key file.
    """
    try:
        mode = path.stat().st_mode
        folder = path.parent.stat().st_mode
    except FileNotFoundError:
        raise DmpError(
            Code.NOT_FOUND, f"no replica at {path.parent.parent}; make one with `dmp init --handle NAME`"
        ) from None
    if mode & _OTHERS or folder & (stat.S_IWGRP | stat.S_IWOTH):
        raise DmpError(
            Code.FORBIDDEN,
            f"others can read {path}; run `chmod 600 {path} && chmod 700 {path.parent}`. "
            "If someone may have read it, make a new replica in another directory, join with it, and have this one "
            "revoked",
        )
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        identity = Identity(
            replica=content["replica"],
            secrets=Secrets.from_pkcs8(content["signPriv"], content["sealPriv"]),
            created_at=content["createdAt"],
        )
        sound = (
            REPLICA_ID.fullmatch(identity.replica) is not None
            and content["signPub"] == identity.secrets.sign_pub
            and content["sealPub"] == identity.secrets.seal_pub
        )
    except (ValueError, KeyError, TypeError, OSError):
        sound = False
    if not sound:
        raise DmpError(Code.INVALID, f"{path} is not a whole key file; restore it from a backup")
    return identity


@contextmanager
def _locked(folder: Path) -> Iterator[int]:
    """Hold a folder, which other processes that ask for it wait for; give its descriptor."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield descriptor
    finally:
        os.close(descriptor)


def _write(path: Path, text: str) -> None:
    """Write a file that its owner alone reads, in the place of what a process that died left there."""
    path.unlink(missing_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
