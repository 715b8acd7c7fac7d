"""One sync pass: refresh, guard, pull, apply, sign, publish.

The order is what keeps the promises. The transport answers and the own lane is checked before anything is
signed; teammates' roster ops are applied before mail is sealed, so mail that was waiting is never sealed to
someone revoked in the same pass; acknowledgements are made from committed rows only. A publish that loses the
race for the far side starts again from the refresh, with jitter, inside a time budget.
"""

import time
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Final

from core.errors import Code, DmpError
from crypto.op import Unverified, read_line
from replica.abreast import Asking, InTurn
from replica.chain import restored
from replica.chain.acknowledge import acks_to_publish, keep_acks, published_text
from replica.chain.apply import Applier
from replica.chain.guard import check_chain, pause_reason, remember_signing
from replica.chain.own_lane import published_head
from replica.chain.prune import prune_now_and_then
from replica.chain.publish import already_there, mark_published, unpublished_lines, withdraw_from_leavers
from replica.chain.sign import sign_outbox
from replica.chain.unacknowledged import note_unacknowledged
from replica.chain.verify import Verifier
from replica.chain.withheld import note_withheld
from replica.elsewhere import Fault, Visited, Visits, note_failure
from replica.host.memory_gates import judge
from replica.mail.hand_on import hand_on_held
from replica.mail.newly_reading import note_new_readers
from replica.moving import Open, arriving, follow, listens, note_arrived
from replica.node import Node
from replica.records import ops, outbox, problems, subjects
from replica.records.commits import CommitPoint
from replica.records.link import Role, remembered
from replica.records.meta import Meta, get, put
from replica.records.transports import note_visit
from replica.shared.docs import rows as documents
from replica.shared.fold import is_stale
from replica.shared.memory import changes as memory_changes
from replica.shared.publish import announce_capabilities, sign_presence, sign_shared
from replica.team.admissions import admit_invited
from replica.team.roster import Team
from transports.base import Behind, Refused, Skipped, Transport, TransportError

PUBLISH_SECONDS: Final = 30.0
"""How long one pass keeps trying to publish while others publish too, in seconds."""

MAX_REFUSALS: Final = 3
"""Refusals after which a pass tries again: a hook may refuse one push, of either side, and take the next."""

WHOLE_MS: Final = 24 * 60 * 60 * 1000
"""How often every lane is read from its start: a second history of what was read before shows nowhere else."""

ACKS_MS: Final = 20_000
"""How often acknowledgements go out by themselves where pass follows pass: each push makes everybody look again."""

_FIRST_PAUSE: Final = 0.1
_LONGEST_PAUSE: Final = 1.0


def _silent(_text: str) -> None:
    """Show nothing."""


@dataclass(slots=True)
class Report:
    """What a pass did. `waiting` counts what is still to be published; `more` tells that it was cut short."""

    published: int = 0
    applied: int = 0
    refused: int = 0
    waiting: int = 0
    attempts: int = 0
    more: bool = False
    paused: str | None = None
    faults: list[Fault] = field(default_factory=list)

    def add(self, visited: Visited) -> None:
        """Count what transports besides the main one showed."""
        self.applied += visited.applied
        self.refused += visited.refused
        self.more |= visited.more
        self.faults += visited.faults


