"""Receiving mail of work items and sessions, and mail that is handed on (sections F.4, F.5)."""

from collections.abc import Callable
from typing import Any

from vectors.authoring.cast import published, pushed, ruled, woken
from vectors.authoring.federation.author import START_MS, op_hash
from vectors.authoring.federation.receive_parts import M1, RUN, STARTED, TASK, case
from vectors.authoring.federation.seals import fixed
from vectors.authoring.federation.teams import ADA, BOB, CY, DESK, Team, target
from vectors.authoring.host_steps import delivery, world
from vectors.authoring.kit import Expected, Json


def work_items() -> list[Json]:
    def sent() -> Team:
        team = Team(BOB)
        team.ada.task(TASK, title="Row 7", status="working", assignee="human:bob")
        return team

    def mailed(team: Team, wake_at: str | None = None, **members: Any) -> Team:
        where = None if wake_at is None else team.mates[wake_at]
        team.ada.mail(
            team.bob,
            team.ada.message(1, TASK, wake="none" if wake_at is None else "request", **members),
            [target(TASK, team.bob, wake_at=where)],
        )
        return team

    live = mailed(sent().begin())
    held = mailed(sent().begin())
    named = mailed(sent().begin(rulings={TASK: "allow"}), BOB)
    other = mailed(sent().begin(rulings={TASK: "allow"}), CY)
    denied = mailed(sent().begin(rulings={TASK: "deny"}), BOB)
    asked = mailed(sent().begin(rulings={TASK: "ask"}), BOB)
    running = mailed(sent().begin(rulings={TASK: "allow"}), BOB)
    failing = mailed(sent().begin(failPush=[RUN]))
    unknown = sent().begin()
    unknown.ada.mail([unknown.cy, unknown.bob], unknown.ada.message(1, TASK), [target(TASK, unknown.cy)])
    return [
        case(
            "a-live-session-that-the-origin-does-not-know-of",
            "Mail to a work item is pushed into its live session here though its origin named another home",
            unknown,
            STARTED,
            unknown.sync(),
            deliveries=[delivery(M1, TASK, "pushed", session=RUN)],
        ),
        case(
            "a-live-session-here",
            "Mail to a work item is pushed into its live session here",
            live,
            STARTED,
            live.sync(),
            deliveries=[delivery(M1, TASK, "pushed", session=RUN)],
            calls=[published(M1), pushed(RUN, M1)],
        ),
        case(
            "a-work-item-without-a-session",
            "Mail to a work item without a live session is held, and given to the next one",
            held,
            held.sync(
                reported=[{"to": [ADA], "message": M1, "recipient": TASK, "state": "held"}], forwards=[]
            ),
            STARTED,
            (
                {"op": "deliverHeld", "session": RUN, "workItem": TASK.removeprefix("task:")},
                {
                    "ok": True,
                    "result": {"deliveries": [{"message": M1, "recipient": TASK, "state": "pushed"}]},
                },
            ),
            held.sync(reported=[{"to": [ADA], "message": M1, "recipient": TASK, "state": "pushed"}]),
            deliveries=[delivery(M1, TASK, "pushed", session=RUN)],
        ),
        case(
            "a-push-that-fails",
            "Mail whose push fails is held",
            failing,
            STARTED,
            failing.sync(),
            deliveries=[delivery(M1, TASK, "held", session=None)],
        ),
        case(
            "woken-where-the-origin-says",
            "A held work item is woken at the replica that wakeAt names, under the policy there",
            named,
            named.sync(),
            deliveries=[delivery(M1, TASK, "held")],
            calls=[published(M1), ruled(TASK, M1), woken(TASK, M1)],
        ),
        case(
            "not-woken-elsewhere",
            "A replica that wakeAt does not name wakes nothing, and asks no policy",
            other,
            other.sync(),
            deliveries=[delivery(M1, TASK, "held")],
            calls=[published(M1)],
        ),
        case(
            "a-wake-that-is-denied",
            "A wake that the policy here denies leaves the mail held",
            denied,
            denied.sync(),
            deliveries=[delivery(M1, TASK, "held")],
            calls=[published(M1), ruled(TASK, M1)],
        ),
        case(
            "a-wake-that-is-asked-about",
            "A wake that the policy here asks about raises a gate to the owner here, which stays here",
            asked,
            asked.sync(mail=[]),
            deliveries=[delivery(M1, TASK, "held"), delivery("$gate1", "human:bob", "notified")],
            messages=[{"id": M1}, {"id": "$gate1", "kind": "question"}],
            noRemote=["$gate1"],
        ),
        case(
            "a-live-session-needs-no-waking",
            "A work item with a live session is not woken",
            running,
            STARTED,
            running.sync(),
            calls=[published(M1), pushed(RUN, M1)],
            deliveries=[delivery(M1, TASK, "pushed")],
        ),
    ]


