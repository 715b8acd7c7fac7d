"""How fast a roster folds as its ops arrive one by one: `python -m tests.bench.roster`.

A ratio within one run on one core: the time to fold 2,000 ops, each taken in as it comes and the view read at the
end, to the time in which libsodium alone verifies their signatures. The target is 1 for a roster without contests,
and 20 for one with four knots of sixteen removals that all cut each other. Nothing fails here.
"""

from dataclasses import dataclass
from random import Random
from typing import Final

from nacl.bindings import crypto_sign_open

from crypto.clock import Reading
from crypto.ed25519 import SigningKey
from crypto.encoding import b64u
from crypto.keys import KeyBody
from crypto.op import ZERO_HASH, make_op, to_line
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
from tests.bench.chain import seconds, signature_and_message

OPS: Final = 2_000
ROUNDS: Final = 5
ADA: Final = "ada-0000000a"
START_MS: Final = 1_790_000_000_000
KNOTS, KNOT = 4, 16


@dataclass(frozen=True, slots=True)
class Signed:
    """A roster op, and what libsodium is asked to verify of it."""

    op: RosterOp
    message: bytes
    public: bytes


class Team:
    """Replicas that sign one roster op after another."""

    def __init__(self) -> None:
        self.signers: dict[str, SigningKey] = {}
        self.claims: dict[str, dict[str, KeyBody]] = {}
        self.said: list[Signed] = []
        self._heads: dict[str, tuple[int, str]] = {}

    def key(self, replica: str) -> KeyBody:
        """A replica's key, made when it is first asked for."""
        if replica not in self.claims:
            self.signers[replica] = SigningKey.from_seed(replica.encode().ljust(32))
            public = b64u(self.signers[replica].public)
            key = KeyBody(replica[:-9], "desk", "bench", public, public)
            self.claims[replica] = {key.fingerprint: key}
        return next(iter(self.claims[replica].values()))

    def says(self, replica: str, body: Action) -> RosterOp:
        """Sign a roster op, later than all before it."""
        key = self.key(replica)
        seq, prev = self._heads.get(replica, (1, ZERO_HASH))
        signed = make_op(
            replica=replica,
            seq=seq + 1,
            prev=prev,
            hlc=Reading(START_MS + len(self.said), 0, replica),
            type="roster",
            signer=self.signers[replica],
            body=body.to_json(),
        )
        self._heads[replica] = signed.seq, signed.hash
        op = RosterOp.of(signed, key.fingerprint)
        self.said.append(Signed(op, signature_and_message(to_line(signed)), self.signers[replica].public))
        return op

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


def measure(name: str, team: Team, target: int) -> None:
    """Print the ratio of folding a team's ops one by one to verifying their signatures."""
    first, *others = [signed.op for signed in team.said]

    def bare() -> None:
        for signed in team.said:
            crypto_sign_open(signed.message, signed.public)

    def whole() -> None:
        roster = GrowingRoster(first.hash, [first], team.claims)
        for op in others:
            roster.add(op)
        assert roster.view.founder == ADA

    pairs = [(seconds(bare), seconds(whole)) for _ in range(ROUNDS)]
    ratios = sorted(folded / alone for alone, folded in pairs)
    alone, folded = (min(times) / len(team.said) * 1e6 for times in zip(*pairs, strict=True))
    print(f"fold {len(team.said):,} roster ops one by one, {name}, best of {ROUNDS}:")
    print(f"  libsodium alone {alone:.1f} µs an op, the fold {folded:.1f} µs")
    print(f"  ratio {folded / alone:.2f} (median {ratios[ROUNDS // 2]:.2f}, target {target})")


def main() -> None:
    """Run the bench."""
    measure("uncontested", quiet(), 1)
    by_lane = quiet()
    by_lane.said.sort(key=lambda signed: signed.op.replica)
    measure("uncontested, one replica's after another's", by_lane, 1)
    for shape in ("a ring", "an odd ring", "a duel", "a crowd"):
        measure(f"four knots, each {shape}", knotted(shape.split(maxsplit=1)[1]), 20)


if __name__ == "__main__":
    main()
