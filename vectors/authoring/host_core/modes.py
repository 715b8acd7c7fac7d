"""Push, notify or hold: how a committed delivery is dispatched (section 6.2)."""

from typing import Final

from vectors.authoring.cast import (
    AUX,
    BYSTANDER,
    COVE,
    COVE_1,
    DECIDER,
    DELL,
    DELL_1,
    DELL_2,
    FERN,
    FERN_1,
    HOST,
    KAI,
    LEE,
    NORA,
    bound,
    ended,
    given,
    item,
    live,
    notified,
    published,
    pushed,
    row,
    session_starts,
    stored,
    told,
)
from vectors.authoring.host_steps import delivery, message, ok, send, vector, who, world
from vectors.authoring.kit import Json

_CREW: Final = {"name": "crew", "members": [DELL]}


def _to_crew(**more: object) -> Json:
    return message("channel:crew", "the north gate is open", "notice", **more)


VECTORS: Final = [
    vector(
        "core.modes.direct-mail-is-pushed-urgent-or-not",
        "A direct delivery is pushed once, after the message is published, whether or not the message is urgent",
        ok(send(BYSTANDER, message(DELL, "the north gate is open"))),
        ok(send(BYSTANDER, message(DELL, "the north gate is open", urgent=True))),
        given=given(workItems=[item(DELL, DELL_1)]),
        deliveries=[delivery(f"$s{n}", DELL, "pushed", session=DELL_1, via="direct") for n in (1, 2)],
        calls=[call for n in (1, 2) for call in (published(f"$s{n}"), pushed(DELL_1, f"$s{n}"))],
        sections=["6.2"],
    ),
    vector(
        "core.modes.channel-mail-is-notified",
        "A delivery through a channel gives the live session a digest, and is not pushed",
        ok(send(BYSTANDER, _to_crew())),
        given=given(workItems=[item(DELL, DELL_1)], channels=[_CREW]),
        deliveries=[delivery("$s1", DELL, "notified", session=DELL_1, via="channel")],
        calls=[published("$s1"), notified(DELL_1, "$s1")],
        sections=["6.2", "7.2"],
    ),
    vector(
        "core.modes.urgent-channel-mail-is-pushed",
        "A delivery of an urgent message through a channel is pushed, and gives no digest",
        ok(send(BYSTANDER, _to_crew(urgent=True))),
        given=given(workItems=[item(DELL, DELL_1)], channels=[_CREW]),
        deliveries=[delivery("$s1", DELL, "pushed", session=DELL_1, via="channel")],
        calls=[published("$s1"), pushed(DELL_1, "$s1")],
        sections=["6.2", "7.2"],
    ),
    vector(
        "core.modes.urgency-the-quota-took-does-not-push",
        "A message the quota made not urgent reaches a channel's work item as a digest",
        ok(send(who(COVE_1), _to_crew(urgent=True)), downgraded=False),
        ok(send(who(COVE_1), _to_crew(urgent=True)), downgraded=True),
        given=given(
            workItems=[item(COVE, COVE_1), item(DELL, DELL_1)],
            channels=[_CREW],
            limits={"urgentPerHour": 1, "agentTurnsPerThreadPerHour": 20},
        ),
        messages=[{"id": "$s1", "urgent": True}, {"id": "$s2", "urgent": False}],
        calls=[published("$s1"), pushed(DELL_1, "$s1"), published("$s2"), notified(DELL_1, "$s2")],
        sections=["6.2", "6.6"],
    ),
    vector(
        "core.modes.named-twice-means-direct",
        "A work item reached directly and through two channels gets one delivery, and it is pushed",
        ok(send(BYSTANDER, message(["channel:crew", DELL, "channel:all"], "the north gate is open"))),
        given=given(workItems=[item(DELL, DELL_1)], channels=[_CREW, {"name": "all", "members": [DELL]}]),
        deliveries=[delivery("$s1", DELL, "pushed", session=DELL_1, via="direct")],
        calls=[published("$s1"), pushed(DELL_1, "$s1")],
        sections=["3.7", "6.2"],
    ),
    vector(
        "core.modes.through-two-channels-once",
        "A work item reached through two channels is notified once",
        ok(send(BYSTANDER, message(["channel:crew", "channel:all"], "the north gate is open"))),
        given=given(workItems=[item(DELL, DELL_1)], channels=[_CREW, {"name": "all", "members": [DELL]}]),
        deliveries=[delivery("$s1", DELL, "notified", session=DELL_1, via="channel")],
        calls=[published("$s1"), notified(DELL_1, "$s1")],
        sections=["3.7", "6.2"],
    ),
    vector(
        "core.modes.the-same-session-under-two-names",
        "A work item and its live session are two recipients, each with a delivery of its own",
        ok(send(BYSTANDER, message([DELL, DELL_1], "the north gate is open"))),
        given=given(workItems=[item(DELL, DELL_1)]),
        deliveries=[
            delivery("$s1", DELL, "pushed", session=DELL_1),
            delivery("$s1", DELL_1, "pushed", session=DELL_1),
        ],
        calls=[published("$s1"), pushed(DELL_1, "$s1"), pushed(DELL_1, "$s1")],
        sections=["3.5", "6.1", "6.2"],
    ),
    vector(
        "core.modes.a-failing-push-waits-for-the-next-session",
        "Mail whose push failed is held, unbound, and is pushed into the work item's next session",
        ok(send(BYSTANDER, message(DELL, "the north gate is open"))),
        world(endSession=ended(DELL)),
        world(startSession=live(DELL, DELL_2)),
        ok(
            session_starts(DELL_2, DELL),
            deliveries=[{"message": "$s1", "recipient": DELL, "state": "pushed"}],
        ),
        given=given(workItems=[item(DELL, DELL_1)], failPush=[DELL_1]),
        deliveries=[delivery("$s1", DELL, "pushed", session=DELL_2)],
        sections=["6.2", "6.4"],
    ),
    vector(
        "core.modes.a-failing-push-is-held-unbound",
        "A push that fails leaves its delivery held and bound to no session, whether to a work item or a session",
        ok(send(BYSTANDER, message(DELL, "the north gate is open"))),
        ok(send(BYSTANDER, message(AUX, "the north gate is open"))),
        ok(send(BYSTANDER, message("channel:crew", "the north gate is open", urgent=True))),
        given=given(
            workItems=[item(DELL, DELL_1)], auxSessions=[AUX], channels=[_CREW], failPush=[DELL_1, AUX]
        ),
        deliveries=[
            delivery("$s1", DELL, "held", session=None),
            delivery("$s2", AUX, "held", session=None),
            delivery("$s3", DELL, "held", session=None, via="channel"),
        ],
        sections=["6.1", "6.2"],
    ),
    vector(
        "core.modes.a-failing-digest-is-held-unbound",
        "A digest that fails leaves its delivery held and bound to no session",
        ok(send(BYSTANDER, _to_crew())),
        given=given(workItems=[item(DELL, DELL_1)], channels=[_CREW], failPush=[DELL_1]),
        deliveries=[delivery("$s1", DELL, "held", session=None, via="channel")],
        sections=["6.1", "6.2"],
    ),
    vector(
        "core.modes.one-failing-session-fails-alone",
        "A push that fails keeps no other recipient from its delivery",
        ok(send(BYSTANDER, message([DELL, COVE, KAI, FERN], "the north gate is open"))),
        given=given(
            workItems=[item(DELL, DELL_1), item(COVE, COVE_1), item(FERN, FERN_1)], failPush=[DELL_1, FERN_1]
        ),
        deliveries=[
            delivery("$s1", DELL, "held", session=None),
            delivery("$s1", COVE, "pushed", session=COVE_1),
            delivery("$s1", KAI, "notified"),
            delivery("$s1", FERN, "held", session=None),
        ],
        callsInclude=[pushed(COVE_1, "$s1")],
        sections=["6.2"],
    ),
    vector(
        "core.modes.a-session-that-takes-mail-again-gets-it",
        "Pushes that failed do not mark the session: once they work again, new mail is pushed",
        ok(send(BYSTANDER, message(DELL, "the north gate is open"))),
        world(failPush=[]),
        ok(send(BYSTANDER, message(DELL, "and the south gate"))),
        world(failPush=[DELL_1]),
        ok(send(BYSTANDER, message(DELL, "and the east gate"))),
        given=given(workItems=[item(DELL, DELL_1)], failPush=[DELL_1]),
        deliveries=[
            delivery("$s1", DELL, "held", session=None),
            delivery("$s3", DELL, "pushed", session=DELL_1),
            delivery("$s5", DELL, "held", session=None),
        ],
        sections=["6.2"],
    ),
    vector(
        "core.modes.a-human-is-told-by-every-route",
        "A human's notifier is called once for a message, direct or through a channel, urgent or not",
        ok(send(BYSTANDER, message(["channel:crew", KAI], "lunch"))),
        ok(send(BYSTANDER, message("channel:crew", "lunch", urgent=True))),
        given=given(channels=[{"name": "crew", "members": [KAI]}]),
        deliveries=[
            delivery("$s1", KAI, "notified", via="direct", session=None),
            delivery("$s2", KAI, "notified", via="channel", session=None),
        ],
        calls=[published("$s1"), told(KAI, "$s1"), published("$s2"), told(KAI, "$s2")],
        sections=["3.7", "6.2"],
    ),
    vector(
        "core.modes.the-sender-is-told-nothing",
        "A sender named in its own message, directly or through a channel, gets neither a delivery nor a call",
        ok(send(BYSTANDER, message([LEE, "channel:crew", KAI], "lunch"))),
        ok(send(who(DELL_1), message([DELL, "channel:crew", KAI], "lunch"))),
        given=given(
            workItems=[item(DELL, DELL_1)], channels=[{"name": "crew", "members": [LEE, DELL, "$system"]}]
        ),
        deliveries=[
            delivery("$s1", KAI, "notified"),
            delivery("$s1", DELL, "notified", session=DELL_1, via="channel"),
            delivery("$s2", KAI, "notified"),
            delivery("$s2", LEE, "notified", via="channel"),
        ],
        sections=["3.5", "6.2"],
    ),
    vector(
        "core.modes.a-message-with-no-recipients-left-is-published",
        "A message whose only recipient is its sender is stored and published, and delivered to nobody",
        ok(send(BYSTANDER, message(LEE, "note to self"))),
        ok(send(who(DELL_1), message(DELL, "note to self"))),
        given=given(workItems=[item(DELL, DELL_1)]),
        noDeliveries=["$s1", "$s2"],
        calls=[published("$s1"), published("$s2")],
        sections=["3.5", "6.2"],
    ),
    vector(
        "core.modes.an-answer-is-dispatched-as-mail-is",
        "An answer is pushed to a live asker and held for one who is not",
        ok(send(DECIDER, message(DELL_1, "by noon", "answer", replyTo="m-noon"))),
        ok(send(DECIDER, message(FERN, "by nine", "answer", replyTo="m-nine"))),
        given=given(
            workItems=[item(DELL, DELL_1), item(FERN)],
            store=stored(
                [
                    row("m-noon", DELL_1, NORA, "When?", "question"),
                    row("m-nine", FERN_1, NORA, "When?", "question"),
                ],
                [bound("d-1", "m-noon", NORA, "notified"), bound("d-2", "m-nine", NORA, "notified")],
            ),
        ),
        deliveries=[
            delivery("$s1", DELL_1, "pushed", session=DELL_1),
            delivery("$s2", FERN, "held", session=None),
            delivery("m-noon", NORA, "answered"),
            delivery("m-nine", NORA, "answered"),
        ],
        calls=[published("$s1"), pushed(DELL_1, "$s1"), published("$s2")],
        sections=["6.1", "6.2"],
    ),
    vector(
        "core.modes.a-host-notice-is-pushed-too",
        "A notice the system sends is dispatched as anybody's mail is",
        ok(send(HOST, message(DELL, "the build is green", "notice"))),
        given=given(workItems=[item(DELL, DELL_1)]),
        deliveries=[delivery("$s1", DELL, "pushed", session=DELL_1)],
        calls=[published("$s1"), pushed(DELL_1, "$s1")],
        sections=["6.2"],
    ),
]