def sessions() -> list[Json]:
    """Bob's session writes to Ada, whose reply goes back to where it was sent from."""
    row = {
        "id": "m-kept",
        "from": RUN,
        "to": ["human:ada"],
        "kind": "message",
        "body": "Kept.",
        "hlc": f"{START_MS}.0000.{BOB}",
    }
    remote = [
        {"message": "m-kept", "recipient": "human:ada", "via": "direct", "homes": [ADA], "state": "read"}
    ]

    def replied() -> Team:
        team = Team(BOB).begin(store={"messages": [row]}, remote=remote)
        team.ada.mail(
            team.bob,
            team.ada.message(1, RUN, replyTo="m-kept", thread="m-kept"),
            [target(RUN, team.bob)],
        )
        return team

    live, ended = replied(), replied()
    return [
        case(
            "a-reply-to-a-session",
            "A reply to the message of a session here is pushed into it while it is live",
            live,
            STARTED,
            live.sync(),
            deliveries=[delivery(M1, RUN, "pushed", session=RUN)],
        ),
        case(
            "a-reply-to-a-session-that-ended",
            "A reply to the message of a session here that ended goes to its work item",
            ended,
            STARTED,
            world(endSession={"workItem": TASK.removeprefix("task:")}),
            ended.sync(),
            deliveries=[delivery(M1, TASK, "held")],
        ),
    ]


def forwards() -> list[Json]:
    def held_at_cys() -> tuple[Team, Json]:
        team = Team(BOB)
        team.ada.task(TASK, title="Row 7", status="working", assignee="human:cy")
        team.begin()
        original = team.ada.mail(team.cy, team.ada.message(1, TASK), [target(TASK, team.cy)])
        return team, original

    def taken(team: Team) -> Callable[..., Json]:
        def build(id: str, title: str, *steps: Expected, comes: bool = True, **then: Any) -> Json:
            stored: Json = (
                {"messages": [{"id": M1, "origin": ADA}], "deliveries": [delivery(M1, TASK, "pushed")]}
                if comes
                else {"noOtherMessages": True}
            )
            return case(id, title, team, STARTED, *steps, sections=("F.4", "F.5"), **{**stored, **then})

        return build

    good, original = held_at_cys()
    good.cy.forwards(original, good.bob, TASK)
    third = Team(BOB, DESK)
    third.ada.task(TASK, title="Row 7", status="working", assignee="human:cy")
    third.begin()
    held = third.ada.mail(third.cy, third.ada.message(1, TASK), [target(TASK, third.cy)])
    third.cy.forwards(held, third.mates[DESK], TASK)
    third.mates[DESK].forwards(held, third.bob, TASK)
    early, first = held_at_cys()
    unread = early.news()
    early.cy.forwards(first, early.bob, TASK)
    forged, genuine = held_at_cys()
    other = forged.ada.op(
        forged.ada.entries[-2], "mail", **{**_content(genuine), "hlc": f"{START_MS + 99}.0000.{ADA}"}
    )
    forged.cy.forwards(other, forged.bob, TASK)
    wrong, sealed_ = held_at_cys()
    wrong.cy.forwards(sealed_, wrong.bob, TASK, key=fixed("another key"))
    stray, aside = held_at_cys()
    for recipient in ("task:t-0ddba2", "human:bob"):
        stray.cy.forwards(aside, stray.bob, recipient)
    several, whole = held_at_cys()
    several.cy.forwards(whole, [several.bob, several.ada], TASK)
    late = Team(BOB)
    late.ada.task(TASK, title="Row 7", status="working", assignee="human:cy")
    late.begin()
    late.ada.revokes(late.cy)
    said = late.cy.mail(late.ada, late.cy.message(1, TASK), [target(TASK, late.ada)])
    late.ada.forwards(said, late.bob, TASK)
    again, once = held_at_cys()
    again.cy.forwards(once, again.bob, TASK)
    before = again.sync()
    again.cy.forwards(once, again.bob, TASK)
    revoked, cut = held_at_cys()
    revoked.ada.revokes(revoked.cy)
    revoked.cy.forwards(cut, revoked.bob, TASK)
    stub, pruned = held_at_cys()
    stub.cy.forwards(
        {**{name: value for name, value in pruned.items() if name != "sealed"}, "pruned": True},
        stub.bob,
        TASK,
    )
    return [
        taken(good)(
            "a-forward",
            "Mail handed on is its origin's, delivered where its work item lives, and reported to all who have it",
            good.sync(reported=[{"to": [ADA, CY], "message": M1, "recipient": TASK, "state": "pushed"}]),
        ),
        taken(third)(
            "a-forward-of-a-forward",
            "Mail may be handed on by who got it so, and who hands it on is told what becomes of it",
            third.sync(
                reported=[{"to": [ADA, DESK, CY], "message": M1, "recipient": TASK, "state": "pushed"}]
            ),
        ),
        taken(early)(
            "a-forward-before-its-op",
            "Mail handed on waits until the op of its origin arrives",
            early.sync(refused=[]),
            _appear(unread, refused=[], parked=[]),
        ),
        taken(forged)(
            "a-forward-of-an-op-in-no-log",
            "Mail handed on that the log of its origin does not hold is refused",
            forged.sync(
                parked=[], reported=[], refused=[{"to": [ADA], "message": M1, "code": "unverifiable"}]
            ),
            comes=False,
        ),
        taken(wrong)(
            "a-forward-with-another-key",
            "Mail handed on with a key that does not open it is dropped",
            wrong.sync(parked=[], reported=[]),
            comes=False,
        ),
        taken(stray)(
            "a-forward-for-no-target",
            "Mail handed on for who is no target of it is dropped",
            stray.sync(parked=[], reported=[]),
            comes=False,
        ),
        taken(several)(
            "a-forward-for-several",
            "Mail handed on to several replicas at once is dropped",
            several.sync(parked=[], reported=[]),
            comes=False,
        ),
        taken(late)(
            "a-forward-of-what-came-after-a-cut",
            "Mail handed on that its origin published after its cut is dropped",
            late.sync(parked=[], reported=[]),
            comes=False,
        ),
        taken(again)(
            "a-forward-that-comes-twice",
            "Mail handed on twice is delivered once",
            before,
            again.sync(reported=[], refused=[]),
        ),
        taken(revoked)(
            "a-forward-after-a-cut",
            "Mail handed on by a replica after its cut is dropped",
            revoked.sync(parked=[], reported=[]),
            comes=False,
        ),
        taken(stub)(
            "a-forward-of-a-stub",
            "A stub cannot be handed on",
            stub.sync(parked=[], reported=[]),
            comes=False,
        ),
        *handing_on(),
    ]


