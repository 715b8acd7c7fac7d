"""The marker: what this machine remembers of a replica, kept outside its directory.

A directory that was copied or restored carries its whole memory with it, so it cannot tell by itself.
The marker can: it names the machine, the directory and the last op signed there. It proves nothing to
others and nothing depends on its presence; it only makes a replica careful (a copied or restored replica
must not fork its chain).
"""

import json
import os
from dataclasses import asdict, dataclass
from enum import Enum, auto
from pathlib import Path
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Marker:
    """The machine, the directory and the head of the chain when this machine last signed."""

    machine: str
    directory: str
    inode: str
    seq: int
    hash: str


class Verdict(Enum):
    """What a marker says about the directory in hand."""

    SAME = auto()  # this directory, on this machine, as it was left
    NEW = auto()  # never seen on this machine
    MOVED = auto()  # another directory or another machine: a copy, or a move
    OLDER = auto()  # less was signed here than this machine remembers: a restored backup


class Markers(Protocol):
    """What a machine remembers of the replicas on it, and how it tells the place of the one in hand."""

    def read(self, replica: str, /) -> Marker | None:
        """The marker of a replica, or None when there is none."""

    def write(self, replica: str, marker: Marker, /) -> None:
        """Replace the marker of a replica. Raises OSError where it cannot be kept."""

    def describe(self, seq: int, head_hash: str, /) -> Marker:
        """The marker that fits the replica in hand, whose chain ends there."""


@dataclass(frozen=True, slots=True)
class MachineMarkers:
    """The markers of this machine, for the replica whose directory is `root` (Markers)."""

    root: Path

    def read(self, replica: str) -> Marker | None:
        return read_marker(state_folder(), replica)

    def write(self, replica: str, marker: Marker) -> None:
        write_marker(state_folder(), replica, marker)

    def describe(self, seq: int, head_hash: str) -> Marker:
        return describe(self.root, seq, head_hash)


def state_folder() -> Path:
    """Where markers live: `$XDG_STATE_HOME/dmp-replica`, by default under `~/.local/state`."""
    base = os.environ.get("XDG_STATE_HOME")
    return (Path(base) if base else Path.home() / ".local" / "state") / "dmp-replica"


def describe(root: Path, seq: int, head_hash: str) -> Marker:
    """The marker that fits the directory as it is now."""
    info = root.stat()
    return Marker(_machine_id(), str(root.resolve()), f"{info.st_dev}:{info.st_ino}", seq, head_hash)


def compare(known: Marker | None, now: Marker) -> Verdict:
    """Judge the directory described by `now` against what was remembered."""
    if known is None:
        return Verdict.NEW
    if known.seq > now.seq or (known.seq == now.seq and known.hash != now.hash):
        return Verdict.OLDER
    if (known.machine, known.directory, known.inode) != (now.machine, now.directory, now.inode):
        return Verdict.MOVED
    return Verdict.SAME


def read_marker(folder: Path, replica: str) -> Marker | None:
    """The marker of `replica`, or None when there is none or it cannot be read."""
    try:
        content = json.loads((folder / f"{replica}.json").read_text(encoding="utf-8"))
        return Marker(
            machine=str(content["machine"]),
            directory=str(content["directory"]),
            inode=str(content["inode"]),
            seq=int(content["seq"]),
            hash=str(content["hash"]),
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None


def write_marker(folder: Path, replica: str, marker: Marker) -> None:
    """Replace the marker of `replica`, whole or not at all. Raises OSError."""
    from tempfile import mkstemp  # late: most commands write no marker

    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor, temporary = mkstemp(dir=folder, prefix=".marker-")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump(asdict(marker), file)
        Path(temporary).replace(folder / f"{replica}.json")
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _machine_id() -> str:
    for path in ("/etc/machine-id", "/var/lib/dbus/machine-id"):
        try:
            return Path(path).read_text(encoding="ascii").strip()
        except (OSError, ValueError):
            continue
    return os.uname().nodename
