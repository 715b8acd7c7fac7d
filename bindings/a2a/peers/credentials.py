"""What shows a peer who asks: a file each, which its owner alone can read, apart from the store and the settings."""

import os
from pathlib import Path
from typing import Final

from core.errors import Code, DmpError, invalid
from replica.home.private import write_private

DIRECTORY: Final = "a2a-peers"
MAX_BYTES: Final = 8_192


def write(root: Path, alias: str, text: str) -> None:
    """Keep a peer's credential, in the place of an earlier one.

    Raises DmpError: `invalid` on `credential` for what no header can carry, `unavailable` where it cannot be written.
    """
    secret = text.strip()
    if not secret or not secret.isascii() or not secret.isprintable() or len(secret) > MAX_BYTES:
        raise invalid(
            "credential", f"a credential is one line of at most {MAX_BYTES} printable ASCII characters"
        )
    try:
        (root / DIRECTORY).mkdir(mode=0o700, exist_ok=True)
        write_private(_path(root, alias), f"{secret}\n")
    except OSError as error:
        raise DmpError(
            Code.UNAVAILABLE, f"the credential cannot be kept: {error.strerror or error}"
        ) from None


def read(root: Path, alias: str) -> str | None:
    """A peer's credential; None where there is none.

    Raises DmpError `forbidden` on `credential` where others can read it too, `unavailable` where it cannot be read.
    """
    path = _path(root, alias)
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise DmpError(Code.UNAVAILABLE, f"{path} cannot be read: {error.strerror or error}") from None
    with os.fdopen(descriptor, "rb") as file:
        if os.fstat(descriptor).st_mode & 0o077:
            raise DmpError(
                Code.FORBIDDEN,
                f"{path} can be read by others; run `chmod 600` on it, and renew it",
                "credential",
            )
        return file.read(MAX_BYTES + 1).decode("ascii", "replace").strip() or None


def remove(root: Path, alias: str) -> None:
    """Forget a peer's credential."""
    _path(root, alias).unlink(missing_ok=True)


def _path(root: Path, alias: str) -> Path:
    return root / DIRECTORY / alias
