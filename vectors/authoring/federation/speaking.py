"""Speaks-for: whose messages the ops of a replica may carry (section F.5).

What a replica may not say never arrives, and its origin is not told; what cannot be judged yet is kept and tried
again. Whatever comes of it, the mail that follows is received.
"""

from collections.abc import Sequence
from typing import Any

from vectors.authoring.federation.author import op_hash
from vectors.authoring.federation.teams import BOB, CY, DESK, OBI, Team, Teammate, mid
from vectors.authoring.host_steps import message, refused, send, who, world
from vectors.authoring.kit import Expected, Json, vector

RUN = "run:r-0dd001"
TASK = "task:t-0ddba1"
KILN = "agent:cy/kiln"
NONE: Json = {"refused": []}

M1, M2, M3 = mid(1), mid(2), mid(3)


def arrives(*ids: str) -> Json:
    """These messages are delivered to Bob, and no others are stored."""
    return {
        "deliveries": [{"message": each, "recipient": "human:bob"} for each in ids],
        "noOtherMessages": True,
    }


def case(id: str, title: str, team: Team, *steps: Expected, profile: str = "core", **then: Any) -> Json:
    return vector(
        f"speaks-for.{id}", title, *steps, sections=("F.5",), given=team.given, profile=profile, **then
    )


def said_by(team: Team, sender: str, **members: Any) -> Team:
    """Cy publishes a message from a sender, then one of its own."""
    team.cy.mail(team.bob, team.cy.message(1, "human:bob", **{"from": sender}, **members))
    team.cy.mail(team.bob, team.cy.message(2, "human:bob"))
    return team


def one(id: str, title: str, team: Team, sender: str, comes: bool, **members: Any) -> Json:
    """A vector of one message that comes or not, and of one after it that does."""
    said_by(team, sender, **members)
    return case(
        id,
        title,
        team,
        team.sync(parked=[], **NONE),
        **arrives(*((M1, M2) if comes else (M2,))),
    )


def people() -> list[Json]:
    hosting = Team(BOB, roles={CY: {"hosts": ["dee"]}})
    unhosted = Team(BOB, roles={CY: {"hosts": ["dee"]}}).begin()
    unhosted.cy.mail(unhosted.bob, unhosted.cy.message(1, "human:bob", **{"from": "human:dee"}))
    last = unhosted.cy.entries[-1]
    unhosted.ada.says("hosts", replica=CY, hosts=[], afterSeq=last["seq"], afterHash=op_hash(last))
    unhosted.cy.mail(unhosted.bob, unhosted.cy.message(2, "human:bob", **{"from": "human:dee"}))
    unhosted.cy.mail(unhosted.bob, unhosted.cy.message(3, "human:bob"))
    desk = Team(BOB, DESK).begin()
    desk.mates[DESK].mail(desk.bob, desk.bob.message(1, "human:bob"))
    later = Team(BOB).begin()
    later.ada.says("hosts", replica=CY, hosts=["dee"])
    return [
        one("its-person", "A replica speaks for its own person", Team(BOB).begin(), "human:cy", True),
        one(
            "another-person",
            "A replica does not speak for another person",
            Team(BOB).begin(),
            "human:ada",
            False,
        ),
        one(
            "the-receiver",
            "A replica does not speak for the person it writes to",
            Team(BOB).begin(),
            "human:bob",
            False,
        ),
        one(
            "nobody",
            "A replica does not speak for a person of no machine",
            Team(BOB).begin(),
            "human:zed",
            False,
        ),
        one("a-hosted-person", "A replica speaks for a person it hosts", hosting.begin(), "human:dee", True),
        case(
            "up-to-a-cut-of-hosts",
            "A handle taken from a replica's hosts is spoken for up to the cut, and not after it",
            unhosted,
            unhosted.sync(**NONE),
            **arrives(M1, M3),
        ),
        one(
            "a-host-told-of-in-the-same-pass",
            "Roster ops count before the mail of the same pass",
            later,
            "human:dee",
            True,
        ),
        case(
            "each-machine-of-a-person",
            "Every machine of a person speaks for them",
            desk,
            desk.sync(**NONE),
            **arrives(M1),
        ),
    ]


