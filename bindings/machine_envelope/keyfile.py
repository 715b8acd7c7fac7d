"""This host's own key for envelopes, in a file that its owner alone can read: what it issues with, and is named by."""

import json
import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bindings.machine_envelope.did_key import write_did
from core.errors import Code, DmpError, invalid, not_found
from crypto.ed25519 import SigningKey

_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO
_VERSION: Final = 1


@dataclass(frozen=True, slots=True)
class OwnKey:
    """A key, and the did:key that names it."""

    key: SigningKey
    did: str


def path_of(root: Path) -> Path:
    """Where the key of the replica at `root` is."""
    return root / "keys" / "machine-envelope.json"


def make_key(root: Path, seed: bytes, now: str) -> OwnKey:
    """Write a new key. Raises DmpError `conflict` where there is one: what it signed would not be known again."""
    path, key = path_of(root), SigningKey.from_seed(seed)
    did = write_did(key.public)
    content = json.dumps({"v": _VERSION, "did": did, "seed": seed.hex(), "createdAt": now}, indent=1) + "\n"
    written = path.with_name(f".{path.name}.{os.getpid()}")
    descriptor = os.open(written, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.link(written, path)  # unlike a rename, it replaces nothing
    except FileExistsError:
        raise DmpError(
            Code.CONFLICT,
            f"there is a key already, at {path}; to begin anew, move it away, and tell whoever pinned its did:key",
        ) from None
    finally:
        written.unlink(missing_ok=True)
    return OwnKey(key, did)


def read_key(root: Path) -> OwnKey:
    """Read the key.

    Raises DmpError: `not-found` where there is none, `forbidden` where others may read it, `invalid` where it is none.
    """
    path = path_of(root)
    try:
        mode = path.stat().st_mode
        if mode & _OTHERS:
            raise DmpError(
                Code.FORBIDDEN,
                f"others can read {path}; run `chmod 600 {path}`, and make another key if someone may have read it",
            )
        content = json.loads(path.read_text(encoding="utf-8"))
        key = SigningKey.from_seed(bytes.fromhex(content["seed"]))
        found = OwnKey(key, write_did(key.public))
        is_whole = content["v"] == _VERSION and content["did"] == found.did
    except FileNotFoundError:
        raise not_found(
            None, "this host has no key for envelopes; `dmp envelope key make` makes one"
        ) from None
    except (ValueError, KeyError, TypeError, OSError):
        raise _damaged(path) from None
    if not is_whole:
        raise _damaged(path)
    return found


def _damaged(path: Path) -> DmpError:
    return invalid(None, f"{path} is not a whole key file; restore it from a backup")
