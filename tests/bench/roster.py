"""How fast a roster folds as its ops arrive one by one: `python -m tests.bench.roster`.

A ratio within one run on one core: the time to fold 2,000 ops to the time in which libsodium alone verifies their
signatures. Each op is taken in as it comes, and the view read after it; once by the fold alone, and once as a node
does, which finds what was added in its store. The target is 1 for a roster without contests, and 20 for one with
four knots of sixteen removals that all cut each other. Nothing fails here.
"""

import sqlite3
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Final

from nacl.bindings import crypto_sign_open

from core.store import Store
from crypto.canonical import JsonValue
from crypto.chain import Cursor
from crypto.clock import Reading
from crypto.ed25519 import SigningKey
from crypto.encoding import b64u
from crypto.keys import KeyBody
from crypto.op import ZERO_HASH, Op, make_op, to_line
from crypto.roster import GrowingRoster, RosterOp
from crypto.roster.bodies import (
    Action,
    Admit,
    CutPoint,
    Found,
    OpenInvite,
    Revoke,
    Role,
    SetHosts,
    SetRole,
    SetTransport,
    TransportKind,
)
from replica.records import ops
from replica.records.commits import CommitPoint
from replica.records.meta import Meta, put
from replica.records.schema import MIGRATIONS
from replica.team.roster import TeamReader
from tests.bench.chain import seconds, signature_and_message

OPS: Final = 2_000
ROUNDS: Final = 5
KNOT_ROUNDS: Final = 3
ADA: Final = "ada-0000000a"
START_MS: Final = 1_790_000_000_000
KNOTS, KNOT = 4, 16


@dataclass(frozen=True, slots=True)
class Signed:
    """A roster op, and what libsodium is asked to verify of it."""

    entry: Op
    op: RosterOp
    message: bytes
    public: bytes


class Team:
    """Replicas that sign one roster op after another."""

    def __init__(self) -> None:
        self.signers: dict[str, SigningKey] = {}
        self.claims: dict[str, dict[str, KeyBody]] = {}
        self.key_ops: dict[str, bytes] = {}
        self.said: list[Signed] = []
        self._heads: dict[str, tuple[int, str]] = {}

    def key(self, replica: str) -> KeyBody:
        """A replica's key, made when it is first asked for."""
        if replica not in self.claims:
            self.signers[replica] = SigningKey.from_seed(replica.encode().ljust(32))
            public = b64u(self.signers[replica].public)
            key = KeyBody(replica[:-9], "desk", "bench", public, public)
            self.claims[replica] = {key.fingerprint: key}
            self.key_ops[replica] = to_line(self._sign(replica, 1, ZERO_HASH, "key", key.to_json()))
        return next(iter(self.claims[replica].values()))

    def says(self, replica: str, body: Action) -> RosterOp:
        """Sign a roster op, later than all before it."""
        key = self.key(replica)
        seq, prev = self._heads.get(replica, (1, ZERO_HASH))
        signed = self._sign(replica, seq + 1, prev, "roster", body.to_json())
        self._heads[replica] = signed.seq, signed.hash
        op = RosterOp.of(signed, key.fingerprint)
        self.said.append(
            Signed(signed, op, signature_and_message(to_line(signed)), self.signers[replica].public)
        )
        return op

    def _sign(self, replica: str, seq: int, prev: str, type_: str, body: JsonValue) -> Op:
        return make_op(
            replica=replica,
            seq=seq,
            prev=prev,
            hlc=Reading(START_MS + len(self.said), 0, replica),
            type=type_,
            signer=self.signers[replica],
            body=body,
        )

    def admits(self, by: str, whom: str, role: Role = Role.MEMBER) -> None:
        """Sign an admission."""
        self.says(by, Admit(whom, whom[:-9], role, self.key(whom).fingerprint))

    def cut(self, replica: str, *, below: int = 0) -> CutPoint:
        """A cut at a replica's last op, or `below` so many seqs under it."""
        seq, hash_ = self._heads.get(replica, (0, ZERO_HASH))
        return CutPoint(max(seq - below, 0), hash_)


def quiet() -> Team:
    """A founder and a few admins who admit, promote, host, invite and revoke, and never each other."""
    team, random = Team(), Random(7)
    team.says(ADA, Found("Orchard", (), "r"))
    admins = [f"admin{number}-{number:08x}" for number in range(8)]
    for admin in admins:
        team.admits(ADA, admin, Role.ADMIN)
    members: list[str] = []
    while len(team.said) < OPS:
        by, number = random.choice([ADA, *admins]), len(team.said)
        match random.randrange(10):
            case 0 if members:
                gone = members.pop(random.randrange(len(members)))
                team.says(by, Revoke(gone, team.cut(gone), "left"))
            case 1 if members:
                team.says(by, SetRole(random.choice(members), Role.ADMIN))
            case 2 if members:
                team.says(by, SetHosts(random.choice(members), (f"guest{number}",)))
            case 3:
                team.says(by, OpenInvite(f"{number:016x}", "pub", "guest", "never"))
            case 4:
                team.says(by, SetTransport(TransportKind.GIT))
            case _:
                members.append(f"m{number}-{number:08x}")
                team.admits(by, members[-1])
    return team