def sessions() -> list[Json]:
    known = Team(BOB)
    known.cy.runs(RUN, None, kind="auxiliary")
    together = Team(BOB).begin()
    said_by(together, RUN)
    together.cy.runs(RUN, None, kind="auxiliary")
    anothers = Team(BOB)
    anothers.ada.runs(RUN, None, kind="auxiliary")
    waiting = said_by(Team(BOB).begin(), RUN)
    first = waiting.sync(parked=[{"replica": CY, "seq": waiting.cy.entries[-2]["seq"]}], **NONE)
    waiting.cy.runs(RUN, None, kind="auxiliary")
    late = said_by(Team(BOB).begin(), RUN)
    before = late.sync(**NONE)
    late.ada.runs(RUN, None, kind="auxiliary")
    ended = Team(BOB)
    ended.cy.runs(RUN, None, kind="auxiliary")
    ended.cy.runs(RUN, None, live=False, kind="auxiliary")
    return [
        one(
            "its-session", "A replica speaks for a session bound to it by presence", known.begin(), RUN, True
        ),
        one(
            "its-session-that-ended", "A session stays its replica's after it ended", ended.begin(), RUN, True
        ),
        case(
            "a-session-told-of-later-in-the-pass",
            "The order of ops inside one pass does not matter",
            together,
            together.sync(parked=[], **NONE),
            **arrives(M1, M2),
        ),
        one(
            "anothers-session", "A replica does not speak for another's session", anothers.begin(), RUN, False
        ),
        case(
            "a-session-nobody-told-of",
            "Mail of a session that nobody told of waits until somebody does, and stops nothing meanwhile",
            waiting,
            first,
            waiting.sync(parked=[], **NONE),
            **arrives(M2, M1),
        ),
        case(
            "a-session-that-turns-out-anothers",
            "Mail that waits for its session is dropped once it is another replica's",
            late,
            before,
            late.sync(parked=[], **NONE),
            **arrives(M2),
        ),
        *contested(),
    ]


def contested() -> list[Json]:
    team = Team(BOB)
    team.cy.runs(RUN, None, kind="auxiliary")
    team.ada.runs(RUN, None, kind="auxiliary")
    team.begin()
    said_by(team, RUN)
    before = team.sync(**NONE)
    team.ada.presence(kind="resolve", run=RUN.removeprefix("run:"), replica=CY)
    left = Team(BOB, DESK)
    left.cy.runs(RUN, None, kind="auxiliary")
    left.mates[DESK].runs(RUN, None, kind="auxiliary")
    left.begin()
    said_by(left, RUN)
    waits = left.sync(**NONE)
    left.ada.revokes(left.mates[DESK])
    third = Team(BOB, DESK)
    third.ada.runs(RUN, None, kind="auxiliary")
    third.mates[DESK].runs(RUN, None, kind="auxiliary")
    here = Team(BOB).begin()
    published = here.sync()
    here.cy.runs(RUN, TASK)
    return [
        case(
            "a-contested-session-sends-nothing",
            "What a session sends does not leave while another replica claims it too",
            here,
            world(startSession={"workItem": TASK.removeprefix("task:"), "session": RUN}),
            published,
            here.sync(),
            refused(send(who(RUN), message("human:ada", "Hello.")), "forbidden", "to[0]"),
            here.sync(mail=[]),
        ),
        case(
            "a-contested-session-an-admin-decides",
            "While two replicas claim a session neither is believed, until an admin says whose it is",
            team,
            before,
            team.sync(parked=[], **NONE),
            **arrives(M2, M1),
        ),
        case(
            "a-contested-session-one-is-left",
            "A contested session is the one claimant's that is left in the team",
            left,
            waits,
            left.sync(parked=[], **NONE),
            **arrives(M2, M1),
        ),
        one(
            "a-contested-session-of-others",
            "A replica that is no claimant of a contested session does not speak for it",
            third.begin(),
            RUN,
            False,
        ),
    ]


def agents() -> list[Json]:
    known = Team(BOB)
    known.cy.agent(KILN)
    together = Team(BOB).begin()
    said_by(together, KILN)
    together.cy.agent(KILN)
    waiting = said_by(Team(BOB).begin(), KILN)
    first = waiting.sync(parked=[{"replica": CY, "seq": waiting.cy.entries[-2]["seq"]}], **NONE)
    waiting.cy.agent(KILN)
    second = "cy-000000c2"
    elsewhere = Team(BOB, second)
    elsewhere.mates[second].agent(KILN)
    hosted = Team(BOB, roles={CY: {"hosts": ["dee"]}})
    hosted.cy.agent("agent:dee/kiln")
    stolen = Team(BOB)
    stolen.cy.agent("agent:ada/kiln")
    mine = Team(BOB, DESK).begin(agents=[{"address": "agent:bob/kiln", "status": "approved"}])
    desk = mine.mates[DESK]
    desk.agent("agent:bob/kiln")
    desk.mail(mine.bob, desk.message(1, "human:bob", **{"from": "agent:bob/kiln"}))
    desk.mail(mine.bob, desk.message(2, "human:bob"))
    return [
        case(
            "an-agent-that-is-registered-here",
            "No other replica speaks for an agent that is registered here, whatever it registered",
            mine,
            mine.sync(parked=[], **NONE),
            **arrives(M2),
        ),
        one("its-agent", "A replica speaks for an agent that registered on it", known.begin(), KILN, True),
        case(
            "an-agent-told-of-later-in-the-pass",
            "An agent's registration counts wherever it stands in the pass",
            together,
            together.sync(parked=[], **NONE),
            **arrives(M1, M2),
        ),
        case(
            "an-agent-nobody-told-of",
            "Mail of an agent whose registration has not arrived waits for it",
            waiting,
            first,
            waiting.sync(parked=[], **NONE),
            **arrives(M2, M1),
        ),
        one(
            "an-agent-of-another-machine",
            "A replica does not speak for an agent that registered on another machine of the same person",
            elsewhere.begin(),
            KILN,
            False,
        ),
        one(
            "an-agent-of-a-hosted-person",
            "A replica speaks for an agent of a person it hosts that registered on it",
            hosted.begin(),
            "agent:dee/kiln",
            True,
        ),
        one(
            "an-agent-of-another-person",
            "A replica does not speak for an agent of another person, whatever it registered",
            stolen.begin(),
            "agent:ada/kiln",
            False,
        ),
    ]


