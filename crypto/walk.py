"""From lines in any order to one chain: the walk behind every reading of a lane (federation wire 2.3).

A lane is an open place. Whoever can write to it may reorder lines, repeat, damage or drop them, put stubs in
the place of content, and add lines of their own. So lines are storage, never order, and only what the
publisher signed can do more than be passed over. The result depends on the set of lines and on where the walk
began, not on the order they come in:

- From the head, the walk goes on to the entry that follows it, is **authentic** (signed under the key, its
  content what was signed) and breaks no rule; of several, to the one of the lowest seq. Of the lines of one
  opHash it takes the one that says most: content before a stub, and no repeated keys before repeated ones.
- Two authentic entries with the same seq, or the same `prev`, and different opHashes are a **fork**: their
  publisher told two stories. The log halts at the seq of the one that is not on the chain.
- An authentic entry that follows the head and breaks a rule halts the log too; nobody else could have written
  it. Where something follows the head and none of it is authentic, the log **stalls**: it was damaged on its
  way, and an undamaged copy lets it go on.
- What does not link is passed over.

Lines that follow the head as they come, which is nearly all of them, are verified at once and not kept. The
others wait in a side store until their place is reached. A fork may show only after the walk has gone past
it; the lines are then read once more to see every branch, and once more up to where the log halts.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import astuple, dataclass, field
from enum import Enum, auto
from typing import Final, NamedTuple, Protocol, TypeVar

from crypto.chain import (
    BAD_SIGNATURE,
    PREV_MISMATCH,
    SHARED_SEQ,
    Halt,
    Head,
    announced_key,
    halt,
    is_signed,
    link_flaw,
)
from crypto.clock import Reading
from crypto.keys import KeyBody
from crypto.op import (
    MAX_SEQ,
    ZERO_HASH,
    OpError,
    Unreadable,
    Unverified,
    breach,
    read_line,
    tampering,
)
from crypto.side import Consumed, SideStore, Waiting

CUT_MISMATCH: Final = "another history than its revocation names"

GAP_TRIES: Final = 16
"""Signatures that are checked to tell a missing op from junk with a later seq."""

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


class SignatureMemory:
    """Signatures that were judged before, so that junk costs its verification once and not in every pass.

    Keeps the last `limit` judgements, by key and opHash.
    """

    def __init__(self, limit: int = 100_000) -> None:
        self._limit = limit
        self._judged: dict[tuple[bytes, str], bool] = {}

    def holds(self, read: Unverified, key: bytes) -> bool:
        """Whether an entry is signed under this key. Only a refusal is remembered by itself."""
        holds = self.recall(read, key)
        if holds is None:
            holds = is_signed(read, key)
            if not holds:
                self.keep(read, key, holds)
        return holds

    def __len__(self) -> int:
        return len(self._judged)

    def recall(self, read: Unverified, key: bytes) -> bool | None:
        """Return the judgement of an entry, None where there is none."""
        return self._judged.get((key, read.hash))

    def keep(self, read: Unverified, key: bytes, holds: bool) -> None:
        """Remember a judgement."""
        if len(self._judged) >= self._limit:
            del self._judged[next(iter(self._judged))]
        self._judged[key, read.hash] = holds


@dataclass(frozen=True, slots=True)
class Rules:
    """What a lane is held to.

    `key` is the key decided for its replica. An op whose clock is past `horizon_ms` waits, and the log with
    it. `cut` is the seq and opHash that a revocation names as the last op it leaves standing; seq 0 for none.
    `wanted` are hashes of stubs accepted earlier, whose content is welcome.
    """

    key: KeyBody
    horizon_ms: int | None = None
    cut: tuple[int, str] | None = None
    wanted: Collection[str] = frozenset()


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
    """How a walk ended.

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
    """One lane to walk: its replica, its lines as often as asked for, and the head to go on from."""

    replica: str
    lines: Callable[[], Iterable[bytes]]
    head: Head | None
    rules: Rules
    earlier: Remembered
    memory: SignatureMemory = field(default_factory=SignatureMemory)


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
    every_branch = _Reading(lane, side, new_sink(), pool_from=first.fork.seq)
    every_branch.run()
    fork = every_branch.fork or first.fork
    sink = new_sink()
    outcome = _Reading(lane, side, sink, below=fork.seq).run()
    outcome.halt = halt(lane.replica, fork.seq, fork.reason)
    return sink, outcome


