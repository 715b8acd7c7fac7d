"""One team as a relay knows it: its lanes, its roster, who is connected, and who may see what (wire 7.5-7.7).

The roster is the fold that replicas use, but a relay's never pauses. A relay knows one key for an id, that of
the first key op that was stored for it. What was stored and what the roster comes to are apart, since a hostile
team's roster may take long to fold, which nobody else is to wait for.
"""

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Final

from crypto.canonical import parse
from crypto.chain import Head
from crypto.clock import Reading
from crypto.keys import KeyBody, parse_key_body
from crypto.op import Op, OpError, read_entry
from crypto.roster import GrowingRoster, RosterOp, View, fold
from crypto.roster.bodies import Admit, Found, SetTransport, TransportKind
from crypto.roster.view import Invite
from transports.relay.server.limits import Bucket
from transports.relay.server.store import Acks, Prune, Read, Store, StoredTeam

if TYPE_CHECKING:
    from transports.relay.server.session import Session

PRUNE_OPS: Final = 2_000
"""Sealed ops that are looked at because of one acknowledgement or one revocation; others are kept for 30 days."""

ACK_PAIRS: Final = 500_000
"""Of how many pairs of a reader and a publisher it is known what the one holds of the other, in one team."""


@dataclass(slots=True)
class Lane:
    """What is stored of one replica."""

    replica: str
    key: KeyBody
    head: Head | None = None


@dataclass(frozen=True, slots=True)
class MovedIn:
    """The accepted op that moved the team to a relay: what came before it may be uploaded at any rate."""

    replica: str
    seq: int
    clock: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Folded:
    """What a roster comes to."""

    view: View
    moved_in: MovedIn | None


