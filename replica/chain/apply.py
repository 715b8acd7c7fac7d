"""Applying verified ops: each with all it changes and the cursor past it, in one transaction.

Ops of a pull are applied in the order of their clocks over all chains. A chain that meets something that must
wait (a publisher not admitted yet, a quota, a roster this build cannot read) stops there: its cursor stays,
and the op is pulled again. One op's failure never stops another chain.
"""

import gc
import logging
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Final

from crypto.chain import Cursor, Head
from crypto.clock import Reading
from crypto.op import Entry, Op, Stub
from replica.chain.clock import adopt_reading
from replica.chain.faults import note_faults
from replica.chain.outcome import Outcome, Verdict
from replica.chain.quotas import take_from_quota
from replica.chain.verify import Verified
from replica.mail.missing import content_missing, remember_missing
from replica.mail.receive import Receiver
from replica.mail.refusals import queue_refusal
from replica.mail.reports import apply_state
from replica.node import Node
from replica.records import ops, problems, subjects
from replica.records.commits import CommitPoint
from replica.shared import agents, fold
from replica.shared.docs import fold as documents
from replica.shared.memory import writes as memories
from replica.team.roster import Team

BATCH: Final = 128
"""Ops applied in one transaction: enough to share the cost of a commit, few enough to keep senders moving."""

MAX_PARKED: Final = 10_000
"""Parked ops of one publisher; beyond them its chain waits (federation wire 9.H3)."""

RETRIES: Final = 200
"""Parked ops of one publisher tried again in one pass."""

DOCUMENT_OPS: Final = 200
"""Ops about documents of one publisher that are taken in in one pass; each may be 1 MiB (federation wire 8.20)."""

_log = logging.getLogger(__name__)


@contextmanager
def _kept_from_the_collector() -> Iterator[None]:
    """Keep what is there already from being looked through for cycles: a whole pull, again and again, for nothing."""
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


def _silent(_done: int, _total: int) -> None:
    """Show nothing."""


@dataclass(slots=True)
class Applied:
    """What a pull applied, what it refused, and whether anything is held back and must be pulled again.

    `more` tells that the next pass takes in more of what is here already.
    """

    applied: int = 0
    refused: int = 0
    held: bool = False
    more: bool = False

    def add(self, other: "Applied") -> None:
        """Count what a batch did too."""
        self.applied += other.applied
        self.refused += other.refused
        self.held |= other.held


class _UndoneError(Exception):
    """An op came to nothing after it had written something, where that cannot be taken back alone."""


@dataclass(slots=True)
class _Lane:
    """One chain on its way through a pass. `head` is where its cursor will be once the batch commits."""

    replica: str
    fingerprint: str
    head: Head | None
    blocked: bool = False