def _broken_cut(lane: Lane) -> Halt | None:
    """Return the halt of a chain that went past its cut with another op there, where that is remembered."""
    if lane.rules.cut is None or lane.head is None:
        return None
    seq, hash_ = lane.rules.cut
    known = lane.head.hash if seq == lane.head.seq else lane.earlier.hash_at(seq)
    if known is None or known == hash_:
        return None
    return halt(lane.replica, seq, CUT_MISMATCH)


class _Standing(Enum):
    """What an entry is to the head it is judged by."""

    FOLLOWS = auto()
    AHEAD = auto()
    """It would follow, were its clock not past the horizon."""
    BREACH = auto()
    """It is authentic and breaks a rule."""
    FORGED = auto()
    """Its publisher did not write it, as it is."""


class _Judgement(NamedTuple):
    standing: _Standing
    reason: str


_FOLLOWS: Final = _Judgement(_Standing.FOLLOWS, "")
_AHEAD: Final = _Judgement(_Standing.AHEAD, "")


class _Place(Enum):
    """What a line that is left over claims to be."""

    KNOWN = auto()
    """The same op as one on the chain."""
    RIVAL = auto()
    """Another op with the seq or the prev of one on the chain."""
    BEYOND = auto()
    """A later op."""
    NOWHERE = auto()


