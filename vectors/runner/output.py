"""Files that are written whole or not at all."""

import os
import tempfile
from pathlib import Path


def write_whole(path: Path, text: str) -> None:
    """Put a text in place of a file in one step, so that no reader and no interruption meets half of it."""
    if path.exists() and not path.is_file():  # a device or a pipe is written to, never replaced
        path.write_text(text, encoding="utf-8", newline="\n")
        return
    path = Path(os.path.realpath(path))  # a link stays one; Path.resolve fails where links lead in a circle
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        mask = os.umask(0)
        os.umask(mask)
        Path(name).chmod(0o666 & ~mask)  # as any file the user makes; mkstemp's are private
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink()
        raise