def knotted(shape: str) -> Team:
    """As a quiet one, and in the midst of it four knots of sixteen removals that cut each other.

    In a `ring` sixteen admins each remove the next. In an `odd ring` of fifteen no outcome is stable, and the
    sixteenth removal is a second one by the first. In a `duel` two admins remove each other eight times each; in a
    `crowd` sixteen admins each remove one of the others.
    """
    team, random = Team(), Random(7)
    team.says(ADA, Found("Orchard", (), "r"))
    knots = [[f"k{knot}x{number}-{knot:04x}{number:04x}" for number in range(KNOT)] for knot in range(KNOTS)]
    for knot in knots:
        for each in knot:
            team.admits(ADA, each, Role.ADMIN)
    removals = [
        pair for each in zip(*(_pairs(knot, shape, random) for knot in knots), strict=True) for pair in each
    ]
    gap = (OPS - len(team.said)) // (len(removals) + 1)
    while len(team.said) < OPS:
        if removals and len(team.said) % gap == 0:
            by, whom = removals.pop()
            team.says(by, Revoke(whom, CutPoint(1, ZERO_HASH), "quarrel"))
        else:
            number = len(team.said)
            team.admits(random.choice([ADA, *knots[0]]), f"m{number}-{number:08x}")
    return team


def _pairs(knot: list[str], shape: str, random: Random) -> list[tuple[str, str]]:
    match shape:
        case "ring":
            return list(zip(knot, [*knot[1:], knot[0]], strict=True))
        case "odd ring":
            odd = knot[:-1]
            return [*zip(odd, [*odd[1:], odd[0]], strict=True), (odd[0], odd[2])]
        case "duel":
            return [(knot[at % 2], knot[1 - at % 2]) for at in range(KNOT)]
    return [(each, random.choice([other for other in knot if other != each])) for each in knot]


def in_a_fold(team: Team) -> float:
    """Seconds that the fold alone takes."""
    first, *others = [signed.op for signed in team.said]

    def whole() -> None:
        roster = GrowingRoster(first.hash, [first], team.claims)
        for op in others:
            roster.add(op)
            assert roster.view.founder == ADA

    return seconds(whole)


def in_a_node(team: Team) -> float:
    """Seconds that a node takes to know its team, each time an op was added to its store, which is not counted."""
    spent = 0.0
    with (
        tempfile.TemporaryDirectory() as folder,
        closing(Store.open(Path(folder) / "state.db", MIGRATIONS)) as store,
    ):
        db, reader = store.db, TeamReader()
        db.execute("PRAGMA synchronous = OFF")
        with store.transaction(CommitPoint.CLAIMED):
            put(db, Meta.FOUNDING, team.said[0].op.hash)
            put(db, Meta.FIRM, "1")
            _claim(db, team, ADA)
            ops.insert(db, team.said[0].entry)
        reader.read(db)
        for signed in team.said[1:]:
            with store.transaction(CommitPoint.CLAIMED):
                if isinstance(signed.op.body, Admit):
                    _claim(db, team, signed.op.body.replica)
                ops.insert(db, signed.entry)
            began = time.perf_counter()
            known = reader.read(db)
            assert known is not None
            assert known.view.is_member(ADA)
            spent += time.perf_counter() - began
    return spent


def _claim(db: sqlite3.Connection, team: Team, replica: str) -> None:
    """Keep the key that a replica announces."""
    (key,) = team.claims[replica].values()
    db.execute("INSERT INTO claims VALUES (?, ?, ?)", (replica, key.fingerprint, team.key_ops[replica]))
    ops.set_position(db, replica, ops.Position(key.fingerprint, Cursor()))


def measure(
    name: str, team: Team, target: int, folded: Callable[[Team], float], rounds: int = ROUNDS
) -> None:
    """Print the ratio of folding a team's ops one by one to verifying their signatures."""

    def bare() -> None:
        for signed in team.said:
            crypto_sign_open(signed.message, signed.public)

    pairs = [(seconds(bare), folded(team)) for _ in range(rounds)]
    ratios = sorted(taken / alone for alone, taken in pairs)
    alone, taken = (min(times) / len(team.said) * 1e6 for times in zip(*pairs, strict=True))
    print(f"fold {len(team.said):,} roster ops one by one, {name}, best of {rounds}:")
    print(f"  libsodium alone {alone:.1f} µs an op, the fold {taken:.1f} µs")
    print(f"  ratio {taken / alone:.2f} (median {ratios[rounds // 2]:.2f}, target {target})")


def main() -> None:
    """Run the bench."""
    for how, folded in (("the fold alone", in_a_fold), ("in a node", in_a_node)):
        measure(f"uncontested, {how}", quiet(), 1, folded)
        for shape in ("a ring", "an odd ring", "a duel", "a crowd"):
            team = knotted(shape.split(maxsplit=1)[1])
            measure(f"four knots, each {shape}, {how}", team, 20, folded, KNOT_ROUNDS)


if __name__ == "__main__":
    main()
