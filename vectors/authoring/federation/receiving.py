"""Receiving mail, in the ten steps of section F.5, and mail that is handed on."""

from collections.abc import Callable, Sequence
from typing import Any, Final

from vectors.authoring.cast import HOUR_MS, published, pushed, ruled, thread, told, woken
from vectors.authoring.federation.author import START_MS, op_hash
from vectors.authoring.federation.seals import fixed
from vectors.authoring.federation.teams import ADA, BOB, CY, DESK, LIMITS, Team, mid, target
from vectors.authoring.host_steps import delivery, message, send, who, world
from vectors.authoring.kit import Expected, Json, vector

TASK: Final = "task:t-0ddba1"
RUN: Final = "run:r-0dd001"
KILN: Final = "agent:ada/kiln"
M1, M2, M3, M4 = (mid(number) for number in (1, 2, 3, 4))
BEE: Final = who("human:bob")
STARTED: Final = world(startSession={"workItem": TASK.removeprefix("task:"), "session": RUN})


def case(
    id: str,
    title: str,
    team: Team,
    *steps: Expected,
    sections: tuple[str, ...] = ("F.5",),
    profile: str = "core",
    **then: Any,
) -> Json:
    return vector(
        f"receive.{id}", title, *steps, sections=sections, given=team.given, profile=profile, **then
    )


def refused(message_id: str, code: str, origin: str = ADA) -> Json:
    return {"to": [origin], "message": message_id, "code": code}


def at_bobs(message_id: str = M1, state: str = "notified", **more: Any) -> Json:
    return delivery(message_id, "human:bob", state, **more)


def delivered() -> list[Json]:
    plain = Team(BOB).begin()
    plain.ada.mail(plain.bob, plain.ada.message(1, "human:bob", refs=[{"type": "file", "id": "rows.csv"}]))
    other = Team(BOB).begin()
    other.ada.mail(other.cy, other.ada.message(1, "human:cy"))
    both = Team(BOB).begin()
    both.ada.mail([both.bob, both.cy], both.ada.message(1, ["human:bob", "human:cy"]))
    copy = Team(BOB, DESK).begin()
    desk = copy.mates[DESK]
    desk.mail([copy.bob, copy.ada], desk.message(1, "human:ada"))
    lied = Team(BOB).begin()
    lied.ada.mail(
        lied.bob,
        lied.ada.message(1, ["human:cy", "human:bob"]),
        [target("human:cy", lied.bob), target("human:bob", lied.bob)],
    )
    return [
        case(
            "a-message",
            "A message is stored as its origin signed it, with its origin, delivered, announced and reported",
            plain,
            plain.sync(
                reported=[{"to": [ADA], "message": M1, "recipient": "human:bob", "state": "notified"}],
                left=[],
            ),
            messages=[
                {
                    "id": M1,
                    "thread": M1,
                    "from": "human:ada",
                    "to": ["human:bob"],
                    "kind": "message",
                    "body": "Message 1.",
                    "refs": [{"type": "file", "id": "rows.csv"}],
                    "createdAt": "2026-09-21T14:13:20.000Z",
                    "origin": ADA,
                    "hlc": f"{START_MS + 7}.0000.{ADA}",
                }
            ],
            deliveries=[at_bobs(via="direct", session=None)],
            calls=[published(M1), told("human:bob", M1)],
            noRemote=[M1],
        ),
        case(
            "mail-for-others",
            "Mail that is not sealed to a replica is nothing to it",
            other,
            other.sync(reported=[], refused=[], left=[]),
            noOtherMessages=True,
        ),
        case(
            "a-target-elsewhere",
            "A recipient who is homed elsewhere has a remote row, and every replica that has the message is told of "
            "the delivery",
            both,
            both.sync(
                reported=[{"to": [ADA, CY], "message": M1, "recipient": "human:bob", "state": "notified"}]
            ),
            sections=("F.5", "F.4"),
            deliveries=[at_bobs()],
            remote=[
                {
                    "message": M1,
                    "recipient": "human:cy",
                    "via": "direct",
                    "homes": [CY],
                    "state": "forwarded",
                }
            ],
        ),
        case(
            "ones-own-from-another-machine",
            "What a person sends from another machine is stored at this one, and delivered to nobody here",
            copy,
            copy.sync(reported=[]),
            messages=[{"id": M1, "origin": DESK}],
            noDeliveries=[M1],
            remote=[{"message": M1, "recipient": "human:ada", "homes": [ADA], "state": "forwarded"}],
        ),
        case(
            "a-target-that-is-not-homed-here",
            "A recipient whose homes by the roster do not include this replica is not delivered here",
            lied,
            lied.sync(),
            deliveries=[at_bobs()],
        ),
    ]


