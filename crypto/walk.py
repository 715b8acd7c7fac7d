"""From lines in any order to one chain: the walk behind every reading of a lane (federation wire 2.3).

A lane is an open place. Whoever can write to it may reorder lines, repeat, damage or drop them, put stubs in
the place of content, and add lines of their own. So lines are storage, never order, and only what the
publisher signed can do more than be passed over. The result depends on the set of lines and on where the walk
began, not on the order they come in:

- From the head, the walk goes on to the entry that follows it, is **authentic** (see `judge`) and breaks no rule;
  of several, to the one of the lowest seq. Of the lines of one opHash it takes the one that says most: content
  before a stub, and no repeated keys before repeated ones.
- Two authentic entries with the same seq, or the same `prev`, and different opHashes are a **fork**: their
  publisher told two stories. The log halts at the seq of the one that is not on the chain.
- An authentic entry that follows the head and breaks a rule halts the log too; nobody else could have written
  it. Where something follows the head and none of it is authentic, the log **stalls**: it was damaged on its
  way, and an undamaged copy lets it go on.
- What does not link is passed over.

Lines that follow the head as they come, which is nearly all of them, are verified at once and not kept. The
others wait in a side store until their place is reached. A fork may show only after the walk has gone past it.
The lines are then read again, up to where the log halts; and where the walk should have gone the other way,
once more before that, to see every branch.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import astuple, dataclass, field
from enum import Enum, auto
from typing import Final, Protocol, TypeVar

from crypto.chain import PREV_MISMATCH, SHARED_SEQ, Halt, Head, halt
from crypto.clock import Reading
from crypto.judge import CUT_MISMATCH, FOLLOWS, Judge, Judgement, Rules, SignatureMemory, Standing
from crypto.op import MAX_SEQ, ZERO_HASH, Unreadable, Unverified, read_line, tampering
from crypto.side import Consumed, SideStore, Waiting

GAP_TRIES: Final = 16
"""Signatures that one pass checks to tell a missing op from junk with a later seq; the next goes on from there."""

REPEATED_KEYS: Final = 1
STUB: Final = 2
"""The grade of a line is the sum of what is wrong with it as a copy of its op; 0 is the best."""

BATCH_LINES: Final = 64
BATCH_BYTES: Final = 256 * 1024
"""Lines that are parsed, then checked for their signatures, then judged: a processor does each faster apart."""


class Remembered(Protocol):
    """The ops of a chain that were accepted before this walk, as far as they are remembered."""

    def hash_at(self, seq: int) -> str | None:
        """Return the hash of the op with this seq."""

    def hash_after(self, prev: str) -> str | None:
        """Return the hash of the op that follows the op with this hash."""


@dataclass(frozen=True, slots=True)
class Stall:
    """Something claims to follow the head, and nothing that does is authentic. The next pass tries again."""

    seq: int
    reason: str


@dataclass(frozen=True, slots=True)
class Gap:
    """The publisher signed an op of this seq, and an op between it and the head is not there."""

    seq: int


@dataclass(slots=True)
class Outcome:
    """How a walk ended: at most one of `halt`, `stall`, `gap` and `held` says why it did not go on.

    `held` is the clock of the op that waits for this machine's clock. `waiting` counts lines past the head
    that do not link to it, `skipped` those that are neither on the chain nor waiting: junk.
    """

    head: Head | None
    halt: Halt | None = None
    stall: Stall | None = None
    gap: Gap | None = None
    held: Reading | None = None
    waiting: int = 0
    skipped: int = 0


class Sink(Protocol):
    """Takes what one reading of the lines finds."""

    def accept(self, read: Unverified, grade: int) -> None:
        """Take the next entry of the chain."""

    def improve(self, read: Unverified, was: int, grade: int) -> None:
        """Take a better line of an entry accepted before from a line of grade `was`."""

    def restore(self, read: Unverified) -> None:
        """Take the content of a wanted stub."""


SinkT = TypeVar("SinkT", bound=Sink)


@dataclass(frozen=True, slots=True)
class Lane:
    """One lane to walk: its replica, its lines as often as asked for, and the head to go on from.

    `gap_tries` bounds the signatures checked for a gap; None for a walk that no later one will go on from.
    """

    replica: str
    lines: Callable[[], Iterable[bytes]]
    head: Head | None
    rules: Rules
    earlier: Remembered
    memory: SignatureMemory = field(default_factory=SignatureMemory)
    gap_tries: int | None = GAP_TRIES


def walk(lane: Lane, side: SideStore, new_sink: Callable[[], SinkT]) -> tuple[SinkT, Outcome]:
    """Read a lane; a sink is made for each reading of the lines, and the last one returned."""
    sink = new_sink()
    broken = _broken_cut(lane)
    if broken is not None:
        return sink, Outcome(lane.head, broken)
    first = _Reading(lane, side, sink)
    outcome = first.run()
    if first.fork is None:
        return sink, outcome
    fork = first.fork
    if fork.undecided:
        every_branch = _Reading(lane, side, new_sink(), pool_from=fork.seq)
        every_branch.run()
        fork = every_branch.fork or fork
    sink = new_sink()
    outcome = _Reading(lane, side, sink, below=fork.seq).run()
    stop = halt(lane.replica, fork.seq, fork.reason)
    return sink, Outcome(outcome.head, stop, waiting=outcome.waiting, skipped=outcome.skipped)


def _broken_cut(lane: Lane) -> Halt | None:
    """Return the halt of a chain that went past its cut with another op there, where that is remembered."""
    if lane.rules.cut is None or lane.head is None:
        return None
    seq, hash_ = lane.rules.cut
    known = lane.head.hash if seq == lane.head.seq else lane.earlier.hash_at(seq)
    if known is None or known == hash_:
        return None
    return halt(lane.replica, seq, CUT_MISMATCH)


class _Place(Enum):
    """What a line that is left over claims to be."""

    KNOWN = auto()
    """The same op as one on the chain."""
    RIVAL = auto()
    """Another op with the seq or the prev of one on the chain."""
    BEYOND = auto()
    """A later op."""
    NOWHERE = auto()


@dataclass(slots=True)
class _Fork:
    """Authentic ops of one seq that are not on the chain, the lowest such seq: the log halts there.

    `on_chain` tells that the chain has an op of that seq. `undecided` that a rival comes before the op that
    the chain went on to, so that the chain should have gone on to the rival instead.
    """

    seq: int
    rivals: set[str]
    on_chain: bool
    undecided: bool

    @property
    def reason(self) -> str:
        return SHARED_SEQ if self.on_chain or len(self.rivals) > 1 else PREV_MISMATCH


class _Reading:
    """One reading of the lines.

    Lines from `pool_from` on are not verified as they come but wait for the end, when all that follow one op
    are known. Lines from `below` on are passed over.
    """

    def __init__(
        self,
        lane: Lane,
        side: SideStore,
        sink: Sink,
        *,
        pool_from: int = MAX_SEQ + 1,
        below: int = MAX_SEQ + 1,
    ) -> None:
        side.clear()
        self._lane = lane
        self._side = side
        self._sink = sink
        self._pool_from = pool_from
        self._below = below
        self._judge = Judge(lane.rules, lane.memory)
        self._wanted = lane.rules.wanted
        self._head: Head | Unverified | None = lane.head
        self._tip = ZERO_HASH if lane.head is None else lane.head.hash
        self._any_waiting = False
        self._gap_tries = lane.gap_tries
        self._gap: Gap | None = None
        self.fork: _Fork | None = None

    def run(self) -> Outcome:
        """Read every line, then judge what is left. A fork makes the outcome worthless."""
        lines = taken = 0
        for batch in _batches(self._lane.lines()):
            lines += len(batch)
            reads = [read_line(raw) for raw in batch]
            self._judge.check_signatures(reads, self._tip, self._pool_from)
            for raw, read in zip(batch, reads, strict=True):
                taken += self._feed(raw, read)
        self._pool_from = MAX_SEQ + 1
        self._drain()
        places = Counter[_Place]()
        for line in self._side.waiting():
            place = self._place(line)
            places[place] += 1
            if self.fork is not None and line.seq > self.fork.seq:
                break
            if place is _Place.RIVAL and self._below > MAX_SEQ:
                self._note_rival(line)
            elif place is _Place.BEYOND and self._gap is None:
                self._gap = self._gap_before(line)
        waiting = places[_Place.BEYOND]
        head = self._head
        if isinstance(head, Unverified):
            head = Head(head.seq, head.hash, head.hlc)
        outcome = Outcome(head, waiting=waiting)
        outcome.skipped = lines - taken - waiting - places[_Place.KNOWN]
        self._judge_followers(outcome)
        return outcome

    # On the way

    def _feed(self, raw: bytes, read: Unverified | Unreadable) -> bool:
        """Find a line its place; return whether it was taken at once."""
        if read.replica != self._lane.replica or read.seq is None or read.seq >= self._below:
            return False
        if isinstance(read, Unreadable):
            if read.prev is not None:
                self._wait(Waiting(read.seq, "", read.prev, raw))
            return False
        if read.hash in self._wanted and not read.pruned and tampering(read) is None:
            self._sink.restore(read)
        if read.prev == self._tip and read.seq < self._pool_from and self._follows(read):
            self._accept(read)
            self._drain()
            return True
        self._wait(Waiting(read.seq, read.hash, read.prev, raw))
        return False

    def _follows(self, read: Unverified) -> bool:
        return self._judge.judge(read, self._head) is FOLLOWS

    def _wait(self, line: Waiting) -> None:
        self._side.put(line)
        self._any_waiting = True

    def _drain(self) -> None:
        """Go on along the lines that were waiting."""
        while self._any_waiting and (read := self._next_waiting()) is not None:
            self._accept(read)

    def _next_waiting(self) -> Unverified | None:
        """Return the best line of the first entry that follows, by seq and hash, or None."""
        best: Unverified | None = None
        for line in self._side.following(self._tip):
            if line.seq >= self._pool_from or (best is not None and line.hash != best.hash):
                break
            read = read_line(line.raw)
            if isinstance(read, Unverified) and self._follows(read):
                best = read if best is None else min(best, read, key=_grade)
        return best

    def _accept(self, read: Unverified) -> None:
        grade = _grade(read)
        self._sink.accept(read, grade)
        self._side.consume(read.seq, read.prev, read.hash, grade)
        self._head = read
        self._tip = read.hash

    @property
    def _head_seq(self) -> int:
        return 0 if self._head is None else self._head.seq

    # At the end

    def _place(self, line: Waiting) -> _Place:
        if line.hash:
            known = self._consumed_at(line.seq)
            if known is not None and known.hash == line.hash:
                self._improve(line, known)
                return _Place.KNOWN
            after = self._consumed_after(line.prev)
            # what comes after its prev may be itself, remembered ahead of the head
            if known is not None or after not in (None, line.hash):
                return _Place.RIVAL
        return _Place.BEYOND if line.seq > self._head_seq else _Place.NOWHERE

    def _consumed_at(self, seq: int) -> Consumed | None:
        start = self._lane.head
        if start is None or seq > start.seq:
            return self._side.at(seq)
        hash_ = start.hash if seq == start.seq else self._lane.earlier.hash_at(seq)
        return None if hash_ is None else Consumed(seq, hash_, 0)

    def _consumed_after(self, prev: str) -> str | None:
        found = self._side.after(prev)
        return self._lane.earlier.hash_after(prev) if found is None else found.hash

    def _improve(self, line: Waiting, known: Consumed) -> None:
        if known.grade == 0:
            return
        read = read_line(line.raw)
        if isinstance(read, Unverified) and _grade(read) < known.grade and tampering(read) is None:
            self._sink.improve(read, known.grade, _grade(read))
            self._side.consume(read.seq, read.prev, read.hash, _grade(read))

    def _note_rival(self, line: Waiting) -> None:
        """See whether a rival is authentic, and so a fork; several of one seq are one fork."""
        read = read_line(line.raw)
        if isinstance(read, Unreadable) or not self._judge.is_authentic(read):
            return
        successor = self._side.after(read.prev)
        undecided = successor is not None and read.seq < successor.seq
        if self.fork is None:
            self.fork = _Fork(read.seq, {read.hash}, self._consumed_at(read.seq) is not None, undecided)
            return
        self.fork.rivals.add(read.hash)
        self.fork.undecided |= undecided

    def _gap_before(self, line: Waiting) -> Gap | None:
        """Tell a line that waits for an op that is not there from junk, by its signature."""
        read = read_line(line.raw)
        if isinstance(read, Unreadable) or read.prev == self._tip:
            return None
        if self._gap_tries is not None and not self._judge.was_checked(read):
            if self._gap_tries == 0:
                return None
            self._gap_tries -= 1
        return Gap(read.seq) if self._judge.is_signed(read) else None

    def _judge_followers(self, outcome: Outcome) -> None:
        """Say why the walk ends here."""
        vouched: dict[tuple[int, str], tuple[Judgement, Unverified]] = {}
        for line in self._side.following(self._tip):
            read = read_line(line.raw)
            if isinstance(read, Unreadable):
                judgement = Judgement(Standing.FORGED, read.reason)
            elif self._head is not None or self._judge.may_start(read):
                judgement = self._judge.judge(read, self._head)
            else:
                continue
            if isinstance(read, Unverified) and judgement.standing is not Standing.FORGED:
                vouched[read.seq, read.hash] = judgement, read
            else:
                stall = Stall(line.seq, judgement.reason)
                outcome.stall = min(outcome.stall or stall, stall, key=astuple)
        if vouched:
            outcome.stall = None
            self._stop_at(outcome, [vouched[place] for place in sorted(vouched)])
        elif outcome.stall is None:
            outcome.gap = self._gap

    def _stop_at(self, outcome: Outcome, vouched: list[tuple[Judgement, Unverified]]) -> None:
        """End at an op, or several, that the publisher wrote and that the chain cannot go on to."""
        replica = self._lane.replica
        (judgement, read), *others = vouched
        if others:
            seqs = [each.seq for _, each in vouched]
            reason = SHARED_SEQ if seqs.count(seqs[1]) > 1 else PREV_MISMATCH
            outcome.halt = halt(replica, seqs[1], reason)
        elif judgement.standing is Standing.AHEAD:
            outcome.held = read.hlc
        else:
            outcome.halt = halt(replica, read.seq, judgement.reason)


def _batches(lines: Iterable[bytes]) -> Iterator[list[bytes]]:
    batch: list[bytes] = []
    size = 0
    for raw in lines:
        batch.append(raw)
        size += len(raw)
        if len(batch) == BATCH_LINES or size > BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _grade(read: Unverified) -> int:
    return STUB * read.pruned + REPEATED_KEYS * read.duplicates
