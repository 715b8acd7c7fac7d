"""Rosters: who is in a team, as a fold over roster ops (Appendix F; federation wire 5).

Most folds here are of placeholder keys and hashes, since a fold verifies neither; one is of whole lanes.
"""

import hashlib
from typing import Any, Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from vectors.authoring.federation.author import START_MS, Author, b64u, line, op_hash, sha256
from vectors.authoring.kit import Expected, Json, ok, vector

ADA, BOB, CY, DEE = "ada-0000000a", "bob-0000000b", "cy-0000000c", "dee-0000000d"
EVE = "eve-0000000e"
BOB2 = "bob-000000b2"
KEYS: Final[Json] = {
    replica: {"handle": replica[:-9], "fingerprint": f"FP-{replica}"} for replica in (ADA, BOB, BOB2, CY, DEE)
}


class Story:
    """Roster ops, each a millisecond after the one before it."""

    def __init__(self, recovery_pub: str = "r") -> None:
        self.ops: list[Json] = []
        self.found = self.says(ADA, "found", name="Orchard", legacy=[], recoveryPub=recovery_pub)

    def says(
        self, by: str, action: str, /, *, seq: int | None = None, at: int | None = None, **more: Any
    ) -> str:
        """Publish an op; return its hash."""
        own = [op["seq"] for op in self.ops if op["replica"] == by]
        seq = max(own, default=1) + 1 if seq is None else seq
        ms = START_MS + (len(self.ops) if at is None else at)
        op = {
            "replica": by,
            "seq": seq,
            "hlc": f"{ms}.0000.{by}",
            "opHash": sha256(f"{by} {seq} {action} {ms}".encode()),
            "body": {"rv": 1, "action": action} | more,
        }
        self.ops.append(op)
        return str(op["opHash"])

    def admits(self, by: str, whom: str, *, role: str = "member", seq: int | None = None, **more: Any) -> str:
        """Publish an admission."""
        who = {"replica": whom, "handle": whom[:-9], "role": role, "fingerprint": f"FP-{whom}"}
        return self.says(by, "admit", seq=seq, **(who | more))

    def recovers(self, by: str, code: Ed25519PrivateKey, sign_pub: str | None = None) -> str:
        """Publish a recovery of a replica whose signing key reads `sign_pub`, by default made of its id."""
        claimed = f"{self.found[:32]}\n{by}\n{sign_pub or f'sign-{by}'}"
        return self.says(by, "recover", proof=b64u(code.sign(f"dispatch-recovery-v1\n{claimed}".encode())))

    def revokes(self, by: str, whom: str, after_seq: int) -> str:
        """Publish a revocation."""
        return self.says(by, "revoke", replica=whom, afterSeq=after_seq, afterHash="0" * 64, reason="left")


def folds(story: Story, keys: Json | None = None, relay: bool = False, **view: Any) -> list[Expected]:
    """The fold of a story, told forwards and backwards: the order of ops means nothing."""
    return [
        ok(
            {"op": "foldRoster", "found": story.found, "ops": ops, "keys": keys or KEYS, "relay": relay},
            **view,
        )
        for ops in (list(story.ops), story.ops[::-1])
    ]


def member(replica: str, role: str = "member", rank: int | None = None) -> Json:
    return {"replica": replica, "handle": replica[:-9], "role": role, "rank": rank}


def cut(replica: str, after_seq: int, by: str) -> Json:
    return {"replica": replica, "afterSeq": after_seq, "by": by}


FOUNDER = member(ADA, "admin", 0)


def founding() -> list[Expected]:
    story = Story()
    story.says(BOB, "found", name="Elsewhere", legacy=[], recoveryPub="x")
    return folds(
        story,
        teamId=story.found[:32],
        name="Orchard",
        founder=ADA,
        members=[FOUNDER],
        pending=[BOB, BOB2, CY, DEE],
        unknown=None,
    )


def admissions() -> list[Expected]:
    story = Story()
    story.admits(ADA, BOB)
    story.admits(ADA, CY, fingerprint="FP-other")
    story.admits(BOB, BOB2)
    story.admits(BOB, DEE)
    story.admits(ADA, BOB, role="admin")
    return folds(story, members=[FOUNDER, member(BOB), member(BOB2)], pending=[CY, DEE])


