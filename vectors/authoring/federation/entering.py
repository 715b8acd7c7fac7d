"""Ways into a team: the recovery code, and the founder that a person says is meant (section F.1)."""

import hashlib
from typing import Any, Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from vectors.authoring.federation.author import Author, b64u, crockford, op_hash
from vectors.authoring.federation.following import EVE, member, roster
from vectors.authoring.federation.teams import ADA, BOB, CY, Team, Teammate
from vectors.authoring.kit import Expected, Json, ok, vector

NEW: Final = "bob-000000b3"
"""A machine that is in no team yet."""


LATER: Final = 1_790_157_660_000
"""A minute after the clock of a vector's world."""


class Code:
    """A recovery code, made from a name."""

    def __init__(self, name: str) -> None:
        seed = hashlib.sha256(name.encode()).digest()
        self._key = Ed25519PrivateKey.from_private_bytes(seed)
        self.pub = b64u(self._key.public_key().public_bytes_raw())
        text = crockford(seed)
        self.text = "-".join(text[at : at + 4] for at in range(0, len(text), 4))

    def proof(self, team: Team, who: Author) -> str:
        """What lets a replica into a team."""
        claimed = f"{op_hash(team.found)[:32]}\n{who.replica}\n{who.sign_pub}"
        return b64u(self._key.sign(f"dispatch-recovery-v1\n{claimed}".encode()))


CODE, OTHER = Code("recovery code"), Code("another recovery code")
RECOVERS: Final[Json] = {"op": "recoverTeam", "code": CODE.text}


def case(id: str, title: str, given: Json, *steps: Expected, **then: Any) -> Json:
    return vector(f"entering.{id}", title, *steps, sections=("F.1",), given=given, **then)


def refused(step: Json, code: str) -> Expected:
    return step, {"ok": False, "error": {"code": code}}


def trusts(founder: Author) -> Json:
    return {"op": "trustFounder", "fingerprint": founder.fingerprint}


def orchard() -> Team:
    """Ada's team, which can be recovered."""
    return Team(BOB, recovery_pub=CODE.pub)


def elsewhere(team: Team) -> Teammate:
    """Another team's founder, on the same far side."""
    eve = team.mates[EVE] = Teammate(team, EVE)
    eve.publish("key", body=eve.key)
    eve.says("found", name="Elsewhere", legacy=[], recoveryPub=OTHER.pub)
    return eve


def newcomer(team: Team, *, asked: bool = False, me: str = NEW) -> Json:
    """The world of a machine that follows no founding yet, and published its key or nothing."""
    who = team.mates.get(me) or Teammate(team, me)
    if asked and not who.entries:
        who.publish("key", body=who.key)
    team.me = who
    given = team.begin().given
    del given["replica"]["founding"]
    if not who.entries:
        given["replica"]["handle"] = me[:-9]
    return given


def recovered() -> list[Json]:
    found = []
    everybody = [
        member(ADA, "admin", 0),
        member(BOB, "member", None),
        member(NEW, "admin", 1),
        member(CY, "member", None),
    ]
    for id, title, asked in (
        ("recovered", "Who has the recovery code lets a new machine in, as the junior of all admins", False),
        ("recovered-while-waiting", "Who waits to be admitted may use the recovery code instead", True),
    ):
        team = orchard()
        found.append(
            case(
                id,
                title,
                newcomer(team, asked=asked),
                ok(RECOVERS, already=False),
                roster(founder=ADA, members=everybody, recovered=[NEW], recoveryUsed=True, pending=[]),
                ok(RECOVERS, already=True),
                team.sync(shared=[]),
                roster(recovered=[NEW]),
            )
        )
    typed = orchard()
    found.append(
        case(
            "a-code-as-it-is-typed",
            "A recovery code is read in small letters, and without its dashes",
            newcomer(typed),
            ok({**RECOVERS, "code": CODE.text.lower().replace("-", " ")}, already=False),
            roster(recovered=[NEW]),
        )
    )
    return found


