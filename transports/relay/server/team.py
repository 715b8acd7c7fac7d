"""One team as a relay knows it: its lanes, its roster, who is connected, and who may see what (wire 7.5-7.7).

The roster is the fold that replicas use, but a relay's never pauses. A relay knows one key for an id, that of
the first key op that was stored for it.
"""

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

PRUNE_OPS: Final = 10_000
"""Ops of one lane that are looked at for what a revocation leaves nobody to wait for."""


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


@dataclass(slots=True)
class Team:
    """A team that somebody is connected to."""

    id: str
    found: str
    created_ms: int
    roster: GrowingRoster
    lanes: dict[str, Lane]
    acks: dict[str, dict[str, int]]
    founding: tuple[str, int]
    """Replica and seq of the op that founded it."""
    sessions: "dict[str, Session]" = field(default_factory=dict)
    others: "set[Session]" = field(default_factory=set)
    """Connections that are no member's: not known yet, or of machines that wait to be admitted."""
    busy: set[str] = field(default_factory=set)
    """Lanes to which a publication is on its way to the disk."""
    buckets: dict[str, Bucket] = field(default_factory=dict)
    history: dict[str, int] = field(default_factory=dict)
    """Ops of each replica that were let through as the upload of its history."""
    moved_in: MovedIn | None = None
    presence_due: bool = False
    left_ms: int = 0
    """When the last connection ended."""

    @property
    def view(self) -> View:
        """The roster now."""
        return self.roster.view

    @property
    def in_use(self) -> bool:
        return bool(self.sessions or self.others or self.busy)

    # Who somebody is

    def is_member(self, replica: str) -> bool:
        return self.view.is_member(replica)

    def is_revoked(self, replica: str) -> bool:
        return replica in self.view.revoked and not self.view.is_member(replica)

    def admits(self, replica: str, key: KeyBody) -> bool:
        """Whether an op that is here already lets this key in, once it is announced."""
        named = any(
            isinstance(op.body, Admit)
            and op.body.replica == replica
            and op.body.fingerprint == key.fingerprint
            for op in self.roster.ops
        )
        if not named or replica in self.lanes:
            return False
        keys = {lane.replica: lane.key for lane in self.lanes.values()} | {replica: key}
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

    # What is exempt from the rate limit

    def is_history(self, replica: str, seq: int, clock: Reading) -> bool:
        """Whether an op is from before the team came to this relay (wire 7.11).

        While the op that moves it has not been uploaded yet, the time at which it was registered stands for it.
        """
        moved = self.moved_in
        if moved is None:
            return clock.ms < self.created_ms
        return seq < moved.seq if replica == moved.replica else clock.key < moved.clock

    # What may be pruned

    def note_acks(self, store: Store, reader: str, through: Mapping[str, int]) -> list[Acks | Prune]:
        """Note how far a reader holds the lanes of others; return what is to be written."""
        held = self.acks.setdefault(reader, {})
        risen = {
            publisher: seq
            for publisher, seq in through.items()
            if publisher in self.lanes and seq > held.get(publisher, 0)
        }
        if not risen:
            return []
        before = {publisher: held.get(publisher, 0) for publisher in risen}
        held.update(risen)
        changes: list[Acks | Prune] = [Acks(self.id, reader, risen)]
        for publisher, seq in risen.items():
            changes += self._unneeded(store, publisher, before[publisher], seq, reader)
        return changes

    def forget(self, store: Store, gone: str) -> list[Prune]:
        """Return what nobody waits for any more now that a replica is revoked."""
        return [
            prune
            for lane in self.lanes.values()
            if lane.head is not None
            for prune in self._unneeded(store, lane.replica, 0, lane.head.seq, gone)
        ]

    def _unneeded(self, store: Store, publisher: str, low: int, high: int, reader: str) -> list[Prune]:
        seqs = [
            seq
            for seq, hlc, to in store.unpruned(self.id, publisher, low, high)
            if reader in to and all(self._has_acked(each, publisher, seq, hlc) for each in to)
        ]
        return [Prune(self.id, publisher, seqs[:PRUNE_OPS])] if seqs else []

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
        self.roster.announce(replica, key)
        return lane

    def add(self, ops: Iterable[RosterOp]) -> set[str]:
        """Take in roster ops that were stored; return the replicas they revoke."""
        before = set(self.view.revoked)
        for op in ops:
            self.roster.add(op)
        self.moved_in = _moved_in(self.roster)
        return set(self.view.revoked) - before


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
    team = Team(
        stored.team, stored.found, stored.created_ms, roster, lanes, acks, (founding.replica, founding.seq)
    )
    team.moved_in = _moved_in(roster)
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