def duplicates() -> list[Json]:
    twice = Team(BOB).begin()
    sent = twice.ada.message(1, "human:bob")
    twice.ada.mail(twice.bob, sent)
    first = twice.sync()
    twice.ada.mail(twice.bob, sent)
    changed = Team(BOB).begin()
    words = changed.ada.message(1, "human:bob")
    changed.ada.mail(changed.bob, words)
    before = changed.sync()
    changed.ada.mail(changed.bob, {**words, "body": "Other words."})
    more = Team(BOB).begin()
    wide = more.ada.message(1, ["human:bob", TASK])
    more.ada.mail(more.bob, wide, [target("human:bob", more.bob)])
    narrow = more.sync()
    more.ada.mail(more.bob, wide, [target("human:bob", more.bob), target(TASK, more.bob)])
    stolen = Team(BOB).begin()
    stolen.ada.mail(stolen.bob, stolen.ada.message(1, "human:bob"))
    mine = stolen.sync()
    stolen.cy.mail(stolen.bob, stolen.cy.message(1, "human:bob"))
    own = Team(BOB).begin(
        store={
            "messages": [
                {"id": M1, "from": "human:bob", "to": ["human:bob"], "kind": "message", "body": "Mine."}
            ]
        }
    )
    own.ada.mail(own.bob, own.ada.message(1, "human:bob"))
    return [
        case(
            "a-duplicate",
            "A message that comes again with the same content changes nothing and is not reported again",
            twice,
            first,
            twice.sync(reported=[], refused=[]),
            deliveries=[at_bobs()],
            calls=[published(M1), told("human:bob", M1)],
        ),
        case(
            "an-id-collision",
            "A message whose id is stored with other content is refused",
            changed,
            before,
            changed.sync(refused=[refused(M1, "conflict")], reported=[]),
            messages=[{"id": M1, "body": "Message 1."}],
            deliveries=[at_bobs()],
        ),
        case(
            "a-duplicate-adds-no-recipients",
            "A message that comes again for more recipients is delivered to no more",
            more,
            narrow,
            more.sync(reported=[], refused=[]),
            deliveries=[at_bobs()],
        ),
        case(
            "anothers-id",
            "A message with the id of another replica's is refused",
            stolen,
            mine,
            stolen.sync(refused=[refused(M1, "conflict", CY)]),
            messages=[{"id": M1, "origin": ADA}],
        ),
        case(
            "the-id-of-a-message-made-here",
            "A message with the id of one that was created here is refused",
            own,
            own.sync(refused=[refused(M1, "conflict")]),
            messages=[{"id": M1, "body": "Mine."}],
        ),
    ]


def senders() -> list[Json]:
    def by_agent(id: str, title: str, status: str) -> Json:
        team = Team(BOB)
        team.ada.agent(KILN, status)
        team.begin()
        team.ada.mail(team.bob, team.ada.message(1, "human:bob", **{"from": KILN}))
        approved = status == "approved"
        return case(
            id,
            title,
            team,
            team.sync(refused=[] if approved else [refused(M1, "forbidden")]),
            **({"deliveries": [at_bobs()]} if approved else {"noOtherMessages": True}),
        )

    later = Team(BOB)
    later.ada.agent(KILN, "pending")
    later.begin()
    later.ada.agent(KILN)
    later.ada.mail(later.bob, later.ada.message(1, "human:bob", **{"from": KILN}))
    return [
        by_agent("an-approved-agent", "Mail of an agent that is approved is received", "approved"),
        by_agent("a-pending-agent", "Mail of an agent that is not approved yet is refused", "pending"),
        by_agent("a-revoked-agent", "Mail of an agent whose registration was revoked is refused", "revoked"),
        case(
            "an-agent-approved-in-the-same-pass",
            "An approval counts for mail that comes after it in the same pass",
            later,
            later.sync(refused=[]),
            deliveries=[at_bobs()],
        ),
        *muted(),
    ]


