"""Taking in a log from a file: judged line by line by the rules of a pull, and applied on the way of one.

A file is a far side that shows what somebody put there, once. Its lines come in any order and are read in that of their
chains, as much at a time as a pull reads; what lets machines in may stand behind what they said, so all is read again
until nothing more is taken in. Each batch is committed with the cursors past it: an import that ends early goes on
where it was, and one of what is known changes nothing.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from crypto.chain import is_signed
from crypto.op import Unreadable, Unverified, breach, read_line, tampering
from replica.audit.from_file import FileSource
from replica.audit.progress import Progress
from replica.audit.scratch import Scratch
from replica.chain.apply import Applier
from replica.chain.guard import stop_for_stranger
from replica.chain.own_lane import compare
from replica.chain.verify import Verifier
from replica.mail.newly_reading import note_new_readers
from replica.node import Node
from replica.records import ops, problems
from replica.records.problems import Problem
from replica.team.roster import need_team
from transports.base import PASS_BYTES, Line

MAX_REFUSED: Final = 100
"""Refused lines that are named one by one; the rest is counted."""

_TABLE: Final = """
CREATE TABLE places (
    lane   TEXT NOT NULL,
    seq    INTEGER NOT NULL,
    number INTEGER NOT NULL,
    start  INTEGER NOT NULL,
    stop   INTEGER NOT NULL,
    PRIMARY KEY (lane, seq, number)
) STRICT, WITHOUT ROWID;
"""


@dataclass(frozen=True, slots=True)
class Refused:
    """A line that was not taken in: its number, the op it claims to be, and why. The replica is text of others."""

    line: int
    replica: str | None
    seq: int | None
    reason: str


@dataclass(slots=True)
class Imported:
    """What came of an import.

    `lines` are all that are not blank; `taken` counts ops that are here now and were not, `applied` those that changed
    something, and `dropped` those whose content was refused. `refused` lists the first lines that were not taken in,
    `refused_count` counts them. `problems` are those that are new.
    """

    lines: int = 0
    taken: int = 0
    applied: int = 0
    dropped: int = 0
    refused: list[Refused] = field(default_factory=list)
    refused_count: int = 0
    problems: list[Problem] = field(default_factory=list)

    def refuse(self, line: int, replica: str | None, seq: int | None, reason: str) -> None:
        """Count a line that is not taken in."""
        self.refused_count += 1
        if len(self.refused) < MAX_REFUSED:
            self.refused.append(Refused(line, replica, seq, reason))


def import_file(node: Node, file: FileSource, scratch: Scratch, progress: Progress) -> Imported:
    """Take in what a file holds; the caller has the directory's sync lock.

    Raises DmpError `not-found` for a replica in no team, `conflict` where the file shows that this replica's key is
    used elsewhere; SourceError for a file that cannot be read, and sqlite3.Error.
    """
    need_team(node.team)
    return _Import(node, file, scratch, progress).run()


class _Import:
    def __init__(self, node: Node, file: FileSource, scratch: Scratch, progress: Progress) -> None:
        self._node = node
        self._file = file
        self._places = scratch.db
        self._progress = progress
        self._done = Imported()

    def run(self) -> Imported:
        db = self._node.store.db
        self._index()
        self._stop_for_a_twin()
        before, known = self._held(), {(each.subject, each.text) for each in problems.all_problems(db)}
        while self._round():
            pass
        self._done.taken = self._held()[0] - before[0]
        self._judge_the_rest()
        self._done.problems = [
            each for each in problems.all_problems(db) if (each.subject, each.text) not in known
        ]
        self._done.refused.sort(key=lambda each: each.line)
        return self._done

    def _index(self) -> None:
        """Read the file once, to know where the lines of each chain are."""
        self._places.execute(_TABLE)
        self._progress.begin("reading", None)
        for place in self._file.places():
            self._done.lines += 1
            if place.replica is None or place.seq is None:
                self._done.refuse(place.number, None, None, place.junk)
            else:
                self._places.execute(
                    "INSERT INTO places (lane, seq, number, start, stop) VALUES (?, ?, ?, ?, ?)",
                    (place.replica, place.seq, place.number, place.start, place.stop),
                )
            self._progress.advance()

    def _stop_for_a_twin(self) -> None:
        """What the own key signed elsewhere stops this replica, whoever brings it."""
        node = self._node
        stop_for_stranger(node, compare(node.store.db, node.identity, self._lines(node.me), 0, 0))

    def _round(self) -> bool:
        """Read everything that is not known yet; True where some of it was taken in."""
        before = self._held()
        self._progress.begin("taking in", self._done.lines)
        chunk: list[Line] = []
        size = 0
        for line in self._lines():
            if size > PASS_BYTES:
                self._take_in(chunk)
                chunk, size = [], 0
            chunk.append(line)
            size += len(line.raw)
        if chunk:
            self._take_in(chunk)
        return self._held() != before

    def _take_in(self, lines: list[Line]) -> None:
        node = self._node
        more = True
        while more:
            verifier = Verifier(node.store, node.me, node.reader, strangers=False)
            verifier.marks(whole=True)
            verified = verifier.verify(lines, node.wall())
            if node.team is not None:
                note_new_readers(node, node.team)
            head = self._held()
            applied = Applier(node, aside=True).apply(verified)
            self._done.applied += applied.applied
            self._done.dropped += applied.refused
            more = applied.more and self._held() != head
        for _ in lines:
            self._progress.advance()

    def _lines(self, lane: str | None = None) -> Iterator[Line]:
        """The lines of a chain, or of all but the own one, each chain in its order."""
        rows = self._places.execute(
            "SELECT lane, start, stop FROM places WHERE lane = ? OR (? IS NULL AND lane <> ?) "
            "ORDER BY lane, seq, number",
            (lane, lane, self._node.me),
        ).fetchall()
        for replica, start, stop in rows:
            yield Line(replica, self._file.at(start, stop))

    def _held(self) -> tuple[int, int]:
        """How many ops are here, and how many of those lack their content."""
        db = self._node.store.db
        (held,) = db.execute("SELECT count(*) FROM ops").fetchone()
        (missing,) = db.execute("SELECT count(*) FROM missing").fetchone()
        return int(held), int(missing)

    def _judge_the_rest(self) -> None:
        """Say of each line that is not in the log now why it is not."""
        rows = self._places.execute("SELECT lane, seq, number, start, stop FROM places ORDER BY number")
        for replica, seq, number, start, stop in rows.fetchall():
            reason = self._reason(replica, seq, self._file.at(start, stop))
            if reason is not None:
                self._done.refuse(number, replica, seq, reason)

    def _reason(self, replica: str, seq: int, raw: bytes) -> str | None:
        """Why a line is not in the log; None for one that is."""
        db, team = self._node.store.db, self._node.team
        if ops.line_at(db, replica, seq) == raw:
            return None
        read = read_line(raw)
        if isinstance(read, Unreadable):
            return read.reason
        flaw = tampering(read)
        if flaw is None and self._is_known(read):
            return None
        key = None if team is None else team.keys.get(replica)
        if key is None:
            return "no key of its replica is admitted"
        if not is_signed(read, key.sign_key):
            return "bad signature"
        if flaw is not None or (flaw := breach(read)) is not None:
            return flaw
        position = ops.position(db, replica)
        halted = None if position is None else position.cursor.halted
        if halted is not None and seq >= halted.seq:
            return f"its log halts at seq {halted.seq} ({halted.reason})"
        return "it waits, or links to nothing that is known here"

    def _is_known(self, read: Unverified) -> bool:
        """Whether an op is here, in its chain, as a key that was announced, or as one side of a fork."""
        db = self._node.store.db
        if ops.hash_at(db, read.replica, read.seq) == read.hash:
            return True
        if read.type == "key":
            rows = db.execute("SELECT line FROM claims WHERE replica = ?", (read.replica,))
            return any(
                isinstance(kept := read_line(bytes(line)), Unverified) and kept.hash == read.hash
                for (line,) in rows
            )
        row = db.execute(
            "SELECT 1 FROM rivals WHERE replica = ? AND hash = ?", (read.replica, read.hash)
        ).fetchone()
        return row is not None
