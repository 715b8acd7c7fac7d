"""The transports besides the main one: what a pass reads there, and what it leaves there.

The main one has everything of this replica's first, by compare-and-swap; these get it once it is there. What they show
is judged by the same rules, from the same heads, so an op seen on two of them is one op, and a stub on one and its op
on another make it whole. They are not believed to be the team's alone: a stranger's key counts there only with an
invite, and what is missing there is missing nowhere.

Each is asked beside the main pass, and one that fails keeps no other waiting.
"""

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeVar

from crypto.acks import AcksError, read_acks
from crypto.op import Op, Stub, Unverified, read_line, to_line
from replica.abreast import Asking
from replica.chain.acknowledge import acks_to_publish, keep_acks, published_text
from replica.chain.apply import Applier
from replica.chain.guard import stop_for_stranger
from replica.chain.own_lane import compare, first_to_compare, published_head
from replica.chain.prune import AT_ONCE
from replica.chain.verify import Verifier
from replica.mail.newly_reading import note_new_readers
from replica.moving import Open
from replica.node import Node
from replica.records import ops, problems, subjects, transports
from replica.records.commits import CommitPoint
from replica.records.link import Link, Role
from replica.team.roster import Team
from transports.base import Behind, Line, Skipped, Transport, TransportError
from transports.pruning import Prunes
from transports.remotes import RemoteError

T = TypeVar("T")

MAX_ROUNDS: Final = 6
"""Times a pass tries to publish on one of them while others publish there too."""


@dataclass(frozen=True, slots=True)
class Other:
    """A transport besides the main one, open. One that only is read takes nothing of this replica's."""

    link: Link
    transport: Transport
    only_read: bool = False


@dataclass(frozen=True, slots=True)
class Fault:
    """Why a transport besides the main one did not do its part. Of one that is only read, nobody waits for it."""

    link: Link
    error: TransportError
    only_read: bool


@dataclass(slots=True)
class Visited:
    """What came of all visits of a pass."""

    applied: int = 0
    refused: int = 0
    more: bool = False
    faults: list[Fault] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Question:
    """What is asked of a transport, without this replica's store at hand."""

    me: str
    tip: str | None
    marks: Mapping[str, int]
    members: Collection[str]
    own_since: int
    own_head: bytes | None


@dataclass(frozen=True, slots=True)
class _Answer:
    """What a transport shows. `lines` is None where nothing changed since the last visit."""

    tip: str
    own_since: int
    own: Sequence[Line]
    lines: Sequence[Line] | None
    acks: Sequence[Line]
    more: bool
    skipped: Sequence[Skipped]


@dataclass(slots=True)
class _Visit:
    """One transport on its way through a pass."""

    other: Other
    record: transports.Record
    verifier: Verifier
    whole: bool
    answer: Callable[[], _Answer]


@dataclass(frozen=True, slots=True)
class _Sent:
    """What was begun to be published; `answer` waits for the own lines that were read back after it."""

    visit: _Visit
    acks: bytes | None
    lacking: Collection[int]
    answer: Callable[[], Sequence[bytes]]


