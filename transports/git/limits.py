"""How much time, memory and disk a branch may cost, whoever writes to it.

Anyone with write access can push a tree of a million entries, a blob of ten gigabytes or a pack that
inflates for an hour. What goes past a limit is passed over or read in a later pass; only the fetch as a
whole can fail.
"""

from dataclasses import dataclass
from typing import Final

SEGMENT_OPS: Final = 1000
SEGMENT_BYTES: Final = 4 * 1024 * 1024
"""A segment that holds this many ops, or this many bytes, is not added to (federation wire 6.6)."""

STREAMED_BYTES: Final = 8 * 1024 * 1024
"""Git streams blobs above this size instead of holding them in memory. No segment is as long."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Sizes are in bytes, times in seconds."""

    network_seconds: float = 600.0
    """One fetch or push. A branch of a gigabyte takes 200 seconds at 40 Mbit/s."""

    question_seconds: float = 30.0
    """One question to the remote that moves no objects."""

    local_seconds: float = 120.0
    """One local command, or the wait for one object."""

    fetch_bytes: int = 2 * 1024 * 1024 * 1024
    """What one fetch may bring. A branch is worth a warning from one gigabyte on (federation wire 6.12)."""

    memory_bytes: int = 1024 * 1024 * 1024
    """What one git process that fetches or pushes may hold in memory, where the system can bound that (Linux); one on
    local objects twice as much. A pack of a few hundred bytes may hold an object of terabytes, and git takes as much
    memory for one that is made of another."""

    folder_bytes: int = 16 * 1024 * 1024
    """The tree object of `fed`, and of the branch's root: some 200,000 entries."""

    lane_bytes: int = 1024 * 1024
    """The tree object of one lane: some 20,000 segments of up to 1,000 ops."""

    segment_bytes: int = 16 * 1024 * 1024
    """One segment. Writers stop at 4 MiB and one line; four times that is read from careless ones."""

    replica_bytes: int = 10 * 1024 * 1024
    """What one pull reads of one lane (federation wire 6.14). The segment in hand is finished."""

    opening_bytes: int = 8 * 1024
    """What opening a segment counts for, however little is in it: thousands of tiny ones, in one folder that many
    lanes share, cost time and hardly any bytes."""

    overtaken_bytes: int = 16 * 1024 * 1024
    """What is read of others' segments to see whether a push may go on top of them (federation wire 6.14)."""

    strangers: int = 1000
    """Lanes the caller did not name that one pull looks at."""

    packs: int = 50
    loose: int = 2000
    """The packs, and about the loose objects, that the clone holds before they are packed together."""
