"""Receiving mail: what is refused, what waits, and what cannot be read (section F.5)."""

from collections.abc import Callable
from typing import Any

from vectors.authoring.cast import HOUR_MS, thread
from vectors.authoring.federation.author import START_MS
from vectors.authoring.federation.receive_parts import (
    KILN,
    M1,
    M2,
    M3,
    M4,
    RUN,
    STARTED,
    TASK,
    at_bobs,
    case,
    refused,
)
from vectors.authoring.federation.teams import ADA, BOB, CY, LIMITS, Team, target
from vectors.authoring.host_steps import delivery, world
from vectors.authoring.kit import Json


def validated() -> list[Json]:
    def comes(id: str, title: str, code: str | None, **members: Any) -> Json:
        team = Team(BOB).begin()
        team.ada.mail(team.bob, team.ada.message(1, "human:bob", **members))
        team.ada.mail(team.bob, team.ada.message(2, "human:bob"))
        told_ = [] if code is None else [refused(M1, code)]
        ids = (M2,) if code else (M1, M2)
        return case(
            id,
            title,
            team,
            team.sync(refused=told_),
            deliveries=[at_bobs(each) for each in ids],
            noOtherMessages=True,
        )

    return [
        comes("a-blank-body", "A blank body is refused, and what follows is received", "invalid", body=" \n"),
        comes("a-long-body", "A body over 64 KiB is refused", "invalid", body="x" * 65_537),
        comes(
            "an-unknown-kind",
            "A kind that is neither built in nor private is refused",
            "invalid",
            kind="shout",
        ),
        comes("a-private-kind", "A private kind is received", None, kind="x-note"),
        comes("a-blocking-message", "Only a question or a handoff is blocking", "invalid", blocking=True),
        comes(
            "choices-of-a-message", "Only a question or a handoff offers choices", "invalid", choices=["a"]
        ),
        comes("an-answer-to-nothing", "An answer names what it answers", "invalid", kind="answer"),
        comes(
            "an-unknown-ref-type",
            "A ref of an unknown type that is an identifier is kept",
            None,
            refs=[{"type": "orchard", "id": "row-7"}],
        ),
        comes(
            "a-malformed-ref",
            "A ref whose type is no identifier is refused",
            "invalid",
            refs=[{"type": "Orchard", "id": "7"}],
        ),
        comes(
            "a-thread-of-its-own",
            "A message that replies to nothing begins a thread of its own id",
            "invalid",
            thread=M3,
        ),
        *answers(),
    ]


def answers() -> list[Json]:
    team = Team(BOB).begin()
    asked = team.ada.message(
        1, ["human:bob", "human:cy"], kind="question", choices=["yes", "no"], blocking=True
    )
    team.ada.mail([team.bob, team.cy], asked)
    before = team.sync()
    team.cy.mail(
        [team.bob, team.ada],
        team.cy.message(2, "human:ada", kind="answer", replyTo=M1, thread=M1, choice="maybe"),
    )
    unseen = Team(BOB).begin()
    unseen.cy.mail(
        [unseen.bob, unseen.ada],
        unseen.cy.message(2, "human:ada", kind="answer", replyTo=M1, thread=M1, choice="maybe", body=""),
        [target("human:ada", unseen.ada)],
    )
    return [
        case(
            "a-choice-that-was-not-offered",
            "A choice that its question does not offer is refused",
            team,
            before,
            team.sync(refused=[refused(M2, "invalid", CY)]),
            noOtherMessages=True,
            messages=[{"id": M1}],
        ),
        case(
            "what-needs-the-question-is-skipped-without-it",
            "Checks that need the message replied to are skipped while it is not here",
            unseen,
            unseen.sync(refused=[]),
            messages=[{"id": M2, "choice": "maybe"}],
        ),
    ]


