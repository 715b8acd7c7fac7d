"""Homes of addresses, as every replica computes them from the same ops (section F.5)."""

from typing import Any

from vectors.authoring.federation.author import op_hash
from vectors.authoring.federation.teams import ADA, BOB, CY, DESK, OBI, Team, Teammate, sync
from vectors.authoring.host_steps import world
from vectors.authoring.kit import Expected, Json, ok, vector

TASK = "task:t-0ddba1"
RUN, SECOND_RUN = "run:r-0dd001", "run:r-0dd002"


def at(address: str, *homes: str) -> Expected:
    """A step that asks where an address lives, and the answer."""
    return ok({"op": "homes", "address": address}, homes=list(homes))


def case(id: str, title: str, team: Team, *steps: Expected) -> Json:
    return vector(f"homes.{id}", title, *steps, sections=("F.5",), given=team.given)


def observing() -> Team:
    return Team(BOB, OBI, roles={OBI: {"observer": True}})


def people() -> list[Json]:
    bob = Team(BOB, DESK).begin()
    hosting = Team(BOB, roles={CY: {"hosts": ["dee"]}}).begin()
    both = Team(BOB, roles={CY: {"hosts": ["bob"]}}).begin()
    observer = observing().begin()
    waiting = Team(BOB)
    waiting.mates[DESK] = desk = Teammate(waiting, DESK)
    desk.publish("key", body=desk.key)
    waiting.begin()
    late = Team(BOB, DESK)
    late.begin()
    late.ada.revokes(late.mates[DESK])
    unhosted = Team(BOB, roles={CY: {"hosts": ["dee"]}}).begin()
    last = unhosted.cy.entries[-1]
    unhosted.ada.says("hosts", replica=CY, hosts=[], afterSeq=last["seq"], afterHash=op_hash(last))
    hosted = Team(BOB).begin()
    hosted.ada.says("hosts", replica=CY, hosts=["dee", "eli"])
    return [
        case(
            "a-persons-machines",
            "A person lives at every machine of theirs in the team, listed by id",
            bob,
            at("human:bob", BOB, DESK),
            at("human:ada", ADA),
        ),
        case("nobody", "A person who has no machine in the team lives nowhere", bob, at("human:zed")),
        case(
            "a-hosted-person",
            "A person lives at each replica that hosts them",
            hosting,
            at("human:dee", CY),
            at("human:cy", CY),
        ),
        case(
            "own-machines-and-hosts",
            "A person lives at their own machines and at those that host them",
            both,
            at("human:bob", BOB, CY),
        ),
        case("an-observer", "An observer is home to nobody", observer, at("human:obi")),
        case(
            "not-admitted-yet",
            "A machine that waits to be admitted is no home",
            waiting,
            at("human:bob", BOB),
        ),
        case(
            "a-revoked-machine",
            "A machine that is revoked is a home no more",
            late,
            at("human:bob", BOB, DESK),
            late.sync(),
            at("human:bob", BOB),
        ),
        case(
            "a-host-no-more",
            "A handle taken from a replica's hosts lives there no more",
            unhosted,
            at("human:dee", CY),
            unhosted.sync(),
            at("human:dee"),
        ),
        case(
            "a-host-anew",
            "A handle added to a replica's hosts lives there from then on",
            hosted,
            at("human:eli"),
            hosted.sync(),
            at("human:dee", CY),
            at("human:eli", CY),
        ),
    ]


def programs() -> list[Json]:
    registered = Team(BOB, DESK)
    registered.mates[DESK].agent("agent:bob/kiln")
    registered.begin()
    revoked = Team(BOB, DESK)
    revoked.mates[DESK].agent("agent:bob/kiln")
    revoked.ada.revokes(revoked.mates[DESK])
    revoked.begin()
    moved = Team(ADA, DESK)
    moved.mates[DESK].agent("agent:bob/kiln")
    moved.begin()
    moved.bob.agent("agent:bob/kiln")
    pending = Team(BOB, DESK)
    pending.mates[DESK].agent("agent:bob/kiln", "pending")
    pending.begin()
    anothers = Team(BOB)
    anothers.cy.agent("agent:bob/kiln")
    anothers.begin()
    never = Team(BOB)
    never.ada.agent("agent:ada/overseer")
    never.ada.agent("agent:ada/a2a.partner")
    never.begin()
    return [
        case(
            "an-agent",
            "An agent lives at the replica it registered on, not at others of its operator's",
            registered,
            at("agent:bob/kiln", DESK),
        ),
        case(
            "an-unregistered-agent",
            "An agent that is not registered lives nowhere",
            registered,
            at("agent:bob/loom"),
        ),
        case(
            "an-agent-of-a-revoked-replica",
            "An agent of a revoked replica lives nowhere",
            revoked,
            at("agent:bob/kiln"),
        ),
        case(
            "an-agent-that-moves",
            "An agent that is registered again lives where it was registered last",
            moved,
            at("agent:bob/kiln", DESK),
            moved.sync(),
            at("agent:bob/kiln", BOB),
        ),
        case(
            "a-pending-agent",
            "An agent lives where it registered whether or not it was approved",
            pending,
            at("agent:bob/kiln", DESK),
        ),
        case(
            "an-agent-registered-by-who-may-not",
            "A replica that does not speak for an agent's operator is not its home",
            anothers,
            at("agent:bob/kiln"),
        ),
        case(
            "never-federated",
            "The overseer and A2A peers live nowhere, whatever is registered",
            never,
            at("agent:ada/overseer"),
            at("agent:ada/a2a.partner"),
        ),
    ]


