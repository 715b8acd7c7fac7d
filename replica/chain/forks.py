"""A replica that signed two histories: what of it counts, the same for everyone who knows both (F.1; wire 5.5).

Such a log halts where the two part. Which of them somebody had read by then is an accident of who was shown what, so
what was accepted from there on is taken back: only ops below the fork count. Of the roster ops that share the fork's
seq, the one with the smallest opHash counts. All lines that are known are read anew from the start to find the place,
so that it depends on the ops there are and not on the order they came in.

A revocation that stands and names the op where the replica ends says which history is meant, and others are nothing:
whoever has the key of a revoked replica cannot undo what it did before, nor add to it.
"""

import sqlite3
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Final

from crypto.chain import PREV_MISMATCH, SHARED_SEQ, Cursor, Halt, Head
from crypto.fork_proof import ForkProof, find_proof
from crypto.keys import KeyBody
from crypto.lane import LaneResult, read_lane, verified_entries
from crypto.op import ZERO_HASH, Entry, Op, Unverified, read_entry, read_line, to_line
from crypto.roster.bodies import CutPoint
from replica.records import fork_proofs, ops
from replica.records.meta import Meta, put

MAX_RIVALS: Final = 4
"""Ops of a fork's seq that are kept, roster ops and others apart: two prove it, and one counts."""


@dataclass(frozen=True, slots=True)
class Fork:
    """Where two histories of a replica part: from this seq on they say different things.

    `end` is where the one ends that is kept here beyond that, since a revocation names it.
    """

    seq: int
    reason: str
    end: CutPoint | None = None


@dataclass(frozen=True, slots=True)
class Reread:
    """A forked log, read from its start, with the ops that share the fork's seq.

    `along` is the log as far as it counts: to the fork, or to the end that a revocation names. `proof` shows the fork
    to anybody, with the op that announces the key.
    """

    fork: Fork | None
    rivals: Sequence[Entry]
    along: LaneResult
    proof: ForkProof | None = None


def is_fork(halt: Halt | None) -> bool:
    """Whether a log halted because its publisher signed two histories."""
    return halt is not None and halt.reason in (SHARED_SEQ, PREV_MISMATCH)


def forks(db: sqlite3.Connection) -> dict[str, Fork]:
    """Every fork that is known, by replica."""
    rows = db.execute("SELECT replica, seq, reason, end_seq, end_hash FROM forks")
    return {
        replica: Fork(seq, reason, None if end_seq is None else CutPoint(end_seq, end_hash))
        for replica, seq, reason, end_seq, end_hash in rows
    }


def rivals(db: sqlite3.Connection, replica: str) -> list[Entry]:
    """What is kept of the ops that share the fork's seq."""
    rows = db.execute("SELECT line FROM rivals WHERE replica = ? ORDER BY hash", (replica,))
    return [read_entry(bytes(line)) for (line,) in rows]


def reread(
    db: sqlite3.Connection,
    replica: str,
    fresh: Iterable[bytes],
    key: KeyBody,
    ends: Iterable[CutPoint],
    *,
    horizon_ms: int,
    wanted: Collection[str] = frozenset(),
) -> Reread:
    """Read all that is known of a log from its start, and along the first of `ends` whose history is known."""
    lines = [line for _, line in ops.lines_of(db, replica)]
    lines += [to_line(entry) for entry in rivals(db, replica)]
    lines += fresh
    return read_histories(replica, lines, key, ends, horizon_ms=horizon_ms, wanted=wanted)


def read_histories(
    replica: str,
    lines: Sequence[bytes],
    key: KeyBody,
    ends: Iterable[CutPoint],
    *,
    horizon_ms: int | None = None,
    wanted: Collection[str] = frozenset(),
) -> Reread:
    """Read the lines of a log from its start, and along the first of `ends` whose history they hold."""
    whole = read_lane(replica, lines, Cursor(), key, horizon_ms=horizon_ms, wanted=wanted)
    halted = whole.cursor.halted
    if halted is None or not is_fork(halted):
        return Reread(None, (), whole)
    fork = Fork(halted.seq, halted.reason)
    along = whole
    for end in ends:
        history = None if end.after_seq < fork.seq else _history(replica, lines, end.after_hash)
        if history is not None:
            found = read_lane(replica, history, Cursor(), key, wanted=wanted)
            head = found.cursor.head
            if head is not None and (head.seq, head.hash) == (end.after_seq, end.after_hash):
                along, fork = found, replace(fork, end=end)
                break
    rivals_there = _at(replica, lines, key, fork.seq)
    return Reread(fork, rivals_there, along, _proof(replica, lines, key, whole.entries, rivals_there))