def guarded() -> list[Json]:
    def agents(limits: Json) -> Team:
        team = Team(BOB)
        team.ada.agent(KILN)
        return team.begin(limits={**LIMITS, **limits})

    def by_kiln(team: Team, number: int, **members: Any) -> None:
        team.ada.mail(team.bob, team.ada.message(number, "human:bob", **{"from": KILN, **members}))

    broken = agents({"agentTurnsPerThreadPerHour": 2})
    by_kiln(broken, 1)
    for number in (2, 3):
        by_kiln(broken, number, replyTo=M1, thread=M1, createdAt="2020-01-01T00:00:00.000Z")
    all_at_once = broken.sync(refused=[refused(M3, "limited")])
    by_kiln(broken, 4, replyTo=M1, thread=M1)
    people = Team(BOB).begin(limits={**LIMITS, "agentTurnsPerThreadPerHour": 0})
    people.ada.mail(people.bob, people.ada.message(1, "human:bob"))
    people.ada.mail(people.bob, people.ada.message(2, "human:bob", replyTo=M1, thread=M1))
    partial = agents({"agentTurnsPerThreadPerHour": 1})
    for number in (1, 2):
        by_kiln(partial, number, replyTo=f"m-unseen-{number}", thread="m-unseen")
    urgent = agents({"urgentPerHour": 1})
    targets = [target(TASK, urgent.bob, via="channel")]
    for number in (1, 2):
        urgent.ada.mail(
            urgent.bob,
            urgent.ada.message(
                number,
                "channel:eng",
                urgent=True,
                createdAt="2020-01-01T00:00:00.000Z",
                **{"from": KILN},
            ),
            targets,
        )
    return [
        case(
            "the-breaker",
            "An agent's reply over the breaker's limit is refused, counted by arrival and not by its own time",
            broken,
            all_at_once,
            world(advanceMs=HOUR_MS + 1),
            broken.sync(refused=[]),
            messages=[{"id": M1}, {"id": M2}, {"id": M4}],
        ),
        case(
            "the-breaker-is-for-agents",
            "What people write is not counted",
            people,
            people.sync(refused=[]),
            messages=[{"id": M1}, {"id": M2}],
        ),
        case(
            "the-breaker-of-a-partial-thread",
            "The breaker counts a thread whose beginning is not here",
            partial,
            partial.sync(refused=[refused(M2, "limited")]),
            messages=[{"id": M1}],
        ),
        case(
            "the-urgent-quota",
            "An urgent message over its sender's quota stays as it was signed and is dispatched without urgency",
            urgent,
            STARTED,
            urgent.sync(refused=[]),
            messages=[{"id": M1, "urgent": True}, {"id": M2, "urgent": True}],
            deliveries=[
                delivery(M1, TASK, "pushed", session=RUN, via="channel"),
                delivery(M2, TASK, "notified", session=RUN, via="channel"),
            ],
        ),
    ]


def clocks() -> list[Json]:
    now = START_MS + 157_600_000  # 2026-09-23T10:00:00.000Z
    lead = 5 * 60_000

    def dated(ms: int, own: int | None = None) -> Team:
        team = Team(BOB).begin()
        sent = team.ada.message(1, "human:bob", hlc=f"{own or ms}.0000.{ADA}")
        team.ada.mail(team.bob, sent, hlc=f"{ms}.0001.{ADA}")
        team.cy.mail(team.bob, team.cy.message(2, "human:bob"))
        return team

    near, far, later = dated(now + lead), dated(now + lead + 1), dated(now, now + lead + 1)
    ahead = dated(now + lead, now + lead + 1)
    kept = {"replica": ADA, "seq": ahead.ada.entries[-1]["seq"]}
    place = {"replica": ADA, "seq": far.ada.entries[-1]["seq"]}
    return [
        case(
            "an-op-within-the-lead",
            "An op stamped five minutes ahead counts at once",
            near,
            near.sync(left=[]),
            sections=("F.5", "F.1"),
            deliveries=[at_bobs(M1), at_bobs(M2)],
        ),
        case(
            "an-op-beyond-the-lead",
            "An op stamped more than five minutes ahead waits until its time comes, and nobody else's with it",
            far,
            far.sync(left=[place]),
            world(advanceMs=1),
            far.sync(),
            sections=("F.5", "F.1"),
            messages=[{"id": M2}, {"id": M1}],
            deliveries=[at_bobs(M1), at_bobs(M2)],
        ),
        case(
            "a-message-dated-after-its-op",
            "A message whose clock is further ahead of its op's than the lead does not arrive",
            later,
            later.sync(refused=[]),
            world(advanceMs=HOUR_MS),
            later.sync(refused=[]),
            deliveries=[at_bobs(M2)],
            noOtherMessages=True,
        ),
        case(
            "a-message-beyond-the-lead",
            "A message stamped more than five minutes ahead waits until its time comes, though its op does not",
            ahead,
            ahead.sync(left=[], parked=[kept]),
            world(advanceMs=1),
            ahead.sync(parked=[]),
            deliveries=[at_bobs(M1), at_bobs(M2)],
        ),
        *ordered(),
    ]