def system() -> Json:
    team = Team(BOB).begin()
    return vector(
        "homes.the-system-address",
        "The system address lives nowhere",
        at("$system"),
        sections=("F.5",),
        given=team.given,
    )


def assigned(assignee: str | None, me: str = ADA, *more: str, **members: Any) -> Team:
    team = Team(me, *more, **members)
    team.ada.task(TASK, title="Row 7", status="working", assignee=assignee)
    return team


def work_items() -> list[Json]:
    live = assigned("human:ada")
    live.cy.runs(RUN, TASK)
    live.begin()
    live.cy.runs(RUN, TASK, live=False)
    person = assigned("human:bob", ADA, DESK).begin()
    person.bob.task(TASK, assignee="human:cy")
    agent = assigned("agent:cy/kiln")
    agent.cy.agent("agent:cy/kiln")
    agent.begin()
    nobody = assigned(None).begin()
    auxiliary = assigned("human:ada")
    auxiliary.cy.runs(RUN, TASK, kind="review")
    auxiliary.begin()
    two = assigned("human:ada")
    two.cy.runs(RUN, TASK)
    two.bob.runs(SECOND_RUN, TASK)
    two.begin()
    two.cy.runs(RUN, TASK, live=False)
    contested = assigned("human:ada")
    contested.cy.runs(RUN, TASK)
    contested.bob.runs(RUN, TASK)
    contested.begin()
    return [
        case(
            "a-live-session",
            "A work item lives where its live session is, and with its assignee once that ended",
            live,
            at(TASK, CY),
            live.sync(),
            at(TASK, ADA),
        ),
        case(
            "an-assignee",
            "A work item without a live session lives where its assignee does, whoever that is by the latest edit",
            person,
            at(TASK, BOB, DESK),
            person.sync(),
            at(TASK, CY),
        ),
        case("an-assigned-agent", "A work item of an agent lives where the agent does", agent, at(TASK, CY)),
        case(
            "unassigned", "A work item with neither a session nor an assignee lives nowhere", nobody, at(TASK)
        ),
        case("unheard-of", "A work item nobody told of lives nowhere", nobody, at("task:t-0ddba2")),
        case(
            "an-auxiliary-session",
            "A session that only accompanies a work item is not where it lives",
            auxiliary,
            at(TASK, ADA),
        ),
        case(
            "two-sessions",
            "Of a work item's live sessions on two replicas the one told of first counts, then the other",
            two,
            at(TASK, CY),
            two.sync(),
            at(TASK, BOB),
        ),
        case(
            "a-contested-session",
            "A session that two replicas claim is nobody's, so its work item lives with its assignee",
            contested,
            at(TASK, ADA),
        ),
        *revoked_session(),
        *removed(),
    ]


def revoked_session() -> list[Json]:
    team = assigned("human:ada", BOB)
    team.cy.runs(RUN, TASK)
    team.begin()
    team.ada.revokes(team.cy)
    observer = assigned("human:ada", BOB, OBI, roles={OBI: {"observer": True}})
    observer.mates[OBI].runs(RUN, TASK)
    observer.begin()
    return [
        case(
            "a-session-of-a-revoked-replica",
            "A live session of a replica that is revoked counts no more",
            team,
            at(TASK, CY),
            team.sync(),
            at(TASK, ADA),
        ),
        case(
            "a-session-of-an-observer",
            "A live session of an observer does not count",
            observer,
            at(TASK, ADA),
        ),
    ]


def removed() -> list[Json]:
    team = assigned("human:bob").begin()
    team.cy.publish("task", body={"task": TASK.removeprefix("task:"), "kind": "remove"})
    gone = team.sync()
    team.bob.task(TASK, title="Row 7, again")
    return [
        case(
            "a-removed-work-item",
            "A work item that was removed lives nowhere, until it is written to again",
            team,
            at(TASK, BOB),
            gone,
            at(TASK),
            team.sync(),
            at(TASK, BOB),
        )
    ]


def own_session() -> Json:
    team = assigned("human:ada", BOB).begin()
    start = {"workItem": TASK.removeprefix("task:"), "session": RUN}
    return case(
        "an-own-session-counts-at-once",
        "A session that begins here makes this the work item's home at once, and is published with the next pass",
        team,
        at(TASK, ADA),
        world(startSession=start),
        at(TASK, BOB),
        team.sync(
            shared=[
                {
                    "type": "presence",
                    "body": {
                        "kind": "run",
                        "live": True,
                        "run": "r-0dd001",
                        "runKind": "execute",
                        "task": "t-0ddba1",
                    },
                }
            ]
        ),
        world(endSession={"workItem": start["workItem"]}),
        at(TASK, ADA),
    )


def others() -> list[Json]:
    team = assigned("human:ada")
    team.cy.runs(RUN, TASK)
    team.ada.channel("eng", "human:cy")
    team.begin()
    order = assigned("human:ada", BOB).begin()
    order.cy.runs(RUN, TASK)
    claim = order.news()
    order.ada.task(TASK, assignee="human:cy")
    order.cy.runs(RUN, TASK, live=False)
    later = order.news()
    return [
        case("a-session", "A session has no homes", team, at(RUN)),
        case("a-channel", "A channel has no homes of its own; its members do", team, at("channel:eng")),
        case(
            "whatever-came-first",
            "Homes are the same however the ops arrive: one pass or several, one replica's before another's",
            order,
            sync({ADA: later[ADA]}),
            at(TASK, CY),
            sync({CY: claim[CY]}),
            at(TASK, CY),
            sync({CY: later[CY]}),
            at(TASK, CY),
        ),
    ]


VECTORS = [*people(), *programs(), system(), *work_items(), own_session(), *others()]
