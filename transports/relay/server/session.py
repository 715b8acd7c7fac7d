"""One connection of a client: who it is, what it may ask for, and what is told it (wire 7.2-7.7).

Frames go in by `receive`, and come out of `outbox`, some of them later: what is written to the disk is answered
once it is there. `woken` is called whenever there is something to send or the connection has ended. What need not
wait goes to `say`, which sends it at once, or returns False.
"""

from collections.abc import Callable, Iterator, Sequence
from enum import Enum, auto
from functools import partial
from typing import TYPE_CHECKING, Final

from crypto.chain import announced_key, is_signed, link_flaw
from crypto.clock import ClockError, Reading
from crypto.ed25519 import SIGNATURE_BYTES, verify
from crypto.encoding import EncodingError, b64u, unb64u
from crypto.keys import KeyBody, KeyBodyError, parse_key_body
from crypto.op import ABSENT, OpError, Unreadable, breach, read_parsed, tampering
from transports.relay import frames
from transports.relay.address import auth_message
from transports.relay.frames import Carried, Frame, FrameError, Why
from transports.relay.server.outbox import Outbox
from transports.relay.server.store import Read
from transports.relay.server.team import Lane, Team, seen

if TYPE_CHECKING:
    from transports.relay.server.relay import Relay

NONCE_BYTES: Final = 32
WAITING_REQUESTS: Final = 64
WAITING_BYTES: Final = frames.FRAME_BYTES
"""Requests of one connection that wait for the disk, and their bytes, before no more are read from it."""

ROSTER_OPS: Final = 10_000
"""Roster ops of one team at most: a fold takes the longer the more there are."""


class State(Enum):
    """How far a connection has come."""

    CHALLENGED = auto()
    JUDGED = auto()
    READY = auto()
    ENDED = auto()


