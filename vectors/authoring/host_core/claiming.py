"""What a session that starts is given (section 6.4)."""

from typing import Final

from vectors.authoring.cast import (
    AUX,
    BYSTANDER,
    COVE,
    COVE_1,
    COVE_2,
    DECIDER,
    DELL,
    DELL_1,
    DELL_2,
    DELL_3,
    FERN,
    LEE,
    SCOUT,
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
)
from vectors.authoring.host_steps import delivery, message, ok, reply, send, vector, who, world
from vectors.authoring.kit import Json

_STARTED: Final = world(startSession=live(DELL, DELL_3))
_QUIET: Final = ok(session_starts(DELL_3, DELL), deliveries=[])


def _claimed(message_id: str, recipient: str, state: str) -> Json:
    return {"message": message_id, "recipient": recipient, "state": state}


VECTORS: Final = [
    vector(
        "core.claiming.direct-mail-is-pushed",
        "A session that starts is bound to what its work item holds, and direct mail is pushed into it",
        ok(send(BYSTANDER, message(DELL, "for whoever comes"))),
        _STARTED,
        ok(session_starts(DELL_3, DELL), deliveries=[_claimed("$s1", DELL, "pushed")]),
        _QUIET,
        given=given(workItems=[item(DELL)]),
        deliveries=[delivery("$s1", DELL, "pushed", session=DELL_3)],
        calls=[published("$s1"), pushed(DELL_3, "$s1")],
        sections=["6.2", "6.4"],
    ),
    vector(
        "core.claiming.channel-mail-is-notified",
        "A session that starts is given a digest of held channel mail that is not urgent",
        ok(send(BYSTANDER, message("channel:crew", "for whoever comes"))),
        _STARTED,
        ok(session_starts(DELL_3, DELL), deliveries=[_claimed("$s1", DELL, "notified")]),
        given=given(workItems=[item(DELL)], channels=[{"name": "crew", "members": [DELL]}]),
        deliveries=[delivery("$s1", DELL, "notified", session=DELL_3, via="channel")],
        calls=[published("$s1"), notified(DELL_3, "$s1")],
        sections=["6.2", "6.4"],
    ),
    vector(
        "core.claiming.urgent-channel-mail-is-pushed",
        "Held channel mail that is urgent is pushed into the session that starts",
        ok(send(BYSTANDER, message("channel:crew", "for whoever comes", urgent=True))),
        _STARTED,
        ok(session_starts(DELL_3, DELL), deliveries=[_claimed("$s1", DELL, "pushed")]),
        given=given(workItems=[item(DELL)], channels=[{"name": "crew", "members": [DELL]}]),
        deliveries=[delivery("$s1", DELL, "pushed", session=DELL_3, via="channel")],
        calls=[published("$s1"), pushed(DELL_3, "$s1")],
        sections=["6.2", "6.4"],
    ),
    vector(
        "core.claiming.mail-left-on-any-earlier-session-is-claimed",
        "A session that starts is bound to what is held on each earlier session of its work item, addressed as it was",
        _STARTED,
        ok(session_starts(DELL_3, DELL)),
        given=given(
            workItems=[item(DELL, None, [DELL_1, DELL_2])],
            store=stored(
                [
                    row("m-1", LEE, DELL_1, "one"),
                    row("m-2", LEE, DELL_2, "two"),
                    row("m-3", LEE, DELL, "three"),
                ],
                [
                    bound("d-1", "m-1", DELL_1, "held"),
                    bound("d-2", "m-2", DELL_2, "held"),
                    bound("d-3", "m-3", DELL, "held"),
                ],
            ),
        ),
        deliveries=[
            delivery("m-1", DELL_1, "pushed", session=DELL_3),
            delivery("m-2", DELL_2, "pushed", session=DELL_3),
            delivery("m-3", DELL, "pushed", session=DELL_3),
        ],
        sections=["6.4"],
    ),
    vector(
        "core.claiming.a-wake-request-held-on-a-session-reaches-the-next",
        "A human's wake request held on an ended session is pushed into the next session of its work item",
        ok(send(DECIDER, message(DELL_1, "one more thing", wake="request"))),
        _STARTED,
        ok(session_starts(DELL_3, DELL), deliveries=[_claimed("$s1", DELL_1, "pushed")]),
        given=given(workItems=[item(DELL, None, [DELL_1])], rulings={DELL_1: "allow"}),
        deliveries=[delivery("$s1", DELL_1, "pushed", session=DELL_3, via="direct")],
        sections=["6.4", "6.5"],
    ),
    vector(
        "core.claiming.a-push-that-failed-is-left-to-the-next-session",
        "Mail addressed to a session whose push failed is claimed by the work item's next session",
        ok(send(BYSTANDER, message(DELL_1, "just you"))),
        world(endSession=ended(DELL)),
        _STARTED,
        ok(session_starts(DELL_3, DELL), deliveries=[_claimed("$s1", DELL_1, "pushed")]),
        given=given(workItems=[item(DELL, DELL_1)], failPush=[DELL_1]),
        deliveries=[delivery("$s1", DELL_1, "pushed", session=DELL_3)],
        sections=["6.2", "6.4"],
    ),
    vector(
        "core.claiming.others-mail-is-left",
        "A session that starts is given nothing held for other work items, their sessions, auxiliary ones or agents",
        _STARTED,
        _QUIET,
        given=given(
            workItems=[item(DELL), item(COVE, None, [COVE_1]), item(FERN)],
            store=stored(
                [row("m-1", LEE, [COVE, COVE_1, AUX, SCOUT, FERN], "for whoever comes")],
                [
                    bound("d-1", "m-1", COVE, "held"),
                    bound("d-2", "m-1", COVE_1, "held"),
                    bound("d-3", "m-1", AUX, "held"),
                    bound("d-4", "m-1", SCOUT, "held"),
                    bound("d-5", "m-1", FERN, "held"),
                ],
            ),
        ),
        deliveries=[delivery("m-1", to, "held", session=None) for to in (COVE, COVE_1, AUX, SCOUT, FERN)],
        calls=[],
        sections=["6.4"],
    ),
    vector(
        "core.claiming.only-what-is-held-is-claimed",
        "Deliveries that were pushed, notified, read or answered stay with the session that had them",
        _STARTED,
        _QUIET,
        given=given(
            workItems=[item(DELL, None, [DELL_1])],
            store=stored(
                [
                    row("m-1", LEE, DELL, "one"),
                    row("m-2", LEE, "channel:crew", "two"),
                    row("m-3", LEE, DELL, "three"),
                    row("m-4", LEE, DELL_1, "four?", "question"),
                    row("m-5", DELL_1, LEE, "yes", "answer", thread="m-4", replyTo="m-4"),
                ],
                [
                    bound("d-1", "m-1", DELL, "pushed", DELL_1),
                    bound("d-2", "m-2", DELL, "notified", DELL_1, "channel"),
                    bound("d-3", "m-3", DELL, "read"),
                    bound("d-4", "m-4", DELL_1, "answered", DELL_1),
                ],
            ),
        ),
        deliveries=[
            delivery("m-1", DELL, "pushed", session=DELL_1),
            delivery("m-2", DELL, "notified", session=DELL_1),
            delivery("m-3", DELL, "read"),
            delivery("m-4", DELL_1, "answered"),
        ],
        calls=[],
        sections=["6.4"],
    ),
    vector(
        "core.claiming.a-failing-push-waits-for-another",
        "Mail that cannot be pushed into the session that starts is held again, and the next session gets it",
        ok(send(BYSTANDER, message(DELL, "for whoever comes"))),
        world(startSession=live(DELL, DELL_2)),
        ok(session_starts(DELL_2, DELL)),
        world(endSession=ended(DELL)),
        _STARTED,
        ok(session_starts(DELL_3, DELL), deliveries=[_claimed("$s1", DELL, "pushed")]),
        given=given(workItems=[item(DELL)], failPush=[DELL_2]),
        deliveries=[delivery("$s1", DELL, "pushed", session=DELL_3)],
        sections=["6.2", "6.4"],
    ),
    vector(
        "core.claiming.each-work-item-has-its-own",
        "Two work items' sessions start, and each is given only its own mail of one message",
        ok(send(BYSTANDER, message([DELL, COVE], "for whoever comes"))),
        world(startSession=live(COVE, COVE_2)),
        ok(session_starts(COVE_2, COVE), deliveries=[_claimed("$s1", COVE, "pushed")]),
        _STARTED,
        ok(session_starts(DELL_3, DELL), deliveries=[_claimed("$s1", DELL, "pushed")]),
        given=given(workItems=[item(DELL), item(COVE)]),
        deliveries=[
            delivery("$s1", DELL, "pushed", session=DELL_3),
            delivery("$s1", COVE, "pushed", session=COVE_2),
        ],
        calls=[published("$s1"), pushed(COVE_2, "$s1"), pushed(DELL_3, "$s1")],
        sections=["6.4"],
    ),
    vector(
        "core.claiming.a-claimed-question-is-answered-by-its-claimer",
        "A question held for an earlier session is answered by the session that claimed it, and reaches the asker",
        _STARTED,
        ok(session_starts(DELL_3, DELL), deliveries=[_claimed("m-1", DELL_1, "pushed")]),
        ok(reply(who(DELL_3), "m-1", "yes")),
        given=given(
            workItems=[item(DELL, None, [DELL_1]), item(COVE, COVE_1)],
            store=stored(
                [row("m-1", COVE_1, DELL_1, "are you there?", "question")],
                [bound("d-1", "m-1", DELL_1, "held")],
            ),
        ),
        messages=[{"id": "$s3", "from": DELL_3, "kind": "answer", "to": [COVE_1]}],
        deliveries=[
            delivery("m-1", DELL_1, "answered"),
            delivery("$s3", COVE_1, "pushed", session=COVE_1),
        ],
        sections=["4.6", "6.4"],
    ),
]
