"""The relay without its sockets: teams, their connections, and the one way to the disk.

`connect` gives a Session, whose `receive` takes frames. What is to be written waits in a queue. `take` makes a
batch of it; `examining` verifies that op by op; what it `writes` goes to the store in one transaction, in any thread;
`finish` tells everybody. `work` does all of that at once.
"""

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import Final, Protocol, TypeVar

from crypto.chain import Head
from transports.relay import frames
from transports.relay.frames import Carried, RequestId, Why
from transports.relay.server.limits import Bucket, Windows
from transports.relay.server.publication import NOT_AHEAD, Examined, PublicationError, Sound, examining
from transports.relay.server.session import Session, State
from transports.relay.server.settings import MINUTE_MS, Settings
from transports.relay.server.store import Append, Change, Read, Store, StoredTeam
from transports.relay.server.team import Folded, Team, load, seen

BATCH_OPS: Final = 2_000
"""Ops that are written in one transaction, about."""

HINT_OPS: Final = 200
HINT_BYTES: Final = 256 * 1024
"""What a hint carries at most; where more was stored it is empty."""

IDLE_MS: Final = 10 * MINUTE_MS
"""How long a team that nobody is connected to stays in memory."""

EXPIRE_OPS: Final = 500

MIB: Final = 1024**2
QUEUED_BYTES: Final = 32 * MIB
QUEUED_TEAM_BYTES: Final = 8 * MIB
"""Requests that wait for the disk before no frame of any client is taken, and those of a team before none of its is."""

MEASURED_MS: Final = 10_000
"""How often it is looked at, where there is no room, whether there is some by now."""

T = TypeVar("T")


class UnknownTeamError(Exception):
    """No such team is registered here."""


class Fold(Protocol):
    """Calls `then` with what `work` returns. `work` may run in any thread, one of a team at a time."""

    def __call__(self, team: Team, work: Callable[[], T], then: Callable[[T], None], /) -> None: ...


def fold_at_once(_team: Team, work: Callable[[], T], then: Callable[[T], None]) -> None:
    """Fold where it is asked for."""
    then(work())


class Tally(Protocol):
    """Counts what happens, for whoever watches a relay."""

    def __call__(self, what: str, label: str = "", amount: int = 1) -> None: ...


def untold(what: str, label: str = "", amount: int = 1) -> None:
    """Counts nothing."""


@dataclass(slots=True, eq=False)
class Publication:
    """A publication on its way to the disk, and what was found about it."""

    session: Session
    request: RequestId
    size: int
    ops: Sequence[Carried]
    known: Mapping[int, str] = field(default_factory=dict)
    ahead: dict[int, Sound] = field(default_factory=dict)
    """What was found out about its ops ahead, the first being 0."""
    found: Examined | None = None
    error: PublicationError | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Acknowledgement:
    """Acknowledgements on their way to the disk."""

    session: Session
    request: RequestId
    size: int
    through: Mapping[str, int]


@dataclass(slots=True)
class Batch:
    """What goes to the disk together."""

    publications: list[Publication] = field(default_factory=list)
    acknowledgements: list[Acknowledgement] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)
    """What is written besides the publications."""
    ops: int = 0
    """How many its publications have."""

    def add(self, publication: Publication) -> None:
        """Let a publication be part of it."""
        self.publications.append(publication)
        self.ops += len(publication.ops)

    def fresh(self) -> Iterator[tuple[Publication, int]]:
        """Give the publications and the numbers of their ops that may be looked at ahead: what is new in its lane."""
        for each in self.publications:
            lane = each.session.team.lanes.get(each.session.replica)
            if lane is None or lane.head is None:
                continue
            for number, op in enumerate(each.ops):
                if _seq(op) > lane.head.seq and _type(op) not in NOT_AHEAD:
                    yield each, number

    def examining(self) -> Iterator[None]:
        """Verify the publications, each on top of those of its lane before it, and pause before each op."""
        heads: dict[tuple[str, str], Head | None] = {}
        hashes: dict[tuple[str, str], dict[int, str]] = {}
        for each in self.publications:
            session = each.session
            lane = session.team.lanes.get(session.replica)
            place = session.team.id, session.replica
            head = heads.get(place, None if lane is None else lane.head)
            known = {**each.known, **hashes.get(place, {})}
            try:
                each.found = yield from examining(
                    session.replica, head, session.key, each.ops, known, each.ahead
                )
            except PublicationError as error:
                each.error = error
            else:
                heads[place] = each.found.head
                hashes.setdefault(place, {}).update((row.seq, row.hash) for row in each.found.rows)

    def examine(self) -> None:
        """Verify them all at once."""
        for _ in self.examining():
            pass

    def writes(self) -> list[Change]:
        """Everything that is to be written."""
        appended: list[Change] = [
            Append(each.session.team.id, each.session.replica, each.found.rows)
            for each in self.publications
            if each.found is not None and each.found.rows
        ]
        return appended + self.changes