class Session:
    """One connection."""

    def __init__(
        self, relay: "Relay", team: Team, source: str, woken: Callable[[], None], say: Callable[[str], bool]
    ) -> None:
        self.relay = relay
        self.team = team
        self.source = source
        self.woken = woken
        self.say = say
        self.outbox = Outbox(relay.settings.outbox_bytes)
        self.state = State.CHALLENGED
        self.opened_ms = relay.now()
        self.replica = ""
        self.why: Why | None = None
        """Why it ended, where the relay ended it."""
        self.waiting = 0
        self.waiting_bytes = 0
        self._key: KeyBody | None = None
        self.expected = False
        """Whether the roster lets it in once its key op is stored."""
        self._turn = 0
        self._nonce = b64u(relay.random(NONCE_BYTES))
        self._say(frames.Challenge(self._nonce))

    @property
    def busy(self) -> bool:
        """Whether no more should be read from this client for now."""
        full = self.waiting >= WAITING_REQUESTS or self.waiting_bytes >= WAITING_BYTES
        return self.state is State.JUDGED or (self.state is not State.ENDED and (full or self.outbox.full))

    @property
    def must_wait(self) -> bool:
        """Whether a frame of this client's is to be taken later: `woken` is called when it may be otherwise."""
        return self.state is State.READY and self.relay.holds_back(self)

    @property
    def is_member(self) -> bool:
        """Whether its replica is admitted, or will be by its key op."""
        return self.expected or self.team.is_member(self.replica)

    @property
    def key(self) -> KeyBody:
        """The key that it proved to hold."""
        assert self._key is not None
        return self._key

    # What it is told

    def end(self, why: Why, text: str) -> None:
        """Refuse the client with a reason, and end the connection once it was told."""
        if self.state is State.ENDED:
            return
        self.outbox.clear()
        self._say(frames.Refused(why.reason(text)))
        self.why = why
        self.relay.tally("refused", why.value)
        self.closed()

    def closed(self) -> None:
        """The connection is no more."""
        if self.state is not State.ENDED:
            self.state = State.ENDED
            self.relay.left(self)
            self.woken()

    def answer(self, frame: Frame) -> None:
        """Answer a request."""
        if self.state is not State.ENDED:
            self._say(frame)

    def hint(self, text: str) -> None:
        """Hint at what was stored."""
        if self.outbox.empty and self.say(text):
            return
        before = self.outbox.dropped
        self.outbox.hint(text)
        if self.outbox.dropped > before:
            self.relay.tally("hints_dropped", "", self.outbox.dropped - before)
        self.woken()

    def _say(self, frame: Frame) -> None:
        text = frames.write(frame)
        if not (self.outbox.empty and self.say(text)):
            self.outbox.answer(text)
            self.woken()

    def _refuse(self, request: frames.RequestId, why: Why, text: str) -> None:
        self.relay.tally("errors", why.value)
        self.answer(frames.Error(request, why.reason(text)))

    # What it says

    def receive(self, text: str) -> None:
        """Take one frame."""
        if self.state is State.ENDED:
            return
        self.relay.tally("frames")
        try:
            frame = frames.parse(text)
        except FrameError as error:
            self.end(Why.INVALID, f"that is no frame: {error}")
            return
        match frame:
            case frames.Auth() if self.state is State.CHALLENGED:
                self._authenticate(frame)
            case frames.Auth():
                self.end(Why.INVALID, "`auth` comes once")
            case frames.Publish() | frames.Pull() | frames.Ack() if self.state is State.CHALLENGED:
                self.end(Why.INVALID, "the first frame is `auth`")
            case frames.Publish(id_, ops):
                self._publish(id_, ops, len(text))
            case frames.Pull():
                self._pull(frame)
            case frames.Ack(id_, through):
                if not self.is_member:
                    self._refuse(id_, Why.PENDING, "only members acknowledge")
                else:
                    self.relay.acknowledge(self, id_, through, len(text))
            case _:
                pass  # of a later version, or not for a relay

    # Who it is

    def _authenticate(self, auth: frames.Auth) -> None:
        team, replica = self.team, auth.replica
        lane = team.lanes.get(replica)
        key = _key_in(auth) if lane is None else lane.key
        if team.is_revoked(replica):
            self.end(Why.REVOKED, "the team has revoked this replica")
        elif key is None:
            text = "send the own key op as `keyOp`, whole and signed" if auth.key_op else "send `keyOp`"
            self.end(Why.UNKNOWN, f"nothing of this replica is stored here: {text}")
        elif not self._proves(auth.sig, key):
            self.end(
                Why.UNPROVEN,
                f"the signature does not verify: it is made over {self.relay.settings.url}, the team and the "
                "nonce, with the key that is known here",
            )
        else:
            self.replica, self._key = replica, key
            if team.may_admit(replica, key):
                self.state = State.JUDGED
                self.relay.fold(team, partial(team.would_admit, replica, key), self._judged)
            else:
                self._enter(key)

    def _proves(self, sig: str, key: KeyBody) -> bool:
        try:
            signature = unb64u(sig, SIGNATURE_BYTES)
        except EncodingError:
            return False
        return verify(
            key.sign_key, auth_message(self.relay.settings.url, self.team.id, self._nonce), signature
        )

    def _judged(self, admitted: bool) -> None:
        if self.state is State.JUDGED:
            self.expected = admitted
            self._enter(self.key)

    def _enter(self, key: KeyBody) -> None:
        team, now = self.team, self.relay.now()
        if not self.is_member:
            crowded = "too many machines that wait to be admitted; try again in a minute"
            if not self.relay.may_ask(self.source):
                self.end(Why.LIMITED, crowded)
                return
            if team.open_invite(self.replica, key, now) is None:
                self.end(
                    Why.UNINVITED,
                    "this machine is not admitted, and its key op proves no invite that is open here: it may "
                    "have expired, or have let another machine in",
                )
                return
            if not self.relay.may_wait(team, self.replica):
                self.end(Why.LIMITED, crowded)
                return
        self.state = State.READY
        self._say(frames.Ready())
        self.relay.entered(self)

    # What it asks for

    def _publish(self, request: frames.RequestId, ops: Sequence[Carried], size: int) -> None:
        if len(ops) > frames.FRAME_OPS or sum(len(op.text) for op in ops) > frames.PUBLISH_BYTES:
            self._refuse(
                request,
                Why.LIMITED,
                f"one frame carries at most {frames.FRAME_OPS} ops and 4 MiB; send several",
            )
            return
        lane = self.team.lanes.get(self.replica)
        head = 0 if lane is None or lane.head is None else lane.head.seq
        if not self.is_member and (len(ops) != 1 or _type_of(ops[0]) != "key"):
            self._refuse(
                request, Why.PENDING, "until it is admitted a machine publishes its own key op alone"
            )
            return
        fresh = [op for op in ops if _seq_of(op) > head]
        if self.team.roster_ops + sum(1 for op in fresh if _type_of(op) == "roster") > ROSTER_OPS:
            self._refuse(request, Why.LIMITED, f"a team has at most {ROSTER_OPS} roster ops here")
            return
        if fresh and (
            lack := self.relay.lack_of_room(self.team, size, admin=self.team.view.is_admin(self.replica))
        ):
            self._refuse(request, Why.LIMITED, f"{lack}; what its readers acknowledge makes room")
            return
        counted, history = len(fresh), 0
        if fresh and self._may_be_history(lane):
            history = sum(1 for op in fresh if self._is_history(op))
            counted -= history
            self.team.history[self.replica] = self.team.history.get(self.replica, 0) + history
        wait_ms = self.relay.wait_for(self.team, self.replica, counted) if counted else 0
        if wait_ms:
            self._refuse(
                request,
                Why.LIMITED,
                f"a replica publishes at most {self.relay.settings.ops_per_minute} ops a minute; "
                f"try again in {-(-wait_ms // 1000)} s",
            )
            return
        self.relay.publish(self, request, ops, size)

    def _may_be_history(self, lane: Lane | None) -> bool:
        """Whether the next op of the lane may be from before the move; clocks and seqs rise along it."""
        if self.team.history.get(self.replica, 0) >= self.relay.settings.history_ops:
            return False
        if lane is None or lane.head is None:
            return True
        return self.team.is_history(self.replica, lane.head.seq, lane.head.hlc)

    def _is_history(self, op: Carried) -> bool:
        hlc = _member(op, "hlc")
        try:
            clock = Reading.parse(hlc if isinstance(hlc, str) else "")
        except ClockError:
            return False
        return self.team.is_history(self.replica, _seq_of(op), clock)

    def _pull(self, pull: frames.Pull) -> None:
        """Answer with what the client lacks, as far as one frame goes; no lane keeps the others waiting."""
        asked = pull.replicas if pull.replicas is not None else self.team.lanes
        news: list[tuple[str, int]] = []
        for replica in dict.fromkeys(asked):
            lane = self.team.lanes.get(replica)
            since = pull.since.get(replica, 0)
            if lane is not None and lane.head is not None and lane.head.seq > since:
                news.append((replica, since))
        if not self.is_member:
            self.answer(frames.Ops(tuple(self._before_admission(news)), pull.id))
            return
        news.sort()
        self._turn += 1
        turn = self._turn % len(news) if news else 0
        ops = max(1, frames.FRAME_OPS // max(1, len(news)))
        room, left, more = frames.PUBLISH_BYTES, frames.FRAME_OPS, False
        size = max(64 * 1024, room // max(1, len(news)))
        found: list[Carried] = []
        for replica, since in news[turn:] + news[:turn]:
            if left <= 0 or room <= 0:
                more = True
                break
            read = self.relay.store.read(
                self.team.id, replica, since, ops=min(ops, left), size=min(size, room)
            )
            for row in read:
                text = seen(row, replica, self.replica)
                if len(text) > room and found:
                    room, more = 0, True
                    break
                found.append(Carried(text))
                room -= len(text)
                left -= 1
            head = self.team.lanes[replica].head
            more |= bool(read) and head is not None and read[-1].seq < head.seq
        self.answer(frames.Ops(tuple(found), pull.id, more=more))

    def _before_admission(self, news: Sequence[tuple[str, int]]) -> Iterator[Carried]:
        """What a machine that waits to be admitted may read: the founder's key op, the founding, its own key op."""
        founder, seq = self.team.founding
        for replica, since in news:
            rows: list[Read] = []
            if replica in (founder, self.replica):
                rows += self.relay.store.read(self.team.id, replica, 0, ops=1, size=0)
            if replica == founder:
                rows += self.relay.store.read(self.team.id, replica, seq - 1, ops=1, size=0)
            for row in rows:
                if row.seq > since:
                    yield Carried(seen(row, replica, self.replica))


def _member(op: Carried, name: str) -> object:
    value = None if op.parsed is None else op.parsed.value
    return value.get(name) if isinstance(value, dict) else None


def _seq_of(op: Carried) -> int:
    seq = _member(op, "seq")
    return seq if type(seq) is int else 0


def _type_of(op: Carried) -> object:
    return _member(op, "type")


def _key_in(auth: frames.Auth) -> KeyBody | None:
    """Return the key that a key op sent with `auth` announces, if it is one of that replica, signed by itself."""
    if auth.key_op is None or auth.key_op.parsed is None:
        return None
    read = read_parsed(auth.key_op.parsed)
    if isinstance(read, Unreadable) or read.replica != auth.replica or read.duplicates:
        return None
    if link_flaw(read, None) or tampering(read) or breach(read) or read.body is ABSENT:
        return None
    try:
        key = parse_key_body(read.body)
        announced_key(read, key)
    except (KeyBodyError, OpError):
        return None
    return key if is_signed(read, key.sign_key) else None