@dataclass(slots=True)
class SyncPass:
    """Runs passes of one node, under the directory's sync lock, which the caller holds.

    `transport` is the main one. With `open_`, which opens the transport of a link or returns the one that is open, a
    pass visits the others too, asked by way of `asking`, and follows the team to another main one: `transport` is that
    one then, and `moved` says so. `step` is told what is being done, to show it. Sleep, monotonic time and jitter come
    from outside.
    `running` tells of passes that follow one another without end, True at the first one: teammates are then told
    that this replica is there. `asked` has fingerprints, by replica, whose keys are looked for: see Verifier.
    """

    node: Node
    transport: Transport
    step: Callable[[str], None] = _silent
    sleep: Callable[[float], None] = time.sleep
    monotonic: Callable[[], float] = time.monotonic
    jitter: Random = field(default_factory=Random)
    budget_seconds: float = PUBLISH_SECONDS
    running: bool | None = None
    asked: dict[str, str] = field(default_factory=dict)
    open_: Open | None = None
    asking: Asking = field(default_factory=InTurn)
    besides: Report = field(default_factory=Report)
    moved: bool = False
    _read_back: int = 0

    def run(self) -> Report:
        """One whole pass, over every transport.

        Raises TransportError when the main one does not do its part, and DmpError when this replica may sign
        no more. What was applied or signed before that stays, and the next pass goes on from there; what came over
        the other transports meanwhile is in `besides`.
        """
        self.besides = Report()
        visits = self._visits((Role.OTHER, Role.FORMER) if listens(self.node) else (Role.OTHER,))
        try:
            report = self._persist(self._send)
        except TransportError as error:
            self._main_failed(error, visits)
            raise
        self._end(visits, report, paused=report.paused is not None)
        if restored.reason(self.node.store.db) is not None:
            report.more = restored.settle(self.node, self._read_back)  # the next pass signs
            report.paused = restored.reason(self.node.store.db)
            return report
        if report.paused is None:
            prune_now_and_then(self.node, self.transport)
            report.more |= self._follow(away=False)
        return report

    def _visits(self, roles: Collection[Role]) -> Visits | None:
        """Begin to ask the transports of these roles; None where nothing is known of a team."""
        node, open_ = self.node, self.open_
        if open_ is None or node.team is None or not node.team.ready(node.me):
            return None
        pauses = self._pauses()
        return Visits(node, roles, open_, self.asking, lambda: self.sleep(next(pauses)), WHOLE_MS)

    def _end(self, visits: Visits | None, report: Report, *, paused: bool) -> None:
        if visits is not None:
            self.step("asking the other transports")
            visited = visits.end(paused=paused)
            note_skipped(self.node, self.node.team, visited.skipped)
            report.add(visited)

    def _main_failed(self, error: TransportError, visits: Visits | None) -> None:
        """Read what there is to read elsewhere, and go where the team has gone, if that is what it shows."""
        link = remembered(self.node.store.db)
        if link is not None:
            note_failure(self.node, link, error)
        paused = get(self.node.store.db, Meta.STOPPED) is not None or pause_reason(self.node) is not None
        self._end(visits, self.besides, paused=paused)
        if not listens(self.node):
            self._end(self._visits((Role.FORMER,)), self.besides, paused=paused)
        if not paused:
            self.besides.more |= self._follow(away=True)

    def _follow(self, *, away: bool) -> bool:
        """Follow the team to another main transport; True where this machine is there now."""
        if self.open_ is None:
            return False
        moved = follow(self.node, self.open_, away=away)
        if moved is None:
            return False
        self.transport, self.moved = moved, True
        return True

    def publish(self, say: Callable[[], None]) -> Report:
        """A pass that signs with `say`, a roster command, before everything else.

        `say` is called once, after what teammates published was applied; what it raises ends the pass.
        """
        said = False

        def send(report: Report, pulled: "_Pulled") -> None:
            nonlocal said
            if not said:
                self._may_sign(raising=True)
                try:
                    say()
                except TransportError as error:
                    raise _NothingSaid(error) from None
                said = True
            self._send(report, pulled)

        try:
            return self._persist(send)
        except _NothingSaid as ended:
            raise ended.error from None

    def _persist(self, send: Callable[["Report", "_Pulled"], None]) -> Report:
        """Try until a publish is not overtaken, inside the budget."""
        report = Report()
        refusals = 0
        deadline = self.monotonic() + self.budget_seconds
        for pause in self._pauses():
            report.attempts += 1
            try:
                pulled = self._receive(report)
                if report.attempts > 1:  # reading and applying took time, in which others may have published
                    pulled = self._receive(report, pulled)
                send(report, pulled)
                break
            except (Behind, Refused) as lost:
                refusals += isinstance(lost, Refused)
                if refusals > MAX_REFUSALS or self.monotonic() + pause >= deadline:
                    raise
                refused = isinstance(lost, Refused)
                self.step(
                    f"{'the push was refused' if refused else 'someone else published first'}; trying again"
                )
                self.sleep(pause)
        report.waiting = waiting_to_publish(self.node)
        return report

    def _receive(self, report: Report, before: "_Pulled | None" = None) -> "_Pulled":
        """The first half: ask the transport, check the own lane, apply what teammates published.

        `before` is what the same pass received already; it stands where the transport has nothing newer.
        """
        node, store = self.node, self.node.store
        self.step("asking for news")
        tip = self.transport.refresh()
        if before is not None and before.tip == tip:
            return before
        whole = self._is_time_to_read_all() or restored.reason(store.db) is not None
        lane = check_chain(node, self.transport, whole=whole)
        mark_published(store, already_there(store.db, lane.present))
        self._read_back = published_head(store.db, node.me) if not lane.lacking else min(lane.lacking) - 1
        pulled = _Pulled(tip, lane.lacking, settled=True)
        known = node.team
        unchanged = tip == get(store.db, Meta.TIP) and not whole and not self.asked
        if unchanged and (known is None or not is_stale(store.db, known.view)):
            return pulled
        self.step("reading what teammates published")
        verifier = Verifier(store, node.me, node.reader, self.asked)
        pull = self.transport.pull(verifier.marks(whole=whole))
        verified = verifier.verify(pull, node.wall())
        team, shown = node.team, set[str]()
        if team is not None:
            shown = keep_acks(node, team, self.transport.acks(team.view.members.keys()))
            make_firm(node, team)
            note_new_readers(node, team)
        self.step("applying")
        applied = Applier(node, self._applying).apply(verified)
        report.applied += applied.applied
        report.refused += applied.refused
        report.more = pull.report.more or applied.more
        if team is not None:
            note_unacknowledged(node, team, shown)
        note_skipped(node, team, pull.report.skipped)
        note_arrived(node, verified.missing_heads)
        if not pull.report.more:
            note_withheld(node, verified, arriving(node))
            pulled.whole = whole
        pulled.settled = not (applied.held or pull.report.more)
        return pulled

    def _send(self, report: Report, pulled: "_Pulled") -> None:
        """The second half: sign what waits, publish what is signed, acknowledge what was committed."""
        node, store = self.node, self.node.store
        team = node.team
        judge(node)
        report.paused = self._may_sign()
        acks = None
        if report.paused is None and team is not None:
            self.step("signing")
            admit_invited(node, team)
            team = node.team or team
            # Also of a replica that has left itself: what it signed goes out, but to nobody who is not there.
            withdraw_from_leavers(store, node.me, team)
            if team.ready(node.me):
                # Before the mail: who it goes to, and whose it is, teammates compute from this.
                waited = len(documents.waiting(store.db))
                sign_shared(node, team)
                report.more |= 0 < len(documents.waiting(store.db)) < waited
                if self.running is not None:
                    sign_presence(node, team, beginning=self.running)
                    self.running = False
                announce_capabilities(node, team)
                hand_on_held(node, team)
                sign_outbox(node, team)
            remember_signing(node)
            if node.me in team.view.members:  # before that, nothing but its key is anybody's business (4.5)
                acks = acks_to_publish(node, team, get(store.db, Meta.ACKS))
        lines = [] if report.paused else unpublished_lines(store, node.me, pulled.lacking)
        if acks is not None and not lines and self._acks_may_wait():
            acks = None
        if lines or acks is not None:
            self.step("publishing")
            try:
                self.transport.publish(node.me, [line for _, line in lines], acks=acks)
            except Behind:
                if lines:
                    raise
                acks, pulled.settled = None, False  # by themselves they are not worth a race
            mark_published(store, [seq for seq, _ in lines])
            report.published += len(lines)
            self._see(lines)
        link = remembered(store.db)
        with store.transaction(CommitPoint.SYNCED) as db:
            if acks is not None:
                put(db, Meta.ACKS, published_text(acks))
                put(db, Meta.ACKED_AT, str(node.wall()))
            put(db, Meta.TIP, pulled.tip if pulled.settled else None)
            put(db, Meta.SYNCED_AT, node.now())
            # What a paused replica found missing in its lane, only another reading of all of it finds again.
            if pulled.whole and not (report.paused and pulled.lacking):
                put(db, Meta.READ_ALL_AT, str(node.wall()))
            if link is not None:
                note_visit(db, link, at=node.now(), read_back=self._read_back)

    def _see(self, lines: Sequence[tuple[int, bytes]]) -> None:
        """See which of the own ops that the main transport took it shows: it has what can be read back there."""
        if not lines:
            return
        first, _ = lines[0]
        reads = (read_line(line.raw) for line in self.transport.lane(self.node.me, first))
        shown = {read.hash for read in reads if isinstance(read, Unverified)}
        lost = [seq for seq, _ in lines if ops.hash_at(self.node.store.db, self.node.me, seq) not in shown]
        self._read_back = published_head(self.node.store.db, self.node.me) if not lost else lost[0] - 1

    def _acks_may_wait(self) -> bool:
        """Whether acknowledgements alone can go out with what a later pass publishes."""
        acked_at = int(get(self.node.store.db, Meta.ACKED_AT) or 0)
        return self.running is not None and 0 <= self.node.wall() - acked_at < ACKS_MS

    def _applying(self, done: int, total: int) -> None:
        self.step(f"applying {done} of {total}")

    def _is_time_to_read_all(self) -> bool:
        """Whether what is on the far side below the known heads is to be looked at again."""
        return abs(self.node.wall() - int(get(self.node.store.db, Meta.READ_ALL_AT) or 0)) >= WHOLE_MS

    def _may_sign(self, *, raising: bool = False) -> str | None:
        """Why nothing may be signed now, or None. With `raising`, that is a DmpError `conflict`."""
        reason = pause_reason(self.node)
        if reason is not None and raising:
            raise DmpError(Code.CONFLICT, reason)
        return reason

    def _pauses(self) -> Iterator[float]:
        """Growing pauses in seconds, each with jitter so that two replicas do not meet again and again."""
        pause = _FIRST_PAUSE
        while True:
            yield pause * (0.5 + self.jitter.random())
            pause = min(_LONGEST_PAUSE, pause * 2)