class Relay:
    """A relay."""

    def __init__(
        self,
        settings: Settings,
        store: Store,
        *,
        now: Callable[[], int],
        random: Callable[[int], bytes],
        tally: Tally = untold,
    ) -> None:
        """`now` gives the time in milliseconds since 1970, `random` as many random bytes as it is asked for."""
        self.settings = settings
        self.store = store
        self.now = now
        self.random = random
        self.tally = tally
        self.teams: dict[str, Team] = {}
        self.sessions: set[Session] = set()
        self.fold: Fold = fold_at_once
        self.has_work: Callable[[], None] = lambda: None
        """Called when something waits for `take`."""
        self._queue: deque[Publication | Acknowledgement] = deque()
        self._queued_bytes = 0
        self._held_back: set[Session] = set()
        self._later: list[Change] = []
        self.used = store.used()
        """The bytes that all ops take, or took before some were pruned."""
        self._measured_ms = 0
        self._pending_team = Windows(settings.pending_per_team, MINUTE_MS)
        self._pending_source = Windows(settings.pending_per_source, MINUTE_MS)

    # Connections

    def team(self, team_id: str) -> Team:
        """Return a team, read from the store if need be. Raises UnknownTeamError."""
        team = self.teams.get(team_id)
        if team is None:
            team = self.teams[team_id] = self.read(self.store.load(team_id))
        return team

    def read(self, stored: StoredTeam | None) -> Team:
        """Make a team of what is stored of it, in any thread. Raises UnknownTeamError."""
        if stored is None:
            raise UnknownTeamError
        team = load(stored)
        team.left_ms = self.now()
        return team

    def connect(
        self,
        team_id: str,
        source: str,
        woken: Callable[[], None] = lambda: None,
        say: Callable[[str], bool] = lambda _: False,
    ) -> Session:
        """Begin a connection of somebody at a network address. Raises UnknownTeamError."""
        session = Session(self, self.team(team_id), source, woken, say)
        self.sessions.add(session)
        session.team.others.add(session)
        return session

    def may_ask(self, source: str) -> bool:
        """Whether one more machine that is not admitted may be looked at just now (wire 7.6)."""
        return self._pending_source.allow(source, self.now())

    def may_wait(self, team: Team, replica: str) -> bool:
        """Whether one more machine that an open invite lets in may wait to be admitted just now (wire 7.6)."""
        now = self.now()
        if not self._pending_team.allow(team.id, now):
            return False
        most = self.settings.max_pending
        return replica in team.lanes or len(team.view.pending) < most or team.invited(now) < most

    def lack_of_room(self, team: Team, size: int, *, admin: bool) -> str:
        """Why ops of so many bytes are not stored, empty where there is room for them."""
        lack = self._lack_of_room(team, size, admin=admin)
        if lack and self.now() - self._measured_ms >= MEASURED_MS:
            self._measured_ms = self.now()
            self.used, team.used = self.store.used(), self.store.used(team.id)
            lack = self._lack_of_room(team, size, admin=admin)
        return lack

    def _lack_of_room(self, team: Team, size: int, *, admin: bool) -> str:
        most = self.settings.max_team_bytes
        if team.used + size > (most + most // 8 if admin else most):
            return f"this team stores {most // MIB:,} MiB here, as much as it may"
        if self.used + size > self.settings.max_bytes:
            return "this relay is full"
        return ""

    def wait_for(self, team: Team, replica: str, ops: int) -> int:
        """Count ops against a replica's share of the minute; return for how long they are too many, 0 if not."""
        bucket = team.buckets.get(replica)
        if bucket is None:
            bucket = team.buckets[replica] = Bucket(self.settings.ops_per_minute, self.now())
        return bucket.take(ops, self.now())

    def entered(self, session: Session) -> None:
        """A client proved who it is."""
        self.tally("connected", "member" if session.is_member else "pending")
        if session.is_member:
            self._promote(session)
            session.outbox.presence(_presence(session.team))
        else:
            for other in list(session.team.others):
                if other is not session and other.replica == session.replica:
                    _replace(other)

    def left(self, session: Session) -> None:
        """A connection ended."""
        team = session.team
        self.sessions.discard(session)
        self._held_back.discard(session)
        team.others.discard(session)
        if team.sessions.get(session.replica) is session:
            del team.sessions[session.replica]
            team.presence_due = True
        team.left_ms = self.now()

    def _promote(self, session: Session) -> None:
        """Count a connection among those of members."""
        team = session.team
        other = team.sessions.get(session.replica)
        if other is not None and other is not session:
            _replace(other)
        for waiting in list(team.others):
            if waiting is not session and waiting.replica == session.replica:
                _replace(waiting)
        team.others.discard(session)
        team.sessions[session.replica] = session
        team.presence_due = True

    # Requests that are written

    def publish(self, session: Session, request: RequestId, ops: Sequence[Carried], size: int) -> None:
        """Queue a publication, whose frame has so many bytes."""
        self._enqueue(Publication(session, request, size, ops))

    def acknowledge(
        self, session: Session, request: RequestId, through: Mapping[str, int], size: int
    ) -> None:
        """Queue acknowledgements, whose frame has so many bytes."""
        self._enqueue(Acknowledgement(session, request, size, through))

    def holds_back(self, session: Session) -> bool:
        """Whether a client's next frame is to be taken later, since too much waits; it is woken when less does."""
        if self._queued_bytes < QUEUED_BYTES and session.team.waiting_bytes < QUEUED_TEAM_BYTES:
            return False
        self._held_back.add(session)
        return True

    def _enqueue(self, each: Publication | Acknowledgement) -> None:
        self._count(each, 1)
        self._queue.append(each)
        self.has_work()

    def _count(self, each: Publication | Acknowledgement, sign: int) -> None:
        """Count a request among those that wait for the disk, or no more."""
        size = sign * each.size
        each.session.waiting += sign
        each.session.waiting_bytes += size
        each.session.team.waiting_bytes += size
        self._queued_bytes += size

    def _release(self) -> None:
        """Let those go on who were held back."""
        held, self._held_back = self._held_back, set()
        for session in held:
            session.woken()

    def work(self) -> None:
        """Verify, write and tell everything that waits."""
        while (batch := self.take()) is not None:
            batch.examine()
            self.store.write(batch.writes(), self.now())
            self.finish(batch)

    def take(self) -> Batch | None:
        """Make a batch of what waits, None where nothing can be written now."""
        batch = Batch(changes=self._later)
        self._later = []
        waits: deque[Publication | Acknowledgement] = deque()
        mine: set[tuple[str, str]] = set()
        while self._queue and batch.ops < BATCH_OPS:
            each = self._queue.popleft()
            if isinstance(each, Acknowledgement):
                batch.acknowledgements.append(each)
                batch.changes += each.session.team.note_acks(self.store, each.session.replica, each.through)
                continue
            team, replica = each.session.team, each.session.replica
            lane = team.lanes.get(replica)
            if replica in team.busy and (team.id, replica) not in mine:
                waits.append(each)
                continue
            team.busy.add(replica)
            if lane is not None:
                each.known = self._known(team, replica, 0 if lane.head is None else lane.head.seq, each.ops)
            mine.add((team.id, replica))
            batch.add(each)
        self._queue.extendleft(reversed(waits))
        if batch.publications or batch.acknowledgements or batch.changes:
            return batch
        return None

    def _known(self, team: Team, replica: str, head: int, ops: Sequence[Carried]) -> Mapping[int, str]:
        seqs = [seq for op in ops if 0 < (seq := _seq(op)) <= head]
        return self.store.hashes(team.id, replica, min(seqs), max(seqs)) if seqs else {}

    def finish(self, batch: Batch) -> None:
        """Take in what was written, answer those who asked for it, and hint at it to the others."""
        for acknowledgement in batch.acknowledgements:
            self._count(acknowledgement, -1)
            acknowledgement.session.answer(frames.Acknowledged(acknowledgement.request))
        news: dict[str, list[Publication]] = {}
        for each in batch.publications:
            self._settle(each)
            if each.found is not None and each.found.rows:
                news.setdefault(each.session.team.id, []).append(each)
        for publications in news.values():
            self._pass_on(publications[0].session.team, publications)
        self._release()

    def fail(self, batch: Batch) -> None:
        """Tell those who asked that nothing of a batch was written."""
        text = "the relay could not write to its disk; nothing was stored, try again later"
        for acknowledgement in batch.acknowledgements:
            self._count(acknowledgement, -1)
            acknowledgement.session.answer(frames.Error(acknowledgement.request, Why.FAILED.reason(text)))
        for each in batch.publications:
            each.found, each.error = None, PublicationError(Why.FAILED, text)
            self._settle(each)
        for team in {each.session.team.id for each in batch.acknowledgements}:
            stored = self.store.load(team)
            if stored is not None and team in self.teams:
                self.teams[team].acks = {reader: dict(each) for reader, each in stored.acks.items()}
        self._release()

    def _settle(self, each: Publication) -> None:
        """Take in one publication, and answer it."""
        session, found = each.session, each.found
        self._count(each, -1)
        lane = session.team.lanes.get(session.replica)
        session.team.busy.discard(session.replica)
        if found is None:
            assert each.error is not None
            self.tally("errors", each.error.why.value)
            session.answer(frames.Error(each.request, each.error.reason))
            return
        if found.rows:
            if lane is None:
                lane = session.team.announce(session.replica, session.key)
            lane.head = found.head
            size = sum([row.size for row in found.rows])
            session.team.used += size
            self.used += size
        self.tally("stored", "", len(found.rows))
        if found.repeated:
            self.tally("repeated", "", found.repeated)
        through = _seq(each.ops[-1]) if each.ops else 0
        session.answer(frames.Stored(each.request, through))

    def _pass_on(self, team: Team, publications: Sequence[Publication]) -> None:
        """Tell the others of a team what was stored, and do what its roster ops say."""
        roster = [op for each in publications if each.found is not None for op in each.found.roster]
        if roster or any(each.found is not None and each.found.key_op for each in publications):
            team.add(roster)
            self._fold(team)
        rows = [
            (each.session.replica, Read(row.seq, row.to, row.line, row.stub))
            for each in publications
            if each.found is not None
            for row in each.found.rows
        ]
        if len(rows) > HINT_OPS or sum(each.size for each in publications) > HINT_BYTES:
            for session in list(team.sessions.values()):
                session.outbox.pull()
                session.woken()
            return
        texts: dict[tuple[str, ...], str] = {}
        for session in list(team.sessions.values()):
            reader = session.replica
            theirs = tuple([seen(row, publisher, reader) for publisher, row in rows if publisher != reader])
            if theirs:
                text = texts.get(theirs)
                if text is None:
                    text = texts[theirs] = frames.hint(theirs)
                session.hint(text)
        self.tally("hints", "", len(team.sessions))

    def _fold(self, team: Team) -> None:
        if not team.folding:
            team.folding = True
            self.fold(team, team.fold, partial(self._folded, team))

    def _folded(self, team: Team, folded: Folded) -> None:
        team.folding = False
        self._follow_roster(team, team.follow(folded))
        if team.fresh:
            self._fold(team)

    def _follow_roster(self, team: Team, revoked: set[str]) -> None:
        for session in [*team.sessions.values(), *team.others]:
            if session.replica in team.lanes and not team.fresh:
                session.expected = False  # what the roster says of it, it says now
            if session.state is not State.READY:
                continue
            if team.is_revoked(session.replica):
                session.end(Why.REVOKED, "the team has revoked this replica")
            elif session.is_member and session in team.others:
                self._promote(session)
                session.outbox.presence(_presence(team))
                session.outbox.pull()
                session.woken()
        for replica in revoked:
            self._later += team.forget(self.store, replica)
        if self._later:
            self.has_work()

    # Time

    def tick(self) -> None:
        """Do what is due by now: call it once or twice a second."""
        now = self.now()
        for session in [each for each in self.sessions if each.state in (State.CHALLENGED, State.JUDGED)]:
            if now - session.opened_ms >= self.settings.auth_ms:
                session.end(Why.SLOW, f"nobody proved who they are within {self.settings.auth_ms // 1000} s")
        for team in list(self.teams.values()):
            if team.presence_due:
                team.presence_due = False
                text = _presence(team)
                for session in team.sessions.values():
                    session.outbox.presence(text)
                    session.woken()
            if not team.in_use and now - team.left_ms >= IDLE_MS:
                del self.teams[team.id]

    def expire(self) -> bool:
        """Prune some of what was kept for as long as it is (wire 7.7), in any thread; whether there is more."""
        return self.store.expire(self.now() - self.settings.retention_ms, EXPIRE_OPS) >= EXPIRE_OPS

    def close(self) -> None:
        """Tell everybody that the relay shuts down."""
        for session in list(self.sessions):
            session.end(Why.CLOSING, "the relay shuts down; connect again later")


def _replace(session: Session) -> None:
    session.end(Why.REPLACED, "another connection of this replica took the place of this one")


def _type(op: Carried) -> object:
    value = None if op.parsed is None else op.parsed.value
    return value.get("type") if isinstance(value, dict) else None


def _seq(op: Carried) -> int:
    value = None if op.parsed is None else op.parsed.value
    seq = value.get("seq") if isinstance(value, dict) else None
    return seq if type(seq) is int else 0


def _presence(team: Team) -> str:
    online = (
        frames.Online(
            session.replica,
            datetime.fromtimestamp(session.opened_ms / 1000, UTC)
            .isoformat(timespec="seconds")
            .replace("+00:00", "Z"),
        )
        for session in team.sessions.values()
    )
    return frames.write(frames.Presence(tuple(online)))