class _Fork(NamedTuple):
    seq: int
    reason: str


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
        self._rules = lane.rules
        self._memory = lane.memory
        self._key = lane.rules.key.sign_key
        self._head: Head | Unverified | None = lane.head
        self._tip = ZERO_HASH if lane.head is None else lane.head.hash
        self._vouched: set[str] = set()
        self._any_waiting = False
        self._gap_tries = GAP_TRIES
        self._gap: Gap | None = None
        self.fork: _Fork | None = None

    def run(self) -> Outcome:
        """Read every line, then judge what is left. A fork makes the outcome worthless."""
        lines = taken = 0
        for batch in _batches(self._lane.lines()):
            lines += len(batch)
            reads = [read_line(raw) for raw in batch]
            self._check_signatures(reads)
            for raw, read in zip(batch, reads, strict=True):
                taken += self._feed(raw, read)
        self._pool_from = MAX_SEQ + 1
        self._drain()
        places = Counter[_Place]()
        for line in self._side.waiting():
            place = self._place(line)
            places[place] += 1
            if place is _Place.RIVAL and self._below > MAX_SEQ:
                self.fork = self._fork_by(line)
                if self.fork is not None:
                    break
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

    def _check_signatures(self, reads: Iterable[Unverified | Unreadable]) -> None:
        """Verify the signatures of the entries that follow one another from the tip on."""
        self._vouched.clear()
        tip = self._tip
        for read in reads:
            if read.prev != tip or isinstance(read, Unreadable) or read.seq >= self._pool_from:
                continue
            if self._memory.holds(read, self._key):
                self._vouched.add(read.hash)
                tip = read.hash

    def _feed(self, raw: bytes, read: Unverified | Unreadable) -> bool:
        """Find a line its place; return whether it was taken at once."""
        if read.replica != self._lane.replica or read.seq is None or read.seq >= self._below:
            return False
        if isinstance(read, Unreadable):
            if read.prev is not None:
                self._wait(Waiting(read.seq, "", read.prev, raw))
            return False
        if read.hash in self._rules.wanted and not read.pruned and tampering(read) is None:
            self._sink.restore(read)
        if read.prev == self._tip and read.seq < self._pool_from and self._judge(read) is _FOLLOWS:
            self._accept(read)
            self._drain()
            return True
        self._wait(Waiting(read.seq, read.hash, read.prev, raw))
        return False

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
            if isinstance(read, Unverified) and self._judge(read) is _FOLLOWS:
                best = read if best is None else min(best, read, key=_grade)
        return best

    def _accept(self, read: Unverified) -> None:
        grade = _grade(read)
        self._sink.accept(read, grade)
        self._side.consume(read.seq, read.prev, read.hash, grade)
        self._head = read
        self._tip = read.hash

    def _judge(self, read: Unverified) -> _Judgement:
        """Judge an entry that claims to follow the head; a reason is the first, in the order of wire 2.1."""
        link = link_flaw(read, self._head)
        if read.hash not in self._vouched and not self._memory.holds(read, self._key):
            return _Judgement(_Standing.FORGED, link or BAD_SIGNATURE)
        tampered = tampering(read)
        if tampered is not None:
            self._memory.keep(read, self._key, True)
            return _Judgement(_Standing.FORGED, link or tampered)
        flaw = link or breach(read)
        if flaw is None and self._head is None:
            flaw = self._key_flaw(read)
        if flaw is None and self._rules.cut is not None:
            flaw = self._cut_flaw(read, *self._rules.cut)
        if flaw is not None:
            return _Judgement(_Standing.BREACH, flaw)
        horizon = self._rules.horizon_ms
        return _AHEAD if horizon is not None and read.hlc.ms > horizon else _FOLLOWS

    def _key_flaw(self, read: Unverified) -> str | None:
        try:
            announced_key(read, self._rules.key)
        except OpError as error:
            return str(error)
        return None

    def _cut_flaw(self, read: Unverified, seq: int, hash_: str) -> str | None:
        """Hold the chain to the op its revocation names, which it may not pass by either."""
        if seq == 0 or read.seq < seq or self._head_seq >= seq:
            return None
        return None if (read.seq, read.hash) == (seq, hash_) else CUT_MISMATCH

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
            if known is not None or self._consumed_after(line.prev) is not None:
                return _Place.RIVAL
        return _Place.BEYOND if line.seq > self._head_seq else _Place.NOWHERE

    def _consumed_at(self, seq: int) -> Consumed | None:
        start = self._lane.head
        if start is None or seq > start.seq:
            return self._side.at(seq)
        hash_ = start.hash if seq == start.seq else self._lane.earlier.hash_at(seq)
        return None if hash_ is None else Consumed(hash_, 0)

    def _consumed_after(self, prev: str) -> str | None:
        return self._side.after(prev) or self._lane.earlier.hash_after(prev)

    def _improve(self, line: Waiting, known: Consumed) -> None:
        if known.grade == 0:
            return
        read = read_line(line.raw)
        if isinstance(read, Unverified) and _grade(read) < known.grade and tampering(read) is None:
            self._sink.improve(read, known.grade, _grade(read))
            self._side.consume(read.seq, read.prev, read.hash, _grade(read))

    def _fork_by(self, line: Waiting) -> _Fork | None:
        read = read_line(line.raw)
        if isinstance(read, Unreadable) or not self._is_authentic(read):
            return None
        shared = self._consumed_at(read.seq) is not None
        return _Fork(read.seq, SHARED_SEQ if shared else PREV_MISMATCH)

    def _is_authentic(self, read: Unverified) -> bool:
        return tampering(read) is None and self._memory.holds(read, self._key)

    def _gap_before(self, line: Waiting) -> Gap | None:
        """Tell a line that waits for an op that is not there from junk, by its signature."""
        read = read_line(line.raw)
        if isinstance(read, Unreadable) or read.prev == self._tip:
            return None
        if self._memory.recall(read, self._key) is None:
            if self._gap_tries == 0:
                return None
            self._gap_tries -= 1
        return Gap(read.seq) if self._memory.holds(read, self._key) else None

    def _judge_followers(self, outcome: Outcome) -> None:
        """Say why the walk ends here."""
        vouched: dict[tuple[int, str], tuple[_Judgement, Unverified]] = {}
        for line in self._side.following(self._tip):
            read = read_line(line.raw)
            if isinstance(read, Unreadable):
                judgement = _Judgement(_Standing.FORGED, read.reason)
            elif self._may_follow(read):
                judgement = self._judge(read)
            else:
                continue
            if isinstance(read, Unverified) and judgement.standing is not _Standing.FORGED:
                vouched[read.seq, read.hash] = judgement, read
            else:
                stall = Stall(line.seq, judgement.reason)
                outcome.stall = min(outcome.stall or stall, stall, key=astuple)
        if vouched:
            outcome.stall = None
            self._stop_at(outcome, [vouched[place] for place in sorted(vouched)])
        elif outcome.stall is None:
            outcome.gap = self._gap

    def _may_follow(self, read: Unverified) -> bool:
        """Without a head the log waits for its key op, and the claims of other keys are not its business."""
        if self._head is not None:
            return True
        if read.type != "key":
            return False
        other = not isinstance(read.body, dict) or read.body.get("signPub") != self._rules.key.sign_pub
        return not other or self._memory.holds(read, self._key)

    def _stop_at(self, outcome: Outcome, vouched: list[tuple[_Judgement, Unverified]]) -> None:
        """End at an op, or several, that the publisher wrote and that the chain cannot go on to."""
        replica = self._lane.replica
        (judgement, read), *others = vouched
        if others:
            _, rival = others[0]
            reason = SHARED_SEQ if rival.seq == read.seq else PREV_MISMATCH
            outcome.halt = halt(replica, rival.seq, reason)
        elif judgement.standing is _Standing.AHEAD:
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