@dataclass(slots=True)
class _Pulled:
    """Where the first half of a pass left off: the tip it saw, own ops the far side lacks, whether everything it
    holds was dealt with, and whether all of that was read from its start."""

    tip: str
    lacking: Sequence[int]
    settled: bool
    whole: bool = False


class _NothingSaid(Exception):  # noqa: N818 - it carries one past where a publish that failed is tried again
    """What was to be said could not be, for a reason that lies elsewhere than in this pass."""

    def __init__(self, error: TransportError) -> None:
        super().__init__(error)
        self.error = error


def waiting_to_publish(node: Node) -> int:
    """How much of this replica's own is still to be signed or published."""
    db = node.store.db
    (unpublished,) = db.execute("SELECT count(*) FROM unpublished").fetchone()
    return (
        outbox.waiting(db) + int(unpublished) + len(documents.waiting(db)) + len(memory_changes.waiting(db))
    )


def make_firm(node: Node, team: Team) -> None:
    """Being admitted under the founding makes it certain (4.5)."""
    if not team.firm and node.me in team.view.members:
        with node.store.transaction(CommitPoint.PINNED) as db:
            put(db, Meta.FIRM, "1")


def note_skipped(node: Node, team: Team | None, skipped: Sequence[Skipped]) -> None:
    """Record what on the far side was passed over: junk in a lane is somebody's, and people should know.

    Strangers' lanes, of which anybody could make thousands, are one problem together.
    """
    known = [
        each for each in skipped if each.replica == node.me or (team is not None and team.knows(each.replica))
    ]
    noted = [
        problems.Problem(
            subjects.TRANSPORT.of(each.place),
            f"{each.count} line(s) of {each.place} were passed over from line {each.line} on: {each.reason}",
            each.replica,
            None,
            node.now(),
        )
        for each in known
    ]
    if len(known) < len(skipped):
        text = "there are lanes of replicas that are not in the team, with lines that were passed over"
        noted.append(problems.Problem(subjects.TRANSPORT.of("strangers"), text, None, None, node.now()))
    if noted:
        with node.store.transaction(CommitPoint.PROBLEM) as db:
            for each in noted:
                problems.note(db, each)