def roles() -> list[Expected]:
    story = Story()
    story.admits(ADA, BOB)
    story.admits(ADA, CY, role="admin")
    story.says(BOB, "role", replica=BOB, role="admin")
    demotion = story.says(ADA, "role", replica=CY, role="member", afterSeq=1, afterHash="0" * 64)
    story.says(ADA, "role", replica=BOB, role="admin")
    story.says(ADA, "role", replica=CY, role="admin")
    story.says(ADA, "role", replica=CY, role="member")
    return folds(
        story, members=[FOUNDER, member(BOB, "admin", 1), member(CY, "admin", 2)], accepted=[demotion]
    )


def cuts() -> list[Expected]:
    story = Story()
    story.admits(ADA, BOB, role="admin")
    story.admits(BOB, DEE, seq=4)
    story.admits(BOB, CY, seq=7)
    removal = story.revokes(ADA, BOB, 5)
    story.admits(BOB, BOB2, seq=8)
    story.admits(ADA, BOB)
    return folds(
        story,
        members=[FOUNDER, member(DEE)],
        revoked=[cut(BOB, 5, ADA)],
        accepted=[removal],
        void=[],
        pending=[BOB2, CY],
    )


def a_quarrel() -> list[Expected]:
    story = Story()
    story.admits(ADA, BOB, role="admin")
    story.admits(ADA, CY, role="admin")
    junior = story.revokes(CY, BOB, 1)
    senior = story.revokes(BOB, CY, 1)
    return folds(
        story,
        members=[FOUNDER, member(BOB, "admin", 1)],
        revoked=[cut(CY, 1, BOB)],
        accepted=[senior],
        void=[junior],
    )


def the_last_admin() -> list[Expected]:
    story = Story()
    removal = story.says(ADA, "role", replica=ADA, role="member", afterSeq=2, afterHash="0" * 64)
    return folds(story, members=[FOUNDER], accepted=[], void=[removal])


def own_devices() -> list[Expected]:
    story = Story()
    story.admits(ADA, BOB)
    story.admits(ADA, BOB2)
    story.admits(ADA, CY)
    own = story.revokes(BOB, BOB2, 3)
    other = story.revokes(BOB, CY, 3)
    return folds(
        story,
        members=[FOUNDER, member(BOB), member(CY)],
        revoked=[cut(BOB2, 3, BOB)],
        accepted=[own],
        void=[other],
    )


def pauses() -> list[Expected]:
    story = Story()
    story.says(CY, "later-action")
    story.admits(ADA, BOB)
    story.says(ADA, "admit", replica=CY)
    unknown = story.says(BOB, "later-action", seq=5)
    story.says(BOB, "role", rv=2, replica=CY, role="admin")
    lifted = Story()
    lifted.ops = list(story.ops)
    lifted.revokes(ADA, BOB, 4)
    return [
        *folds(story, members=[FOUNDER, member(BOB)], unknown=unknown),
        *folds(story, relay=True, unknown=None),
        *folds(lifted, members=[FOUNDER], unknown=None),
    ]


def later_version() -> list[Expected]:
    story = Story()
    unknown = story.says(
        ADA, "admit", rv=2, replica=BOB, handle="bob", role="member", fingerprint=f"FP-{BOB}"
    )
    return folds(story, members=[FOUNDER], unknown=unknown)


def invites_and_windows() -> list[Expected]:
    story = Story()
    story.admits(ADA, BOB)
    pub = b64u(bytes(31) + b"\x01")
    invite: Json = {"id": sha256(pub.encode())[:16], "pub": pub, "expires": "2030-01-01T00:00:00.000Z"}
    story.says(BOB, "invite", handle="bob", **invite)
    stranger = b64u(bytes(31) + b"\x02")
    story.says(BOB, "invite", handle="cy", id=sha256(stranger.encode())[:16], pub=stranger, expires="")
    story.says(BOB, "close-legacy", entries=[])
    before = folds(story, invites=[invite["id"]], legacyClosed=False)
    story.says(ADA, "close-legacy", entries=[])
    return before + folds(story, legacyClosed=True)


def one_op_at_a_seq() -> list[Expected]:
    story = Story()
    story.admits(ADA, BOB, seq=9)
    story.admits(ADA, CY, seq=9)
    first = min(story.ops[1:], key=lambda op: str(op["opHash"]))
    return folds(story, members=[FOUNDER, member(first["body"]["replica"])])


