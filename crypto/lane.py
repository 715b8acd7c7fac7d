"""What one lane says, for a reader that holds its lines in memory (federation wire 2.3)."""

from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field

from crypto.chain import Cursor, is_signed
from crypto.clock import Reading
from crypto.judge import Rules, SignatureMemory
from crypto.keys import KeyBody
from crypto.op import Entry, Op, Unverified, read_line, tampering
from crypto.side import MemorySide
from crypto.walk import REPEATED_KEYS, Gap, Lane, Remembered, Stall, walk


class History:
    """The ops of a chain, in memory, as what a reader remembers of it."""

    def __init__(self, entries: Iterable[Entry] = ()) -> None:
        self._at: dict[int, str] = {}
        self._after: dict[str, str] = {}
        for entry in entries:
            self._at[entry.seq] = self._after[entry.prev] = entry.hash

    def hash_at(self, seq: int) -> str | None:
        return self._at.get(seq)

    def hash_after(self, prev: str) -> str | None:
        return self._after.get(prev)


@dataclass(frozen=True, slots=True)
class LaneResult:
    """What a lane adds to a chain.

    `entries` follow the head there was, in chain order, and `cursor` is past them. At most one of these says
    why the chain ends there: the cursor's halt; `stall`; `held`, the clock of an op that waits for this
    machine's clock; `gap`. None of them: there is no more. `restored` is the content of wanted stubs.
    `flagged` are the seqs of entries whose line repeats a key. `waiting` counts the lines past the head that
    do not link to it, `skipped` those that are neither on the chain nor waiting.
    """

    entries: tuple[Entry, ...]
    cursor: Cursor
    stall: Stall | None = None
    gap: Gap | None = None
    held: Reading | None = None
    restored: tuple[Op, ...] = ()
    flagged: tuple[int, ...] = ()
    waiting: int = 0
    skipped: int = 0


def read_lane(
    replica: str,
    lines: Iterable[bytes],
    cursor: Cursor,
    key: KeyBody,
    *,
    remembered: Remembered | None = None,
    horizon_ms: int | None = None,
    cut: tuple[int, str] | None = None,
    wanted: Collection[str] = frozenset(),
    memory: SignatureMemory | None = None,
) -> LaneResult:
    """Read a lane from a cursor on, under the key decided for its replica. `walk` says how lines are judged.

    `remembered` are the ops accepted earlier: without it a fork of an op below the head goes unseen. An op
    whose clock is past `horizon_ms` is held. `cut` is the (seq, opHash) of the last op that a revocation
    leaves standing. `wanted` are hashes of stubs accepted earlier whose content is missing. `memory` carries
    refused signatures from one pass to the next.
    """
    if cursor.halted is not None:
        return LaneResult((), cursor)
    kept = tuple(lines)
    lane = Lane(
        replica,
        lambda: kept,
        cursor.head,
        Rules(key, horizon_ms, cut, wanted),
        History() if remembered is None else remembered,
        SignatureMemory() if memory is None else memory,
    )
    found, outcome = walk(lane, MemorySide(), _Entries)
    return LaneResult(
        tuple(found.entries),
        Cursor(outcome.head, outcome.halt),
        outcome.stall,
        outcome.gap,
        outcome.held,
        tuple(found.restored.values()),
        tuple(sorted(found.flagged)),
        outcome.waiting,
        outcome.skipped,
    )


@dataclass(slots=True)
class _Entries:
    """Keeps what a walk finds."""

    entries: list[Entry] = field(default_factory=list)
    flagged: set[int] = field(default_factory=set)
    restored: dict[str, Op] = field(default_factory=dict)

    def accept(self, read: Unverified, grade: int) -> None:
        self.entries.append(read.entry())
        if grade & REPEATED_KEYS:
            self.flagged.add(read.seq)

    def improve(self, read: Unverified, was: int, grade: int) -> None:
        place = bisect_left(self.entries, read.seq, key=lambda entry: entry.seq)
        self.entries[place] = read.entry()
        if grade & REPEATED_KEYS:
            self.flagged.add(read.seq)
        elif was & REPEATED_KEYS:
            self.flagged.discard(read.seq)

    def restore(self, read: Unverified) -> None:
        op = read.entry()
        if isinstance(op, Op):
            self.restored[op.hash] = op


def verified_entries(replica: str, lines: Iterable[bytes], key: bytes) -> Iterator[Entry]:
    """Give every entry of a replica that this Ed25519 public key signed, whatever chain it belongs to."""
    for raw in lines:
        read = read_line(raw)
        if isinstance(read, Unverified) and read.replica == replica and _is_authentic(read, key):
            yield read.entry()


def _is_authentic(read: Unverified, key: bytes) -> bool:
    return tampering(read) is None and is_signed(read, key)