def _content(entry: Json) -> Json:
    return {name: entry[name] for name in ("to", "sealed")}


def _appear(lanes: dict[str, list[str]], **result: Any) -> Expected:
    return {"op": "sync", "lanes": lanes}, {"ok": True, "result": result}


def handing_on() -> list[Json]:
    team = Team(BOB)
    team.ada.task(TASK, title="Row 7", status="working", assignee="human:bob")
    team.begin()
    original = team.ada.mail(team.bob, team.ada.message(1, TASK), [target(TASK, team.bob)])
    held = team.sync(forwards=[])
    team.cy.runs(RUN, TASK)
    on = {"to": [CY], "op": op_hash(original), "target": TASK}
    once = team.sync(forwards=[on], mail=[])
    team.cy.runs(RUN, TASK, live=False)
    team.cy.runs("run:r-0dd002", TASK)
    origin = Team(BOB)
    origin.ada.task(TASK, title="Row 7", status="working", assignee="human:bob")
    origin.begin()
    origin.ada.mail(origin.bob, origin.ada.message(1, TASK), [target(TASK, origin.bob)])
    first = origin.sync(forwards=[])
    origin.ada.runs(RUN, TASK)
    return [
        case(
            "held-mail-is-not-handed-back",
            "Mail held for a work item whose session begins at its origin is not handed on",
            origin,
            first,
            origin.sync(forwards=[], mail=[]),
            sections=("F.4",),
            deliveries=[delivery(M1, TASK, "held")],
        ),
        case(
            "held-mail-is-handed-on",
            "Mail held for a work item whose session begins elsewhere is handed on there, as its origin's own op, once",
            team,
            held,
            once,
            team.sync(forwards=[]),
            sections=("F.4",),
            deliveries=[delivery(M1, TASK, "held")],
        ),
    ]


VECTORS = [*work_items(), *sessions(), *forwards()]