@dataclass(slots=True, eq=False)
class Team:
    """A team that somebody is connected to. Its `roster` is for `fold` and `would_admit`, one at a time, alone."""

    id: str
    found: str
    created_ms: int
    roster: GrowingRoster
    lanes: dict[str, Lane]
    acks: dict[str, dict[str, int]]
    founding: tuple[str, int]
    """Replica and seq of the op that founded it."""
    folded: Folded
    """What the roster came to when it was last folded."""
    admitted: set[tuple[str, str]] = field(default_factory=set)
    """The replicas that some op admits, each with the fingerprint it names."""
    roster_ops: int = 0
    fresh: "deque[RosterOp | tuple[str, KeyBody]]" = field(default_factory=deque)
    """Roster ops and keys that were stored and are not folded yet."""
    folding: bool = False
    """Whether the roster is to be folded."""
    fold_seconds: float = 0.0
    """How long the last fold took."""
    sessions: "dict[str, Session]" = field(default_factory=dict)
    others: "set[Session]" = field(default_factory=set)
    """Connections that are no member's: not known yet, or of machines that wait to be admitted."""
    busy: set[str] = field(default_factory=set)
    """Lanes to which a publication is on its way to the disk."""
    buckets: dict[str, Bucket] = field(default_factory=dict)
    history: dict[str, int] = field(default_factory=dict)
    """Ops of each replica that were let through as the upload of its history."""
    ack_pairs: int = 0
    used: int = 0
    """The bytes that its ops take, or took before some were pruned."""
    free_at: float = 0.0
    """When the time is over that its last heavy requests have used up."""
    waiting_bytes: int = 0
    """The bytes of its requests that wait for the disk."""
    presence_due: bool = False
    left_ms: int = 0
    """When the last connection ended."""

    @property
    def view(self) -> View:
        """The roster, but for what is not folded yet."""
        return self.folded.view

    @property
    def in_use(self) -> bool:
        return bool(self.sessions or self.others or self.busy or self.folding)

    # Who somebody is

    def is_member(self, replica: str) -> bool:
        return self.view.is_member(replica)

    def is_revoked(self, replica: str) -> bool:
        return replica in self.view.revoked and not self.view.is_member(replica)

    def may_admit(self, replica: str, key: KeyBody) -> bool:
        """Whether an op that is here says that it lets this key in, which has not been announced."""
        return (replica, key.fingerprint) in self.admitted and replica not in self.lanes

    def would_admit(self, replica: str, key: KeyBody) -> bool:
        """Whether the roster lets this key in once it is announced. For any thread."""
        keys = {lane.replica: lane.key for lane in list(self.lanes.values())} | {replica: key}
        return fold(self.found, self.roster.ops, keys, relay=True).is_member(replica)

    def open_invite(self, replica: str, key: KeyBody, now_ms: int) -> Invite | None:
        """The invite that a key proves to have been given, if it has neither expired nor let somebody in."""
        view = self.view
        invite = view.invited_by(replica, key)
        if invite is None or _expired(invite.expires, now_ms):
            return None
        for other in (*view.members, *view.revoked):
            lane = self.lanes.get(other)
            if other == replica or lane is None or lane.key.invite is None or lane.key.invite.id != invite.id:
                continue
            spent = view.invited_by(other, lane.key)
            if spent is not None and spent.id == invite.id:
                return None
        return invite

    def invited(self, now_ms: int) -> int:
        """How many machines wait that may still be admitted: of an invite that was stolen and is over, none do."""
        lanes = (self.lanes.get(each) for each in self.view.pending)
        return sum(
            lane is not None and self.open_invite(lane.replica, lane.key, now_ms) is not None
            for lane in lanes
        )

    # What is exempt from the rate limit

    def is_history(self, replica: str, seq: int, clock: Reading) -> bool:
        """Whether an op is from before the team came to this relay (wire 7.11).

        While the op that moves it has not been uploaded yet, the time at which it was registered stands for it.
        """
        moved = self.folded.moved_in
        if moved is None:
            return clock.ms < self.created_ms
        return seq < moved.seq if replica == moved.replica else clock.key < moved.clock

    # What may be pruned

    def note_acks(self, store: Store, reader: str, through: Mapping[str, int]) -> list[Acks | Prune]:
        """Note how far a reader holds the lanes of others; return what is to be written.

        One acknowledgement looks at a bounded number of ops, and counts as far as it came: a later one goes on there.
        """
        held = self.acks.setdefault(reader, {})
        risen: dict[str, int] = {}
        prunes: list[Prune] = []
        left = PRUNE_OPS
        for publisher, seq in through.items():
            low = held.get(publisher, 0)
            if publisher not in self.lanes or seq <= low or left <= 0:
                continue
            if publisher not in held:
                if self.ack_pairs >= ACK_PAIRS:
                    continue
                self.ack_pairs += 1
            sealed = list(store.unpruned(self.id, publisher, low, seq, left))
            left -= len(sealed)
            risen[publisher] = held[publisher] = seq if left > 0 else sealed[-1][0]
            prunes += self._unneeded(publisher, sealed, reader)
        return [Acks(self.id, reader, risen), *prunes] if risen else []

    def forget(self, store: Store, gone: str) -> list[Prune]:
        """Return what nobody waits for any more now that a replica is revoked, or the first of much of that."""
        prunes: list[Prune] = []
        left = PRUNE_OPS
        for lane in self.lanes.values():
            if lane.head is not None and left > 0:
                sealed = list(store.unpruned(self.id, lane.replica, 0, lane.head.seq, left))
                left -= len(sealed)
                prunes += self._unneeded(lane.replica, sealed, gone)
        return prunes

    def _unneeded(
        self, publisher: str, sealed: Iterable[tuple[int, str, tuple[str, ...]]], reader: str
    ) -> list[Prune]:
        seqs = [
            seq
            for seq, hlc, to in sealed
            if reader in to and all(self._has_acked(each, publisher, seq, hlc) for each in to)
        ]
        return [Prune(self.id, publisher, seqs)] if seqs else []

    def _has_acked(self, reader: str, publisher: str, seq: int, hlc: str) -> bool:
        """Whether nobody waits for an op on account of a reader (wire 7.7).

        One that is not admitted counts as having it, but for ops from before the team came here: whoever admitted
        it may not have uploaded that yet.
        """
        if self.acks.get(reader, {}).get(publisher, 0) >= seq or reader == publisher:
            return True
        if self.is_member(reader):
            return False
        return self.is_revoked(reader) or not self.is_history(publisher, seq, Reading.parse(hlc))

    # What was stored

    def announce(self, replica: str, key: KeyBody) -> Lane:
        """Begin a lane, whose key op was stored."""
        lane = self.lanes.get(replica)
        if lane is None:
            lane = self.lanes[replica] = Lane(replica, key)
            self.fresh.append((replica, key))
        return lane

    def add(self, ops: Iterable[RosterOp]) -> None:
        """Take in roster ops that were stored."""
        for op in ops:
            self.fresh.append(op)
            self.note(op)

    def note(self, op: RosterOp) -> None:
        """Count a roster op, and note whom it admits."""
        self.roster_ops += 1
        if isinstance(op.body, Admit):
            self.admitted.add((op.body.replica, op.body.fingerprint))

    def fold(self) -> Folded:
        """Fold what is fresh into the roster, and return what it comes to. For any thread."""
        while self.fresh:
            match self.fresh.popleft():
                case RosterOp() as op:
                    self.roster.add(op)
                case replica, key:
                    self.roster.announce(replica, key)
        return Folded(self.roster.view, _moved_in(self.roster))

    def follow(self, folded: Folded) -> set[str]:
        """Go by what the roster comes to; return the replicas that are revoked since."""
        before, self.folded = self.folded, folded
        return set(folded.view.revoked) - set(before.view.revoked)


