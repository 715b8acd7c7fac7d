"""A replica that follows its team's lanes: whose chains it reads, how far, and who is in the team (section F.1)."""

from typing import Any, Final

from vectors.authoring.federation.author import Author, line, op_hash, stub
from vectors.authoring.federation.teams import ADA, BOB, CY, DESK, Team, Teammate, mid, sync
from vectors.authoring.host_steps import delivery
from vectors.authoring.kit import Expected, Json, ok, vector

EVE: Final = "eve-0000000e"
ANN: Final = "ann-000000a1"
DEE: Final = "dee-000000d1"
TASK: Final = "task:t-0ddba1"
M1, M2, M3 = mid(1), mid(2), mid(3)
NONE: Final[Json] = {"refused": []}


def case(id: str, title: str, team: Team, *steps: Expected, **then: Any) -> Json:
    return vector(f"team.{id}", title, *steps, sections=("F.1",), given=team.given, **then)


def roster(**view: Any) -> Expected:
    return ok({"op": "roster"}, **view)


def member(replica: str, role: str, rank: int | None) -> Json:
    return {"replica": replica, "handle": replica[:-9], "role": role, "rank": rank}


def let_in() -> list[Json]:
    """Removals that contradict each other, of which one is of somebody who is in the team only without the other."""
    found = []
    for id, title, by_hand in (
        (
            "an-op-of-whom-a-removal-undoes",
            "Which of two removals stands may be for an op to say of somebody whom one of them leaves out of the team",
            1,
        ),
        (
            "an-op-of-whom-a-removal-undoes-later-on",
            "So it may, where that one was let in by somebody who was let in by another",
            2,
        ),
    ):
        team = Team(BOB, roles={CY: {"role": "admin"}}).begin()
        ann, *juniors = (
            team.mates.setdefault(each, Teammate(team, each)) for each in (ANN, DEE, EVE)[: by_hand + 1]
        )
        for each in (ann, *juniors):
            each.publish("key", body=each.key)
        team.ada.admits(ann)
        before = team.cy.entries[-1]
        for admin, junior in zip((team.cy, *juniors), juniors, strict=False):
            admin.admits(junior, role="admin")
        team.ada.says("role", replica=ANN, role="admin")  # so that she ranks below them
        head = ann.entries[-1]
        for number in range(12):
            juniors[-1].channel("eng", f"human:m{number}")
        ann.says("revoke", replica=CY, **cut(before), reason="and whom they let in")
        juniors[-1].says("revoke", replica=ANN, **cut(head), reason="no")
        everybody = sorted((ADA, BOB, CY, *(each.replica for each in juniors)))
        ranks = {ADA: 0, CY: 1} | {each.replica: rank for rank, each in enumerate(juniors, 2)}
        members = [
            member(each, "admin" if each in ranks else "member", ranks.get(each)) for each in everybody
        ]
        found.append(case(id, title, team, team.sync(), roster(members=members)))
    return found


def cut(after: Json) -> Json:
    """Where a revocation cuts a log off."""
    return {"afterSeq": after["seq"], "afterHash": op_hash(after)}


def arrived(*ids: str) -> Json:
    return {
        "deliveries": [delivery(each, "human:bob", "notified") for each in ids],
        "noOtherMessages": True,
    }


