"""A team whose replicas sign real chains, and a relay of functions alone to keep it."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from crypto.canonical import JsonValue
from crypto.clock import Reading
from crypto.encoding import b64u
from crypto.invites import invite_id, invite_proof, public_of
from crypto.keys import InviteProof, KeyBody, Secrets, team_id
from crypto.op import ABSENT, ZERO_HASH, Absent, Op, make_op, to_line
from crypto.roster.bodies import (
    Admit,
    CutPoint,
    Found,
    OpenInvite,
    Revoke,
    Role,
    SetTransport,
    TransportKind,
)
from crypto.sealing import seal
from transports.relay import frames
from transports.relay.address import auth_message
from transports.relay.frames import Carried, Frame, Why, carried, parse, why, write
from transports.relay.server.registration import Registrar, Status
from transports.relay.server.relay import Relay
from transports.relay.server.session import Session
from transports.relay.server.settings import Settings
from transports.relay.server.sqlite import SqliteStore

URL = "wss://relay.example.org"
START_MS = 1_790_000_000_000
NEVER = "2099-01-01T00:00:00.000Z"
SEED = b"\x07" * 32


class Person:
    """One replica that signs its chain."""

    def __init__(self, handle: str, number: int, invite: InviteProof | None = None) -> None:
        self.replica = f"{handle}-{number:08x}"
        self.secrets = Secrets.generate(lambda size: bytes([number % 256]) * size)
        self.key = KeyBody(handle, "desk", "dmp", self.secrets.sign_pub, self.secrets.seal_pub, invite=invite)
        self.chain: list[Op] = []
        self.clock_ms = START_MS

    def sign(
        self,
        type: str,
        body: JsonValue | Absent = ABSENT,
        *,
        after: Op | None = None,
        sealed: dict[str, JsonValue] | None = None,
        seq: int | None = None,
        ms: int | None = None,
    ) -> Op:
        """Sign the next op, or one that comes after another op."""
        self.clock_ms = self.clock_ms + 1 if ms is None else ms
        last = after or (self.chain[-1] if self.chain else None)
        op = make_op(
            replica=self.replica,
            seq=seq or (1 if last is None else last.seq + 1),
            prev=ZERO_HASH if last is None else last.hash,
            hlc=Reading(self.clock_ms, 0, self.replica),
            type=type,
            signer=self.secrets.signer,
            body=body,
            sealed=sealed,
        )
        if after is None:
            self.chain.append(op)
        return op

    def key_op(self) -> Op:
        return self.chain[0] if self.chain else self.sign("key", self.key.to_json())

    def task(self, text: str = "x") -> Op:
        return self.sign("task", {"title": text})

    def mail(self, *recipients: "Person", text: str = "hello") -> Op:
        seq = self.chain[-1].seq + 1
        sealed = seal(
            {"text": text},
            replica=self.replica,
            seq=seq,
            type="mail",
            recipients={each.replica: each.key.seal_key for each in recipients},
            random=lambda size: bytes(size),
        )
        return self.sign("mail", sealed=sealed)

    def run(self, run: str, *, live: bool = True) -> Op:
        return self.sign("presence", {"kind": "run", "run": run, "task": None, "runKind": "x", "live": live})

    def admit(self, other: "Person", *, role: Role = Role.MEMBER, observer: bool = False) -> Op:
        return self.sign(
            "roster",
            Admit(other.replica, other.key.handle, role, other.key.fingerprint, observer=observer).to_json(),
        )

    def revoke(self, other: "Person") -> Op:
        last = other.chain[-1]
        return self.sign("roster", Revoke(other.replica, CutPoint(last.seq, last.hash), "left").to_json())

    def invite(self, handle: str, expires: str = NEVER, seed: bytes = SEED) -> Op:
        pub = public_of(seed)
        return self.sign("roster", OpenInvite(invite_id(pub), pub, handle, expires).to_json())

    def move(self) -> Op:
        return self.sign("roster", SetTransport(TransportKind.RELAY, URL).to_json())

    def prove(self, team: str, nonce: str, url: str = URL) -> str:
        return b64u(self.secrets.signer.sign(auth_message(url, team, nonce)))


def invited(handle: str, number: int, team: str, seed: bytes = SEED) -> Person:
    """Somebody whose key op proves an invite."""
    plain = Person(handle, number)
    proof = invite_proof(seed, team=team, replica=plain.replica, sign_pub=plain.key.sign_pub)
    return Person(handle, number, InviteProof(invite_id(public_of(seed)), proof))


def found(founder: Person) -> str:
    """Found a team; return its id."""
    founder.key_op()
    op = founder.sign("roster", Found("Team", (), public_of(b"\x09" * 32)).to_json())
    return team_id(op.hash)


def lines(ops: Iterable[Op]) -> list[bytes]:
    return [to_line(op) for op in ops]


def body_of(founder: Person, **more: JsonValue) -> bytes:
    key, found_op, *rest = (json.loads(to_line(op)) for op in founder.chain)
    return json.dumps({"key": key, "found": found_op, "ops": rest, **more}).encode()


def raws(answer: frames.Ops) -> list[bytes]:
    """The texts of the ops in an answer."""
    return [op.raw for op in answer.ops]


def stub(op: Op) -> bytes:
    return to_line(op.stub())


def refused(frame: Frame) -> Why | None:
    """Why a relay says no, which it does."""
    assert isinstance(frame, frames.Error | frames.Refused), frame
    return why(frame.reason)


class Line:
    """One connection, spoken by function calls."""

    def __init__(self, desk: "Desk", person: Person, source: str = "192.0.2.1") -> None:
        self.desk = desk
        self.person = person
        self.session: Session = desk.relay.connect(desk.team, source)
        self.heard: list[Frame] = []
        self._request = 0
        self.listen()

    def listen(self) -> list[Frame]:
        """Let the relay do what waits, and take what it says."""
        self.desk.relay.work()
        new: list[Frame] = []
        while (text := self.session.outbox.take()) is not None:
            new.append(parse(text))
        self.heard += new
        return new

    def say(self, frame: Frame) -> list[Frame]:
        self.session.receive(write(frame))
        return self.listen()

    def enter(self, *, key: bool = True, url: str = URL) -> Frame:
        challenge = self.heard[0]
        assert isinstance(challenge, frames.Challenge)
        key_op = Carried.line(to_line(self.person.key_op())) if key else None
        sig = self.person.prove(self.desk.team, challenge.nonce, url)
        return self.say(frames.Auth(self.person.replica, sig, key_op))[0]

    def ask(self, request: Frame) -> Frame:
        answers = [each for each in self.say(request) if getattr(each, "re", None) == self._request]
        (answer,) = answers
        return answer

    def next_id(self) -> int:
        self._request += 1
        return self._request

    def publish(self, ops: Sequence[Op] | Sequence[bytes]) -> Frame:
        raw = [each if isinstance(each, bytes) else to_line(each) for each in ops]
        return self.ask(frames.Publish(self.next_id(), carried(raw)))

    def pull(self, since: dict[str, int] | None = None, *replicas: str) -> frames.Ops:
        answer = self.ask(frames.Pull(self.next_id(), since or {}, replicas or None))
        assert isinstance(answer, frames.Ops)
        return answer

    def acks(self, through: dict[str, int]) -> Frame:
        return self.ask(frames.Ack(self.next_id(), through))

    def hints(self) -> list[bytes]:
        return [
            op.raw
            for each in self.listen()
            if isinstance(each, frames.Ops) and each.re is None
            for op in each.ops
        ]


@dataclass
class Desk:
    """A relay with one team on it."""

    path: Path
    founder: Person = field(default_factory=lambda: Person("ada", 1))
    settings: Settings = field(default_factory=lambda: Settings(URL, difficulty=0))
    now_ms: int = START_MS + 1_000_000
    team: str = ""

    def __post_init__(self) -> None:
        self.open()

    def open(self) -> None:
        """Start the relay, over what was stored before."""
        self.store = SqliteStore(self.path)
        self.relay = Relay(self.settings, self.store, now=lambda: self.now_ms, random=self._random)
        self.registrar = Registrar(self.settings, self.store, lambda: self.now_ms)
        self._drawn = 0

    def register(self) -> None:
        self.team = found(self.founder) if len(self.founder.chain) < 2 else self.team
        answer = self.registrar.register(body_of(self.founder), None)
        assert answer.status is Status.NEW
        assert answer.team == self.team

    def line(self, person: Person, *, source: str = "192.0.2.1", key: bool = True) -> Line:
        """Connect somebody who is let in."""
        line = Line(self, person, source)
        assert line.enter(key=key) == frames.Ready(), line.heard
        return line

    def join(self, handle: str, number: int) -> tuple[Person, Line]:
        """Admit somebody, and connect them."""
        person = Person(handle, number)
        person.key_op()
        founder = self.line(self.founder)
        assert isinstance(founder.publish([self.founder.admit(person)]), frames.Stored)
        line = self.line(person)
        assert line.publish(person.chain) == frames.Stored(1, 1)
        return person, line

    def _random(self, size: int) -> bytes:
        self._drawn += 1
        return self._drawn.to_bytes(size)