class Visits:
    """The visits of one pass: begun before the main transport is asked, ended when that is done."""

    def __init__(
        self,
        node: Node,
        roles: Collection[Role],
        open_: Open,
        asking: Asking,
        pause: Callable[[], None],
        whole_ms: int,
    ) -> None:
        """Begin to ask the transports of these roles.

        `pause` waits before another try; `whole_ms` is how often every lane is read from its start.
        """
        self._node = node
        self._asking = asking
        self._pause = pause
        self._whole_ms = whole_ms
        self._visited = Visited()
        self._asked: list[_Visit] = []
        for each in transports.records(node.store.db):
            if each.role not in roles:
                continue
            only_read = each.role is Role.FORMER
            try:
                other = Other(each.link, open_(each.link), only_read)
            except (RemoteError, TransportError) as error:
                failed = error if isinstance(error, TransportError) else TransportError(str(error))
                self._failed(each.link, failed, only_read=only_read)
            else:
                self._asked.append(self._ask(other))

    def end(self, *, paused: bool) -> Visited:
        """Take in what they show, and leave there what the main one has; nothing of this replica's while `paused`.

        Raises DmpError `conflict` where one shows that this replica's key is used elsewhere.
        """
        visited, asked = self._visited, self._asked
        for round_ in range(1, MAX_ROUNDS + 1):
            sent = [each for visit in asked if (each := self._take_in(visit, paused=paused))]
            behind = [each.visit for each in sent if self._is_behind(each, last=round_ == MAX_ROUNDS)]
            if not behind:
                break
            self._pause()
            asked = [self._ask(visit.other) for visit in behind]
        return visited

    def _ask(self, other: Other) -> _Visit:
        node, db = self._node, self._node.store.db
        record = transports.record(db, other.link)
        assert record is not None
        whole = abs(node.wall() - record.read_all_at) >= self._whole_ms
        verifier = Verifier(node.store, node.me, node.reader, strangers=False)
        marks = verifier.marks(whole=whole)
        for replica, seq in transports.seen_lanes(db, other.link).items():
            marks[replica] = min(seq, marks.get(replica, 0))
        missing = db.execute("SELECT 1 FROM missing LIMIT 1").fetchone() is not None
        head = published_head(node.store.db, node.me)
        question = _Question(
            node.me,
            None if whole or missing else record.tip,
            marks,
            frozenset() if node.team is None or other.only_read else frozenset(node.team.view.members),
            0 if whole else first_to_compare(db, head),
            ops.line_at(db, node.me, head),
        )
        transport = other.transport
        answer = self._asking.begin(
            transport, lambda: _guarded(transport, lambda: _answer(transport, question))
        )
        return _Visit(other, record, verifier, whole, answer)

    def _take_in(self, visit: _Visit, *, paused: bool) -> _Sent | None:
        """Apply what a transport shows, and begin to publish; None where nothing is to be published there."""
        node, other = self._node, visit.other
        try:
            answer = visit.answer()
        except TransportError as error:
            self._failed(other.link, error, only_read=other.only_read)
            return None
        head = published_head(node.store.db, node.me)
        lane = stop_for_stranger(
            node, compare(node.store.db, node.identity, answer.own, answer.own_since, head)
        )
        if answer.lines is not None:
            self._apply(visit, answer)
        team = node.team
        publishes = not (other.only_read or paused) and team is not None and node.me in team.view.members
        wanted = [seq for seq in lane.lacking if publishes]
        if team is None or not wanted:
            self._seen(visit, head if not lane.lacking else min(lane.lacking) - 1)
        if team is None or not publishes:
            return None
        lines = {seq: line for seq in wanted if (line := self._line(team, seq)) is not None}
        record = transports.record(node.store.db, other.link)
        acks = acks_to_publish(node, team, None if record is None else record.acks)
        shorter = self._shorter(answer.own) if visit.whole else {}
        if not lines and acks is None and not shorter:
            return None
        transport, me = other.transport, node.me
        publish = self._asking.begin(
            transport, lambda: _guarded(transport, lambda: _publish(transport, me, lines, acks, shorter))
        )
        return _Sent(visit, acks, lines.keys(), publish)

    def _is_behind(self, sent: _Sent, *, last: bool) -> bool:
        """Note what became of a publish; True where somebody else was faster, and it is worth another try."""
        node, other = self._node, sent.visit.other
        try:
            shown = {read.hash for raw in sent.answer() if isinstance(read := read_line(raw), Unverified)}
        except Behind as error:
            if not last:
                return True
            self._failed(other.link, error, only_read=other.only_read)
            return False
        except TransportError as error:
            self._failed(other.link, error, only_read=other.only_read)
            return False
        lost = [seq for seq in sent.lacking if ops.hash_at(node.store.db, node.me, seq) not in shown]
        if lost:
            refusal = TransportError(
                f"{other.transport.url} took op {min(lost)} of this replica, and does not show it",
                "it is published there again with the next sync",
            )
            self._failed(other.link, refusal, only_read=other.only_read)
            return False
        self._seen(sent.visit, published_head(node.store.db, node.me))
        if sent.acks is not None:
            with node.store.transaction(CommitPoint.VISITED) as db:
                transports.note_acks(db, other.link, published_text(sent.acks))
        return False

    def _apply(self, visit: _Visit, answer: _Answer) -> None:
        node, other, visited = self._node, visit.other, self._visited
        assert answer.lines is not None
        verified = visit.verifier.verify(answer.lines, node.wall())
        team = node.team
        if team is not None:
            keep_acks(node, team, _later_acks(node, team, answer.acks))
            note_new_readers(node, team)
        applied = Applier(node, aside=True).apply(verified)
        visited.applied += applied.applied
        visited.refused += applied.refused
        visited.more |= answer.more or applied.more
        visited.skipped += [
            Skipped(each.replica, f"{other.transport.url} {each.place}", each.line, each.count, each.reason)
            for each in answer.skipped
        ]
        self._note_lanes(other, answer)
        settled = not (applied.held or answer.more)
        read_all_at = node.wall() if visit.whole and not answer.more else visit.record.read_all_at
        with node.store.transaction(CommitPoint.VISITED) as db:
            transports.note_read(db, other.link, tip=answer.tip if settled else None, read_all_at=read_all_at)

    def _note_lanes(self, other: Other, answer: _Answer) -> None:
        """Remember how far each lane reaches there; say so where one does not hold any more what was seen in it."""
        node, db = self._node, self._node.store.db
        lanes: dict[str, int] = {}
        for line in answer.lines or ():
            read = read_line(line.raw)
            if isinstance(read, Unverified) and ops.hash_at(db, line.replica, read.seq) == read.hash:
                lanes[line.replica] = max(read.seq, lanes.get(line.replica, 0))
        before = transports.seen_lanes(db, other.link)
        gone = {replica: seq for replica, seq in before.items() if lanes.get(replica, 0) < seq}
        if lanes == before and not gone:
            return
        with node.store.transaction(CommitPoint.VISITED):
            transports.note_lanes(db, other.link, lanes, () if answer.more else gone)
            if gone and not answer.more:
                replica, seq = min(gone.items())
                text = f"{other.transport.url} was set back: op {seq} of {replica} was seen there, and is there no more"
                subject = subjects.SET_BACK.of(other.transport.url)
                problems.note(db, problems.Problem(subject, text, at=node.now()))

    def _line(self, team: Team, seq: int) -> bytes | None:
        """An own op as it goes out; its stub where it is sealed to somebody who has left since."""
        entry = ops.entry_at(self._node.store.db, self._node.me, seq)
        if (
            isinstance(entry, Op)
            and entry.sealed is not None
            and not set(entry.to or ()) <= team.view.members.keys()
        ):
            return to_line(entry.stub())
        return ops.line_at(self._node.store.db, self._node.me, seq)

    def _shorter(self, own: Sequence[Line]) -> dict[bytes, bytes]:
        """Own ops there that were taken back on the main transport since, with their stubs; of many the first."""
        found: dict[bytes, bytes] = {}
        for line in own:
            read = read_line(line.raw)
            if not isinstance(read, Unverified) or not isinstance(read.entry(), Op) or len(found) >= AT_ONCE:
                continue
            kept = ops.entry_at(self._node.store.db, self._node.me, read.seq)
            if isinstance(kept, Stub) and kept.hash == read.hash:
                found[line.raw] = to_line(kept)
        return found

    def _seen(self, visit: _Visit, read_back: int) -> None:
        node = self._node
        with node.store.transaction(CommitPoint.VISITED) as db:
            transports.note_visit(db, visit.other.link, at=node.now(), read_back=read_back)

    def _failed(self, link: Link, error: TransportError, *, only_read: bool) -> None:
        self._visited.faults.append(Fault(link, error, only_read))
        note_failure(self._node, link, error)