def rosters() -> list[Json]:
    plain = Team(BOB).begin()
    waiting = Team(BOB)
    waiting.mates[DESK] = desk = Teammate(waiting, DESK)
    waiting.begin()
    desk.publish("key", body=desk.key)
    asked = waiting.sync()
    waiting.ada.admits(desk, role="admin")
    founder = Team(ADA).begin()
    founder.bob.mail(founder.ada, founder.bob.message(1, "human:ada"))
    two = Team(BOB)
    two.mates[EVE] = eve = Teammate(two, EVE)
    eve.publish("key", body=eve.key)
    eve.says("found", name="Elsewhere", legacy=[], recoveryPub="r")
    two.begin()
    eve.mail(two.bob, eve.message(1, "human:bob"))
    two.ada.mail(two.bob, two.ada.message(2, "human:bob"))
    late = Team(BOB, roles={CY: {"role": "admin"}})
    late.mates[EVE], late.mates[DESK] = guest, spare = Teammate(late, EVE), Teammate(late, DESK)
    for each in (guest, spare):
        each.publish("key", body=each.key)
    late.begin()
    late.ada.admits(guest)
    earlier = late.news()
    late.cy.admits(spare)
    paused = Team(BOB).begin()
    paused.ada.says("levitate")
    paused.cy.mail(paused.bob, paused.cy.message(1, "human:bob"))
    waits = paused.sync(**NONE)
    unknown = paused.ada.entries[-1]
    paused.ada.says("dismiss", replica=ADA, seq=unknown["seq"], hash=op_hash(unknown))
    return [
        case(
            "who-is-in-it",
            "The roster is the fold of the roster ops of all lanes, the replica's own among them",
            plain,
            roster(
                founder=ADA,
                members=[member(ADA, "admin", 0), member(BOB, "member", None), member(CY, "member", None)],
                pending=[],
            ),
        ),
        case(
            "who-waits",
            "A machine that announced its key waits until it is admitted",
            waiting,
            asked,
            roster(pending=[DESK]),
            waiting.sync(),
            roster(pending=[]),
        ),
        case(
            "a-founder",
            "The founder follows the founding it published",
            founder,
            founder.sync(),
            roster(founder=ADA),
            messages=[{"id": M1}],
        ),
        case(
            "a-second-founding",
            "A replica follows the founding that it was invited to, and no other on the same far side",
            two,
            two.sync(**NONE),
            roster(founder=ADA, name="Orchard"),
            **arrived(M2),
        ),
        case(
            "a-roster-op-that-comes-late",
            "A roster op counts by its clock, also where it comes after later ones",
            late,
            roster(pending=[DESK, EVE]),
            late.sync(),
            roster(pending=[EVE]),
            sync(earlier),
            roster(pending=[]),
        ),
        case(
            "an-action-nobody-knows",
            "A roster op whose action is not known pauses what comes of ops, until it is dismissed",
            paused,
            waits,
            paused.sync(),
            **arrived(M1),
        ),
    ]


def chains() -> list[Json]:
    fork = Team(BOB).begin()
    first = fork.cy.mail(fork.bob, fork.cy.message(1, "human:bob"))
    rival = fork.cy.op(fork.cy.entries[-2], body="another story", hlc=first["hlc"])
    news = fork.news()
    fork.cy.mail(fork.bob, fork.cy.message(2, "human:bob"))
    fork.ada.mail(fork.bob, fork.ada.message(3, "human:bob"))
    gap = Team(BOB).begin()
    missing = gap.cy.mail(gap.bob, gap.cy.message(1, "human:bob"))
    gap.news()
    later = gap.cy.mail(gap.bob, gap.cy.message(2, "human:bob"))
    junk = Team(BOB).begin()
    good = junk.cy.mail(junk.bob, junk.cy.message(1, "human:bob"))
    thief = Author(CY, keys="eve")
    forged = thief.op(good, body="forged")
    stranger = Author(EVE)
    unsigned = Team(BOB).begin()
    real = unsigned.cy.mail(unsigned.bob, unsigned.cy.message(1, "human:bob"))
    broken = line(real, sig="A" * 86)
    pruned = Team(BOB).begin()
    mail = pruned.cy.mail(pruned.bob, pruned.cy.message(1, "human:bob"))
    after = pruned.cy.mail(pruned.bob, pruned.cy.message(2, "human:bob"))
    return [
        case(
            "a-fork-halts",
            "A replica that signs two ops after one is read no further, and stops nobody else",
            fork,
            sync({CY: [*news[CY], line(rival)]}, **NONE),
            fork.sync(left=[{"replica": CY, "seq": fork.cy.entries[-1]["seq"]}], **NONE),
            **arrived(M3),
        ),
        case(
            "a-gap-waits",
            "What follows an op that is missing waits for it",
            gap,
            sync({CY: [line(later)]}, left=[{"replica": CY, "seq": later["seq"]}]),
            sync({CY: [line(missing)]}, left=[]),
            **arrived(M1, M2),
        ),
        case(
            "junk-is-passed-over",
            "Lines that nobody of the team signed stop nothing",
            junk,
            sync(
                {
                    CY: ["", "no json", "{}", line(forged), line(good), '{"v":2}'],
                    stranger.replica: [line(stranger.key_op())],
                },
                **NONE,
            ),
            **arrived(M1),
        ),
        case(
            "a-broken-copy-waits-for-a-whole-one",
            "A damaged copy of an op halts nothing: the chain goes on once a whole one comes",
            unsigned,
            sync({CY: [broken]}, left=[{"replica": CY, "seq": real["seq"]}]),
            sync({CY: [line(real)]}, left=[]),
            **arrived(M1),
        ),
        case(
            "order-means-nothing",
            "The order of lines in a lane means nothing, and neither does a line that comes twice",
            pruned,
            sync({CY: [line(after), line(mail), line(after), line(mail)]}, left=[]),
            **arrived(M1, M2),
        ),
        *stubs(),
    ]


