"""How a delivery moves from state to state (section 6.1), but for starting, recovering and voiding."""

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
    HOST,
    LEE,
    NORA,
    SCOUT,
    bound,
    can_read,
    given,
    item,
    live,
    mark_read,
    open_blocking,
    published,
    pushed,
    recover,
    row,
    session_starts,
    stored,
    told,
    wake_gate,
)
from vectors.authoring.host_steps import (
    close,
    delivery,
    message,
    ok,
    refused,
    reply,
    send,
    vector,
    who,
    world,
)
from vectors.authoring.kit import Json

_EVERY_STATE: Final = stored(
    [
        row("m-asked", COVE_1, [LEE, DELL, FERN, SCOUT, AUX], "Who has the key?", "question"),
        row("m-aside", COVE_1, [LEE, DELL], "The lock is stiff."),
    ],
    [
        bound("d-1", "m-asked", LEE, "notified"),
        bound("d-2", "m-asked", DELL, "pushed", DELL_1),
        bound("d-3", "m-asked", FERN, "held"),
        bound("d-4", "m-asked", SCOUT, "read"),
        bound("d-5", "m-asked", AUX, "sending", AUX),
        bound("d-6", "m-aside", LEE, "notified"),
        bound("d-7", "m-aside", DELL, "pushed", DELL_1),
    ],
)


def _every(message_id: str, state: str) -> list[Json]:
    return [delivery(message_id, to, state) for to in (LEE, DELL, FERN, SCOUT, AUX)]


_UNTOUCHED: Final = [
    delivery("m-aside", LEE, "notified"),
    delivery("m-aside", DELL, "pushed", session=DELL_1),
]