def note_failure(node: Node, link: Link, error: TransportError) -> None:
    """Record that a transport did not do its part."""
    with node.store.transaction(CommitPoint.VISITED) as db:
        transports.note_failure(db, link, at=node.now(), error=error.message)


def _guarded(transport: Transport, call: Callable[[], T]) -> T:
    """Make what a transport of anyone's raises an error of that one alone."""
    try:
        return call()
    except TransportError:
        raise
    except Exception as error:
        raise TransportError(
            f"{transport.url} failed in a way that no transport should ({type(error).__name__})",
            "report that to whoever wrote this transport",
        ) from error


def _answer(transport: Transport, question: _Question) -> _Answer:
    """Ask a transport. Runs in whatever thread."""
    tip = transport.refresh()
    since = question.own_since
    own = list(transport.lane(question.me, since))
    if since and all(line.raw != question.own_head for line in own):
        own, since = list(transport.lane(question.me)), 0
    if tip == question.tip:
        return _Answer(tip, since, own, None, (), more=False, skipped=())
    pull = transport.pull(question.marks)
    lines = list(pull)
    acks = list(transport.acks(question.members)) if question.members else []
    return _Answer(tip, since, own, lines, acks, pull.report.more, tuple(pull.report.skipped))


def _publish(
    transport: Transport,
    me: str,
    lines: Mapping[int, bytes],
    acks: bytes | None,
    shorter: Mapping[bytes, bytes],
) -> Sequence[bytes]:
    """Publish, take back what can be, and read back what was published. Runs in whatever thread."""
    transport.publish(me, [lines[seq] for seq in sorted(lines)], acks=acks)
    if shorter and isinstance(transport, Prunes):
        transport.prune(me, shorter)
    return [line.raw for line in transport.lane(me, min(lines))] if lines else []


def _later_acks(node: Node, team: Team, lines: Sequence[Line]) -> list[Line]:
    """The acknowledgements that say no less of anybody than those that are kept: others here may be older."""
    known = {
        replica: json.loads(through)
        for replica, through in node.store.db.execute("SELECT replica, through_json FROM acks")
    }
    found = []
    for line in lines:
        key = team.keys.get(line.replica)
        if key is None:
            continue
        try:
            through = read_acks(line.raw, replica=line.replica, public=key.sign_key).through
        except AcksError:
            continue
        if all(through.get(replica, 0) >= seq for replica, seq in known.get(line.replica, {}).items()):
            found.append(line)
    return found