def notices() -> list[Json]:
    system: Json = {"from": "agent:dispatch", "kind": "notice"}

    def about(*ids: str, type: str = "message") -> Sequence[Json]:
        return [{"type": type, "id": each} for each in ids]

    def told(id: str, title: str, comes: bool, **members: Any) -> Json:
        """Cy wrote message 3 to Bob, and its system says something."""
        team = Team(BOB).begin()
        team.cy.mail(team.bob, team.cy.message(3, "human:bob"))
        team.ada.mail(team.bob, team.ada.message(4, "human:bob"))
        before = team.sync()
        team.cy.mail(team.bob, team.cy.message(1, "human:bob", **{**system, **members}))
        return case(
            id,
            title,
            team,
            before,
            team.sync(**NONE, parked=[]),
            profile="dispatch",
            **arrives(M3, mid(4), *((M1,) if comes else ())),
        )

    return [
        told(
            "a-notice-about-mail-exchanged",
            "The system address of another replica may send a notice about a message exchanged with it",
            True,
            refs=about(M3),
        ),
        told("a-notice-about-nothing", "A notice without refs is dropped", False),
        told(
            "a-notice-about-mail-unknown-here",
            "A notice about a message unknown here is dropped",
            False,
            refs=about(mid(9)),
        ),
        told(
            "a-notice-about-mail-of-another-replica",
            "A notice about a message that was exchanged with another replica is dropped",
            False,
            refs=about(mid(4)),
        ),
        told(
            "a-notice-that-also-names-other-mail",
            "Every ref of a notice names a message exchanged with its origin",
            False,
            refs=about(M3, mid(4)),
        ),
        told(
            "a-notice-about-a-file",
            "A notice names messages alone",
            False,
            refs=about("rows.csv", type="file"),
        ),
        told("a-notice-with-data", "A notice has no data", False, refs=about(M3), data={"type": "x-mine"}),
        told(
            "no-notice-of-the-system",
            "The system address of another replica sends nothing but notices",
            False,
            kind="message",
            refs=about(M3),
        ),
    ]


def outsiders() -> list[Json]:
    observer = Team(BOB, OBI, roles={OBI: {"observer": True}}).begin()
    obi = observer.mates[OBI]
    obi.mail(observer.bob, obi.message(1, "human:bob"))
    observer.cy.mail(observer.bob, observer.cy.message(2, "human:bob"))
    cut = Team(BOB).begin()
    cut.cy.mail(cut.bob, cut.cy.message(1, "human:bob"))
    cut.ada.revokes(cut.cy)
    cut.cy.mail(cut.bob, cut.cy.message(2, "human:bob"))
    cut.ada.mail(cut.bob, cut.ada.message(3, "human:bob"))
    joining = Team(BOB)
    joining.mates[DESK] = desk = Teammate(joining, DESK)
    joining.begin()
    desk.publish("key", body=desk.key)
    desk.mail(joining.bob, desk.message(1, "human:bob"))
    waits = joining.sync(**NONE)
    joining.ada.admits(desk)
    return [
        case(
            "an-observer",
            "An observer's mail is dropped",
            observer,
            observer.sync(**NONE),
            **arrives(M2),
        ),
        case(
            "up-to-a-revocation",
            "A revoked replica is believed up to its cut, also where that arrives later, and not after it",
            cut,
            cut.sync(**NONE),
            **arrives(M1, M3),
        ),
        case(
            "not-admitted-yet",
            "Mail of a machine that is not admitted yet waits until it is",
            joining,
            waits,
            joining.sync(left=[], **NONE),
            **arrives(M1),
        ),
        one(
            "a-work-item",
            "Nobody speaks for a work item",
            Team(BOB).begin(),
            "task:t-0ddba1",
            False,
        ),
        one("a-channel", "Nobody speaks for a channel", Team(BOB).begin(), "channel:eng", False),
    ]


VECTORS = [*people(), *sessions(), *agents(), *notices(), *outsiders()]