def hosts() -> list[Expected]:
    story = Story()
    story.admits(ADA, BOB, hosts=["carl", "dora"])
    story.says(ADA, "hosts", replica=BOB, hosts=["carl"])
    story.says(ADA, "hosts", replica=CY, hosts=["carl"])
    added = folds(story, members=[FOUNDER, member(BOB)], hosts={BOB: ["carl", "dora"]}, hostCuts=[], void=[])
    removal = story.says(ADA, "hosts", replica=BOB, hosts=["dora", "ed"], afterSeq=5, afterHash="0" * 64)
    by_member = story.says(BOB, "hosts", replica=BOB, hosts=[], afterSeq=9, afterHash="0" * 64)
    story.says(ADA, "hosts", replica=BOB, hosts=["dora", "ed", "flo"], afterSeq=9)
    return added + folds(
        story,
        hosts={BOB: ["dora", "ed", "flo"]},
        hostCuts=[{"replica": BOB, "handle": "carl", "afterSeq": 5}],
        accepted=[removal],
        void=[by_member],
    )


def observers() -> list[Expected]:
    story = Story()
    story.admits(ADA, BOB, observer=True, hosts=["carl"])
    story.admits(ADA, CY, observer=True, role="admin")
    story.admits(BOB, BOB2)
    story.says(ADA, "role", replica=BOB, role="admin")
    return folds(story, members=[FOUNDER, member(BOB)], observers=[BOB], hosts={ADA: [], BOB: []})


def code(name: str) -> Ed25519PrivateKey:
    """The recovery code of a name, as a key."""
    return Ed25519PrivateKey.from_private_bytes(hashlib.sha256(name.encode()).digest())


def pub(code: Ed25519PrivateKey) -> str:
    return b64u(code.public_key().public_bytes_raw())


SIGNING_KEYS: Final[Json] = {
    replica: {"handle": replica[:-9], "fingerprint": f"FP-{replica}", "signPub": f"sign-{replica}"}
    for replica in (ADA, BOB, CY, DEE, EVE)
}


def recoveries() -> list[Expected]:
    first, second = code("recovery"), code("second recovery")
    story = Story(recovery_pub=pub(first))
    story.recovers(CY, second)
    story.recovers(EVE, first)
    story.recovers(DEE, first)
    story.admits(ADA, BOB, role="admin")
    used = folds(
        story,
        keys=SIGNING_KEYS,
        members=[FOUNDER, member(BOB, "admin", 1), member(EVE, "admin", 2)],
        recovered=[EVE],
        recoveryUsed=True,
        pending=[CY, DEE],
    )
    story.says(EVE, "recovery-key", pub=pub(second))
    replaced = folds(story, keys=SIGNING_KEYS, recoveryPub=pub(second), recoveryUsed=False)
    late = Story(recovery_pub=pub(first))
    late.says(DEE, "close-legacy", entries=[])
    late.recovers(DEE, first)
    late.recovers(CY, first)
    late.revokes(ADA, CY, 1)
    late.recovers(EVE, first)
    return [
        *used,
        *replaced,
        *folds(
            late, keys=SIGNING_KEYS, members=[FOUNDER, member(EVE, "admin", 1)], revoked=[cut(CY, 1, ADA)]
        ),
    ]


def licences() -> list[Expected]:
    story = Story()
    story.admits(ADA, BOB)
    before = folds(story, license=None)
    story.says(ADA, "license", key="dispatch1.a.b")
    story.says(ADA, "license", key="dispatch1.c.d")
    story.says(BOB, "license", key="dispatch1.e.f")
    return before + folds(story, license="dispatch1.c.d")


def dismissals() -> list[Expected]:
    story = Story()
    story.admits(ADA, BOB, role="admin")
    story.admits(ADA, CY, role="admin")

    def dismisses(by: str, seq: int, whose: str, hash_: str) -> str:
        made = story.says(by, "dismiss", replica=whose, hash=hash_)
        story.ops[-1]["body"]["seq"] = seq
        return made

    founders = story.says(ADA, "later-action", seq=8)
    bobs = story.says(BOB, "later-action", seq=8)
    cys = story.says(CY, "later-action", seq=8)
    dismisses(BOB, 8, ADA, founders)
    dismisses(ADA, 8, BOB, bobs)
    dismisses(BOB, 8, CY, cys)
    dismisses(ADA, 8, CY, "0" * 64)
    standing = folds(story, unknown=founders, dismissed=sorted([bobs, cys]))
    dismisses(ADA, 8, ADA, founders)
    return standing + folds(story, unknown=None, dismissed=sorted([founders, bobs, cys]))