VECTORS: Final = [
    vector(
        "core.transitions.an-answer-moves-every-delivery",
        "An answer moves the question's deliveries to answered from whatever state, and those of no other message",
        ok(reply(BYSTANDER, "m-asked", "it hangs by the door")),
        given=given(
            workItems=[item(COVE, COVE_1), item(DELL, DELL_1), item(FERN)],
            auxSessions=[AUX],
            store=_EVERY_STATE,
        ),
        deliveries=[*_every("m-asked", "answered"), *_UNTOUCHED],
        calls=[published("$s1"), pushed(COVE_1, "$s1")],
        sections=["4.7", "6.1"],
    ),
    vector(
        "core.transitions.a-close-moves-every-delivery",
        "A close moves the question's deliveries to answered from whatever state, and those of no other message",
        ok(close("m-asked", "found")),
        given=given(
            workItems=[item(COVE, COVE_1), item(DELL, DELL_1), item(FERN)],
            auxSessions=[AUX],
            store=_EVERY_STATE,
        ),
        deliveries=[*_every("m-asked", "answered"), *_UNTOUCHED],
        noDeliveries=["$s1"],
        calls=[published("$s1")],
        sections=["4.8", "6.1"],
    ),
    vector(
        "core.transitions.an-answered-delivery-stays-bound",
        "An answered delivery stays bound to its session, which still takes part in the question",
        ok(reply(BYSTANDER, "m-asked", "here")),
        ok(can_read("m-asked", who(AUX)), readable=True),
        ok(send(who(AUX), message(COVE_1, "thank you", replyTo="m-asked"))),
        ok(can_read("m-asked", who("run:r-a0a0a1")), readable=False),
        given=given(
            workItems=[item(COVE, COVE_1), item(DELL, DELL_1)],
            auxSessions=[AUX, "run:r-a0a0a1"],
            store=stored(
                [row("m-asked", COVE_1, [LEE, DELL, FERN], "Where is everyone?", "question")],
                [
                    bound("d-1", "m-asked", LEE, "notified"),
                    bound("d-2", "m-asked", DELL, "pushed", DELL_1),
                    bound("d-3", "m-asked", FERN, "notified", AUX, "channel"),
                ],
            ),
        ),
        deliveries=[
            delivery("m-asked", LEE, "answered", session=None),
            delivery("m-asked", DELL, "answered", session=DELL_1),
            delivery("m-asked", FERN, "answered", session=AUX),
        ],
        sections=["4.6", "6.1"],
    ),
    vector(
        "core.transitions.a-message-moves-nothing",
        "A reply that is no answer leaves the question's deliveries as they are, and the question open",
        ok(send(DECIDER, message(COVE_1, "looking", "notice", replyTo="m-asked"))),
        ok(send(BYSTANDER, message(COVE_1, "which key?", "question", replyTo="m-asked"))),
        ok(reply(BYSTANDER, "m-asked", "by the door")),
        given=given(
            workItems=[item(COVE, COVE_1)],
            store=stored(
                [row("m-asked", COVE_1, LEE, "Who has the key?", "question")],
                [bound("d-1", "m-asked", LEE, "notified")],
            ),
        ),
        messages=[
            {"id": "$s1", "kind": "notice"},
            {"id": "$s2", "kind": "question"},
            {"id": "$s3", "kind": "answer"},
        ],
        deliveries=[
            delivery("m-asked", LEE, "answered"),
            delivery("$s1", COVE_1, "pushed"),
            delivery("$s2", COVE_1, "pushed"),
            delivery("$s3", COVE_1, "pushed"),
        ],
        sections=["4.7", "6.1"],
    ),
    vector(
        "core.transitions.a-handoff-is-answered-for-everyone",
        "One recipient's answer to a handoff moves every recipient's delivery, and nobody else may answer",
        ok(send(DECIDER, message([DELL, LEE], "take it?", "handoff"))),
        ok(reply(who(DELL_1), "$s1", "", choice="accept")),
        refused(reply(BYSTANDER, "$s1", "", choice="decline"), "conflict", "replyTo"),
        given=given(workItems=[item(DELL, DELL_1)]),
        deliveries=[
            delivery("$s1", DELL, "answered"),
            delivery("$s1", LEE, "answered"),
            delivery("$s2", NORA, "notified"),
        ],
        sections=["4.7", "6.1"],
    ),
    vector(
        "core.transitions.a-refused-answer-moves-nothing",
        "An answer that is refused leaves the question's deliveries as they are",
        ok(send(DECIDER, message(DELL, "left or right?", "handoff", choices=["left", "right"]))),
        refused(reply(who(DELL_1), "$s1", "straight on"), "invalid", "choice"),
        given=given(workItems=[item(DELL, DELL_1)]),
        deliveries=[delivery("$s1", DELL, "pushed", session=DELL_1)],
        calls=[published("$s1"), pushed(DELL_1, "$s1")],
        noOtherMessages=True,
        sections=["4.7", "6.1"],
    ),
    vector(
        "core.transitions.read-from-every-state-but-answered",
        "Marking read moves a held, a notified and a pushed delivery to read, and leaves read and answered as they are",
        ok(mark_read("m-1", SCOUT), state="read"),
        ok(mark_read("m-1", LEE), state="read"),
        ok(mark_read("m-1", DELL), state="read"),
        ok(mark_read("m-1", FERN), state="read"),
        ok(mark_read("m-2", LEE), state="answered"),
        ok(mark_read("m-1", LEE), state="read"),
        given=given(
            workItems=[item(DELL, DELL_1), item(FERN)],
            store=stored(
                [
                    row("m-1", NORA, [SCOUT, LEE, DELL, FERN], "all set"),
                    row("m-2", NORA, LEE, "set?", "question"),
                    row("m-3", LEE, NORA, "set", "answer", thread="m-2", replyTo="m-2"),
                ],
                [
                    bound("d-1", "m-1", SCOUT, "held"),
                    bound("d-2", "m-1", LEE, "notified"),
                    bound("d-3", "m-1", DELL, "pushed", DELL_1),
                    bound("d-4", "m-1", FERN, "read"),
                    bound("d-5", "m-2", LEE, "answered"),
                ],
            ),
        ),
        deliveries=[
            *(delivery("m-1", to, "read") for to in (SCOUT, LEE, DELL, FERN)),
            delivery("m-2", LEE, "answered"),
        ],
        calls=[],
        sections=["6.1", "7.1"],
    ),
    vector(
        "core.transitions.a-read-question-is-still-answered",
        "A question its recipient has marked read stays open, and its delivery moves to answered with the answer",
        ok(send(DECIDER, message(DELL, "ready?", "question", blocking=True))),
        ok(mark_read("$s1", DELL), state="read"),
        ok(open_blocking(), messages=["$s1"]),
        ok(reply(who(DELL_1), "$s1", "ready")),
        ok(mark_read("$s1", DELL), state="answered"),
        ok(open_blocking(), messages=[]),
        given=given(workItems=[item(DELL, DELL_1)]),
        deliveries=[delivery("$s1", DELL, "answered")],
        sections=["6.1", "7.1"],
    ),
    vector(
        "core.transitions.what-was-answered-is-not-claimed",
        "A question answered while it was held is not claimed by the session that starts later, nor sent by a recovery",
        ok(send(BYSTANDER, message([DELL, SCOUT], "ready?", "question"))),
        ok(reply(DECIDER, "$s1", "it is")),
        world(startSession=live(DELL, DELL_2)),
        ok(session_starts(DELL_2, DELL), deliveries=[]),
        ok(recover(), retried=0, reverted=0),
        given=given(workItems=[item(DELL)]),
        deliveries=[delivery("$s1", DELL, "answered", session=None), delivery("$s1", SCOUT, "answered")],
        calls=[published("$s1"), published("$s2"), told(LEE, "$s2")],
        sections=["6.1", "6.4"],
    ),
    vector(
        "core.transitions.a-settled-gate-is-not-reopened",
        "A gate answered by a deciding human stays answered through a recovery",
        ok(send(HOST, wake_gate(NORA))),
        ok(reply(DECIDER, "$s1", "", choice="deny")),
        ok(recover(), replayed=0, voided=0),
        ok(mark_read("$s1", NORA), state="answered"),
        given=given(owner=NORA),
        deliveries=[delivery("$s1", NORA, "answered")],
        voided=[],
        sections=["5.7", "6.1"],
    ),
]
