"""From the lines of a branch to a roster: real keys, real chains, a rival key op and an invite."""

from crypto.canonical import JsonValue
from crypto.chain import Cursor
from crypto.clock import Reading
from crypto.invites import invite_id, invite_proof, public_of
from crypto.key_claims import key_claims
from crypto.keys import InviteProof, KeyBody, Secrets
from crypto.lane import read_lane
from crypto.op import ZERO_HASH, Op, make_op, to_line
from crypto.roster import RosterOp, foundings, resolve
from crypto.roster.bodies import Action, Admit, CloseLegacy, Found, OpenInvite, Role
from tests.crypto.roster.team import ADA, BOB, START_MS

SEED = b"i" * 32


class Chain:
    """A replica's chain of real ops."""

    def __init__(self, replica: str, fill: int, team: str | None = None) -> None:
        self.replica = replica
        self.secrets = Secrets.generate(lambda size: bytes([fill]) * size)
        self.invite = None
        if team is not None:
            sig = invite_proof(SEED, team=team, replica=replica, sign_pub=self.secrets.sign_pub)
            self.invite = InviteProof(invite_id(public_of(SEED)), sig)
        self.key = KeyBody(
            replica[:-9], "desk", "dmp", self.secrets.sign_pub, self.secrets.seal_pub, invite=self.invite
        )
        self.ops: list[Op] = []
        self._append("key", self.key.to_json())

    def _append(self, type_: str, body: JsonValue) -> Op:
        made = make_op(
            replica=self.replica,
            seq=len(self.ops) + 1,
            prev=self.ops[-1].hash if self.ops else ZERO_HASH,
            hlc=Reading(START_MS + len(self.ops), 0, self.replica),
            type=type_,
            signer=self.secrets.signer,
            body=body,
        )
        self.ops.append(made)
        return made

    def says(self, body: Action) -> Op:
        return self._append("roster", body.to_json())

    @property
    def lines(self) -> list[bytes]:
        return [to_line(each) for each in self.ops]


def roster_ops(replica: str, lines: list[bytes], key: KeyBody) -> list[RosterOp]:
    read = read_lane(replica, lines, Cursor(), key)
    return [
        RosterOp.of(each, key.fingerprint)
        for each in read.entries
        if isinstance(each, Op) and each.type == "roster"
    ]


def test_a_branch_with_a_rival_key_op_comes_to_the_roster_the_admin_meant() -> None:
    ada = Chain(ADA, 1)
    found = ada.says(Found("Orchard", (), "recovery"))
    team = found.hash[:32]
    pub = public_of(SEED)
    ada.says(CloseLegacy())
    ada.says(OpenInvite(invite_id(pub), pub, "bob", "2030-01-01T00:00:00.000Z"))
    bob, rival = Chain(BOB, 2, team), Chain(BOB, 3)
    ada.says(Admit(BOB, "bob", Role.MEMBER, bob.key.fingerprint))
    rival.says(Admit(BOB, "bob", Role.ADMIN, rival.key.fingerprint))

    lane = [*rival.lines, *reversed(bob.lines), b"junk"]
    claims = {ADA: key_claims(ADA, ada.lines), BOB: key_claims(BOB, lane)}
    ops = [
        op
        for replica, lines in ((ADA, ada.lines), (BOB, lane))
        for claim in claims[replica]
        for op in roster_ops(replica, lines, claim.key)
    ]
    pinned = foundings(ops).provisional
    assert pinned is not None
    view, decided = resolve(pinned.hash, claims, ops)
    assert view.legacy_closed
    assert decided == {ADA: ada.key, BOB: bob.key}
    assert view.members[BOB].role is Role.MEMBER
    by = view.invited_by(BOB, bob.key)
    assert by is not None
    assert by.by == ADA
    assert view.invited_by(BOB, rival.key) is None