def knots() -> list[Expected]:
    """Four circles of sixteen admins, each of whom revokes the next."""
    names = [f"r{number}-{number:08x}" for number in range(64)]
    story = Story()
    for name in names:
        who: Json = {"replica": name, "handle": name[:-9], "role": "admin", "fingerprint": f"FP-{name}"}
        story.says(ADA, "admit", **who)
    made = [story.revokes(name, names[at // 16 * 16 + (at + 1) % 16], 1) for at, name in enumerate(names)]
    announced = {name: {"handle": name[:-9], "fingerprint": f"FP-{name}"} for name in names}
    return folds(story, keys=KEYS | announced, accepted=sorted(made[::2]), void=sorted(made[1::2]))


def lanes() -> list[Expected]:
    """Ada founds a team and admits bob by one of the two keys that are claimed for him."""
    ada, bob, rival = Author(ADA), Author(BOB), Author(BOB, keys="rival")
    ops = [ada.key_op()]

    def says(**body: Any) -> Json:
        ops.append(ada.op(ops[-1], "roster", body={"rv": 1} | body))
        return ops[-1]

    found = says(action="found", name="Orchard", legacy=[], recoveryPub="r")
    says(action="close-legacy", entries=[])
    waiting = list(ops)
    says(action="admit", replica=BOB, handle="bob", role="member", fingerprint=bob.fingerprint)
    rival_key = rival.key_op()
    coup = {"rv": 1, "action": "admit", "replica": BOB, "handle": "bob", "role": "admin"}
    theirs = [
        rival_key,
        rival.op(rival_key, "roster", body=coup | {"fingerprint": rival.fingerprint}),
        bob.key_op(),
    ]

    def fold(of_ada: list[Json], of_bob: list[Json], **view: Any) -> Expected:
        texts = {ADA: [line(each) for each in of_ada], BOB: [line(each) for each in of_bob]}
        return ok({"op": "foldLanes", "found": op_hash(found), "lanes": texts}, **view)

    ada_key = {"replica": ADA, "fingerprint": ada.fingerprint}
    bob_key = {"replica": BOB, "fingerprint": bob.fingerprint}
    admitted: Json = {"members": [FOUNDER, member(BOB)], "keys": [ada_key, bob_key], "pending": []}
    return [
        fold(waiting, [bob.key_op()], members=[FOUNDER], keys=[ada_key, bob_key], pending=[BOB]),
        fold(waiting, theirs, members=[FOUNDER], keys=[ada_key]),
        fold(ops, theirs, **admitted),
        fold(ops[::-1], theirs[::-1], **admitted),
    ]


KNOTS = [vector("contest16.circles", "In a circle of sixteen admins every second removal stands", *knots())]

VECTORS = [
    vector(
        "roster.founding",
        "The pinned founding makes its publisher the first admin; another changes nothing",
        *founding(),
    ),
    vector(
        "roster.admissions",
        "An admin admits by fingerprint, a member a device of its own, and the first admission decides",
        *admissions(),
    ),
    vector(
        "roster.roles", "An admin promotes, and demotes with a cut; the later promotion restores", *roles()
    ),
    vector(
        "roster.cuts",
        "A revocation voids what lies past its seq, whatever its clock, keeps what lies below, and is for good",
        *cuts(),
    ),
    vector("roster.a-quarrel", "Of two admins who cut each other the senior's removal stands", *a_quarrel()),
    vector("roster.the-last-admin", "The last admin cannot step down", *the_last_admin()),
    vector(
        "roster.own-devices", "A member revokes devices of its own handle and nobody else's", *own_devices()
    ),
    vector(
        "roster.pauses",
        "An unknown op pauses where its publisher stood, never a relay, until a revocation below it",
        *pauses(),
    ),
    vector(
        "roster.a-later-version",
        "An action this version has, in a body of a later one, is not known here",
        *later_version(),
    ),
    vector(
        "roster.invites-and-the-legacy-window",
        "A member invites for its own handle; an admin closes the window at once, a member only after 30 days",
        *invites_and_windows(),
    ),
    vector(
        "roster.one-op-at-a-seq",
        "Of two ops at one seq the one of the smaller hash counts",
        *one_op_at_a_seq(),
    ),
    vector(
        "roster.hosts",
        "An admin adds handles, and takes one away with a cut, past which it is spoken for no more",
        *hosts(),
    ),
    vector(
        "roster.observers", "An observer has no handles to host, no rights, and is no admin", *observers()
    ),
    vector(
        "roster.recovery",
        "Who proves the current recovery code, once, as the first thing it says, is the junior of all admins",
        *recoveries(),
    ),
    vector("roster.licences", "The licence that an admin shared last counts", *licences()),
    vector(
        "roster.dismissals",
        "An admin takes out what cannot be read: its own, and what a junior published",
        *dismissals(),
    ),
    vector(
        "roster.rival-claims",
        "A disputed id has no key until an admission names one; what the rival key signed never counts",
        *lanes(),
    ),
]