def _history(replica: str, lines: Iterable[bytes], end: str) -> list[bytes] | None:
    """The lines of the ops that lead to the one of this hash; None where one of them is not known."""
    known: dict[str, tuple[str, list[bytes]]] = {}
    for raw in lines:
        read = read_line(raw)
        if isinstance(read, Unverified) and read.replica == replica:
            known.setdefault(read.hash, (read.prev, []))[1].append(raw)
    found: list[bytes] = []
    at = end
    while at != ZERO_HASH:
        if at not in known:
            return None
        at, raws = known.pop(at)
        found += raws
    return found


def _at(replica: str, lines: Iterable[bytes], key: KeyBody, seq: int) -> list[Entry]:
    there = [raw for raw in lines if (read := read_line(raw)).seq == seq and isinstance(read, Unverified)]
    found = {entry.hash: entry for entry in verified_entries(replica, there, key.sign_key)}
    return [found[hash_] for hash_ in sorted(found)]


def _proof(
    replica: str, lines: Iterable[bytes], key: KeyBody, entries: Sequence[Entry], there: Sequence[Entry]
) -> ForkProof | None:
    """What proves a fork: two ops of its seq, or one there and one elsewhere that follows the same op."""
    announced = next((op for op in (*entries, *there) if isinstance(op, Op) and op.type == "key"), None)
    if announced is None:
        return None
    prevs = {entry.prev for entry in there}
    after = [raw for raw in lines if (read := read_line(raw)).prev in prevs and isinstance(read, Unverified)]
    return find_proof(announced, [*there, *verified_entries(replica, after, key.sign_key)])


def digest(lines: Iterable[bytes], ends: Iterable[CutPoint]) -> str:
    """What tells one reading of a forked log from another."""
    found = sha256(repr(list(ends)).encode())
    for each in sorted(sha256(line).digest() for line in lines):
        found.update(each)
    return found.hexdigest()


def was_read(db: sqlite3.Connection, replica: str, what: str) -> bool:
    """Whether a reading of a forked log would come to what is known already."""
    return (
        db.execute("SELECT 1 FROM forks WHERE replica = ? AND read = ?", (replica, what)).fetchone()
        is not None
    )


def keep(db: sqlite3.Connection, replica: str, found: Reread, at: str) -> bool:
    """Remember a fork that was met `at` a time, and what proves it, in an open transaction; True where it is news."""
    assert found.fork is not None
    if found.proof is not None:
        fork_proofs.keep(db, found.proof, at)
    end = found.fork.end
    before, have = forks(db).get(replica), {entry.hash for entry in rivals(db, replica)}
    of_roster = [each for each in found.rivals if each.type == "roster"]
    others = [each for each in found.rivals if each.type != "roster"]
    wanted = of_roster[:MAX_RIVALS] + others[:MAX_RIVALS]
    if before == found.fork and {each.hash for each in wanted} == have:
        return False
    db.execute(
        "INSERT OR REPLACE INTO forks (replica, seq, reason, end_seq, end_hash) VALUES (?, ?, ?, ?, ?)",
        (replica, found.fork.seq, found.fork.reason, end and end.after_seq, end and end.after_hash),
    )
    db.execute("DELETE FROM rivals WHERE replica = ?", (replica,))
    db.executemany(
        "INSERT INTO rivals (replica, hash, type, line) VALUES (?, ?, ?, ?)",
        [(replica, each.hash, each.type, to_line(each)) for each in wanted],
    )
    return True


def note_read(db: sqlite3.Connection, replica: str, what: str) -> None:
    """Remember what was read of a forked log, inside an open transaction."""
    db.execute("UPDATE forks SET read = ? WHERE replica = ?", (what, replica))


def leave_for(db: sqlite3.Connection, replica: str, along: LaneResult, start: Cursor) -> Cursor:
    """Forget what is held of another history than the one that counts; return where the chain stands then.

    Inside an open transaction. What was delivered of it stays.
    """
    before: Entry | None = None
    for entry in along.entries:
        held = ops.hash_at(db, replica, entry.seq)
        if held is not None and held != entry.hash:
            for table in ("ops", "parked", "missing", "beyond_cut"):
                db.execute(f"DELETE FROM {table} WHERE replica = ? AND seq >= ?", (replica, entry.seq))
            # What was folded of it goes too, also where the place of its publisher stays the same.
            put(db, Meta.FOLDED_TYPES, None)
            if start.head is None or start.head.seq < entry.seq:
                return start
            head = None if before is None else Head(before.seq, before.hash, before.hlc)
            return replace(start, head=head)
        before = entry
    return start


def ends_of(cuts: Iterable[tuple[str, CutPoint]], known: Mapping[str, Fork]) -> dict[str, CutPoint]:
    """For each forked replica, the end of the history that is kept here, where a revocation still names it.

    `cuts` are what all revocations that are held say of their target, whether they stand or not.
    """
    said = set(cuts)
    return {
        replica: fork.end
        for replica, fork in known.items()
        if fork.end is not None and (replica, fork.end) in said
    }