def not_recovered() -> list[Json]:
    wrong, used, replaced, gone, inside = orchard(), orchard(), orchard(), orchard(), orchard()
    desk = used.mates["cy-000000c2"] = Teammate(used, "cy-000000c2")
    desk.publish("key", body=desk.key)
    desk.says("recover", proof=CODE.proof(used, desk))
    replaced.ada.says("recovery-key", pub=OTHER.pub)
    gone.ada.revokes(gone.bob)
    none = roster(
        recovered=[],
        members=[member(ADA, "admin", 0), member(BOB, "member", None), member(CY, "member", None)],
    )
    return [
        case(
            "a-wrong-code",
            "A code that is not the team's lets nobody in, and one that is damaged is none",
            newcomer(wrong, asked=True),
            refused({**RECOVERS, "code": OTHER.text}, "forbidden"),
            refused({**RECOVERS, "code": CODE.text[:-1]}, "invalid"),
            wrong.sync(),
            none,
        ),
        case(
            "a-used-code",
            "A recovery code lets one machine in, and no other after it",
            newcomer(used, asked=True),
            refused(RECOVERS, "forbidden"),
            roster(recovered=["cy-000000c2"], pending=[NEW]),
        ),
        case(
            "a-replaced-code",
            "A recovery code that was replaced lets nobody in, and the new one does",
            newcomer(replaced, asked=True),
            refused(RECOVERS, "forbidden"),
            none,
            ok({**RECOVERS, "code": OTHER.text}, already=False),
            roster(recovered=[NEW]),
        ),
        case(
            "a-revoked-machine",
            "A machine that was revoked never comes back, by the recovery code either",
            newcomer(gone, me=BOB),
            refused(RECOVERS, "conflict"),
            roster(recovered=[], members=[member(ADA, "admin", 0), member(CY, "member", None)]),
        ),
        case(
            "a-member-has-no-use-for-it",
            "A machine that is in the team uses no recovery code up",
            inside.begin().given,
            refused(RECOVERS, "conflict"),
            roster(recovered=[], recoveryUsed=False),
        ),
    ]


def new_codes() -> list[Json]:
    founder = Team(ADA, recovery_pub=CODE.pub)
    given = founder.begin().given
    desk = founder.mates["cy-000000c2"] = Teammate(founder, "cy-000000c2")
    desk.publish("key", body=desk.key)
    plain = orchard()
    new: Json = {"op": "newRecoveryCode"}
    desk.publish(
        "roster",
        body={"rv": 1, "action": "recover", "proof": CODE.proof(founder, desk)},
        hlc=f"{LATER}.0000.{desk.replica}",
    )
    return [
        case(
            "a-new-code",
            "Once an admin makes a new recovery code the one before lets nobody in",
            given,
            ok(new),
            founder.sync(),
            roster(recovered=[], recoveryUsed=False, pending=["cy-000000c2"]),
        ),
        case(
            "a-members-code",
            "Only an admin makes a new recovery code",
            plain.begin().given,
            refused(new, "forbidden"),
            roster(recoveryPub=CODE.pub),
        ),
    ]


def trusted() -> list[Json]:
    def two(*, asked: bool = False) -> tuple[Team, Teammate, Json]:
        team = orchard()
        eve = elsewhere(team)
        return team, eve, newcomer(team, asked=asked)

    (new, eve, given), (waits, _, asked), (code, _, both) = two(), two(asked=True), two()
    wrong = orchard()
    misled = newcomer(wrong)
    later = orchard()
    follows = newcomer(later, asked=True)
    rival = elsewhere(later)
    early = orchard()
    told = newcomer(early, asked=True)
    elsewhere(early)
    inside = orchard()
    return [
        case(
            "a-founder-that-is-trusted",
            "Of two foundings the one is followed whose founder a person says is meant, and that for good",
            given,
            refused({"op": "roster"}, "not-found"),
            ok(trusts(new.ada), already=False),
            roster(founder=ADA, name="Orchard"),
            ok(trusts(new.ada), already=True),
            refused(trusts(eve), "conflict"),
            new.sync(),
            roster(founder=ADA),
        ),
        case(
            "a-founder-that-is-trusted-while-waiting",
            "A machine that waits to be admitted follows the founder that its person says is meant",
            asked,
            refused({"op": "roster"}, "not-found"),
            ok(trusts(waits.ada), already=False),
            roster(founder=ADA, pending=[NEW, EVE]),
        ),
        case(
            "a-founder-that-is-not-there",
            "A fingerprint that no founder has leaves everything as it was",
            misled,
            refused(trusts(wrong.cy), "not-found"),
            wrong.sync(),
            roster(founder=ADA),
        ),
        case(
            "a-founding-that-comes-later",
            "Who waits for an admission follows no founding any more once there is a second, until told which",
            follows,
            roster(founder=ADA),
            later.sync(),
            refused({"op": "roster"}, "not-found"),
            ok(trusts(rival), already=False),
            roster(founder=EVE),
        ),
        case(
            "a-founder-that-is-trusted-in-time",
            "A founding that comes later than a person's word changes nothing",
            told,
            ok(trusts(early.ada), already=False),
            early.sync(),
            roster(founder=ADA, name="Orchard"),
        ),
        case(
            "recovered-once-told",
            "Where two teams were founded the recovery code is of no use until a person says which is meant",
            both,
            refused(RECOVERS, "conflict"),
            ok(trusts(code.ada), already=False),
            ok(RECOVERS, already=False),
            roster(founder=ADA, recovered=[NEW]),
        ),
        case(
            "a-member-follows-one-founder",
            "A machine that is in a team follows its founder for good",
            inside.begin().given,
            ok(trusts(inside.ada), already=True),
            refused(trusts(inside.cy), "conflict"),
            roster(founder=ADA),
        ),
    ]


VECTORS = [*recovered(), *not_recovered(), *new_codes(), *trusted()]