@dataclass(slots=True)
class Applier:
    """Applies one verified pull after another to a node's store. `progress` is told (done, total) ops.

    `aside` tells that the pull is not of the main transport: what is missing there is missing nowhere.
    """

    node: Node
    progress: Callable[[int, int], None] = _silent
    aside: bool = False
    _documents: Counter[str] = field(default_factory=Counter)
    _more: bool = False
    _savepoints: bool = True

    def apply(self, verified: Verified) -> Applied:
        """Apply everything that may be applied now; mail is announced after the commit that stored it."""
        result = Applied(held=verified.held)
        team = self.node.team
        if team is None:
            return result
        self._documents.clear()
        self._more = False
        self._note_pause(team)
        self._refold_if_stale(team)
        lanes = {
            replica: _Lane(replica, team.keys[replica].fingerprint, chain.start.head)
            for replica, chain in verified.chains.items()
            if replica in team.keys
        }
        queue = sorted(
            (entry for replica in lanes for entry in verified.chains[replica].found.entries),
            key=lambda entry: (*entry.hlc.key, entry.replica, entry.seq),
        )
        with _kept_from_the_collector():
            for start in range(0, len(queue), BATCH):
                self._batch(team, lanes, queue[start : start + BATCH], result)
                self.progress(min(start + BATCH, len(queue)), len(queue))
        self._refold_if_stale(team)  # an op may have come later than those it comes before
        if team.view.unknown is None and team.ready(self.node.me):
            self._fill_missing(team, verified, result)
            self._take_up_what_was_left_out(team, result)
            self._retry_parked(team, result)
        else:
            result.held = True
        self._note_faults(team, lanes, verified)
        result.held |= any(lane.blocked for lane in lanes.values())
        result.more = self._more
        return result

    def _note_pause(self, team: Team) -> None:
        """Say which op keeps everything waiting, as long as one does (federation wire 5.35)."""
        db, unknown, subject = self.node.store.db, team.view.unknown, subjects.NEWER.of()
        noted = any(each.subject == subject for each in problems.all_problems(db))
        if unknown is None and not noted:
            return
        with self.node.store.transaction(CommitPoint.PROBLEM):
            if unknown is None:
                problems.clear(db, subject)
                return
            place = f"{unknown.replica} {unknown.seq} {unknown.hash}"
            text = (
                f"{team.describe(unknown.replica)} changed the roster in a way that only a newer version can read; "
                f"nothing of anyone is applied until this one is upgraded, or an admin says `dmp team dismiss {place}`"
            )
            self._problem(db, subject, text, unknown.replica, unknown.seq)

    def _refold_if_stale(self, team: Team) -> None:
        """Fold shared state anew where the ops that count are not those that were folded.

        Not while the roster says something that this build cannot read: then nobody knows which do.
        """
        if team.view.unknown is None and fold.is_stale(self.node.store.db, team.view):
            fold.refold(self.node.store, team.view, self.node.now())

    def _batch(self, team: Team, lanes: dict[str, _Lane], batch: Sequence[Entry], result: Applied) -> None:
        """Apply a batch, at first without a savepoint for each op: few ever need one, and all pay for it."""
        documents, more = self._documents.copy(), self._more
        self._savepoints = False
        try:
            self._in_one(team, lanes, batch, result)
        except _UndoneError:
            self._documents, self._more, self._savepoints = documents, more, True
            self._in_one(team, lanes, batch, result)
        finally:
            self._savepoints = True

    def _in_one(self, team: Team, lanes: dict[str, _Lane], batch: Sequence[Entry], result: Applied) -> None:
        """Apply a batch in one transaction; `lanes` and `result` change when it is committed."""
        receiver = Receiver(self.node, team)
        receiver.contents.read_ahead(entry for entry in batch if not lanes[entry.replica].blocked)
        done = Applied()
        after = {replica: replace(lanes[replica]) for replica in {entry.replica for entry in batch}}
        with self.node.store.transaction(CommitPoint.APPLIED) as db:
            for replica, lane in after.items():
                # What the pull was verified from must still be where the chain stands.
                known = ops.position(db, replica)
                if (None if known is None else known.cursor.head) != lane.head:
                    lane.blocked = True
            moved: set[str] = set()
            latest: Reading | None = None
            for entry in batch:
                lane = after[entry.replica]
                if not lane.blocked and self._one(db, team, receiver, lane, entry, done):
                    moved.add(entry.replica)
                    latest = entry.hlc  # ops come in the order of their clocks
            if latest is not None:
                adopt_reading(db, self.node.me, latest)
            if any(entry.type == "agent" for entry in batch):
                agents.take_up_revocations(db, self.node.me)
            for replica in moved:
                lane = after[replica]
                ops.set_position(db, replica, ops.Position(lane.fingerprint, Cursor(lane.head)))
        lanes.update(after)
        result.add(done)
        receiver.announce()

    def _one(
        self,
        db: sqlite3.Connection,
        team: Team,
        receiver: Receiver,
        lane: _Lane,
        entry: Entry,
        result: Applied,
    ) -> bool:
        """Apply one op; True when its chain's cursor moves past it."""
        outcome = self._standing(db, team, entry) or self._content(db, receiver, entry)
        if outcome.verdict is Verdict.PARKED and self._parked(db, entry.replica) >= MAX_PARKED:
            outcome = Outcome.wait(
                subjects.QUOTA.of(entry.replica),
                f"{MAX_PARKED} ops of {entry.replica} wait to be judged already",
            )
        if outcome.subject:
            self._note(db, outcome, entry)
        if outcome.verdict is Verdict.WAIT:
            lane.blocked = True
            return False
        if entry.type in fold.HANDLERS:
            fold.remember_place(db, team.view, entry.replica)
        ops.insert(db, entry)
        self._record(db, entry, outcome, result)
        lane.head = Head(entry.seq, entry.hash, entry.hlc)
        return True

    def _record(self, db: sqlite3.Connection, entry: Entry, outcome: Outcome, result: Applied) -> None:
        """Keep what is left to do about an op that is stored, and count it."""
        if outcome.verdict in (Verdict.PARKED, Verdict.KEPT):
            ops.settle(db, entry.replica, entry.seq, settled=False)
        if outcome.verdict is Verdict.PARKED:
            db.execute(
                "INSERT OR REPLACE INTO parked (replica, seq, reason) VALUES (?, ?, ?)",
                (entry.replica, entry.seq, outcome.reason),
            )
        result.held |= outcome.again
        result.applied += outcome.verdict is Verdict.APPLIED
        result.refused += outcome.verdict is Verdict.REFUSED

    def _standing(self, db: sqlite3.Connection, team: Team, entry: Entry) -> Outcome | None:
        """What the publisher's place in the team says; None to go on (federation wire 9.H2)."""
        view, replica = team.view, entry.replica
        cut = view.revoked.get(replica)
        if cut is not None and entry.seq > cut.point.after_seq:
            return self._beyond_cut(db, entry)
        if entry.type in ("key", "roster"):
            return None
        if view.unknown is not None:
            return Outcome.wait()
        member = view.members.get(replica)
        if member is None and cut is None:
            return Outcome.wait()
        if member is not None and member.observer and entry.type != "presence":
            self._leave_out(db, entry)
            return Outcome.dropped(
                subjects.OBSERVER.of(replica), "an observer publishes presence only; not applied"
            )
        if entry.type not in ("mail", "state"):
            return self._shared_quota(db, team, entry)
        if not team.ready(self.node.me):
            return Outcome.wait()
        if self.node.me in (entry.to or ()):
            quotas = self.node.host.config.quotas
            limit = quotas.mail if entry.type == "mail" else quotas.state
            return self._quota(db, team, entry, entry.type, limit)
        return None

    def _shared_quota(self, db: sqlite3.Connection, team: Team, entry: Entry) -> Outcome | None:
        """Bound what a flood of shared state costs; what was said before this replica came is taken in as it is."""
        if entry.type not in fold.HANDLERS or self._is_from_before(team, entry):
            return None
        return self._quota(db, team, entry, "shared state", self.node.host.config.quotas.shared)

    def _too_much(self, db: sqlite3.Connection, team: Team, op: Op) -> Outcome | None:
        """Keep for later what a publisher says of documents beyond what a pass takes, or new ones beyond an hour's."""
        if op.type not in ("doc", "memory") or self._is_from_before(team, op):
            return None
        if op.type == "memory":
            return self._too_many_memories(db, team, op)
        if self._documents[op.replica] >= DOCUMENT_OPS:
            self._more = True
            return Outcome.parked("", "more of documents than one pass takes in")
        limit = self.node.host.config.quotas.documents
        if documents.begins(db, op) and not take_from_quota(
            db, op.replica, "documents", limit, self.node.wall()
        ):
            whose = team.describe(op.replica)
            return Outcome.parked(
                subjects.DOC_QUOTA.of(op.replica),
                f"{whose} makes more documents than one hour's quota; the rest waits",
            )
        self._documents[op.replica] += 1
        return None

    def _too_many_memories(self, db: sqlite3.Connection, team: Team, op: Op) -> Outcome | None:
        """Keep for later new entries of memory beyond an hour's (8.16)."""
        limit = self.node.host.config.quotas.memories
        if not memories.is_new(db, op) or take_from_quota(db, op.replica, "memory", limit, self.node.wall()):
            return None
        whose = team.describe(op.replica)
        return Outcome.parked(
            subjects.MEMORY_QUOTA.of(op.replica),
            f"{whose} makes more entries of memory than one hour's quota; the rest waits",
        )

    def _is_from_before(self, team: Team, entry: Entry) -> bool:
        """Whether something was said before this replica came into the team."""
        here = team.view.members.get(self.node.me)
        return here is None or entry.hlc.key < here.since.key

    def _quota(
        self, db: sqlite3.Connection, team: Team, entry: Entry, kind: str, limit: int | None
    ) -> Outcome | None:
        """Count an op of its publisher's; None where its hour has room for it."""
        if take_from_quota(db, entry.replica, kind, limit, self.node.wall()):
            return None
        return Outcome.wait(
            subjects.QUOTA.of(entry.replica),
            f"{team.describe(entry.replica)} publishes more {kind} than one hour's quota; the rest waits",
        )

    def _cut_off(self, db: sqlite3.Connection, team: Team, op: Op) -> Outcome | None:
        """Whether an op that was accepted and could not be judged then may not be any more; None when it may."""
        return None if team.view.standing(op.replica, op.seq) else self._beyond_cut(db, op)

    def _beyond_cut(self, db: sqlite3.Connection, entry: Entry) -> Outcome:
        """Not applied as things are: a cut may turn out void."""
        self._leave_out(db, entry)
        text = f"what {entry.replica} published after its revocation is not applied"
        return Outcome.dropped(subjects.CUT.of(entry.replica), text)

    def _leave_out(self, db: sqlite3.Connection, entry: Entry) -> None:
        """Remember what is sealed to this replica and not applied by the roster as it is now known."""
        (kept,) = db.execute("SELECT count(*) FROM beyond_cut WHERE replica = ?", (entry.replica,)).fetchone()
        if self.node.me in (entry.to or ()) and kept < MAX_PARKED:
            db.execute(
                "INSERT OR IGNORE INTO beyond_cut (replica, seq) VALUES (?, ?)", (entry.replica, entry.seq)
            )

    def _content(self, db: sqlite3.Connection, receiver: Receiver, entry: Entry) -> Outcome:
        """What the op itself does here."""
        if entry.type in ("key", "roster"):
            return Outcome.NOTHING  # counted when it was verified
        if entry.type in fold.HANDLERS:
            if isinstance(entry, Stub):
                remember_missing(db, entry)  # what others folded of it counts here too, once it is here
                return Outcome.NOTHING
            return self._too_much(db, receiver.team, entry) or fold.apply(db, receiver.team.view, entry)
        if entry.type not in ("mail", "state"):
            return Outcome.KEPT
        if self.node.me not in (entry.to or ()):
            return Outcome.NOTHING
        if isinstance(entry, Stub):
            content_missing(db, self.node, entry)
            return Outcome(
                Verdict.NOTHING,
                subjects.MISSING.of(entry.replica, entry.seq),
                "came without its content; its publisher is told, and has it again if it still can",
            )
        return self._open(db, receiver, entry)

    def _open(self, db: sqlite3.Connection, receiver: Receiver, op: Op) -> Outcome:
        """Apply sealed content addressed here; a fault met in it stops neither its chain nor others.

        Raises _UndoneError where it came to nothing, has written and there is no savepoint to go back to.
        """
        if self._savepoints:
            db.execute("SAVEPOINT op")
        announced, changes = len(receiver.announcements), db.total_changes
        try:
            outcome = (
                receiver.receive(db, op)
                if op.type == "mail"
                else apply_state(db, receiver.contents, receiver.team, op, receiver.announcements)
            )
        except (sqlite3.OperationalError, MemoryError):
            raise  # the machine's fault, not the op's: nothing of the batch is kept
        except Exception as error:  # noqa: BLE001
            _log.warning("op %s:%d could not be applied: %s", op.replica, op.seq, type(error).__name__)
            outcome = Outcome.parked(
                subjects.OP.of(op.replica, op.seq),
                f"could not be applied here ({type(error).__name__}); it is kept",
            )
        if outcome.verdict not in (Verdict.APPLIED, Verdict.NOTHING):
            if self._savepoints:
                db.execute("ROLLBACK TO op")
            elif db.total_changes != changes:
                raise _UndoneError
            del receiver.announcements[announced:]
        if self._savepoints:
            db.execute("RELEASE op")
        if outcome.message is not None and outcome.origin is not None:
            queue_refusal(db, self.node, outcome.message, outcome.origin, outcome.told or outcome.reason)
        return outcome

    def _fill_missing(self, team: Team, verified: Verified, result: Applied) -> None:
        """Content that arrives for a stub met earlier is applied, from whichever line brings it (K2)."""
        for op in (op for chain in verified.chains.values() for op in chain.found.restored):
            receiver = Receiver(self.node, team)
            with self.node.store.transaction(CommitPoint.APPLIED) as db:
                place = op.replica, op.seq
                if (
                    db.execute("SELECT 1 FROM missing WHERE replica = ? AND seq = ?", place).fetchone()
                    is None
                ):
                    continue
                outcome = self._cut_off(db, team, op) or self._content(db, receiver, op)
                if outcome.verdict is Verdict.WAIT:
                    result.held = True
                    continue
                db.execute("DELETE FROM missing WHERE replica = ? AND seq = ?", place)
                problems.clear(db, subjects.MISSING.of(op.replica, op.seq))
                ops.replace(db, op)
                if outcome.subject:
                    self._note(db, outcome, op)
                self._record(db, op, outcome, result)
            receiver.announce()

    def _take_up_what_was_left_out(self, team: Team, result: Applied) -> None:
        """Apply what came after a cut that turned out void, or of a member that was taken for an observer."""
        db, members = self.node.store.db, team.view.members
        left = [
            (replica, seq)
            for replica, seq in db.execute(
                "SELECT replica, seq FROM beyond_cut ORDER BY replica, seq"
            ).fetchall()
            if team.view.standing(replica, seq) and not (replica in members and members[replica].observer)
        ]
        for start in range(0, len(left), BATCH):
            receiver = Receiver(self.node, team)
            with self.node.store.transaction(CommitPoint.APPLIED):
                for replica, seq in left[start : start + BATCH]:
                    entry = ops.entry_at(db, replica, seq)
                    outcome = Outcome.NOTHING if entry is None else self._content(db, receiver, entry)
                    if outcome.verdict is Verdict.WAIT:
                        result.held = True
                        continue
                    db.execute("DELETE FROM beyond_cut WHERE replica = ? AND seq = ?", (replica, seq))
                    problems.clear(db, subjects.CUT.of(replica))
                    problems.clear(db, subjects.OBSERVER.of(replica))
                    if entry is not None:
                        if outcome.subject:
                            self._note(db, outcome, entry)
                        self._record(db, entry, outcome, result)
            receiver.announce()

    def _retry_parked(self, team: Team, result: Applied) -> None:
        """Try parked ops again, the least tried of each publisher first, at most RETRIES of each.

        The others are tried in the passes that follow: at once, as long as some can be applied.
        """
        db = self.node.store.db
        for (replica,) in db.execute("SELECT DISTINCT replica FROM parked").fetchall():
            waiting, left = self._parked(db, replica), 0
            seqs = db.execute(
                "SELECT seq FROM parked WHERE replica = ? ORDER BY tried, seq LIMIT ?", (replica, RETRIES)
            ).fetchall()
            receiver = Receiver(self.node, team)
            with self.node.store.transaction(CommitPoint.APPLIED):
                for (seq,) in seqs:
                    op = ops.entry_at(db, replica, seq)
                    if not isinstance(op, Op):
                        continue
                    outcome = self._cut_off(db, team, op) or self._content(db, receiver, op)
                    if outcome.verdict in (Verdict.PARKED, Verdict.WAIT):
                        result.held |= outcome.again or outcome.verdict is Verdict.WAIT
                        db.execute(
                            "UPDATE parked SET tried = tried + 1 WHERE replica = ? AND seq = ?",
                            (replica, seq),
                        )
                        left += 1
                        continue
                    db.execute("DELETE FROM parked WHERE replica = ? AND seq = ?", (replica, seq))
                    problems.clear(db, subjects.OP.of(replica, seq))
                    if outcome.verdict is not Verdict.KEPT:
                        ops.settle(db, replica, seq)
                    if outcome.subject:
                        self._note(db, outcome, op)
                    result.applied += outcome.verdict is Verdict.APPLIED
                    result.refused += outcome.verdict is Verdict.REFUSED
                if waiting > len(seqs):
                    result.held = True
                    self._more |= left < len(seqs)
                if self._parked(db, replica) == 0:
                    problems.clear(db, subjects.MEMORY_QUOTA.of(replica))
                    problems.clear(db, subjects.DOC_QUOTA.of(replica))
            receiver.announce()

    def _note_faults(self, team: Team, lanes: dict[str, _Lane], verified: Verified) -> None:
        """Record where chains halt, stall or wait for time to come; forget what is over.

        What becomes of a stranger's chain concerns nobody, and anybody could make thousands.
        """
        with self.node.store.transaction(CommitPoint.FAULTS) as db:
            for replica, lane in lanes.items():
                found = verified.chains[replica].found
                if self.aside:
                    found = replace(found, stall=None, gap=None, skipped=0, waiting=0)
                halted = found.cursor.halted
                if halted is not None and not lane.blocked:
                    ops.set_position(db, replica, ops.Position(lane.fingerprint, Cursor(lane.head, halted)))
                tells = not self.aside or halted is not None or bool(found.entries)
                if not lane.blocked and tells:
                    problems.clear(db, subjects.QUOTA.of(replica))
                lane.blocked |= found.stall is not None or found.held is not None or found.gap is not None
                if team.knows(replica) and tells:
                    note_faults(db, team, replica, lane.head, found, self.node.now())

    def _parked(self, db: sqlite3.Connection, replica: str) -> int:
        (count,) = db.execute("SELECT count(*) FROM parked WHERE replica = ?", (replica,)).fetchone()
        return int(count)

    def _note(self, db: sqlite3.Connection, outcome: Outcome, entry: Entry) -> None:
        self._problem(db, outcome.subject, outcome.reason, entry.replica, entry.seq)

    def _problem(self, db: sqlite3.Connection, subject: str, text: str, replica: str, seq: int) -> None:
        problems.note(db, problems.Problem(subject, text, replica, seq, self.node.now()))