def stubs() -> list[Json]:
    team = Team(BOB).begin()
    mail = team.cy.mail(team.bob, team.cy.message(1, "human:bob"))
    after = team.cy.mail(team.bob, team.cy.message(2, "human:bob"))
    holding = Team(BOB).begin()
    awaited = holding.cy.mail(holding.bob, holding.cy.message(1, "human:bob"))
    last = holding.cy.mail(holding.bob, holding.cy.message(2, "human:bob"))
    others = Team(BOB).begin()
    aside = others.cy.mail(others.ada, others.cy.message(1, "human:ada"))
    mine = others.cy.mail(others.bob, others.cy.message(2, "human:bob"))
    return [
        case(
            "a-stub-then-its-op",
            "A stub keeps the chain going, and its op counts when it comes after all",
            team,
            sync({CY: [line(stub(mail)), line(after)]}, left=[]),
            sync({CY: [line(mail)]}, left=[]),
            **arrived(M1, M2),
        ),
        case(
            "acknowledged-up-to-what-is-missing",
            "A log is acknowledged up to the first mail that is missing of it, and to its end once that came",
            holding,
            sync({CY: [line(stub(awaited)), line(last)]}, acknowledged={CY: awaited["seq"] - 1}),
            sync({CY: [line(awaited)]}, acknowledged={CY: last["seq"]}),
        ),
        case(
            "a-stub-for-others",
            "A stub of mail for others is nothing that is missed",
            others,
            sync({CY: [line(stub(aside)), line(mine)]}, left=[], **NONE),
            **arrived(M2),
        ),
    ]


def forks() -> list[Json]:
    """Logs of a replica that signs two histories, read in the order in which each is told."""
    found = []
    for order, title in (
        ("the-lower-first", "Of two roster ops after one op the one of the lower opHash counts"),
        (
            "the-lower-last",
            "Of two roster ops after one op the one of the lower opHash counts where it comes last too",
        ),
    ):
        team = Team(BOB, roles={CY: {"role": "admin"}})
        team.mates[EVE], team.mates[DESK] = guest, spare = Teammate(team, EVE), Teammate(team, DESK)
        for each in (guest, spare):
            each.publish("key", body=each.key)
        team.begin()
        first = team.cy.admits(guest)
        team.cy.entries.pop()
        both = sorted((first, team.cy.admits(spare)), key=op_hash)
        left = DESK if both[0] is first else EVE
        lines = [line(each) for each in both]
        if order == "the-lower-last":
            lines.reverse()
        found.append(
            case(
                f"forked-admissions-{order}",
                title,
                team,
                sync({CY: lines[:1]}),
                sync({CY: lines[1:]}),
                roster(pending=[left]),
            )
        )
    back = Team(BOB).begin()
    kept = back.cy.task(TASK, title="Row 7")
    back.cy.task(TASK, title="Row 8")
    known = back.sync(left=[])
    rival = back.cy.op(kept, "task", body={"task": "t-0ddba1", "kind": "remove"})
    return [
        *found,
        case(
            "a-fork-takes-back",
            "What was accepted from a fork on is taken back, and what came before it stands",
            back,
            known,
            ok({"op": "workItem", "id": "t-0ddba1"}, exists=True, fields={"title": "Row 8"}),
            sync({CY: [line(rival)]}),
            ok({"op": "workItem", "id": "t-0ddba1"}, exists=True, fields={"title": "Row 7"}),
        ),
    ]


VECTORS = [*rosters(), *let_in(), *chains(), *forks()]
