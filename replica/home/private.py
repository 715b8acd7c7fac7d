"""Files that their owner alone can read."""

import os
from pathlib import Path


def write_private(path: Path, text: str) -> None:
    """Write a file of mode 0600, whole or not at all, in the place of one that is there. Raises OSError."""
    written = path.with_name(f".{path.name}.{os.getpid()}")
    descriptor = os.open(written, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        written.replace(path)
    except BaseException:
        written.unlink(missing_ok=True)
        raise