def ordered() -> list[Json]:
    team = Team(BOB).begin()
    first = team.ada.message(3, ["human:bob", "human:cy"])
    team.ada.mail([team.bob, team.cy], first)
    second = team.cy.message(2, "human:bob", replyTo=M3, thread=M3, createdAt="2020-01-01T00:00:00.000Z")
    third = team.ada.message(1, "human:bob", replyTo=M3, thread=M3)
    team.ada.mail(team.bob, third)
    team.cy.mail(team.bob, second)
    return [
        case(
            "a-thread-is-ordered-by-clock",
            "A thread is ordered by the clocks of its messages, whatever their ids and times say",
            team,
            team.sync(),
            (thread(M3), {"ok": True, "result": {"messages": [M3, M2, M1]}}),
            sections=("F.4",),
        )
    ]


def unreadable() -> list[Json]:
    def payload(id: str, title: str, content: Any) -> Json:
        team = Team(BOB).begin()
        team.ada.seals("mail", content(team) if callable(content) else content, [team.bob])
        team.ada.mail(team.bob, team.ada.message(2, "human:bob"))
        return case(
            id,
            title,
            team,
            team.sync(refused=[], left=[], parked=[]),
            sections=("F.4",),
            deliveries=[at_bobs(M2)],
            noOtherMessages=True,
        )

    def bent(**changes: Any) -> Callable[[Team], Json]:
        def build(team: Team) -> Json:
            sent = team.ada.message(1, "human:bob")
            return {"message": sent, "targets": [{**target("human:bob", team.bob), **changes}]}

        return build

    def without(name: str) -> Callable[[Team], Json]:
        def build(team: Team) -> Json:
            sent = team.ada.message(1, "human:bob")
            sent.pop(name)
            return {"message": sent, "targets": [target("human:bob", team.bob)]}

        return build

    unknown = Team(BOB).begin()
    unknown.ada.publish("zebra", body={"stripes": 9})
    unknown.ada.mail(unknown.bob, unknown.ada.message(2, "human:bob"))
    return [
        payload(
            "a-payload-that-is-none",
            "A payload that is none is dropped, and what follows is received",
            "text",
        ),
        payload(
            "a-payload-without-targets",
            "A payload without targets is dropped",
            {"message": {}, "targets": []},
        ),
        payload("a-message-without-an-id", "A message without an id is dropped", without("id")),
        payload(
            "a-message-without-a-clock", "A message without its origin's clock is dropped", without("hlc")
        ),
        payload(
            "a-channel-as-a-target",
            "No target is a channel: the origin expanded it",
            bent(recipient="channel:eng"),
        ),
        payload(
            "a-recipient-twice",
            "A payload that names a recipient twice is dropped",
            lambda team: {
                "message": team.ada.message(1, "human:bob"),
                "targets": [target("human:bob", team.bob), target("human:bob", team.bob, via="channel")],
            },
        ),
        payload("a-target-without-a-route", "A target has a route", bent(via="post")),
        payload("a-home-that-is-no-replica", "Homes are ids of replicas", bent(homes=["bob"])),
        case(
            "an-op-of-an-unknown-type",
            "An op of a type that is not known is verified and kept, and stops nothing",
            unknown,
            unknown.sync(left=[], kept=[{"replica": ADA, "seq": unknown.ada.entries[-2]["seq"]}]),
            sections=("F.1",),
            deliveries=[at_bobs(M2)],
        ),
    ]


VECTORS = [*validated(), *guarded(), *clocks(), *unreadable()]
