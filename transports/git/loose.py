"""Objects and refs written into the clone without a process for each.

A publish writes a handful of objects. A git process for each would take most of the time between what was
fetched and the push, and that is the time in which somebody else may be faster. Both formats are as old as
git: an object is its header and content, compressed, in a file named by their SHA-1; a ref is one line.
"""

import hashlib
import os
import tempfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_LEVEL: Final = 1  # it is compressed again into the pack that is pushed


@dataclass(frozen=True, slots=True)
class Loose:
    """Writes into the repository at `repository`, whose lock the caller holds. Raises OSError."""

    repository: Path

    def write(self, kind: str, data: bytes) -> str:
        """Write an object, whatever its content is, and return its id."""
        header = f"{kind} {len(data)}\0".encode()
        name = hashlib.sha1(header, usedforsecurity=False)
        name.update(data)
        oid = name.hexdigest()
        packer = zlib.compressobj(_LEVEL)
        packed = packer.compress(header) + packer.compress(data) + packer.flush()
        self._put(self.repository / "objects" / oid[:2] / oid[2:], packed, 0o444)
        return oid

    def point(self, ref: str, oid: str) -> None:
        """Let a ref, by its full name, name this object."""
        self._put(self.repository / ref, oid.encode() + b"\n", 0o644)

    def _put(self, path: Path, data: bytes, mode: int) -> None:
        """Let a file have this content, as a whole or not at all; what a killed process leaves is swept away."""
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix="tmp_", dir=self.repository / "objects" / "pack")
        temporary = Path(name)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
            temporary.chmod(mode)
            temporary.replace(path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
