"""What is there at one place of a chain: every line that claims it, and how far each holds."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from crypto.canonical import JsonValue
from crypto.chain import is_signed
from crypto.keys import KeyBody
from crypto.op import Unreadable, Unverified, breach, read_line, tampering

MAX_LINES: Final = 8
"""Different lines of one place that are told apart. Anyone who can write to a branch can add more."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """One line that claims a place in a chain.

    `flaw` is the first reason why it is not what the publisher signed, or breaks a rule by itself; None where it
    is whole and signed under the decided key. `read` is what it says, trusted only without a flaw; `raw` the line.
    """

    read: Unverified | Unreadable
    raw: bytes
    signed: bool | None
    flaw: str | None

    @property
    def hash(self) -> str | None:
        """The opHash, None for what has none."""
        return self.read.hash

    @property
    def authentic(self) -> bool:
        """Whether its publisher wrote it as it is."""
        return self.signed is True and isinstance(self.read, Unverified) and tampering(self.read) is None

    def to_json(self) -> dict[str, JsonValue]:
        read = self.read
        return {
            "seq": read.seq,
            "type": read.type if isinstance(read, Unverified) else None,
            "hash": read.hash,
            "prev": read.prev,
            "stub": isinstance(read, Unverified) and read.pruned,
            "signed": self.signed,
            "flaw": self.flaw,
        }


def evidence_at(
    replica: str, lines: Iterable[bytes], key: KeyBody | None, seq: int, prevs: Collection[str] = ()
) -> list[Evidence]:
    """Every different line of a lane that claims the place `seq`, or to follow one of `prevs`, the best first.

    Without a `key` nothing tells who signed it. A stub and its op are one; the better line of two stands for both.
    """
    best: dict[str, Evidence] = {}
    for raw, read in _claiming(replica, lines, seq, prevs):
        found = _judged(raw, read, key)
        # What does not verify is told apart by its bytes: the hash says nothing of damaged content.
        name = (read.hash or "") if found.authentic else repr(raw)
        if name not in best or _order(found) < _order(best[name]):
            if name not in best and len(best) >= MAX_LINES and not found.authentic:
                continue
            best[name] = found
    return sorted(best.values(), key=_order)[:MAX_LINES]


def _claiming(
    replica: str, lines: Iterable[bytes], seq: int, prevs: Collection[str]
) -> Iterator[tuple[bytes, Unverified | Unreadable]]:
    for raw in lines:
        read = read_line(raw)
        if read.replica == replica and (read.seq == seq or read.prev in prevs):
            yield raw, read


def _judged(raw: bytes, read: Unverified | Unreadable, key: KeyBody | None) -> Evidence:
    if isinstance(read, Unreadable):
        return Evidence(read, raw, None, read.reason)
    signed = None if key is None else is_signed(read, key.sign_key)
    flaw = "bad signature" if signed is False else tampering(read) or breach(read)
    return Evidence(read, raw, signed, flaw)


def _order(evidence: Evidence) -> tuple[object, ...]:
    read = evidence.read
    stub = isinstance(read, Unverified) and (read.pruned + read.duplicates)
    return (
        not evidence.authentic,
        evidence.flaw is not None,
        read.seq or 0,
        stub,
        read.hash or "",
        evidence.raw,
    )
