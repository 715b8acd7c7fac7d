"""Gates of types this host does not know, as another build stored them, fail closed (sections 5.1 and 5.6)."""

from typing import Final

from vectors.authoring.cast import (
    AUX,
    BYSTANDER,
    COVE,
    COVE_1,
    DECIDER,
    LEE,
    NORA,
    SCOUT,
    SCOUT_APPROVED,
    bound,
    given,
    item,
    open_blocking,
    published,
    pushed,
    recover,
    row,
    stored,
    told,
    wake_data,
)
from vectors.authoring.host_steps import close, delivery, message, ok, refused, reply, send, vector, who
from vectors.authoring.kit import Json

_BALLOT: Final = {"type": "ballot", "of": "rooms"}


def _asked(
    sender: str, to: str, state: str, kind: str = "question", data: Json = _BALLOT, **more: object
) -> Json:
    return stored(
        [row("m-old", sender, to, "Shall it happen?", kind, data=data, **more)],
        [bound("d-old", "m-old", to, state)],
    )


VECTORS: Final = [
    vector(
        "core.unknown-gates.a-decider-settles-one-without-effect",
        "A deciding human's answer to the system's gate of an unknown type settles it, and nothing is applied",
        ok(open_blocking(), messages=["m-old"]),
        ok(reply(DECIDER, "m-old", "", choice="yes")),
        ok(open_blocking(), messages=[]),
        ok(recover(), replayed=0, voided=0),
        given=given(
            store=_asked("$system", NORA, "notified", blocking=True, choices=["yes", "no"]), owner=NORA
        ),
        messages=[{"id": "$s2", "kind": "answer", "replyTo": "m-old", "choice": "yes"}],
        noOtherMessages=True,
        deliveries=[delivery("m-old", NORA, "answered")],
        calls=[published("$s2")],
        gateEffects=[],
        sections=["5.4", "5.6", "6.3"],
    ),
    vector(
        "core.unknown-gates.one-from-a-human-is-decide-only",
        "A human's stored gate of an unknown type is not answered by its recipient, but by a deciding human",
        refused(reply(who(COVE_1), "m-old", "", choice="yes"), "forbidden", "replyTo"),
        refused(reply(BYSTANDER, "m-old", "", choice="yes"), "forbidden", "replyTo"),
        ok(reply(DECIDER, "m-old", "", choice="no")),
        given=given(
            store=_asked(LEE, COVE, "held", choices=["yes", "no"]), owner=NORA, workItems=[item(COVE, COVE_1)]
        ),
        messages=[{"id": "$s3", "to": [LEE], "choice": "no"}],
        noOtherMessages=True,
        deliveries=[delivery("m-old", COVE, "answered"), delivery("$s3", LEE, "notified")],
        calls=[published("$s3"), told(LEE, "$s3")],
        gateEffects=[],
        sections=["5.1", "5.4", "5.6"],
    ),
    vector(
        "core.unknown-gates.a-handoff-fails-closed-too",
        "A stored handoff with data of an unknown type from the system is decide-only and has no effect",
        refused(reply(who(COVE_1), "m-old", "", choice="accept"), "forbidden", "replyTo"),
        ok(reply(DECIDER, "m-old", "", choice="accept")),
        given=given(
            store=_asked("$system", COVE, "held", "handoff", choices=["accept", "decline"]),
            owner=NORA,
            workItems=[item(COVE, COVE_1)],
        ),
        calls=[published("$s2")],
        gateEffects=[],
        sections=["5.1", "5.4", "5.6"],
    ),
    vector(
        "core.unknown-gates.its-answer-still-chooses",
        "An answer to a stored gate of an unknown type names one of its choices",
        refused(reply(DECIDER, "m-old", "go ahead"), "invalid", "choice"),
        refused(reply(DECIDER, "m-old", "", choice="approve"), "invalid", "choice"),
        ok(reply(DECIDER, "m-old", "", choice="yes")),
        given=given(store=_asked("$system", NORA, "notified", choices=["yes", "no"]), owner=NORA),
        noOtherMessages=True,
        messages=[{"id": "$s3", "choice": "yes"}],
        gateEffects=[],
        sections=["4.7", "5.4", "5.6"],
    ),
    vector(
        "core.unknown-gates.one-from-a-session-is-a-plain-question",
        "A session's stored question with data of an unknown type is answered by whom it was sent to, without effect",
        ok(reply(BYSTANDER, "m-old", "the first")),
        refused(reply(DECIDER, "m-old", "the second"), "conflict", "replyTo"),
        given=given(
            store=_asked(COVE_1, LEE, "notified", choices=["first", "second"]),
            owner=NORA,
            workItems=[item(COVE, COVE_1)],
        ),
        messages=[{"id": "$s1", "kind": "answer", "from": LEE, "to": [COVE_1]}],
        noOtherMessages=True,
        deliveries=[delivery("m-old", LEE, "answered"), delivery("$s1", COVE_1, "pushed", session=COVE_1)],
        calls=[published("$s1"), pushed(COVE_1, "$s1")],
        gateEffects=[],
        voided=[],
        sections=["5.1", "5.6"],
    ),
    vector(
        "core.unknown-gates.one-from-an-agent-is-a-plain-question",
        "An agent's stored question with data of an unknown type is answered by an auxiliary session, without effect",
        ok(reply(who(AUX), "m-old", "", choice="second")),
        ok(recover(), replayed=0, voided=0),
        given=given(
            store=_asked(SCOUT, AUX, "read", choices=["first", "second"]),
            agents=[SCOUT_APPROVED],
            auxSessions=[AUX],
        ),
        messages=[{"id": "$s1", "kind": "answer", "choice": "second"}],
        deliveries=[delivery("$s1", SCOUT, "held"), delivery("m-old", AUX, "answered")],
        calls=[published("$s1")],
        gateEffects=[],
        voided=[],
        sections=["5.1", "5.6", "6.3"],
    ),
    vector(
        "core.unknown-gates.a-close-settles-one",
        "The host may close a stored gate of an unknown type, without effect",
        ok(close("m-old", "nobody here knows it"), message="$s1"),
        refused(reply(DECIDER, "m-old", "", choice="yes"), "conflict", "replyTo"),
        given=given(
            store=_asked("$system", NORA, "notified", blocking=True, choices=["yes", "no"]), owner=NORA
        ),
        noDeliveries=["$s1"],
        deliveries=[delivery("m-old", NORA, "answered")],
        calls=[published("$s1")],
        gateEffects=[],
        sections=["4.8", "5.4", "5.6"],
    ),
    vector(
        "core.unknown-gates.a-notice-with-gate-data-asks-nothing",
        "A stored notice with gate data is no gate: a reply to it is a message, and nothing takes effect",
        ok(reply(BYSTANDER, "m-old", "so be it")),
        ok(recover(), replayed=0, voided=0),
        given=given(store=_asked("$system", LEE, "notified", "notice", wake_data()), owner=NORA),
        messages=[{"id": "$s1", "kind": "message", "replyTo": "m-old"}],
        deliveries=[delivery("m-old", LEE, "notified")],
        calls=[published("$s1")],
        gateEffects=[],
        sections=["5.1"],
    ),
    vector(
        "core.unknown-gates.an-unknown-type-is-not-raised-by-the-system",
        "The system's own gate of a type the host does not know is refused on data.type and not stored",
        refused(
            send(
                who("$system"),
                message(NORA, "Well?", "question", blocking=True, choices=["yes", "no"], data=_BALLOT),
            ),
            "invalid",
            "data.type",
        ),
        ok(open_blocking(), messages=[]),
        given=given(owner=NORA),
        noOtherMessages=True,
        messages=[],
        calls=[],
        sections=["5.3", "5.6"],
    ),
]