def muted() -> list[Json]:
    team = Team(BOB)
    team.ada.agent(KILN)
    team.begin(muted=[KILN])
    team.ada.mail(
        team.bob,
        team.ada.message(1, ["human:bob", TASK], **{"from": KILN}),
        [target("human:bob", team.bob), target(TASK, team.bob)],
    )
    return [
        vector(
            "receive.a-muted-agent",
            "Deliveries of a sender that is muted here start read, and nobody is notified",
            team.sync(),
            sections=("F.5",),
            given=team.given,
            deliveries=[at_bobs(state="read"), delivery(M1, TASK, "read")],
            calls=[published(M1)],
        )
    ]


def replies() -> list[Json]:
    def case_of(id: str, title: str, team: Team, before: Expected, code: str | None, **then: Any) -> Json:
        told_ = [] if code is None else [refused(M2, code, CY)]
        stored: dict[str, Any] = {"messages": [{"id": M2}]} if code is None else {}
        return case(id, title, team, before, team.sync(refused=told_), **stored, **then)

    def heard(to: Sequence[str], **members: Any) -> tuple[Team, Expected]:
        """Ada's message to Bob, and perhaps to Cy, then Cy's reply to it."""
        team = Team(BOB).begin()
        team.ada.mail([team.bob, team.cy], team.ada.message(1, to))
        before = team.sync()
        team.cy.mail(team.bob, team.cy.message(2, "human:bob", **{"replyTo": M1, "thread": M1, **members}))
        return team, before

    row = {
        "id": "m-kept",
        "from": "human:bob",
        "to": ["human:ada", "human:cy"],
        "kind": "message",
        "body": "Kept.",
        "hlc": f"{START_MS}.0000.{BOB}",
    }
    remote = [
        {"message": "m-kept", "recipient": "human:ada", "via": "direct", "homes": [ADA], "state": "read"}
    ]

    def seeded(id: str, title: str, code: str | None, *, rows: bool = True, **members: Any) -> Json:
        """A message created here went to Ada; Cy answers it, who is named but has no row, or has one."""
        team = Team(BOB)
        both = [*remote, {**remote[0], "recipient": "human:cy", "homes": [CY]}] if rows else remote
        given = {**row, "to": ["human:ada", "human:cy"] if rows else ["human:ada"]}
        team.begin(store={"messages": [given]}, remote=both)
        team.cy.mail(
            team.bob,
            team.cy.message(2, "human:bob", **{"replyTo": "m-kept", "thread": "m-kept", **members}),
        )
        told_ = [] if code is None else [refused(M2, code, CY)]
        then: dict[str, Any] = {"messages": [{"id": M2}]} if code is None else {}
        return case(id, title, team, team.sync(refused=told_), **then)

    alone = Team(BOB).begin()
    alone.cy.mail(alone.bob, alone.cy.message(2, "human:bob", replyTo="m-unseen", thread="m-root"))
    return [
        case_of(
            "a-reply-of-a-recipient",
            "A recipient of a message may reply to it",
            *heard(["human:bob", "human:cy"]),
            None,
        ),
        case_of(
            "a-reply-of-nobody-in-it",
            "Who takes no part in the message replied to is refused",
            *heard(["human:bob"]),
            "not-found",
        ),
        seeded(
            "a-reply-by-a-remote-row",
            "A recipient elsewhere of a message created here may reply to it",
            None,
        ),
        seeded(
            "a-reply-without-a-remote-row",
            "Who has neither a delivery nor a remote row of the message replied to is refused",
            "not-found",
            rows=False,
        ),
        case_of(
            "a-partial-thread-by-its-root",
            "Where the message replied to is not here, who takes part in the thread's root is received",
            *heard(["human:bob", "human:cy"], replyTo="m-unseen"),
            None,
        ),
        case_of(
            "a-partial-thread-not-by-its-root",
            "Where the message replied to is not here, who takes no part in the thread's root is refused",
            *heard(["human:bob"], replyTo="m-unseen"),
            "not-found",
        ),
        case(
            "a-partial-thread-of-which-nothing-is-here",
            "Where neither the message replied to nor the root is here, the reply is received",
            alone,
            alone.sync(refused=[]),
            messages=[{"id": M2, "replyTo": "m-unseen", "thread": "m-root"}],
            deliveries=[at_bobs(M2)],
        ),
        case_of(
            "a-reply-in-another-thread",
            "A reply has the thread of the message it replies to",
            *heard(["human:bob", "human:cy"], thread=M2),
            "invalid",
        ),
        seeded("a-reply-to-itself", "No message replies to itself", "invalid", replyTo=M2, thread=M2),
    ]


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
    return [
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
    stray.cy.forwards(aside, stray.bob, "task:t-0ddba2")
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
        taken(early)(
            "a-forward-before-its-op",
            "Mail handed on waits until the op of its origin arrives",
            early.sync(refused=[]),
            _appear(unread, refused=[], parked=[]),
        ),
        taken(forged)(
            "a-forward-of-an-op-in-no-log",
            "Mail handed on that the log of its origin does not hold is dropped",
            forged.sync(parked=[], reported=[]),
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
    return [
        case(
            "held-mail-is-handed-on",
            "Mail held for a work item whose session begins elsewhere is handed on there, as its origin's own op, once",
            team,
            held,
            once,
            team.sync(forwards=[]),
            sections=("F.4",),
            deliveries=[delivery(M1, TASK, "held")],
        )
    ]


def presented() -> list[Json]:
    team = Team(BOB).begin()
    team.ada.mail(team.bob, team.ada.message(1, "human:bob", body="One.\n> Two.\nfrom human:bob: three."))
    return [
        case(
            "presented-as-external",
            "A pushed message from another replica has every line after its header quoted",
            team,
            team.sync(),
            ({"op": "render", "message": M1, "external": True}, {"ok": True}),
            sections=("F.5",),
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


def sending() -> list[Json]:
    """What a send here becomes for teammates."""
    away = Team(BOB).begin()
    mine = Team(BOB, DESK).begin()
    nowhere = Team(BOB).begin()
    channel = Team(BOB)
    for member in ("human:ada", "human:bob", "human:cy"):
        channel.ada.channel("eng", member)
    channel.begin()
    item = Team(BOB)
    item.ada.task(TASK, title="Row 7", status="working", assignee="human:ada")
    item.begin()
    done: Json = {"ok": True}
    return [
        case(
            "a-send-to-a-teammate",
            "A recipient who is homed elsewhere gets a remote row instead of a delivery",
            away,
            (send(BEE, message("human:ada", "Hello.")), done),
            (away.sync()[0], done),
            sections=("F.4",),
            noDeliveries=["$s1"],
            remote=[
                {
                    "message": "$s1",
                    "recipient": "human:ada",
                    "via": "direct",
                    "homes": [ADA],
                    "state": "forwarded",
                }
            ],
        ),
        case(
            "a-send-to-nowhere",
            "An address with no homes stays here",
            nowhere,
            (send(BEE, message("human:zed", "Hello.")), done),
            nowhere.sync(mail=[]),
            sections=("F.5",),
            deliveries=[delivery("$s1", "human:zed", "notified")],
            noRemote=["$s1"],
        ),
        case(
            "a-send-to-a-channel",
            "A channel is expanded once, at the origin: members here have deliveries, members elsewhere remote rows",
            channel,
            (send(BEE, message(["channel:eng", "human:cy"], "Hello.")), done),
            sections=("F.5", "F.4"),
            noDeliveries=["$s1"],
            remote=[
                {"message": "$s1", "recipient": "human:ada", "via": "channel", "homes": [ADA]},
                {"message": "$s1", "recipient": "human:cy", "via": "direct", "homes": [CY]},
            ],
        ),
        case(
            "a-send-to-a-work-item-elsewhere",
            "Mail to a work item goes to its home, which may wake it",
            item,
            (send(BEE, message(TASK, "Begin.", wake="request")), done),
            sections=("F.4",),
            noDeliveries=["$s1"],
            remote=[{"message": "$s1", "recipient": TASK, "homes": [ADA], "wakeAt": ADA}],
            calls=[published("$s1")],
        ),
        case(
            "a-send-to-ones-other-machine",
            "Someone who lives here and elsewhere has a delivery here and a remote row",
            mine,
            (send(who("human:lee"), message("human:bob", "Hello.")), done),
            sections=("F.4",),
            deliveries=[delivery("$s1", "human:bob", "notified")],
            remote=[{"message": "$s1", "recipient": "human:bob", "homes": [DESK], "state": "forwarded"}],
        ),
    ]


VECTORS = [
    *delivered(),
    *duplicates(),
    *senders(),
    *replies(),
    *validated(),
    *guarded(),
    *work_items(),
    *sessions(),
    *clocks(),
    *forwards(),
    *presented(),
    *unreadable(),
    *sending(),
]