def load(stored: StoredTeam) -> Team:
    """Make a team of what is stored of it."""
    lanes: dict[str, Lane] = {}
    ops: list[RosterOp] = []
    for each in stored.lanes:
        key = key_of(each.key_op)
        lanes[each.replica] = Lane(each.replica, key, each.head)
        ops += [_roster_op(line, key.fingerprint) for line in each.roster]
    claims = {lane.replica: {lane.key.fingerprint: lane.key} for lane in lanes.values()}
    roster = GrowingRoster(stored.found, ops, claims, relay=True)
    founding = next(op for op in ops if op.hash == stored.found and isinstance(op.body, Found))
    acks = {reader: dict(through) for reader, through in stored.acks.items()}
    folded = Folded(roster.view, _moved_in(roster))
    place = founding.replica, founding.seq
    team = Team(
        stored.team, stored.found, stored.created_ms, roster, lanes, acks, place, folded, used=stored.used
    )
    team.ack_pairs = sum(map(len, acks.values()))
    for op in ops:
        team.note(op)
    return team


def key_of(line: str) -> KeyBody:
    """Return the key that a stored key op announces."""
    value = parse(line).value
    assert isinstance(value, dict)
    return parse_key_body(value.get("body"))


def _roster_op(line: str, fingerprint: str) -> RosterOp:
    op = read_entry(line.encode())
    if not isinstance(op, Op):
        raise OpError("a stored roster op has no content")
    return RosterOp.of(op, fingerprint)


def _moved_in(roster: GrowingRoster) -> MovedIn | None:
    ignored = roster.view.ignored
    moves = [
        op
        for op in roster.ops
        if isinstance(op.body, SetTransport)
        and op.body.kind is TransportKind.RELAY
        and op.hash not in ignored
    ]
    last = max(moves, key=lambda op: op.position, default=None)
    return None if last is None else MovedIn(last.replica, last.seq, last.hlc.key)


def _expired(expires: str, now_ms: int) -> bool:
    try:
        until = datetime.fromisoformat(expires)
    except ValueError:
        return True
    return until.tzinfo is None or until.timestamp() * 1000 <= now_ms


def seen(op: Read, publisher: str, reader: str) -> str:
    """What a reader sees of an op: sealed content only where it is sealed to the reader, or its own."""
    whole = op.to is None or reader in op.to or reader == publisher
    return (op.line if whole else op.stub) or op.stub or ""
