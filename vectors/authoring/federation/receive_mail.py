"""Receiving mail: whose it is, what it replies to, and what a send here becomes elsewhere (section F.5)."""

from collections.abc import Sequence
from typing import Any

from vectors.authoring.cast import published, told
from vectors.authoring.federation.author import START_MS
from vectors.authoring.federation.receive_parts import (
    BEE,
    KILN,
    M1,
    M2,
    RUN,
    STARTED,
    TASK,
    at_bobs,
    case,
    refused,
)
from vectors.authoring.federation.teams import ADA, ADA2, BOB, CY, DESK, OBI, Team, target
from vectors.authoring.host_steps import delivery, message, send, who
from vectors.authoring.host_steps import refused as fails
from vectors.authoring.kit import Expected, Json, vector


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
    apart = Team(BOB).begin()
    apart.ada.mail(apart.bob, apart.ada.message(1, "human:bob"))
    apart.cy.mail(apart.bob, apart.cy.message(2, "human:bob"))
    gone = Team(BOB)
    gone.ada.revokes(gone.cy)
    gone.begin()
    gone.ada.mail(
        gone.bob,
        gone.ada.message(1, ["human:bob", "human:cy"]),
        [target("human:bob", gone.bob), target("human:cy", gone.cy)],
    )
    two = Team(BOB, ADA2).begin()
    two.ada.mail(
        [two.bob, two.mates[ADA2]],
        two.ada.message(1, ["human:bob", "human:ada"]),
        [target("human:bob", two.bob), target("human:ada", two.mates[ADA2])],
    )
    return [
        case(
            "mail-of-two",
            "What becomes of a message is reported to those that have it, and to nobody else",
            apart,
            apart.sync(
                reported=[
                    {"to": [ADA], "message": M1, "recipient": "human:bob", "state": "notified"},
                    {"to": [CY], "message": M2, "recipient": "human:bob", "state": "notified"},
                ]
            ),
            sections=("F.4",),
            deliveries=[at_bobs(M1), at_bobs(M2)],
        ),
        case(
            "a-target-whose-home-left",
            "A replica that is no longer in the team is nobody's home, whatever the origin says",
            gone,
            gone.sync(),
            sections=("F.4",),
            deliveries=[at_bobs()],
            remote=[{"message": M1, "recipient": "human:cy", "homes": [], "state": "forwarded"}],
        ),
        case(
            "a-target-that-its-origin-homes",
            "The origin is one of the homes of a recipient that it homes, named or not",
            two,
            two.sync(),
            sections=("F.4",),
            deliveries=[at_bobs()],
            remote=[{"message": M1, "recipient": "human:ada", "homes": [ADA, ADA2], "state": "forwarded"}],
        ),
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
    both = Team(BOB, ADA2).begin()
    once = both.ada.message(1, "human:bob")
    both.ada.mail(both.bob, once)
    heard = both.sync()
    both.mates[ADA2].mail(both.bob, once)
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
            "the-same-message-of-another-machine",
            "A message is its origin's: one with the same content from another machine of its sender is refused",
            both,
            heard,
            both.sync(refused=[refused(M1, "conflict", ADA2)]),
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
    asking = Team(BOB).begin()
    observer = Team(OBI, OBI, roles={OBI: {"observer": True}}).begin()
    observed = Team(BOB, DESK, OBI, roles={OBI: {"observer": True}}).begin()
    return [
        case(
            "a-session-says-whom-it-waits-for",
            "The presence of a session with an open blocking question names who is to answer it",
            asking,
            STARTED,
            (send(who(RUN), message("human:ada", "Ship it?", "question", blocking=True)), done),
            asking.sync(
                shared=[
                    {
                        "type": "presence",
                        "body": {
                            "kind": "run",
                            "run": RUN.removeprefix("run:"),
                            "task": TASK.removeprefix("task:"),
                            "runKind": "execute",
                            "live": True,
                            "waitingOn": "ada",
                        },
                    }
                ]
            ),
            sections=("F.1",),
            messages=[{"id": "$s2", "kind": "question"}],
        ),
        case(
            "an-observer-sends-nothing",
            "What an observer sends does not leave",
            observer,
            fails(send(who("human:obi"), message("human:ada", "Hello.")), "forbidden", "to[0]"),
            observer.sync(mail=[]),
            sections=("F.5",),
            noOtherMessages=True,
        ),
        case(
            "a-send-is-read-by-observers-and-ones-own-machines",
            "Mail that leaves goes to its recipients' homes, to the sender's other machines and to observers",
            observed,
            (send(BEE, message("human:ada", "Hello.")), done),
            observed.sync(
                mail=[
                    {
                        "to": [ADA, DESK, OBI],
                        "message": "$s1",
                        "targets": [{"recipient": "human:ada", "via": "direct", "homes": [ADA]}],
                    }
                ]
            ),
            sections=("F.4",),
        ),
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
            mine.sync(
                mail=[
                    {
                        "to": [DESK],
                        "message": "$s1",
                        "targets": [{"recipient": "human:bob", "via": "direct", "homes": [BOB, DESK]}],
                    }
                ]
            ),
            sections=("F.4",),
            deliveries=[delivery("$s1", "human:bob", "notified")],
            remote=[{"message": "$s1", "recipient": "human:bob", "homes": [DESK], "state": "forwarded"}],
        ),
    ]


VECTORS = [*delivered(), *duplicates(), *senders(), *replies(), *presented(), *sending()]
